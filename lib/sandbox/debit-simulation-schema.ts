/** Bodies of the simulations of direct debits: each replaces the reports that the sandbox bank had planned. */
import Type, { type Static } from 'typebox'
import { Nullable, Words } from '../contract/primitives.ts'
import { SIMULATED_COLLECTION_STATUSES, SIMULATED_MANDATE_STATUSES } from './debit-simulations.ts'

const DebitReasonCode = Type.String({
  pattern: '^[A-Z0-9]{1,4}$',
  title: 'DebitReasonCode',
  description: 'A reason code of the scheme; an unlisted code is shown as it is.',
})

export const SimCollectionStatus = Type.Object(
  {
    status: Words('SimulatedCollectionStatus', SIMULATED_COLLECTION_STATUSES),
    reasonCode: Type.Optional(
      Nullable(DebitReasonCode, {
        description:
          'By default: of `failed` lack of funds (AM04), of `returned` a refund that the payer wants (MD06).',
      }),
    ),
  },
  {
    title: 'SimCollectionStatus',
    additionalProperties: false,
    examples: [{ status: 'returned', reasonCode: 'MD06' }],
  },
)
export type SimCollectionStatus = Static<typeof SimCollectionStatus>

export const SimMandateStatus = Type.Object(
  {
    status: Words('SimulatedMandateStatus', SIMULATED_MANDATE_STATUSES),
    reasonCode: Type.Optional(Nullable(DebitReasonCode, { description: 'Of `failed`, `cancelled` and `suspended`.' })),
  },
  { title: 'SimMandateStatus', additionalProperties: false, examples: [{ status: 'expired' }] },
)
export type SimMandateStatus = Static<typeof SimMandateStatus>

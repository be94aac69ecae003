/** Bodies of the simulations of payments: each replaces the report that the sandbox bank had planned. */
import Type, { type Static } from 'typebox'
import { RECALL_REASONS } from '../payments/recall.ts'
import { RECALL_REJECTIONS, SIMULATED_STATUSES } from './payment-simulations.ts'
import { Nullable, PositiveMoney, Text, Words } from '../contract/primitives.ts'

/** A longer delay is of no use to a test. */
export const DELAY_SECONDS_MAX = 300

export const SchemeCode = Type.String({
  pattern: '^[A-Z0-9]{1,4}$',
  title: 'SchemeCode',
  description: 'A reason code of the scheme; an unlisted code is shown as `unknown`.',
})

export const delaySeconds = Type.Optional(Type.Integer({ minimum: 0, maximum: DELAY_SECONDS_MAX }))

export const STATUS = {
  status: Words('SimulatedPaymentStatus', SIMULATED_STATUSES),
  reasonCode: Type.Optional(Nullable(SchemeCode, { description: 'The reason of `failed`; by default AC01.' })),
}

export const SimPaymentStatus = Type.Object(
  { ...STATUS, delaySeconds },
  { title: 'SimPaymentStatus', additionalProperties: false, examples: [{ status: 'failed', reasonCode: 'AC04' }] },
)

export type SimPaymentStatus = Static<typeof SimPaymentStatus>

export const SandboxPaymentStatus = Type.Object(STATUS, {
  title: 'SandboxPaymentStatus',
  additionalProperties: false,
  examples: [{ status: 'completed' }],
})

export const SimPaymentReturn = Type.Object(
  {
    reasonCode: Type.Optional(SchemeCode),
    amount: Type.Optional(Nullable(PositiveMoney, { description: 'By default the whole amount.' })),
    note: Type.Optional(Nullable(Text(0, 500))),
    delaySeconds,
  },
  { title: 'SimPaymentReturn', additionalProperties: false, examples: [{ reasonCode: 'AC04' }] },
)

export type SimPaymentReturn = Static<typeof SimPaymentReturn>

export const SimPaymentRecall = Type.Object(
  {
    outcome: Words('SimulatedRecallOutcome', ['accepted', 'rejected']),
    reasonCode: Type.Optional(Words('RecallReason', RECALL_REASONS)),
    rejectionCode: Type.Optional(Words('RecallRejection', RECALL_REJECTIONS)),
    amount: Type.Optional(Nullable(PositiveMoney, { description: 'By default the whole amount.' })),
  },
  {
    title: 'SimPaymentRecall',
    additionalProperties: false,
    examples: [{ outcome: 'rejected', rejectionCode: 'CUST' }],
  },
)

export type SimPaymentRecall = Static<typeof SimPaymentRecall>

/** Schemas of impersonations: staff read a customer's data as its members see it. */
import Type, { type Static } from 'typebox'
import { Text, Timestamp, Uuid } from '../contract/primitives.ts'

const REASON_MIN = 10
const REASON_MAX = 500

const reason = Text(REASON_MIN, REASON_MAX, {
  description: 'Kept in the audit trail of the operator; customers never see it.',
  examples: ['Ticket 4711: the customer cannot find a payment.'],
})

export const Impersonation = Type.Object(
  {
    id: Uuid,
    customerId: Uuid,
    customerName: Type.String(),
    userId: Uuid,
    reason,
    createdAt: Timestamp,
    expiresAt: Timestamp,
  },
  { title: 'Impersonation' },
)
export type Impersonation = Static<typeof Impersonation>

export const OpenedImpersonation = Type.Object(
  {
    ...Impersonation.properties,
    token: Type.String({ description: 'Send as `Authorization: Bearer`, with the customer as `X-Tenant-Id`.' }),
  },
  { title: 'OpenedImpersonation' },
)

export const ImpersonationCreate = Type.Object(
  { customerId: Uuid, reason },
  { title: 'ImpersonationCreate', additionalProperties: false },
)
export type ImpersonationCreate = Static<typeof ImpersonationCreate>

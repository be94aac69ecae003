/** Schemas of freezing and of holds that the operator's staff place. */
import Type, { type Static } from 'typebox'
import { Money, Nullable, PositiveMoney, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'
import { STAFF_HOLD_STATUSES, STAFF_HOLD_SUBJECTS } from './staff-hold.ts'

const REASON_MAX = 500
const reason = Text(1, REASON_MAX, { description: "For the operator's staff; never shown to customers." })
const SubjectType = Words(
  'StaffHoldSubject',
  STAFF_HOLD_SUBJECTS,
  'Customers see a `legal_order` as `payment_review`, and a `manual` hold without its reason.',
)

export const FreezeReason = Type.Object({ reason }, { title: 'FreezeReason', additionalProperties: false })
export type FreezeReason = Static<typeof FreezeReason>

export const StaffHoldCreate = Type.Object(
  {
    subjectType: SubjectType,
    amount: PositiveMoney,
    reason,
    expiresAt: Type.Optional(
      Nullable(Timestamp, { description: 'A manual hold ends by itself then; null: staff release it.' }),
    ),
  },
  { title: 'StaffHoldCreate', additionalProperties: false },
)
export type StaffHoldCreate = Static<typeof StaffHoldCreate>

export const StaffHold = Type.Object(
  {
    id: Uuid,
    balanceId: Uuid,
    customerId: Uuid,
    subjectType: SubjectType,
    amount: Money,
    status: Words('StaffHoldStatus', STAFF_HOLD_STATUSES),
    reason: Type.String(),
    placedBy: Uuid,
    placedByName: Type.String(),
    releaseReason: Nullable(Type.String()),
    expiresAt: Nullable(Timestamp),
    resolvedAt: Nullable(Timestamp),
    createdAt: Timestamp,
  },
  { title: 'StaffHold' },
)
export type StaffHold = Static<typeof StaffHold>

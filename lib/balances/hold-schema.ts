/** Holds: money that is set aside and still on the balance. */
import Type, { type Static } from 'typebox'
import { HOLD_SUBJECT_TYPES } from '../decisions/effects.ts'
import { list } from '../contract/list.ts'
import { Money, Nullable, Timestamp, Uuid, Words } from '../contract/primitives.ts'

const HOLD_STATUSES = ['active', 'captured', 'released', 'expired'] as const

export const Hold = Type.Object(
  {
    id: Uuid,
    balanceId: Uuid,
    amount: Money,
    status: Words('HoldStatus', HOLD_STATUSES),
    subjectType: Words('HoldSubjectType', HOLD_SUBJECT_TYPES),
    subjectId: Uuid,
    description: Type.String(),
    createdAt: Timestamp,
    expiresAt: Nullable(Timestamp),
    resolvedAt: Nullable(Timestamp),
    capturedAmount: Nullable(Money),
  },
  { title: 'Hold' },
)
export type Hold = Static<typeof Hold>

export const holdList = list({
  filters: {
    status: { kind: 'words', values: HOLD_STATUSES, default: ['active'] },
    subjectType: { kind: 'words', values: HOLD_SUBJECT_TYPES },
    subjectId: { kind: 'ids' },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt', '-amount'],
})

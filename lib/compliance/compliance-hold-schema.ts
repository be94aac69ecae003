/** Compliance holds: money that waits until the operator's staff have decided. */
import Type, { type Static } from 'typebox'
import { COMPLIANCE_HOLD_KINDS, COMPLIANCE_HOLD_STATUSES, HELD_SUBJECTS } from './hold.ts'
import { list, OLDER_THAN_HOURS_MAX } from '../contract/list.ts'
import { Money, Nullable, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'

const REASON_MAX = 500
const NOTE_MAX = 2_000

const fields = {
  id: Uuid,
  kind: Words('ComplianceHoldKind', COMPLIANCE_HOLD_KINDS),
  provider: Type.String({ description: 'The system or authority that caused the hold.' }),
  status: Words('ComplianceHoldStatus', COMPLIANCE_HOLD_STATUSES),
  customerId: Uuid,
  customerName: Type.String(),
  related: Type.Object(
    { object: Words('HeldSubject', HELD_SUBJECTS), id: Uuid },
    { title: 'HeldObject', description: 'The held payment, transfer or incoming payment.' },
  ),
  amount: Money,
  counterpartyName: Nullable(Type.String()),
  findings: Type.Array(
    Type.Object(
      {
        list: Type.String(),
        name: Type.String({ description: 'The name on the sanctions list.' }),
        score: Type.Integer({ minimum: 0, maximum: 100 }),
      },
      { title: 'ScreeningFinding' },
    ),
  ),
  proposal: Nullable(
    Type.Object(
      {
        decision: Words('ComplianceDecision', ['released', 'blocked']),
        reason: Type.String(),
        freezeFunds: Type.Boolean(),
        by: Uuid,
        byName: Type.String(),
        at: Timestamp,
      },
      { title: 'HoldProposal' },
    ),
    { description: 'The decision that the first of two people proposes.' },
  ),
  assignee: Nullable(Uuid, { description: 'The first person of the staff who acted on it.' }),
  decidedBy: Nullable(Uuid),
  decidedByName: Nullable(Type.String()),
  decidedAt: Nullable(Timestamp),
  reason: Nullable(Type.String()),
  freezeFunds: Nullable(Type.Boolean()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
}

export const ComplianceHold = Type.Object(fields, { title: 'ComplianceHold' })
export type ComplianceHold = Static<typeof ComplianceHold>

export const ComplianceHoldDetail = Type.Object(
  {
    ...fields,
    notes: Type.Array(
      Type.Object(
        { id: Uuid, text: Type.String(), by: Uuid, byName: Type.String(), at: Timestamp },
        { title: 'ComplianceNote' },
      ),
      { description: 'The notes, oldest first.' },
    ),
  },
  { title: 'ComplianceHoldDetail' },
)
export type ComplianceHoldDetail = Static<typeof ComplianceHoldDetail>

const reason = Text(1, REASON_MAX, { description: "For the operator's staff; never shown to customers." })
export const HoldRelease = Type.Object({ reason }, { title: 'HoldRelease', additionalProperties: false })
export type HoldRelease = Static<typeof HoldRelease>
export const HoldBlock = Type.Object(
  {
    reason,
    freezeFunds: Type.Optional(
      Type.Boolean({ description: 'Whether the amount stays reserved, by order of an authority.' }),
    ),
  },
  { title: 'HoldBlock', additionalProperties: false },
)
export type HoldBlock = Static<typeof HoldBlock>
export const HoldNoteCreate = Type.Object(
  { text: Text(1, NOTE_MAX) },
  { title: 'HoldNoteCreate', additionalProperties: false },
)
export type HoldNoteCreate = Static<typeof HoldNoteCreate>

export const complianceHoldList = list({
  filters: {
    status: { kind: 'words', values: COMPLIANCE_HOLD_STATUSES, default: ['open'] },
    kind: { kind: 'words', values: COMPLIANCE_HOLD_KINDS },
    customerId: { kind: 'ids' },
    assignee: { kind: 'ids' },
    olderThanHours: { kind: 'integer', min: 0, max: OLDER_THAN_HOURS_MAX },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['createdAt', '-createdAt'],
})

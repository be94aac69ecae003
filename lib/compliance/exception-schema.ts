/** Exceptions: money that the operator's staff must investigate. */
import Type, { type Static } from 'typebox'
import { EXCEPTION_KINDS, EXCEPTION_OUTCOMES, EXCEPTION_RESOLUTIONS } from './exception.ts'
import { list, OLDER_THAN_HOURS_MAX } from '../contract/list.ts'
import { Money, Nullable, PositiveMoney, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'

const EVIDENCE_MAX = 2_000
const STATUSES = ['open', 'resolved'] as const

const Resolution = Words(
  'ExceptionResolution',
  EXCEPTION_RESOLUTIONS,
  '`resubmit_forbidden` leaves the exception open: the service still asks for the outcome, and sends nothing again.',
)

export const Exception = Type.Object(
  {
    id: Uuid,
    kind: Words('PaymentExceptionKind', EXCEPTION_KINDS),
    code: Nullable(Type.String()),
    message: Type.String(),
    status: Words('ExceptionStatus', STATUSES),
    customerId: Uuid,
    customerName: Type.String(),
    related: Type.Object(
      { object: Words('ExceptionalObject', ['payment', 'transfer', 'exchange']), id: Uuid },
      { title: 'ExceptionSubject', description: 'The payment, transfer or exchange in doubt.' },
    ),
    amount: Money,
    assignee: Nullable(Uuid, { description: 'The first person of the staff who acted on it.' }),
    proposal: Nullable(
      Type.Object(
        {
          outcome: Resolution,
          evidence: Type.String(),
          amount: Nullable(Money),
          by: Uuid,
          byName: Type.String(),
          at: Timestamp,
        },
        { title: 'ResolutionProposal' },
      ),
      { description: 'The outcome that the first of two people proposes.' },
    ),
    resubmitForbidden: Type.Boolean({ description: 'Whether the order must never be sent to the partner again.' }),
    outcome: Nullable(Words('ExceptionOutcome', EXCEPTION_OUTCOMES)),
    outcomeAmount: Nullable(Money, { description: 'The amount that came back, when staff have stated it.' }),
    evidence: Nullable(Type.String()),
    resolvedBy: Nullable(Uuid, { description: 'Null also when a message of the partner resolved the exception.' }),
    resolvedByName: Nullable(Type.String()),
    resolvedAt: Nullable(Timestamp),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Exception' },
)
export type Exception = Static<typeof Exception>

export const ExceptionResolve = Type.Object(
  {
    outcome: Resolution,
    evidence: Text(1, EVIDENCE_MAX, {
      description: 'The evidence for the outcome: a line of a statement, a message of the partner.',
    }),
    amount: Type.Optional(
      Nullable(PositiveMoney, {
        description: 'The amount that came back, when the outcome is `returned`; null for the whole amount.',
      }),
    ),
  },
  { title: 'ExceptionResolve', additionalProperties: false },
)
export type ExceptionResolve = Static<typeof ExceptionResolve>

export const exceptionList = list({
  filters: {
    status: { kind: 'words', values: STATUSES, default: ['open'] },
    kind: { kind: 'words', values: EXCEPTION_KINDS },
    customerId: { kind: 'ids' },
    assignee: { kind: 'ids' },
    olderThanHours: { kind: 'integer', min: 0, max: OLDER_THAN_HOURS_MAX },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['createdAt', '-createdAt'],
})

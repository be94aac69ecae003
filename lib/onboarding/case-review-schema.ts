/** The review of KYB cases by the operator's staff: its queue, and what they decide. */
import Type, { type Static } from 'typebox'
import { list } from '../contract/list.ts'
import { Nullable, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'
import { CUSTOMER_TYPES } from '../customers/types.ts'
import { RISK_RATINGS } from '../customers/customer.ts'
import { Customer } from '../customers/customer-schema.ts'
import { CASE_DECISIONS } from './case-decision.ts'
import { REQUESTED_MAX } from './case-review.ts'
import { KYB_CASE_STATUSES } from './case-words.ts'
import { KybCase } from './kyb-case-schema.ts'
import { ALERT_DECISIONS, SCREENING_ALERT_STATUSES } from './screening-alert.ts'

const REASON_MAX = 500
const MESSAGE_MAX = 2_000
const POINTER_MAX = 200

const person = Type.Object({ id: Uuid, name: Type.String() })

const FirstApproval = Type.Object(
  { by: person, at: Timestamp, note: Nullable(Type.String()) },
  { title: 'KybFirstApproval' },
)

const item = {
  id: Uuid,
  customerId: Uuid,
  customerName: Type.String(),
  customerNumber: Type.String(),
  customerType: KybCase.properties.customerType,
  customerStatus: Customer.properties.status,
  status: KybCase.properties.status,
  risk: Customer.properties.risk,
  provider: KybCase.properties.provider,
  assignee: Nullable(Uuid, { description: 'The person of the staff who reviews the case.' }),
  openAlerts: Type.Integer({ minimum: 0, description: 'Screening alerts on which nobody has decided.' }),
  firstApproval: Nullable(FirstApproval, { description: 'The first of the two approvals of a customer of high risk.' }),
  decision: Nullable(
    Type.Object(
      {
        decision: Words('KybDecision', CASE_DECISIONS),
        by: person,
        at: Timestamp,
        reason: Nullable(Type.String({ description: 'For staff; customers never see it.' })),
        reasonForCustomer: Nullable(Type.String()),
        first: Nullable(FirstApproval),
      },
      { title: 'KybCaseDecision' },
    ),
    { description: 'The last decision.' },
  ),
  nextReviewAt: Nullable(Timestamp),
  submittedAt: Nullable(Timestamp),
  reviewedAt: Nullable(Timestamp),
  createdAt: Timestamp,
  updatedAt: Timestamp,
}

export const KybCaseItem = Type.Object(item, { title: 'KybCaseItem' })
export type KybCaseItem = Static<typeof KybCaseItem>

const view = {
  decision: Words('AlertDecision', ALERT_DECISIONS),
  reason: Type.String(),
  by: person,
  at: Timestamp,
}
const AlertProposal = Type.Object(view, { title: 'AlertProposal' })

export const ScreeningAlert = Type.Object(
  {
    id: Uuid,
    provider: Type.String(),
    list: Type.String(),
    name: Type.String({ description: 'The name as the list has it.' }),
    score: Type.Number({ minimum: 0, maximum: 100 }),
    status: Words('ScreeningAlertStatus', SCREENING_ALERT_STATUSES),
    proposal: Nullable(AlertProposal, { description: 'The view of the first of two people.' }),
    decision: Nullable(Type.Object({ ...view, first: AlertProposal }, { title: 'AlertDecided' })),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'ScreeningAlert' },
)
export type ScreeningAlert = Static<typeof ScreeningAlert>

export const KybCaseReview = Type.Object(
  {
    ...item,
    infoRequested: KybCase.properties.infoRequested,
    alerts: Type.Array(ScreeningAlert, { description: 'What screening has found, oldest first.' }),
    notes: Type.Array(Type.Object({ id: Uuid, text: Type.String(), by: person, at: Timestamp }, { title: 'KybNote' }), {
      description: 'The notes of staff, oldest first; customers never see them.',
    }),
  },
  { title: 'KybCaseReview' },
)
export type KybCaseReview = Static<typeof KybCaseReview>

const body = { additionalProperties: false } as const

export const KybAssign = Type.Object(
  { assigneeId: Type.Optional(Nullable(Uuid, { description: 'The caller, when it is absent; null for nobody.' })) },
  { title: 'KybAssign', ...body },
)
export type KybAssign = Static<typeof KybAssign>

export const KybRequestInfo = Type.Object(
  {
    message: Text(1, MESSAGE_MAX, { description: 'What the customer reads.' }),
    requirements: Type.Array(Type.String({ maxLength: POINTER_MAX, pattern: '^(/[A-Za-z0-9_-]{1,64}){1,6}$' }), {
      maxItems: REQUESTED_MAX,
      uniqueItems: true,
      description: 'JSON pointers into the case; none: a question about it as a whole.',
    }),
  },
  {
    title: 'KybRequestInfo',
    ...body,
    examples: [
      {
        message: 'Please upload an extract that is not older than three months.',
        requirements: ['/documents/kyb_register_extract'],
      },
    ],
  },
)
export type KybRequestInfo = Static<typeof KybRequestInfo>

export const KybApprove = Type.Object(
  { note: Type.Optional(Nullable(Text(1, REASON_MAX, { description: 'For staff; customers never see it.' }))) },
  { title: 'KybApprove', ...body },
)
export type KybApprove = Static<typeof KybApprove>

export const KybReject = Type.Object(
  {
    reason: Text(1, REASON_MAX, { description: 'For staff; customers never see it.' }),
    reasonForCustomer: Text(1, REASON_MAX, { description: 'What the customer reads.' }),
  },
  { title: 'KybReject', ...body },
)
export type KybReject = Static<typeof KybReject>

const reason = Text(1, REASON_MAX, { description: 'For staff; customers never see it.' })
export const KybReopen = Type.Object({ reason }, { title: 'KybReopen', ...body })
export type KybReopen = Static<typeof KybReopen>

export const KybNoteCreate = Type.Object({ text: Text(1, MESSAGE_MAX) }, { title: 'KybNoteCreate', ...body })
export type KybNoteCreate = Static<typeof KybNoteCreate>

export const AlertView = Type.Object(
  { decision: view.decision, reason },
  { title: 'AlertView', ...body, examples: [{ decision: 'cleared', reason: 'Another date of birth.' }] },
)
export type AlertView = Static<typeof AlertView>

export const kybCaseList = list({
  filters: {
    status: { kind: 'words', values: KYB_CASE_STATUSES, default: ['submitted', 'in_review', 'info_requested'] },
    customerType: { kind: 'words', values: CUSTOMER_TYPES },
    assignee: { kind: 'ids' },
    risk: { kind: 'words', values: RISK_RATINGS },
    submittedFrom: { kind: 'timeFrom' },
    submittedTo: { kind: 'timeTo' },
  },
  sorts: ['submittedAt', '-updatedAt'],
  q: true,
})

/** The review of KYB cases: the queue of the operator's staff, and what they decide. */
import {
  AlertView,
  KybApprove,
  KybAssign,
  kybCaseList,
  KybCaseItem,
  KybCaseReview,
  KybNoteCreate,
  KybReject,
  KybReopen,
  KybRequestInfo,
} from '../../lib/onboarding/case-review-schema.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { PageOf } from '../../lib/contract/page.ts'
import { created, page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import type { ReadServices } from '../route/services.ts'

const STAFF = {
  tag: 'onboarding',
  callers: 'staff',
  capability: 'onboarding.review',
  scope: null,
  tenant: 'operator',
  idempotency: 'none',
} as const

type At = { readonly caseId: string }

/** A decision: `If-Match` keeps a person from deciding on a case that another has changed meanwhile. */
const DECISION = {
  ...STAFF,
  method: 'post',
  ifMatch: 'when sent',
  ifMatchesVersion: true,
  current: async (
    { tenant, params }: { readonly tenant: Tenant | null; readonly params: At },
    services: ReadServices,
  ) => (tenant === null ? null : await services.caseReviews.get(tenant, params.caseId)),
  exists: async (tenant: Tenant, { caseId }: At, { caseReviews }: ReadServices) =>
    (await caseReviews.get(tenant, caseId)) !== null,
  success: { status: 200, description: 'The case as it is now.', schema: KybCaseReview, etag: true },
} as const

export const listKybCases = route({
  ...STAFF,
  method: 'get',
  path: '/kyb-cases',
  operationId: 'listKybCases',
  summary: 'List KYB cases',
  description: 'By default those that are under review or wait for their customers, the longest waiting first.',
  list: kybCaseList,
  success: {
    status: 200,
    description: 'A page of cases.',
    schema: PageOf('KybCasePage', KybCaseItem),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { caseReviews }) => page(list, await caseReviews.list(list)),
})

export const getKybCaseReview = route({
  ...STAFF,
  method: 'get',
  path: '/kyb-cases/{caseId}',
  operationId: 'getKybCaseReview',
  summary: 'Read the review of a KYB case',
  description: 'What the customer has declared is in `GET /customers/{customerId}/kyb`.',
  success: {
    status: 200,
    description: 'The case with its questions, alerts and notes.',
    schema: KybCaseReview,
    etag: true,
  },
  problems: [],
  handle: async ({ tenant, params }, { caseReviews }) => resource(await caseReviews.get(tenant, params.caseId)),
})

export const assignKybCase = route({
  ...DECISION,
  path: '/kyb-cases/{caseId}/assign',
  operationId: 'assignKybCase',
  summary: 'Give a KYB case to a reviewer',
  body: KybAssign,
  bodyOptional: true,
  problems: ['not-found'],
  handle: async ({ caller, params, body, expectedVersion: expected }, { caseReviews }) =>
    resource((await caseReviews.assign(caller, { caseId: params.caseId, expected }, body)).review),
})

export const requestKybInfo = route({
  ...DECISION,
  path: '/kyb-cases/{caseId}/request-info',
  operationId: 'requestKybInfo',
  summary: 'Ask the customer for information',
  description:
    'The customer reads the message, in a notice and in a mail too. A text that may reveal a confidential review is ' +
    'refused (`tipping_off`).',
  body: KybRequestInfo,
  problems: ['not-found', 'invalid-transition', 'limit-reached', 'tipping_off'],
  handle: async ({ caller, params, body, expectedVersion: expected }, { caseReviews }) =>
    resource((await caseReviews.requestInfo(caller, { caseId: params.caseId, expected }, body)).review),
})

export const approveKybCase = route({
  ...DECISION,
  path: '/kyb-cases/{caseId}/approve',
  operationId: 'approveKybCase',
  summary: 'Approve a KYB case',
  description:
    'The customer is `active` and has its first balances. A customer of high risk takes two people: the first approval ' +
    'is kept (202), and that of another person decides. Refused while persons are not verified or screening alerts are ' +
    'not cleared (`kyc_incomplete`).',
  body: KybApprove,
  bodyOptional: true,
  success: {
    ...DECISION.success,
    or: { status: 202, description: 'The case, which waits for the approval of a second person.' },
  },
  problems: ['not-found', 'invalid-transition', 'kyc_incomplete'],
  handle: async ({ caller, params, body, expectedVersion: expected }, { caseReviews }) => {
    const { review, waits } = await caseReviews.approve(caller, { caseId: params.caseId, expected }, body)
    return resource(review, waits ? 202 : 200)
  },
})

export const rejectKybCase = route({
  ...DECISION,
  path: '/kyb-cases/{caseId}/reject',
  operationId: 'rejectKybCase',
  summary: 'Reject a KYB case',
  description: 'The customer reads `reasonForCustomer`, which must not reveal a confidential review (`tipping_off`).',
  body: KybReject,
  problems: ['not-found', 'invalid-transition', 'tipping_off'],
  handle: async ({ caller, params, body, expectedVersion: expected }, { caseReviews }) =>
    resource((await caseReviews.reject(caller, { caseId: params.caseId, expected }, body)).review),
})

export const reopenKybCase = route({
  ...DECISION,
  path: '/kyb-cases/{caseId}/reopen',
  operationId: 'reopenKybCase',
  summary: 'Review a KYB case again',
  description: 'For cases that were approved or rejected. A customer that was approved stays so meanwhile.',
  body: KybReopen,
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params, body, expectedVersion: expected }, { caseReviews }) =>
    resource((await caseReviews.reopen(caller, { caseId: params.caseId, expected }, body)).review),
})

export const addKybNote = route({
  ...DECISION,
  path: '/kyb-cases/{caseId}/notes',
  operationId: 'addKybNote',
  summary: 'Add a note to a KYB case',
  body: KybNoteCreate,
  success: {
    status: 201,
    description: 'The case with the note.',
    schema: KybCaseReview,
    etag: true,
    location: true,
  },
  problems: ['not-found', 'limit-reached'],
  handle: async ({ caller, params, body, expectedVersion: expected }, { caseReviews }) => {
    const { review } = await caseReviews.note(caller, { caseId: params.caseId, expected }, body)
    return created(review, `/v1/kyb-cases/${params.caseId}`)
  },
})

export const decideScreeningAlert = route({
  ...DECISION,
  path: '/kyb-cases/{caseId}/alerts/{alertId}/decide',
  operationId: 'decideScreeningAlert',
  summary: 'Decide on a screening alert',
  description:
    'It takes two people: the first view is recorded (202), and the same view of another person takes effect. A ' +
    'different view takes the place of the first.',
  body: AlertView,
  success: {
    ...DECISION.success,
    or: { status: 202, description: 'The case, whose alert waits for the view of a second person.' },
  },
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params, body, expectedVersion: expected }, { caseReviews }) => {
    const { caseId, alertId } = params
    const { review, waits } = await caseReviews.viewAlert(caller, { caseId, expected }, alertId, body)
    return resource(review, waits ? 202 : 200)
  },
})

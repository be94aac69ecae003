/** Questions about held payments: what staff ask, and what the customer answers. */
import { refuseNotFound } from '../../lib/base/problems.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import {
  HoldQuestion,
  HoldQuestionCreate,
  PaymentAnswer,
  PaymentAnswerCreate,
  PaymentQuestion,
} from '../../lib/compliance/payment-question-schema.ts'
import { DownloadLink } from '../../lib/contract/download-link.ts'
import { PAGE_LIMIT_MAX, PageOf } from '../../lib/contract/page.ts'
import { json } from '../route/answer.ts'
import { route } from '../route/route.ts'
import type { ReadServices } from '../route/services.ts'

const STAFF = {
  tag: 'payments',
  callers: 'staff',
  capability: 'compliance.manage',
  scope: null,
  tenant: 'operator',
} as const

const whole = <View>(data: readonly View[]) => ({
  data: [...data],
  page: { nextCursor: null, prevCursor: null, limit: PAGE_LIMIT_MAX },
})

const hasHold = async (tenant: Tenant, { holdId }: { readonly holdId: string }, { compliance }: ReadServices) =>
  (await compliance.getComplianceHold(tenant, holdId)) !== null
const hasPayment = async (tenant: Tenant, { paymentId }: { readonly paymentId: string }, { payments }: ReadServices) =>
  (await payments.getPayment(tenant, paymentId)) !== null

export const listHoldQuestions = route({
  ...STAFF,
  idempotency: 'none',
  method: 'get',
  path: '/compliance-holds/{holdId}/questions',
  operationId: 'listHoldQuestions',
  summary: 'List the questions about a held payment',
  success: {
    status: 200,
    description: 'All questions with their answers, oldest first.',
    schema: PageOf('HoldQuestionPage', HoldQuestion),
  },
  problems: [],
  handle: async ({ tenant, params }, services) => {
    if (!(await hasHold(tenant, params, services))) refuseNotFound()
    return json(200, whole(await services.compliance.listHoldQuestions(tenant, params.holdId)))
  },
})

export const askHoldQuestion = route({
  ...STAFF,
  idempotency: 'optional',
  method: 'post',
  path: '/compliance-holds/{holdId}/questions',
  operationId: 'askHoldQuestion',
  summary: 'Ask the customer about a held payment',
  description:
    'The customer reads the question with its payment, in a notice and in a mail, and nothing of the hold. A text that ' +
    'may reveal the review is refused (`tipping_off`).',
  body: HoldQuestionCreate,
  exists: hasHold,
  success: { status: 201, description: 'The question.', schema: HoldQuestion, etag: true },
  problems: ['not-found', 'invalid-transition', 'limit-reached', 'tipping_off'],
  handle: ({ caller, params, command }, { compliance }) => compliance.ask(caller, params.holdId, command),
})

export const downloadAnswerDocument = route({
  ...STAFF,
  idempotency: 'none',
  method: 'get',
  path: '/compliance-holds/{holdId}/questions/{questionId}/documents/{documentId}/download',
  operationId: 'downloadAnswerDocument',
  summary: 'Get a link to a document with which the customer has answered',
  success: { status: 200, description: 'A link that expires soon.', schema: DownloadLink },
  problems: [],
  handle: async ({ tenant, params }, { compliance }) =>
    json(200, (await compliance.downloadAnswerDocument(tenant, params)) ?? refuseNotFound()),
})

export const listPaymentQuestions = route({
  tag: 'payments',
  callers: 'session',
  scope: null,
  capability: 'payments:read',
  tenant: 'customer',
  idempotency: 'none',
  method: 'get',
  path: '/payments/{paymentId}/questions',
  operationId: 'listPaymentQuestions',
  summary: 'List the questions about a payment',
  success: {
    status: 200,
    description: 'All questions with their answers, oldest first.',
    schema: PageOf('PaymentQuestionPage', PaymentQuestion),
  },
  problems: [],
  handle: async ({ tenant, params }, services) => {
    if (!(await hasPayment(tenant, params, services))) refuseNotFound()
    return json(200, whole(await services.compliance.listPaymentQuestions(tenant, params.paymentId)))
  },
})

export const answerPaymentQuestion = route({
  tag: 'payments',
  callers: 'session',
  scope: null,
  capability: 'payments.create',
  tenant: 'customer',
  idempotency: 'optional',
  method: 'post',
  path: '/payments/{paymentId}/questions/{questionId}/answers',
  operationId: 'answerPaymentQuestion',
  summary: 'Answer a question about a payment',
  description: 'A question can be answered more than once, until it is closed.',
  body: PaymentAnswerCreate,
  exists: hasPayment,
  success: { status: 201, description: 'The answer.', schema: PaymentAnswer, etag: true },
  problems: ['not-found', 'invalid-transition', 'limit-reached', 'document-not-clean'],
  handle: ({ caller, params, command }, { compliance }) => compliance.answer(caller, params, command),
})

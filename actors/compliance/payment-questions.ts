/**
 * Questions about a held payment: staff ask, the customer answers with texts and documents. The customer never sees the
 * hold; the text of a question is examined for what it may reveal, and goes out as a notice, a mail and an event.
 */
import { refuse, refuseNotFound, refuseTransition } from '../../lib/base/problems.ts'
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import {
  ANSWERS_MAX,
  holdQuestionJson,
  paymentAnswerJson,
  paymentQuestionJson,
  QUESTIONS_MAX,
  questionStatus,
  type PaymentQuestionRecord,
  type PaymentQuestionStatus,
} from '../../lib/compliance/payment-question.ts'
import type {
  HoldQuestion,
  HoldQuestionCreate,
  PaymentAnswer,
  PaymentAnswerCreate,
  PaymentQuestion,
} from '../../lib/compliance/payment-question-schema.ts'
import { refuseTippingOff } from '../../lib/compliance/tipping-off.ts'
import type { DownloadLink } from '../../lib/contract/download-link.ts'
import { rolesWith } from '../../lib/identity/capabilities.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { lockComplianceHold, type ComplianceHoldRecord } from '../../storage/compliance/compliance-holds.ts'
import {
  insertAnswer,
  insertQuestion,
  lockQuestion,
  readQuestions,
} from '../../storage/compliance/payment-questions.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import { findDocument, insertUses, lockStatusesOf } from '../../storage/documents/documents.ts'
import { insertNotices, peopleInRoles } from '../../storage/notices/notices.ts'
import { writeEvent } from '../../storage/outbox/outbox.ts'
import { readPaymentOrder } from '../../storage/payments/payment-states.ts'
import { recordChange, type ChangeDeps, type ChangeTransaction } from '../commands/changes.ts'
import { decideOnce, type RunOnceDeps } from '../commands/run-once.ts'
import { auditCaller } from '../commands/trail.ts'
import type { DownloadReads } from '../documents/downloads.ts'
import { checkedDocuments } from '../documents/named-documents.ts'

/** The people who are told of a question, beside the one who ordered the payment: those who could have. */
const TOLD_ROLES = rolesWith('payments.create')

export interface QuestionDeps extends ChangeDeps, RunOnceDeps {
  readonly downloads: DownloadReads
}

/** The reads. */
export interface QuestionReads {
  /** The questions about a hold, oldest first; none where the hold is not the operator's. */
  listHoldQuestions(tenant: Tenant, holdId: string): Promise<readonly HoldQuestion[]>
  /** The questions about a payment, oldest first; none where the payment is not the customer's. */
  listPaymentQuestions(tenant: Tenant, paymentId: string): Promise<readonly PaymentQuestion[]>
  /** A link to a document of an answer, for staff; null when the operator has no such hold, question or document. */
  downloadAnswerDocument(tenant: Tenant, document: AnswerDocument): Promise<DownloadLink | null>
}

/** The path to a document of an answer. */
export interface AnswerDocument {
  readonly holdId: string
  readonly questionId: string
  readonly documentId: string
}

/** The writes. Every refusal is thrown as a problem. */
export interface QuestionCommands {
  ask(
    by: Caller<'person'>,
    holdId: string,
    command: Command<HoldQuestionCreate>,
  ): Promise<CommandAnswer<HoldQuestion, 201>>
  answer(
    by: Caller<'person'>,
    question: { readonly paymentId: string; readonly questionId: string },
    command: Command<PaymentAnswerCreate>,
  ): Promise<CommandAnswer<PaymentAnswer, 201>>
}

/** Creates the reads of questions. */
export function createQuestionReads({ database, downloads }: QuestionDeps): QuestionReads {
  return {
    listHoldQuestions: async (tenant, holdId) =>
      (await readQuestions(database.pool, { operatorId: tenant.id }, { holdId })).map(holdQuestionJson),
    listPaymentQuestions: async (tenant, paymentId) =>
      (await readQuestions(database.pool, { customerId: tenant.id }, { paymentId })).map(paymentQuestionJson),
    async downloadAnswerDocument(tenant, { holdId, questionId, documentId }) {
      const operatorId = tenant.id
      const [question] = await readQuestions(database.pool, { operatorId }, { holdId, id: questionId })
      if (!question?.answers.some(({ documentIds }) => documentIds.includes(documentId))) return null
      const document = await findDocument(database.pool, 'document', question.customerId, documentId)
      return document === null ? null : downloads.link({ ...document, id: document.fileId })
    },
  }
}

/** Creates the writes of questions. */
export function createQuestionCommands(deps: QuestionDeps): QuestionCommands {
  const transactionOf = (client: TransactionClient): ChangeTransaction => ({
    client,
    ids: deps.ids,
    now: deps.clock.now(),
  })
  return {
    ask: (by, holdId, command) =>
      decideOnce(deps, command, 201, async (client) => {
        const view = await ask(transactionOf(client), by, holdId, command.body)
        return { shown: { version: 1, view }, made: { type: 'payment_question', id: view.id } }
      }),
    answer: (by, question, command) =>
      decideOnce(deps, command, 201, async (client) => {
        const view = await answer(transactionOf(client), by, question, command.body)
        return { shown: { version: 1, view }, made: { type: 'payment_answer', id: view.id } }
      }),
  }
}

/** @throws ProblemError `not-found`, `tipping_off`, `invalid-transition`, `limit-reached` */
async function ask(
  tx: ChangeTransaction,
  by: Caller<'person'>,
  holdId: string,
  { text }: HoldQuestionCreate,
): Promise<HoldQuestion> {
  const { client, ids, now } = tx
  const operatorId = by.tenant.id
  const hold = await lockComplianceHold(client, holdId)
  if (hold === null || hold.operatorId !== operatorId) refuseNotFound()
  refuseTippingOff({ '/text': text })
  if (hold.status !== 'open') refuseTransition(`The hold is ${hold.status}.`, hold.status, ['open'])
  if (hold.subjectType !== 'payment') refuseTransition('Only questions about payments can be asked.', hold.status, [])
  if ((await readQuestions(client, { operatorId }, { holdId })).length >= QUESTIONS_MAX)
    refuse('limit-reached', `A hold has at most ${QUESTIONS_MAX} questions.`, {
      extra: { limit: QUESTIONS_MAX, resource: 'payment_question' },
    })
  const id = ids.next()
  const { subjectId: paymentId, customerId } = hold
  const { id: askedBy, name: askedByName } = by.principal
  await insertQuestion(client, { id, holdId, paymentId, customerId, operatorId, text, askedBy, askedByName, now })
  await tellQuestion(tx, hold, { id, status: 'open', previousStatus: null })
  await tellPeople(tx, hold, text)
  await recordChange(tx, auditCaller(by), operatorId, {
    action: 'payment_question.asked',
    object: { type: 'payment_question', id },
    before: null,
    after: { text, holdId, paymentId, customerId },
  })
  const [asked] = await readQuestions(client, { operatorId }, { holdId, id })
  return holdQuestionJson(asked as PaymentQuestionRecord)
}

/** @throws ProblemError `not-found`, `invalid-transition`, `limit-reached`, `validation-error`, `document-not-clean` */
async function answer(
  tx: ChangeTransaction,
  by: Caller<'person'>,
  { paymentId, questionId }: { readonly paymentId: string; readonly questionId: string },
  { text, documentIds: sent }: PaymentAnswerCreate,
): Promise<PaymentAnswer> {
  const { client, ids, now } = tx
  const customerId = by.tenant.id
  const { holdId } = (await lockQuestion(client, { customerId, paymentId, id: questionId })) ?? refuseNotFound()
  const hold = (await lockComplianceHold(client, holdId)) as ComplianceHoldRecord
  const documents = { statuses: (customer: string, all: readonly string[]) => lockStatusesOf(client, customer, all) }
  const documentIds = await checkedDocuments(documents, customerId, sent)
  const [before] = await readQuestions(client, { customerId }, { paymentId, id: questionId })
  const { answers } = before as PaymentQuestionRecord
  const previousStatus = questionStatus(before as PaymentQuestionRecord)
  if (previousStatus === 'closed')
    refuseTransition('The question is closed: the payment waits no more.', previousStatus, ['open', 'answered'])
  if (answers.length >= ANSWERS_MAX)
    refuse('limit-reached', `A question has at most ${ANSWERS_MAX} answers.`, {
      extra: { limit: ANSWERS_MAX, resource: 'payment_answer' },
    })
  const id = ids.next()
  const { operatorId } = hold
  const { id: answeredBy, name: answeredByName } = by.principal
  const given = { id, text, documentIds, answeredBy, answeredByName }
  await insertAnswer(client, { ...given, questionId, customerId, operatorId, now })
  await insertUses(client, { object: 'payment_answer', objectId: id }, documentIds)
  await tellQuestion(tx, hold, { id: questionId, status: 'answered', previousStatus })
  await recordChange(tx, auditCaller(by), customerId, {
    action: 'payment_question.answered',
    object: { type: 'payment_question', id: questionId },
    before: { status: previousStatus },
    after: { status: 'answered', text, documentIds, paymentId },
  })
  return paymentAnswerJson({ ...given, createdAt: now })
}

async function tellQuestion(
  { client, ids, now }: ChangeTransaction,
  { customerId, operatorId, shard, subjectId }: ComplianceHoldRecord,
  {
    id,
    status,
    previousStatus,
  }: {
    readonly id: string
    readonly status: 'open' | 'answered'
    readonly previousStatus: PaymentQuestionStatus | null
  },
): Promise<void> {
  await writeEvent(client, {
    ...{ id: ids.next(), createdAt: now, customerId, operatorId, shard },
    type: status === 'open' ? 'payment_question.asked' : 'payment_question.answered',
    object: 'payment_question',
    objectId: id,
    ...{ status, previousStatus, amount: null, currency: null },
    related: { object: 'payment', id: subjectId },
  })
}

async function tellPeople(
  { client, ids, now }: ChangeTransaction,
  { customerId, subjectId }: ComplianceHoldRecord,
  text: string,
): Promise<void> {
  const { number, createdBy } = await readPaymentOrder(client, subjectId)
  const people = new Set([...(await peopleInRoles(client, customerId, TOLD_ROLES)), createdBy])
  await insertNotices(
    client,
    ids,
    [...people],
    {
      tenantId: customerId,
      type: 'payment_question',
      title: `Question about payment ${number}`,
      text,
      object: { type: 'payment', id: subjectId },
    },
    now,
  )
}

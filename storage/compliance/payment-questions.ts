/** Questions about held payments, as rows. A question is asked and answered under the lock of its hold. */
import type { InferEntity } from '@mikro-orm/core'
import type { ComplianceHoldStatus } from '../../lib/compliance/hold.ts'
import type { PaymentAnswerRecord, PaymentQuestionRecord } from '../../lib/compliance/payment-question.ts'
import { entitiesOf, type TenantScope } from '../db/entities.ts'
import type { StatementRunner } from '../db/entity-driver.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { PaymentAnswer, PaymentQuestion } from './payment-question-entity.ts'

/** Which questions are meant: those about a hold, those about a payment, or one of them. */
export type QuestionFilter =
  | { readonly holdId: string; readonly id?: string }
  | { readonly paymentId: string; readonly id?: string }

/** Reads a tenant's questions with their answers, oldest first. */
export async function readQuestions(
  client: StatementRunner,
  tenant: TenantScope,
  filter: QuestionFilter,
): Promise<readonly PaymentQuestionRecord[]> {
  const rows = entitiesOf(client, tenant)
  const questions = await rows.find(PaymentQuestion, { ...filter }, { id: 'asc' })
  if (questions.length === 0) return []
  const answers = await rows.find(PaymentAnswer, { questionId: { $in: questions.map(({ id }) => id) } }, { id: 'asc' })
  const holds = await holdStatuses(client, [...new Set(questions.map(({ holdId }) => holdId))])
  return questions.map((question) => ({
    ...question,
    holdStatus: holds.get(question.holdId) as ComplianceHoldStatus,
    answers: answers.filter(({ questionId }) => questionId === question.id).map(answerOf),
  }))
}

const answerOf = (row: InferEntity<typeof PaymentAnswer>): PaymentAnswerRecord => ({
  id: row.id,
  text: row.text,
  documentIds: row.documentIds,
  answeredBy: row.answeredBy,
  answeredByName: row.answeredByName,
  createdAt: row.createdAt,
})

async function holdStatuses(
  client: StatementRunner,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ComplianceHoldStatus>> {
  const { rows } = await client.query<{ id: string; status: ComplianceHoldStatus }>({
    name: 'hold_statuses',
    text: 'select id, status from compliance_hold where id = any($1::uuid[])',
    values: [ids],
  })
  return new Map(rows.map(({ id, status }) => [id, status]))
}

/** Locks a customer's question until the transaction ends. @returns its hold; null when the payment has no such question */
export async function lockQuestion(
  client: TransactionClient,
  { customerId, paymentId, id }: { readonly customerId: string; readonly paymentId: string; readonly id: string },
): Promise<{ readonly holdId: string } | null> {
  return await entitiesOf(client, { customerId }).lock(PaymentQuestion, { id, paymentId })
}

/** Adds a question to a locked hold. `now` is epoch milliseconds. */
export async function insertQuestion(
  client: TransactionClient,
  {
    now,
    ...question
  }: {
    readonly id: string
    readonly holdId: string
    readonly paymentId: string
    readonly customerId: string
    readonly operatorId: string
    readonly text: string
    readonly askedBy: string
    readonly askedByName: string
    readonly now: number
  },
): Promise<void> {
  const { operatorId } = question
  await entitiesOf(client, { operatorId }).insert(PaymentQuestion, { ...question, createdAt: now, updatedAt: now })
}

/** Adds an answer to a question whose hold is locked; the question has changed with it. `now` is epoch milliseconds. */
export async function insertAnswer(
  client: TransactionClient,
  {
    now,
    documentIds,
    ...answer
  }: Omit<PaymentAnswerRecord, 'createdAt'> & {
    readonly questionId: string
    readonly customerId: string
    readonly operatorId: string
    readonly now: number
  },
): Promise<void> {
  const { customerId, questionId } = answer
  const rows = entitiesOf(client, { customerId })
  await rows.insert(PaymentAnswer, { ...answer, documentIds: [...documentIds], createdAt: now })
  Object.assign(await rows.get(PaymentQuestion, questionId), { updatedAt: now })
  await rows.save()
}

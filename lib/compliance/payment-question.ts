/**
 * Questions of staff about a payment that is held, and the customer's answers. Pure.
 *
 * The customer sees the question and its own answers; nothing of the hold, its reason or the person who asks.
 */
import { timestamp } from '../base/clock.ts'
import type { ComplianceHoldStatus } from './hold.ts'

/** Questions about one hold. */
export const QUESTIONS_MAX = 20
/** Answers to one question. */
export const ANSWERS_MAX = 20
/** Documents of one answer. */
export const ANSWER_DOCUMENTS_MAX = 10
/** Characters of a question or an answer. */
export const QUESTION_TEXT_MAX = 2_000

/**
 *   open ──answer──▶ answered ──┐
 *     └──the hold is decided────┴──▶ closed
 */
export const PAYMENT_QUESTION_STATUSES = ['open', 'answered', 'closed'] as const
export type PaymentQuestionStatus = (typeof PAYMENT_QUESTION_STATUSES)[number]

/** An answer. Times are epoch milliseconds. */
export interface PaymentAnswerRecord {
  readonly id: string
  readonly text: string
  /** Documents of the customer, in the order in which it named them. */
  readonly documentIds: readonly string[]
  readonly answeredBy: string
  readonly answeredByName: string
  readonly createdAt: number
}

/** A question with its answers, oldest first. Times are epoch milliseconds. */
export interface PaymentQuestionRecord {
  readonly id: string
  readonly holdId: string
  readonly holdStatus: ComplianceHoldStatus
  readonly paymentId: string
  readonly customerId: string
  readonly text: string
  readonly askedBy: string
  readonly askedByName: string
  readonly answers: readonly PaymentAnswerRecord[]
  readonly version: number
  readonly createdAt: number
  readonly updatedAt: number
}

/** The status follows from the hold and the answers. */
export function questionStatus({
  holdStatus,
  answers,
}: {
  readonly holdStatus: ComplianceHoldStatus
  readonly answers: readonly unknown[]
}): PaymentQuestionStatus {
  if (holdStatus !== 'open') return 'closed'
  return answers.length === 0 ? 'open' : 'answered'
}

/** Builds an answer as both sides see it. */
export function paymentAnswerJson(answer: PaymentAnswerRecord) {
  const { id, text, documentIds, answeredBy, answeredByName, createdAt } = answer
  return {
    id,
    text,
    documentIds: [...documentIds],
    by: { id: answeredBy, name: answeredByName },
    at: timestamp(createdAt),
  }
}

/** Builds the question as the customer sees it. */
export function paymentQuestionJson(question: PaymentQuestionRecord) {
  return {
    id: question.id,
    paymentId: question.paymentId,
    status: questionStatus(question),
    text: question.text,
    answers: question.answers.map(paymentAnswerJson),
    createdAt: timestamp(question.createdAt),
    updatedAt: timestamp(question.updatedAt),
  }
}

/** Builds the question as the operator's staff see it. */
export function holdQuestionJson(question: PaymentQuestionRecord) {
  const { holdId, askedBy, askedByName } = question
  return { ...paymentQuestionJson(question), holdId, askedBy: { id: askedBy, name: askedByName } }
}

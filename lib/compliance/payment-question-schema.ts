/** Questions about a held payment: what staff ask, and what the customer answers. */
import Type, { type Static } from 'typebox'
import { Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'
import { ANSWER_DOCUMENTS_MAX, PAYMENT_QUESTION_STATUSES, QUESTION_TEXT_MAX } from './payment-question.ts'

const person = Type.Object({ id: Uuid, name: Type.String() })

export const PaymentAnswer = Type.Object(
  { id: Uuid, text: Type.String(), documentIds: Type.Array(Uuid), by: person, at: Timestamp },
  { title: 'PaymentAnswer' },
)
export type PaymentAnswer = Static<typeof PaymentAnswer>

const fields = {
  id: Uuid,
  paymentId: Uuid,
  status: Words(
    'PaymentQuestionStatus',
    PAYMENT_QUESTION_STATUSES,
    'A `closed` question is answered no more: the payment has gone on or has failed.',
  ),
  text: Type.String(),
  answers: Type.Array(PaymentAnswer, { description: 'The answers, oldest first.' }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
}

export const PaymentQuestion = Type.Object(fields, { title: 'PaymentQuestion' })
export type PaymentQuestion = Static<typeof PaymentQuestion>

export const HoldQuestion = Type.Object({ ...fields, holdId: Uuid, askedBy: person }, { title: 'HoldQuestion' })
export type HoldQuestion = Static<typeof HoldQuestion>

export const HoldQuestionCreate = Type.Object(
  {
    text: Text(1, QUESTION_TEXT_MAX, {
      description: 'The question, which the customer reads; it must not reveal why the payment is held.',
    }),
  },
  {
    title: 'HoldQuestionCreate',
    additionalProperties: false,
    examples: [{ text: 'Please send us the invoice for this payment.' }],
  },
)
export type HoldQuestionCreate = Static<typeof HoldQuestionCreate>

export const PaymentAnswerCreate = Type.Object(
  {
    text: Text(1, QUESTION_TEXT_MAX),
    documentIds: Type.Optional(
      Type.Array(Uuid, { maxItems: ANSWER_DOCUMENTS_MAX, description: 'Documents of the customer that are `clean`.' }),
    ),
  },
  {
    title: 'PaymentAnswerCreate',
    additionalProperties: false,
    examples: [{ text: 'The invoice is attached.', documentIds: ['01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f'] }],
  },
)
export type PaymentAnswerCreate = Static<typeof PaymentAnswerCreate>

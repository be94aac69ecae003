/** A question of staff about a held payment, and the customer's answers. */
import { defineEntity, p } from '@mikro-orm/core'
import { bigVersion, instant, managed } from '../db/entity-types.ts'

export const PaymentQuestion = managed(
  defineEntity({
    name: 'PaymentQuestion',
    tableName: 'payment_question',
    properties: {
      id: p.uuid().primary(),
      holdId: p.uuid().fieldName('hold_id'),
      paymentId: p.uuid().fieldName('payment_id'),
      customerId: p.uuid().fieldName('customer_id'),
      operatorId: p.uuid().fieldName('operator_id'),
      text: p.text(),
      askedBy: p.uuid().fieldName('asked_by'),
      askedByName: p.text().fieldName('asked_by_name'),
      version: bigVersion(),
      createdAt: instant().fieldName('created_at'),
      updatedAt: instant().fieldName('updated_at'),
    },
    indexes: [
      { name: 'payment_question_hold', properties: ['holdId', 'id'] },
      { name: 'payment_question_payment', properties: ['paymentId', 'id'] },
    ],
  }),
)

export const PaymentAnswer = managed(
  defineEntity({
    name: 'PaymentAnswer',
    tableName: 'payment_answer',
    properties: {
      id: p.uuid().primary(),
      questionId: p.uuid().fieldName('question_id'),
      customerId: p.uuid().fieldName('customer_id'),
      operatorId: p.uuid().fieldName('operator_id'),
      text: p.text(),
      documentIds: p.array().fieldName('document_ids').columnType('uuid[]'),
      answeredBy: p.uuid().fieldName('answered_by'),
      answeredByName: p.text().fieldName('answered_by_name'),
      createdAt: instant().fieldName('created_at'),
    },
    indexes: [{ name: 'payment_answer_question', properties: ['questionId', 'id'] }],
  }),
)

/** Payments that wait: for the partner, or for the day they are due. Only the commit writes these rows. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'

/** A payment that is handed to the partner, until the partner has answered for it. */
export const PartnerInstructionRow = defineEntity({
  name: 'PartnerInstructionRow',
  tableName: 'partner_instruction',
  properties: {
    paymentId: p.uuid().fieldName('payment_id').primary(),
    shard: p.smallint(),
    attentionAt: instant().fieldName('attention_at').nullable(),
    attempts: p.smallint().defaultRaw('0'),
    resubmitForbidden: p.boolean().fieldName('resubmit_forbidden').defaultRaw('false'),
    notBefore: instant().fieldName('not_before').nullable(),
    askAt: instant().fieldName('ask_at').nullable(),
  },
  indexes: [
    {
      name: 'partner_instruction_attention',
      expression:
        'create index partner_instruction_attention on partner_instruction (attention_at) where attention_at is not null',
    },
  ],
})

/** A payment whose day is to come. */
export const PaymentDueRow = defineEntity({
  name: 'PaymentDueRow',
  tableName: 'payment_due',
  properties: {
    paymentId: p.uuid().fieldName('payment_id').primary(),
    shard: p.smallint(),
    dueAt: instant().fieldName('due_at'),
    until: instant(),
  },
  indexes: [{ name: 'payment_due_at', properties: ['dueAt'] }],
})

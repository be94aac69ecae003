/** A mail that waits, is being sent, was sent or was refused. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant, managed } from '../db/entity-types.ts'
import { taskTrigger } from '../tasks/task-triggers.ts'

export const MailRow = managed(
  defineEntity({
    name: 'Mail',
    tableName: 'mail',
    triggers: taskTrigger('mail', {
      columns: 'due_at',
      when: 'new.due_at is not null',
      task: ['notices.mail', 'id', 'due_at'],
    }),
    properties: {
      id: p.uuid().primary(),
      tenantId: p.uuid().fieldName('tenant_id').nullable(),
      recipient: p.text(),
      subject: p.text(),
      /** The text of a notice, which the notification holds too. Null once the mail has ended. */
      text: p.text().nullable(),
      /** The encrypted text of any other mail, which may hold a link that is a credential. */
      sealedText: p.uint8array().fieldName('sealed_text').nullable(),
      status: p.text().$type<'waiting' | 'sending' | 'sent' | 'bounced' | 'expired'>().defaultRaw(`'waiting'`),
      /** Null once the mail has ended. */
      dueAt: instant().fieldName('due_at').nullable(),
      failures: p.integer().defaultRaw('0'),
      /** Names the attempt that may end the mail. */
      lease: p.uuid().nullable(),
      /** When an attempt whose outcome is not known handed the end of the letter over. */
      handedOverAt: instant().fieldName('handed_over_at').nullable(),
      /** The last answer of the mail server. */
      reply: p.text().nullable(),
      createdAt: instant().fieldName('created_at'),
      endedAt: instant().fieldName('ended_at').nullable(),
      /** The end of the link in its text; null: it has none that ends. */
      validUntil: instant().fieldName('valid_until').nullable(),
    },
    checks: [
      { name: 'mail_text', expression: '(due_at is not null) = (num_nonnulls(text, sealed_text) = 1)' },
      { name: 'mail_ended', expression: `(due_at is null) = (ended_at is not null)` },
    ],
    indexes: [
      {
        name: 'mail_waiting',
        expression: 'create index mail_waiting on mail (created_at) where due_at is not null',
      },
      { name: 'mail_over', expression: 'create index mail_over on mail (ended_at) where ended_at is not null' },
    ],
  }),
)

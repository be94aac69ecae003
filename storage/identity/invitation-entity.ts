/** An invitation: a link with which a user becomes a member of a customer, or staff of an operator. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant, managed } from '../db/entity-types.ts'

export const Invitation = managed(
  defineEntity({
    name: 'Invitation',
    tableName: 'invitation',
    properties: {
      id: p.uuid().primary(),
      operatorId: p.uuid().fieldName('operator_id'),
      /** Null: an invitation of the operator's staff. */
      customerId: p.uuid().fieldName('customer_id').nullable(),
      /** The name of the invited person; null: the person chooses it. */
      name: p.text().nullable(),
      email: p.text(),
      emailKey: p.text().fieldName('email_key'),
      role: p.text(),
      teamIds: p.array().fieldName('team_ids').columnType('uuid[]'),
      tokenSha256: p.blob().fieldName('token_sha256'),
      status: p.text(),
      version: p.integer().version(),
      invitedBy: p.uuid().fieldName('invited_by'),
      invitedByName: p.text().fieldName('invited_by_name'),
      expiresAt: instant().fieldName('expires_at'),
      acceptedAt: instant().fieldName('accepted_at').nullable(),
      createdAt: instant().fieldName('created_at'),
    },
    indexes: [
      { name: 'invitation_customer', properties: ['customerId', 'id'] },
      {
        name: 'invitation_operator',
        expression: 'create index invitation_operator on invitation (operator_id, id) where customer_id is null',
      },
    ],
    uniques: [
      { name: 'invitation_token_unique', properties: ['tokenSha256'] },
      {
        name: 'invitation_pending',
        expression: `create unique index invitation_pending on invitation (customer_id, email_key) where status = 'pending'`,
      },
      {
        name: 'invitation_staff_pending',
        expression: `create unique index invitation_staff_pending on invitation (operator_id, email_key) where status = 'pending' and customer_id is null`,
      },
    ],
  }),
)

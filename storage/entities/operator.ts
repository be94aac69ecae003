/** Whoever runs the platform for customers of their own. */
import { defineEntity, p } from '@mikro-orm/core'

/** As the migration has it: nodes that remember what an operator allows are told when it changes. */
const TELL_NODES = `create trigger recipient_policy_changed after update of recipient_require_verification, recipient_allowed_overrides on operator
  for each row execute function recipient_policy_changed()`

export const Operator = defineEntity({
  name: 'Operator',
  tableName: 'operator',
  properties: {
    id: p.uuid().primary(),
    name: p.text(),
    recipientApprovalMode: p.text().fieldName('recipient_approval_mode').defaultRaw(`'customer_tier'`),
    recipientRequireVerification: p.boolean().fieldName('recipient_require_verification').defaultRaw('false'),
    recipientAllowedOverrides: p.array().columnType('text[]').fieldName('recipient_allowed_overrides').defaultRaw(`'{close_match}'`),
    createdAt: p.datetime().fieldName('created_at').columnType('timestamptz'),
  },
  triggers: [{ name: 'recipient_policy_changed', timing: 'after', events: ['update'], expression: TELL_NODES }],
})

/** Whoever runs the platform for customers of their own. */
import { defineEntity, p } from '@mikro-orm/core'

/** As the migration has it: nodes that remember what an operator has set are told when it changes. */
const TELL_NODES = `create trigger operator_changed after update on operator
  for each row execute function operator_changed()`

export const Operator = defineEntity({
  name: 'Operator',
  tableName: 'operator',
  properties: {
    id: p.uuid().primary(),
    name: p.text(),
    recipientApprovalMode: p.text().fieldName('recipient_approval_mode').defaultRaw(`'customer_tier'`),
    recipientRequireVerification: p.boolean().fieldName('recipient_require_verification').defaultRaw('false'),
    recipientAllowedOverrides: p.array().columnType('text[]').fieldName('recipient_allowed_overrides').defaultRaw(`'{close_match}'`),
    complianceFourEyesRelease: p.boolean().fieldName('compliance_four_eyes_release').defaultRaw('true'),
    paymentsFourEyesExceptions: p.boolean().fieldName('payments_four_eyes_exceptions').defaultRaw('true'),
    createdAt: p.datetime().fieldName('created_at').columnType('timestamptz'),
    version: p.integer().defaultRaw('1'),
    features: p.json().columnType('jsonb').defaultRaw(`'{}'`),
    updatedBy: p.uuid().fieldName('updated_by').nullable(),
    updatedAt: p.datetime().fieldName('updated_at').columnType('timestamptz').nullable(),
  },
  triggers: [{ name: 'operator_changed', timing: 'after', events: ['update'], expression: TELL_NODES }],
})

/**
 * The changes that the audit trail records: the kinds of objects, and the actions on each. An action is a noun and a
 * past participle; the noun is the object, or the part of it that changed.
 */
export const AUDIT_ACTIONS = {
  account_details: ['account_details.requested'],
  annotation: ['annotation.created', 'annotation.updated', 'annotation.deleted'],
  api_key: ['api_key.created', 'api_key.updated', 'api_key.rotated', 'api_key.revoked'],
  approval: ['approval.approved', 'approval.rejected', 'approval.cancelled', 'approval.expired'],
  approval_policy: ['approval_policy.updated'],
  attachment: ['attachment.uploaded', 'attachment.deleted'],
  balance: [
    'balance.opened',
    'balance.updated',
    'balance.closed',
    'balance.frozen',
    'balance.unfrozen',
    'statement.requested',
  ],
  bulk_payment: [
    'bulk_payment.created',
    'bulk_payment.revalidated',
    'bulk_payment.submitted',
    'bulk_payment.cancelled',
    'bulk_payment.given_up',
  ],
  challenge: ['step_up.verified'],
  compliance_hold: [
    'compliance_hold.noted',
    'compliance_hold.proposed',
    'compliance_hold.released',
    'compliance_hold.blocked',
  ],
  customer: [
    'customer.closed',
    'closure.requested',
    'closure.withdrawn',
    'currencies.updated',
    'customer_limits.updated',
    'alerts.updated',
    'approved_domains.updated',
    'preferences.updated',
  ],
  customer_address: ['customer_address.created', 'customer_address.updated', 'customer_address.deleted'],
  document: ['document.uploaded', 'document.deleted'],
  exception: ['exception.proposed', 'exception.resolved', 'exception.resubmission_forbidden'],
  funds_request: [
    'funds_request.created',
    'funds_request.updated',
    'funds_request.reminded',
    'funds_request.allocated',
    'funds_request.cancelled',
    'funds_request.declined',
    'funds_request.expired',
  ],
  incoming_suspense: ['incoming_suspense.allocated', 'incoming_suspense.returned'],
  integrator_webhook: [
    'integrator_webhook.created',
    'integrator_webhook.updated',
    'integrator_webhook.secret_rotated',
    'integrator_webhook.deleted',
  ],
  invitation: ['invitation.created', 'invitation.resent', 'invitation.accepted', 'invitation.revoked'],
  job: ['job.cancelled', 'transactions.exported'],
  membership: ['membership.updated', 'membership.removed', 'primary_owner.transferred'],
  mfa_factor: [
    'mfa_factor.created',
    'mfa_factor.confirmed',
    'mfa_factor.updated',
    'mfa_factor.copy_suspected',
    'mfa_factor.deleted',
  ],
  operator: ['operator.created', 'operator.updated', 'operator_settings.updated', 'feature_flags.updated'],
  payment: ['payment.updated', 'payment.deleted', 'payment.recall_requested'],
  pricing_template: ['pricing_template.created', 'pricing_template.updated', 'pricing_template.deleted'],
  provider_connection: ['provider_connection.calendar_updated'],
  recipient: [
    'recipient.created',
    'recipient.updated',
    'recipient.verified',
    'recipient.blocked',
    'recipient.unblocked',
    'recipient.deleted',
    'recipient_review.approved',
    'recipient_review.rejected',
    'recipient_review.cancelled',
    'recipient_review.expired',
  ],
  reconciliation_break: ['reconciliation_break.proposed', 'reconciliation_break.resolved'],
  scheduled_payment: [
    'scheduled_payment.created',
    'scheduled_payment.updated',
    'scheduled_payment.paused',
    'scheduled_payment.resumed',
    'scheduled_payment.active',
    'scheduled_payment.completed',
    'scheduled_payment.cancelled',
    'scheduled_payment.failed',
  ],
  session: ['session.created', 'session.revoked'],
  staff_hold: ['staff_hold.placed', 'staff_hold.released', 'staff_hold.expired'],
  team: ['team.created', 'team.updated', 'team.deleted'],
  transaction: ['transaction.updated'],
  user: ['user.updated', 'password.changed', 'password.reset', 'recovery_codes.created', 'recovery_code.used'],
} as const

/** The kinds of objects whose changes are recorded. */
export type AuditedObject = keyof typeof AUDIT_ACTIONS
/** The actions on one kind of object, or on all of them. */
export type AuditAction<Kind extends AuditedObject = AuditedObject> = (typeof AUDIT_ACTIONS)[Kind][number]
/** The past participles of the actions that bear the name of their object. */
export type AuditVerb<Kind extends AuditedObject> =
  AuditAction<Kind> extends infer Action ? (Action extends `${Kind}.${infer Verb}` ? Verb : never) : never

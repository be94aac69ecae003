/** The types of notices to people, in the service and by mail. */
export const NOTICE_TYPES = [
  'webhook_endpoint_changed',
  'webhook_paused',
  'webhook_disabled',
  'approval_requested',
  'approval_decided',
  'approval_expiring',
  'payment_failed',
  'payment_returned',
  'payment_question',
  'incoming_payment',
  'incoming_debit',
  'balance_low',
  'recipient_decided',
  'kyb_info_requested',
  'kyb_decided',
  'kyb_review_due',
  'api_key_created',
  'api_key_expiring',
  'new_login',
  'security_alert',
  'invitation',
  'large_payment',
  'forward_deposit_due',
  'exchange_overdue',
  'mandate_cancelled',
  'collection_returned',
  'statement_ready',
  'workspace_expiring',
  'scheduled_payment_stopped',
  'reconciliation_breaks',
  'own_funds_low',
  'return_rate_high',
] as const
export type NoticeType = (typeof NOTICE_TYPES)[number]

/** A person's choice of notices; types that are not listed are sent. */
export interface NoticePreferences {
  /** Types that are not shown. */
  readonly mutedInApp: readonly NoticeType[]
  /** Types that are not mailed. */
  readonly mutedByMail: readonly NoticeType[]
}

export const NO_PREFERENCES: NoticePreferences = { mutedInApp: [], mutedByMail: [] }
/** The name of the document that stores the preferences. */
export const NOTICE_PREFERENCES = 'notification_preferences'

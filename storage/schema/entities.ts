/**
 * All entities. Some tables have none: postings, status updates, events, idempotency, instructions, partner messages,
 * the sandbox bank's book, the audit trail, failed sign-ins, webhook deliveries. Only hand-written statements write
 * them: no unit of work needs their rows, and MikroORM cannot express the partitions and composite keys by time that
 * some of them have.
 */
import { AccountDetails } from '../accounts/account-details-entity.ts'
import { AccountTransaction, Annotation } from '../transactions/account-transaction-entity.ts'
import { Adjustment } from '../adjustments/adjustment-entity.ts'
import { Account } from '../journal/account-entity.ts'
import { ApiKey } from '../identity/api-key-entity.ts'
import { ApprovalDecision } from '../approvals/approval-decision-entity.ts'
import { ApprovalPolicy } from '../approvals/approval-policy-entity.ts'
import { Approval } from '../approvals/approval-entity.ts'
import { Balance } from '../balances/balance-entity.ts'
import { BulkPayment, BulkPaymentRow } from '../bulk-payments/bulk-payment-entity.ts'
import { BulkPaymentReport } from '../bulk-payments/bulk-report-entity.ts'
import { Card } from '../cards/card-entity.ts'
import { CardEvent, CardTransaction } from '../cards/card-transaction-entity.ts'
import { Challenge } from '../identity/challenge-entity.ts'
import { CollectionFile, CollectionFileLine } from '../direct-debits/files/collection-file-entity.ts'
import { DebitResponse, DebitResponseLine } from '../direct-debits/files/debit-response-entity.ts'
import { ComplianceHold, ComplianceNote } from '../compliance/compliance-hold-entity.ts'
import { CustomerAddress } from '../customers/customer-address-entity.ts'
import { Customer } from '../customers/customer-entity.ts'
import { Collection } from '../direct-debits/collection-entity.ts'
import { DebitExposure } from '../direct-debits/exposure-entity.ts'
import { Mandate } from '../direct-debits/mandate-entity.ts'
import { Exchange } from '../exchange/exchange-entity.ts'
import { FundsRequest, FundsRequestPayment } from '../funds-requests/funds-request-entity.ts'
import { Document } from '../documents/document-entity.ts'
import { ExceptionCase } from '../compliance/exception-case-entity.ts'
import { Hold } from '../balances/hold-entity.ts'
import { DebitControlsRow } from '../incoming-debits/debit-controls-entity.ts'
import { IncomingDebit } from '../incoming-debits/incoming-debit-entity.ts'
import { PayerMandateRow } from '../incoming-debits/payer-mandate-entity.ts'
import { IncomingPayment } from '../incoming-payments/incoming-payment-entity.ts'
import { Invitation } from '../identity/invitation-entity.ts'
import { KycApplicant } from '../kyc/kyc-applicant-entity.ts'
import { KycConnectionRow } from '../kyc/kyc-connection-entity.ts'
import { KycEventRow } from '../kyc/kyc-event-entity.ts'
import { MailRow } from '../notices/mail-entity.ts'
import { Membership } from '../identity/membership-entity.ts'
import { Job } from '../jobs/job-entity.ts'
import { RecoveryCode } from '../identity/recovery-code-entity.ts'
import { MfaFactor } from '../identity/mfa-factor-entity.ts'
import { Notification } from '../notices/notification-entity.ts'
import { KybCase, KybDocument, KybPerson } from '../onboarding/onboarding-entities.ts'
import { Operator } from '../operators/operator-entity.ts'
import { PasswordReset } from '../identity/password-reset-entity.ts'
import { KybNote, ScreeningAlert } from '../onboarding/case-review-entities.ts'
import { PaymentAnswer, PaymentQuestion } from '../compliance/payment-question-entity.ts'
import { Payment } from '../payments/payment-entity.ts'
import { PlatformUser } from '../identity/platform-user-entity.ts'
import { PricingTemplate } from '../pricing/pricing-template-entity.ts'
import { RoutingRuleRow } from '../providers/routing/routing-rule-entity.ts'
import { ProviderConnection } from '../providers/provider-connection-entity.ts'
import { Reconciliation, ReconciliationItem } from '../reconciliation/reconciliation-entity.ts'
import { RecipientReview } from '../recipients/recipient-review-entity.ts'
import { Recipient } from '../recipients/recipient-entity.ts'
import { ScheduledOccurrence } from '../scheduled-payments/scheduled-occurrence-entity.ts'
import { ScheduledPayment } from '../scheduled-payments/scheduled-payment-entity.ts'
import { Setting } from '../customers/setting-entity.ts'
import { Session } from '../identity/session-entity.ts'
import { Statement } from '../statements/statement-entity.ts'
import { StoredFile } from '../documents/stored-file-entity.ts'
import { StaffHold } from '../balances/staff-hold-entity.ts'
import { Team } from '../identity/team-entity.ts'
import { Transfer } from '../transfers/transfer-entity.ts'
import { WebhookEndpoint } from '../webhooks/webhook-endpoint-entity.ts'
import { FxOrder } from '../exchange/fx-order-entity.ts'
import { PartnerInstructionRow, PaymentDueRow } from '../payments/waiting-payment-entities.ts'
import { CashOrder } from '../providers/cash/cash-order-entity.ts'
import { ProviderCallRow } from '../providers/provider-call-entity.ts'
import { ProviderEventRow } from '../providers/provider-event-entity.ts'
import { ProviderInboxMessageRow, ProviderInboxRow, ProviderPollRow } from '../providers/provider-inbox-entity.ts'
import { Quote } from '../exchange/quote-entity.ts'
import { StatusUpdateRow } from '../trail/status-update-entity.ts'
import { TransferOrder } from '../transfers/transfer-order-entity.ts'

export const ENTITIES = [
  Adjustment,
  Account,
  AccountDetails,
  AccountTransaction,
  Annotation,
  ApiKey,
  Approval,
  ApprovalDecision,
  ApprovalPolicy,
  Balance,
  BulkPayment,
  BulkPaymentReport,
  BulkPaymentRow,
  Card,
  CardEvent,
  CardTransaction,
  CashOrder,
  Challenge,
  CollectionFile,
  CollectionFileLine,
  ComplianceHold,
  ComplianceNote,
  Customer,
  CustomerAddress,
  DebitResponse,
  DebitResponseLine,
  Document,
  ExceptionCase,
  Exchange,
  Mandate,
  Collection,
  DebitExposure,
  FundsRequest,
  FundsRequestPayment,
  FxOrder,
  Hold,
  DebitControlsRow,
  IncomingDebit,
  IncomingPayment,
  PayerMandateRow,
  Invitation,
  Job,
  KybCase,
  KybDocument,
  KybNote,
  KybPerson,
  KycApplicant,
  KycConnectionRow,
  RoutingRuleRow,
  KycEventRow,
  MailRow,
  Membership,
  MfaFactor,
  Operator,
  PartnerInstructionRow,
  PaymentDueRow,
  PasswordReset,
  Payment,
  PaymentAnswer,
  PaymentQuestion,
  PlatformUser,
  Notification,
  PricingTemplate,
  ProviderConnection,
  ProviderCallRow,
  ProviderEventRow,
  ProviderInboxMessageRow,
  ProviderInboxRow,
  ProviderPollRow,
  Quote,
  RecoveryCode,
  Recipient,
  RecipientReview,
  Reconciliation,
  ReconciliationItem,
  ScheduledOccurrence,
  ScheduledPayment,
  ScreeningAlert,
  Session,
  Setting,
  Statement,
  StoredFile,
  StaffHold,
  StatusUpdateRow,
  Team,
  Transfer,
  TransferOrder,
  WebhookEndpoint,
] as const

/**
 * All entities. Tables that have none (postings, status updates, events, idempotency, instructions, partner messages, the
 * sandbox bank's book, the trail of changes, failed sign-ins, deliveries of webhooks) are only ever written by statements of our own: no unit of work
 * sees their rows, and MikroORM has no words for the partitions and composite keys by time that some of them have.
 */
import { AccountDetails } from './account-details.ts'
import { AccountTransaction, Annotation } from './account-transaction.ts'
import { Account } from './account.ts'
import { ApiKey } from './api-key.ts'
import { ApprovalDecision } from './approval-decision.ts'
import { ApprovalPolicy } from './approval-policy.ts'
import { Approval } from './approval.ts'
import { Balance } from './balance.ts'
import { BulkPayment, BulkPaymentRow } from './bulk-payment.ts'
import { BulkPaymentReport } from './bulk-report.ts'
import { Challenge } from './challenge.ts'
import { ComplianceHold, ComplianceNote } from './compliance-hold.ts'
import { CustomerAddress } from './customer-address.ts'
import { Customer } from './customer.ts'
import { Exchange } from './exchange.ts'
import { FundsRequest, FundsRequestPayment } from './funds-request.ts'
import { Document } from './document.ts'
import { ExceptionCase } from './exception-case.ts'
import { Hold } from './hold.ts'
import { IncomingPayment } from './incoming-payment.ts'
import { Invitation } from './invitation.ts'
import { Membership } from './membership.ts'
import { Job } from './job.ts'
import { MfaFactor } from './mfa-factor.ts'
import { Notification } from './notification.ts'
import { Operator } from './operator.ts'
import { PasswordReset } from './password-reset.ts'
import { Payment } from './payment.ts'
import { PlatformUser } from './platform-user.ts'
import { PricingTemplate } from './pricing-template.ts'
import { ProviderConnection } from './provider-connection.ts'
import { Reconciliation, ReconciliationItem } from './reconciliation.ts'
import { RecipientReview } from './recipient-review.ts'
import { Recipient } from './recipient.ts'
import { ScheduledOccurrence } from './scheduled-occurrence.ts'
import { ScheduledPayment } from './scheduled-payment.ts'
import { Session } from './session.ts'
import { Statement } from './statement.ts'
import { StoredFile } from './stored-file.ts'
import { Team } from './team.ts'
import { Transfer } from './transfer.ts'
import { WebhookEndpoint } from './webhook-endpoint.ts'

export const ENTITIES = [
  Account, AccountDetails, AccountTransaction, Annotation, ApiKey, Approval, ApprovalDecision, ApprovalPolicy, Balance, BulkPayment, BulkPaymentReport, BulkPaymentRow, Challenge, ComplianceHold, ComplianceNote, Customer, CustomerAddress, Document, ExceptionCase, Exchange, FundsRequest, FundsRequestPayment, Hold, IncomingPayment, Invitation, Job, Membership, MfaFactor, Operator, PasswordReset, Payment, PlatformUser,
  Notification, PricingTemplate, ProviderConnection, Recipient, RecipientReview, Reconciliation, ReconciliationItem, ScheduledOccurrence, ScheduledPayment, Session, Statement, StoredFile, Team, Transfer, WebhookEndpoint,
] as const

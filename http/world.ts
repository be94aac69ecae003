/**
 * What the HTTP layer asks of the domain. Routes know nothing else: no storage, no actor, no clock of their own.
 *
 * Views are exactly the JSON of the API's resources, so a route never rearranges what it is given. Reads receive
 * `queries` only; a GET handler cannot write because nothing that writes is within its reach.
 */
import type { TransferCommands } from '../actors/transfer-operations.ts'
import type { AddMoneyCommand } from './add-money.ts'
import type { ApprovalCommands, ApprovalReads } from './approvals.ts'
import type { BalanceCommands } from './balances.ts'
import type { BankLookups } from './bank-lookups.ts'
import type { BulkPaymentCommands, BulkPaymentReads } from './bulk-payments.ts'
import type { BulkSubmissionCommands } from './bulk-submissions.ts'
import type { BulkUploadCommands } from './bulk-uploads.ts'
import type { BulkReportReads } from './bulk-reports.ts'
import type { ComplianceCommands, ComplianceReads } from './compliance.ts'
import type { ContractCommands, ContractReads } from './contracts.ts'
import type { CustomerLifeCommands, CustomerLifeReads } from './customer-life.ts'
import type { SettingsCommands, SettingsReads } from './customer-settings.ts'
import type { DocumentCommands, DocumentReads } from './documents.ts'
import type { DownloadReads } from './downloads.ts'
import type { ExchangeCommands, ExchangeReads } from './exchanges.ts'
import type { ExportCommands } from './exports.ts'
import type { FundsRequestCommands, FundsRequestReads } from './funds-requests.ts'
import type { IdentityCommands, IdentityReads } from './identity.ts'
import type { MemberCommands, MemberReads } from './members.ts'
import type { NoticeCommands, NoticeReads } from './notices.ts'
import type { OperatorCommands, OperatorReads } from './operators.ts'
import type { PaymentChanges } from './payment-changes.ts'
import type { PaymentOutcomeCommands, PaymentOutcomeReads } from './payment-outcomes.ts'
import type { IncomingCommands } from './incoming-payments.ts'
import type { JobCommands, JobReads } from './jobs.ts'
import type { ListQuery, ListResult } from './list.ts'
import type { ConnectionCalendarCommands, ConnectionCalendarReads } from './connection-calendars.ts'
import type { PricingCommands, PricingReads } from './pricing.ts'
import type { RecipientCommands } from './recipients.ts'
import type { Confirmations } from './confirmations.ts'
import type { ScheduledPaymentCommands, ScheduledPaymentReads } from './scheduled-payments.ts'
import type { ApiKeyRequestLog, ApiUsageReport, IntegrationHome } from './schemas/api-usage.ts'
import type { AccountDetails } from './schemas/account-details.ts'
import type { Balance, balanceList } from './schemas/balance.ts'
import type { Health, Readiness } from './schemas/health.ts'
import type { Hold, holdList } from './schemas/hold.ts'
import type { IncomingPayment, incomingPaymentList, SuspenseItem, suspenseList } from './schemas/incoming-payment.ts'
import type { JournalLine, journalList } from './schemas/journal-line.ts'
import type { Payment, paymentList } from './schemas/payment.ts'
import type { Recipient, recipientList } from './schemas/recipient.ts'
import type { RecipientReview, recipientReviewList } from './schemas/recipient-review.ts'
import type { Transfer, transferList } from './schemas/transfer.ts'
import type { StatementCommands, StatementReads } from './statements.ts'
import type { TransactionCommands, TransactionReads } from './transactions.ts'
import type { TreasuryCommands, TreasuryReads } from './treasury.ts'
import type { WebhookCommands, WebhookReads } from './webhooks.ts'
import type { ApiKey, Tenant } from '../lib/commands/caller.ts'
import type { IdempotencyRecord, Versioned } from '../lib/commands/command.ts'
import type { Log } from '../lib/base/log.ts'
import type { Commands } from './commands.ts'

export type { IdentityCommands, IdentityReads } from './identity.ts'
export type { SessionIdentity } from '../lib/identity/caller.ts'
export type { Source } from '../lib/commands/caller.ts'

/** A list of rows that belong to one balance. */
export type BalanceListQuery<List> = ListQuery<List> & { readonly balanceId: string }

/** Reads. Null means: no such row in this tenant. */
export interface Queries {
  listBalances(query: ListQuery<typeof balanceList>): Promise<ListResult<Balance>>
  getBalance(tenant: Tenant, id: string): Promise<Versioned<Balance> | null>
  /** Null when the balance itself is not the tenant's. */
  getAccountDetails(tenant: Tenant, balanceId: string): Promise<readonly AccountDetails[] | null>
  /** Null when the balance itself is not the tenant's. */
  listJournal(query: BalanceListQuery<typeof journalList>): Promise<ListResult<JournalLine> | null>
  listHolds(query: BalanceListQuery<typeof holdList>): Promise<ListResult<Hold> | null>
  listRecipients(query: ListQuery<typeof recipientList>): Promise<ListResult<Recipient>>
  getRecipient(tenant: Tenant, id: string): Promise<Versioned<Recipient> | null>
  listRecipientReviews(query: ListQuery<typeof recipientReviewList>): Promise<ListResult<RecipientReview>>
  getRecipientReview(tenant: Tenant, id: string): Promise<Versioned<RecipientReview> | null>
  listPayments(query: ListQuery<typeof paymentList>): Promise<ListResult<Payment>>
  getPayment(tenant: Tenant, id: string): Promise<Versioned<Payment> | null>
  listTransfers(query: ListQuery<typeof transferList>): Promise<ListResult<Transfer>>
  getTransfer(tenant: Tenant, id: string): Promise<Versioned<Transfer> | null>
  listIncomingPayments(query: ListQuery<typeof incomingPaymentList>): Promise<ListResult<IncomingPayment>>
  getIncomingPayment(tenant: Tenant, id: string): Promise<Versioned<IncomingPayment> | null>
  listSuspense(query: ListQuery<typeof suspenseList>): Promise<ListResult<SuspenseItem>>
  getSuspenseItem(tenant: Tenant, id: string): Promise<Versioned<SuspenseItem> | null>
}

/** Reads of what keys have called. */
export interface IntegrationQueries {
  /** Null when the key is not the tenant's; an operator has those of its customers, too. */
  apiKeyRequests(tenant: Tenant, apiKeyId: string, question: RequestLogQuestion): Promise<ApiKeyRequestLog | null>
  apiUsage(tenant: Tenant, question: UsageQuestion): Promise<ApiUsageReport>
  integrationHome(operatorId: string): Promise<IntegrationHome>
}

/** What is asked of a key's log. */
export interface RequestLogQuestion {
  readonly limit: number
  readonly outcome: 'success' | 'client_error' | 'server_error' | 'rate_limited' | null
}

/** What a usage report is about: days in UTC, both ends included; null for all. */
export interface UsageQuestion {
  readonly from: string
  readonly to: string
  readonly apiKeyId: string | null
  readonly environment: 'live' | 'test' | null
  readonly customerId: string | null
}

/** What every route may use. */
export interface ReadWorld {
  readonly problemBase: string
  /** Test keys work only where there is a sandbox. */
  readonly sandbox: boolean
  /** Whether a customer is a developer's workspace, whose people may simulate. */
  isWorkspace(customerId: string): boolean
  /** Secret of the cursors' HMAC; the same on every node, 32 bytes. */
  readonly cursorKey: Uint8Array
  readonly ids: { next(): string }
  readonly clock: { now(): number }
  readonly log: Log
  readonly queries: Queries & IntegrationQueries
  health(): Health
  readiness(): Promise<Readiness>
  readonly identity: IdentityReads
  readonly approvals: ApprovalReads
  readonly bankLookups: BankLookups
  readonly bulkPayments: BulkPaymentReads
  readonly bulkReports: BulkReportReads
  readonly compliance: ComplianceReads
  readonly contracts: ContractReads
  readonly exchanges: ExchangeReads
  readonly settings: SettingsReads
  readonly customerLife: CustomerLifeReads
  readonly documents: DocumentReads
  readonly downloads: DownloadReads
  readonly transactions: TransactionReads
  readonly fundsRequests: FundsRequestReads
  readonly jobs: JobReads
  readonly members: MemberReads
  readonly notices: NoticeReads
  readonly operators: OperatorReads
  readonly paymentOutcomes: PaymentOutcomeReads
  readonly pricing: PricingReads
  readonly connectionCalendars: ConnectionCalendarReads
  readonly scheduledPayments: ScheduledPaymentReads
  readonly confirmations: Confirmations
  readonly statements: StatementReads
  readonly treasury: TreasuryReads
  readonly webhooks: WebhookReads
  /** Asked at most about once a second per key and node. */
  findApiKey(sha256: string): Promise<ApiKey | null>
  findIdempotencyRecord(id: string): Promise<IdempotencyRecord | null>
}

/** What a command's route may use. */
export interface World extends ReadWorld {
  readonly commands: Commands
  readonly transferCommands: TransferCommands
  readonly people: IdentityCommands
  readonly recipients: RecipientCommands
  readonly balanceCommands: BalanceCommands
  readonly approvalCommands: ApprovalCommands
  readonly bulkPaymentCommands: BulkPaymentCommands & BulkUploadCommands
  readonly bulkSubmissions: BulkSubmissionCommands
  readonly complianceCommands: ComplianceCommands
  readonly contractCommands: ContractCommands
  readonly settingsCommands: SettingsCommands
  readonly customerLifeCommands: CustomerLifeCommands
  readonly exchangeCommands: ExchangeCommands
  readonly exportCommands: ExportCommands
  readonly fundsRequestCommands: FundsRequestCommands
  readonly jobCommands: JobCommands
  readonly documentCommands: DocumentCommands
  readonly transactionCommands: TransactionCommands
  readonly memberCommands: MemberCommands
  readonly noticeCommands: NoticeCommands
  readonly operatorCommands: OperatorCommands
  readonly paymentChanges: PaymentChanges
  readonly paymentOutcomeCommands: PaymentOutcomeCommands
  readonly pricingCommands: PricingCommands
  readonly connectionCalendarCommands: ConnectionCalendarCommands
  readonly scheduleCommands: ScheduledPaymentCommands
  readonly statementCommands: StatementCommands
  readonly treasuryCommands: TreasuryCommands
  readonly webhookCommands: WebhookCommands
  readonly incomingCommands: IncomingCommands
  readonly addMoney: AddMoneyCommand
  /** Counts an attempt to sign in against the limit of its address. @throws ProblemError `rate-limited` */
  limitSignIn(email: string): void
}

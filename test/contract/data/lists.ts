/**
 * The lists of the contract: their filters, their sorts with the default first, whether `q` searches them, and their
 * largest page where it is not the usual one. The lists of things with a `createdAt` (`+created`) also have `createdFrom` and `createdTo`.
 */
import { table, words } from './table.ts'

export interface ContractList {
  readonly id: string
  /** Filters by name; `metadata.*` stands for `filter[metadata.<key>]`. */
  readonly filters: readonly string[]
  readonly sorts: readonly string[]
  readonly q: boolean
  /** The largest page. */
  readonly limit: number
}

/** The page size where `limit` is absent, and the largest. */
export const PAGE_LIMIT = { default: 25, max: 100 }

/** Filters that take the values true and false, alone; names that end in From and To are ends of ranges. */
export const BOOLEAN_FILTERS: readonly string[] = [
  'mine',
  'requestedByMe',
  'succeeded',
  'test',
  'enabled',
  'hasAttachments',
  'hasAnnotations',
]

/** Filters that have a value where the client sends none. */
export const FILTER_DEFAULTS: Readonly<Record<string, readonly string[]>> = {
  'listApprovals status': ['pending'],
  'listBalanceHolds status': ['active'],
}

const LISTS = table(
  ['id', 'filters', 'sorts', 'q', 'limit'],
  `
  -- Payments
  listApprovals | status subjectType subjectId mine requestedByMe customerId +created | -createdAt createdAt
  listPayments | status rail currency recipientId sourceBalanceId bulkPaymentId scheduledPaymentId createdVia externalId number amountFrom amountTo executionFrom executionTo completedFrom completedTo updatedFrom metadata.* +created | -createdAt createdAt -executionDate -amount
  listTransfers | status fromBalanceId toBalanceId balanceId currency externalId +created | -createdAt createdAt
  listScheduledPayments | status recipientId sourceBalanceId frequency nextFrom nextTo +created | nextOccurrenceAt -createdAt
  listFundsRequests | status balanceId currency dueFrom dueTo number +created | -createdAt dueDate
  listIncomingPayments | balanceId currency rail receivedFrom receivedTo fundsRequestId | -receivedAt receivedAt
  listMandates | status direction scheme balanceId reference +created | -createdAt createdAt
  listCollections | status mandateId balanceId dueFrom dueTo externalId reasonCode +created | -createdAt dueDate -dueDate
  listBulkPayments | status format createdBy +created | -createdAt
  listBulkPaymentRows | status recipientId errorCode paymentStatus +created | rowNumber -rowNumber

  -- Exchanges
  listExchanges | kind status sellCurrency buyCurrency parentExchangeId settlementFrom settlementTo externalId +created | -createdAt createdAt settlementDate | q
  listForwardContracts | kind status sellCurrency buyCurrency parentExchangeId settlementFrom settlementTo externalId +created | -createdAt createdAt settlementDate | q
  listHeldRates | kind status sellCurrency buyCurrency parentExchangeId settlementFrom settlementTo externalId +created | -createdAt createdAt settlementDate | q
  listForwardDrawdowns | kind status sellCurrency buyCurrency parentExchangeId settlementFrom settlementTo externalId +created | -createdAt createdAt settlementDate | q
  listHeldRateDrawdowns | kind status sellCurrency buyCurrency parentExchangeId settlementFrom settlementTo externalId +created | -createdAt createdAt settlementDate | q

  -- Recipients and accounts
  listRecipients | status type currency country verificationOutcome approvalStatus createdBy id metadata.* lastPaidFrom lastPaidTo +created | name -createdAt -lastPaidAt | q
  listBalances | status currency type parentBalanceId customerId id metadata.* +created | currency -createdAt name | q
  listBalanceHolds | status subjectType subjectId +created | -createdAt -amount
  listBalanceJournal | direction type bookedFrom bookedTo valueFrom valueTo amountFrom amountTo transactionId afterSequence | -sequence sequence | | 1000
  listStatements | kind from to status +created | -to to

  -- Activity
  listTransactions | status type direction balanceId currency rail recipientId cardId category sourceId amountFrom amountTo bookedFrom bookedTo createdFrom createdTo updatedFrom hasAttachments hasAnnotations | -createdAt createdAt -bookedAt -amount | q | 1000
  listAttachments | transactionId balanceId contentType uploadedBy status +created | -createdAt
  listAnnotations | | createdAt -createdAt
  listTransactionAttachments | | createdAt -createdAt
  listTransactionUpdates | | -at
  listJobs | kind status requestedBy +created | -createdAt

  -- Customers and operators
  listCustomers | status customerType identityType accessStatus risk country number approvedFrom approvedTo id metadata.* +created | -createdAt legalName | q
  listKybCases | status customerType assignee risk submittedFrom submittedTo | submittedAt -updatedAt | q
  listProviderConnections | status provider environment role customerId +created | -createdAt
  listProviderEvents | connectionId status type objectId receivedFrom receivedTo | -receivedAt
  listComplianceHolds | status kind customerId assignee olderThanHours +created | createdAt -createdAt
  listExceptions | status kind customerId assignee olderThanHours +created | createdAt -createdAt
  listRecipientReviews | status kind customerId assignee olderThanHours +created | createdAt -createdAt
  listAuditEvents | actorId action objectType objectId customerId from to | -at

  -- Integration
  listIntegratorWebhooks | status enabled event +created | -createdAt
  listWebhookDeliveries | succeeded status eventType eventId test createdFrom createdTo | -createdAt
  listApiKeys | status environment scope +created | -createdAt name
`,
)

export const CONTRACT_LISTS: readonly ContractList[] = LISTS.map(({ id, filters, sorts, q, limit }) => ({
  id,
  filters: words(filters).flatMap((name) => (name === '+created' ? ['createdFrom', 'createdTo'] : [name])),
  sorts: words(sorts),
  q: q === 'q',
  limit: limit === '' ? PAGE_LIMIT.max : Number(limit),
}))

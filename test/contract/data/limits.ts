/** The limits of the contract: rate-limit policies, sizes and counts, operator settings and feature flags. */
import { table, words } from './table.ts'

/** Rate-limit policies: each quota is requests in seconds, per bucket of the partition. */
export const CONTRACT_POLICIES = table(
  ['name', 'partition', 'quotas'],
  `
  anon-ip | address | 60/60
  login | address | 100/300
  login-email | email | 5/900
  key-read | key | 30000/60
  key-write | key | 12000/60
  key-burst | key | 1000/1
  session | user | 600/60
  tenant | tenant | 90000/60
  money | customer | 12000/60
  quotes | customer | 6000/60
  verify | customer | 600/60 20000/86400
  search | principal | 600/60
  export | customer | 20/3600
  upload | customer | 60/3600
  customer-create | key | 10/60
  webhook-test | resource | 10/60
  webhook-redeliver | resource | 60/60
  simulate | principal | 1200/60
`,
)

/** The operations that a policy counts, beside those of the kind of caller. */
export const POLICY_OPERATIONS = table(
  ['name', 'operations'],
  `
  money | createPayment submitPayment createTransfer createExchange createForwardContract createHeldRate createForwardDrawdown createHeldRateDrawdown submitBulkPayment createScheduledPayment
  quotes | createQuote refreshQuote getIndicativeRates
  verify | createRecipient verifyRecipient
  export | exportTransactions requestStatement
  upload | createBulkPayment uploadDocument uploadTransactionAttachment
  webhook-test | testIntegratorWebhook
  webhook-redeliver | redeliverWebhook
  login | createSession verifySessionMfa requestPasswordReset completePasswordReset getInvitation acceptInvitation
  simulate | listSimulations simulatePaymentStatus simulatePaymentReturn simulatePaymentRecall simulateIncomingPayment simulateIncomingRecall simulateIncomingDebit simulateExchangeStatus simulateFxRateMove simulateScheduledRun simulateStatement simulateWebhookEvent simulateSandboxIncomingPayment simulateSandboxPaymentStatus resetSandbox
`,
)

/** The operations that the policy `export` counts when a document is rendered for the first time, and not again. */
export const COUNTED_ON_FIRST_RENDERING = words(
  'getPaymentConfirmation getTransactionConfirmation getExchangeConfirmation',
)

/** Concurrent submissions of bulk payments of one operator, and requests under way of one key. */
export const CONCURRENT = { bulkSubmissions: 5, requestsOfKey: 256 }

/** Bytes, rows and counts. */
export const SIZES = {
  jsonBody: 256 * 1024,
  bulkJsonBody: 2 * 1024 * 1024,
  jsonDepth: 20,
  bulkFile: 64 * 1024 * 1024,
  bulkRows: 100_000,
  bulkUnpacked: 512 * 1024 * 1024,
  bulkUnpackedFactor: 100,
  document: 10 * 1024 * 1024,
  attachment: 10 * 1024 * 1024,
  kybDocument: 20 * 1024 * 1024,
  attachmentsOfTransaction: 10,
  headers: 16 * 1024,
  target: 8 * 1024,
  webhookAnswer: 64 * 1024,
  balances: 100,
  recipients: 50_000,
  activeKeys: 50,
  members: 100,
  scheduledPayments: 20_000,
  openFundsRequests: 500,
  webhookEndpoints: 10,
} as const

/** The settings of an operator that has set none. */
export const SETTING_DEFAULTS = table(
  ['name', 'value'],
  `
  kyb.requireAllPersonsVerified | true
  exchange.heldRateDefaultMinutes | 60
  exchange.heldRateMaxMinutes | 1440
  apiKeyInvitationDomains | []
  exchange.forwardDepositBps | 500
  exchange.marginCallBps | 300
  exchange.maxTenorMonths | 12
  exchange.minSellEur | 1000000
  exchange.approvalToleranceBps | 50
  recipients.approvalMode | customer_tier
  recipients.requireVerification | false
  recipients.allowedOverrides | ["close_match"]
  payments.stepUpThreshold | 0
  payments.fourEyesExceptions | true
  compliance.fourEyesRelease | true
  collections.preNotificationDays | 14
  collections.reserveDays | 0
  limits.default | {"business":null,"sole_trader":null,"individual":null}
  pricing.defaultTemplateId | null
  sessions.idleMinutes | 15
  sessions.absoluteHours | 12
`,
)

/** The features that an operator can switch off, and whether they are on by default. */
export const FEATURES = table(
  ['name', 'on'],
  `
  payments.direct_debits | no
  payments.bulk | yes
  payments.scheduled | yes
  payments.funds_requests | yes
  payments.recalls | yes
  exchange.spot | yes
  exchange.forwards | no
  exchange.held_rates | no
  cards | no
  developer.self_serve | no
  webhooks | yes
`,
)

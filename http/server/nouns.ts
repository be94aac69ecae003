/** The nouns of a node: how they are built, under which names handlers find them, and in which order they work. */
import { createAdjustmentService } from '../../actors/adjustments/adjustment-service.ts'
import { createAccountService } from '../../actors/accounts/account-service.ts'
import { createBalanceService } from '../../actors/accounts/balance-service.ts'
import { createApprovalService } from '../../actors/approvals/approval-service.ts'
import { createBrandingService } from '../../actors/branding/branding-service.ts'
import { createBulkService } from '../../actors/bulk-payments/bulk-service.ts'
import { createCardService } from '../../actors/cards/card-service.ts'
import { createComplianceService } from '../../actors/compliance/compliance-service.ts'
import { createCustomerService } from '../../actors/customers/customer-service.ts'
import {
  createDocumentService,
  createDownloadService,
  type DownloadService,
} from '../../actors/documents/document-service.ts'
import { createDebitOrderService } from '../../actors/direct-debits/debit-order-service.ts'
import { createDirectDebitService } from '../../actors/direct-debits/direct-debit-service.ts'
import { createExchangeService, type ExchangeService } from '../../actors/exchange/exchange-service.ts'
import { createFundsRequestService } from '../../actors/funds-requests/funds-request-service.ts'
import { createIdentityService } from '../../actors/identity/identity-service.ts'
import { createImpersonationService } from '../../actors/impersonations/impersonation-service.ts'
import {
  createIncomingDebitService,
  type IncomingDebitService,
} from '../../actors/incoming-debits/incoming-debit-service.ts'
import {
  createIncomingPaymentService,
  type IncomingPaymentService,
} from '../../actors/incoming-payments/incoming-payment-service.ts'
import { createIntegrationService } from '../../actors/integration/integration-service.ts'
import { createJobService } from '../../actors/jobs/job-service.ts'
import { JournalChain } from '../../actors/journal/journal-chain.ts'
import { askReviews } from '../../actors/kyc/ask-reviews.ts'
import { createKycService } from '../../actors/kyc/kyc-service.ts'
import { createLedgerService } from '../../actors/ledger/ledger-service.ts'
import { createNoticeService } from '../../actors/notices/notice-service.ts'
import { createOnboardingService } from '../../actors/onboarding/onboarding-service.ts'
import { createOperatorService } from '../../actors/operators/operator-operations.ts'
import { createCaseReviewService } from '../../actors/onboarding/case-review-service.ts'
import { createPaymentService } from '../../actors/payments/payment-service.ts'
import { createQueueService, type QueueService } from '../../actors/payments/queue-service.ts'
import { createPricing } from '../../actors/pricing/pricing-operations.ts'
import type { BankPartner, PayeeVerifier, RecallPartner } from '../../actors/providers/bank.ts'
import { ADAPTERS } from '../../actors/providers/adapters/adapters.ts'
import type { Adapters } from '../../actors/providers/open-connections.ts'
import { createPartnerService, type PartnerService } from '../../actors/providers/partner-service.ts'
import {
  createConnectionService,
  type ConnectionServiceParts,
} from '../../actors/providers/connections/connection-service.ts'
import { createConnectionCalendars } from '../../actors/providers/connection-calendars.ts'
import type { InboxPartners } from '../../actors/providers/inbox/inbox-ports.ts'
import { createPayeeChecks } from '../../actors/providers/payee-checks.ts'
import { createInboxService } from '../../actors/providers/inbox/inbox-service.ts'
import { createRoutingService } from '../../actors/providers/routing/routing-service.ts'
import { createRecipientService, type RecipientService } from '../../actors/recipients/recipient-service.ts'
import {
  createReconciliationService,
  type ReconciliationServiceParts,
} from '../../actors/reconciliation/reconciliation-service.ts'
import { background, type Background, type Node } from '../../actors/runtime/node.ts'
import type { Task } from '../../actors/runtime/tasks.ts'
import { sandboxAdapter } from '../../actors/sandbox/sandbox-adapter.ts'
import { sandboxIssuer } from '../../actors/sandbox/sandbox-cards.ts'
import { moveSandboxCash } from '../../actors/sandbox/sandbox-cash-moves.ts'
import { createSandboxPartners } from '../../actors/sandbox/sandbox-partners.ts'
import { createReportService, type ReportServiceParts } from '../../actors/reports/report-service.ts'
import { createScheduleService } from '../../actors/scheduled-payments/schedule-service.ts'
import { createStaffService } from '../../actors/staff/staff-service.ts'
import { createStatementService } from '../../actors/statements/statement-service.ts'
import { createStatisticsService } from '../../actors/statistics/statistics-service.ts'
import { createTransactionService } from '../../actors/transactions/transaction-service.ts'
import { createTransferService } from '../../actors/transfers/transfer-service.ts'
import { createWebhookService, type WebhookParts } from '../../actors/webhooks/webhook-service.ts'
import type { Scanner } from '../../lib/documents/scan.ts'
import { sandboxScanner } from '../../lib/sandbox/scanner.ts'
import { loadBankDirectory } from '../../storage/recipients/bank-directory-file.ts'
import { loadUkModulusTable } from '../../storage/recipients/uk-modulus-files.ts'
import type { Route } from '../route/route.ts'
import type { Nouns } from '../route/services.ts'
import { deprecatedOperations, integrationLinks } from './deprecation.ts'

/** Parts of the nouns that a test or a bench replaces. */
export interface NounOverrides {
  /** Adapters of providers, in place of the node's own or beside them. */
  readonly adapters?: Adapters
  /** Replaces the bank's check whether a name belongs to an account. */
  readonly payees?: PayeeVerifier
  /** Replaces the connections whose events the inbox of providers takes. */
  readonly inboxPartners?: InboxPartners
  /** Stands between the payment queue and the bank. */
  readonly bank?: (bank: BankPartner & RecallPartner) => BankPartner & RecallPartner
  /** Replaces the address of Sumsub's API. */
  readonly sumsubUrl?: string
  /** Replaces the sandbox's scanner for harmful files. */
  readonly scanner?: Scanner
  /** True accepts each code of a second factor only once, as a service without a sandbox does. */
  readonly singleUseCodes?: boolean
  /** Replaces the name resolution of webhook receivers, and the random part of the delay of retries. */
  readonly webhooks?: WebhookParts
}

/** Reads the tables with which the details of recipients are checked. @throws StartError when a file cannot be read */
const loadValidation = async ({ ukModulusDir, bankDirectory }: Node['config']) => ({
  ukModulus: await loadUkModulusTable(ukModulusDir),
  banks: await loadBankDirectory(bankDirectory),
})

/** The nouns that need no other. */
const independentNouns = (node: Node) => ({
  cards: createCardService(node, { issuer: sandboxIssuer }),
  branding: createBrandingService(node),
  connectionCalendars: createConnectionCalendars(node),
  impersonations: createImpersonationService(node),
  journalChain: new JournalChain(node),
  notices: createNoticeService(node),
  pricing: createPricing(node),
  staff: createStaffService(node),
  statistics: createStatisticsService(node),
})

/** Customers and the reviews of their identity. */
function customerNouns(
  node: Node,
  {
    recipients,
    downloads,
    sumsubUrl,
  }: {
    readonly recipients: RecipientService
    readonly downloads: DownloadService
    readonly sumsubUrl: string | undefined
  },
) {
  const customers = createCustomerService(node, { recipients })
  return {
    caseReviews: createCaseReviewService(node, { customers }),
    customers,
    kyc: createKycService(node, { customers, sumsubUrl }),
    onboarding: createOnboardingService(node, { customers, downloads, askReviews }),
  }
}

/** Connections to banking partners and, by them, the partners; the sandbox's own one is part of the node. */
function createProviders(
  node: Node,
  {
    jobs,
    downloads,
    overrides,
  }: Pick<ConnectionServiceParts, 'jobs' | 'downloads'> & { readonly overrides: NounOverrides },
) {
  const sandbox = createSandboxPartners(node)
  const providerConnections = createConnectionService(node, {
    jobs,
    downloads,
    probe: (connection) => partners.connections.probe(connection),
    changed: (connectionId) => partners.connections.changed(connectionId),
    moveCash: moveSandboxCash,
  })
  const adapters = { ...ADAPTERS, ...(node.sandbox ? { sandbox: sandboxAdapter(sandbox) } : {}), ...overrides.adapters }
  const partners = createPartnerService(node, {
    adapters,
    health: providerConnections.health,
  })
  const routing = createRoutingService(node)
  const payees = createPayeeChecks({ ...node, routing: routing.table, connections: partners.connections })
  const inbox: InboxPartners = {
    open: (id) => partners.connections.open(id),
    mayPoll: (id) => providerConnections.health.mayPoll(id),
  }
  return {
    sandbox,
    partners: {
      ...partners,
      inbox: overrides.inboxPartners ?? inbox,
      descriptions: Object.values(adapters).map(({ description }) => description),
    },
    providerConnections,
    routing,
    bank: overrides.bank?.(partners.bank) ?? partners.bank,
    payees: overrides.payees ?? payees,
  }
}

/** The books of the operator as a whole. */
const treasuryNouns = (node: Node, parts: ReconciliationServiceParts & ReportServiceParts) => ({
  adjustments: createAdjustmentService(node),
  ledger: createLedgerService(node),
  reconciliation: createReconciliationService(node, parts),
  reports: createReportService(node, parts),
})

/** The inbox of what partners tell, before the inboxes of the nouns that it concerns. */
const inboxOf = (
  node: Node,
  nouns: {
    readonly partners: PartnerService & { readonly inbox: InboxPartners }
    readonly paymentQueue: QueueService
    readonly exchanges: ExchangeService
    readonly incomingPayments: IncomingPaymentService
    readonly incomingDebits: IncomingDebitService
  },
) =>
  createInboxService(node, {
    partners: nouns.partners.inbox,
    ports: {
      bank: nouns.paymentQueue.messages,
      fx: nouns.exchanges.messages,
      credits: nouns.incomingPayments.messages,
      incomingDebits: nouns.incomingDebits.messages,
    },
  })

/** Direct debits: those that customers collect, their way to the banks, and those that customers pay. */
function debitNouns(
  node: Node,
  { partners, sandbox }: Pick<ReturnType<typeof createProviders>, 'partners' | 'sandbox'>,
) {
  const directDebits = createDirectDebitService(node)
  return {
    directDebits,
    incomingDebits: createIncomingDebitService(node, { partner: partners.incomingDebits, sandbox: sandbox.credits }),
    debitOrders: createDebitOrderService(node, { inbox: directDebits.inbox, partners, sandbox }),
  }
}

/** The noun that tells of the operations themselves. */
const integrationOf = (node: Node, table: readonly Route[]) =>
  createIntegrationService(node, {
    deprecated: deprecatedOperations(table),
    links: () => integrationLinks(node.origin()),
  })

/**
 * Builds the nouns, in the order in which they need each other. A noun names those that it needs; it adds its subjects
 * of approvals and holds, and its kinds of jobs, to theirs. Nothing works in the background yet.
 *
 * @param table all routes, for the reads that name operations
 * @throws StartError when a file of the settings cannot be read
 */
export async function createNouns(node: Node, table: readonly Route[], overrides: NounOverrides) {
  const validation = await loadValidation(node.config)
  const operators = createOperatorService(node)
  const approvals = createApprovalService(node)
  const downloads = createDownloadService(node)
  const compliance = createComplianceService(node, { downloads })
  const jobs = createJobService(node, { downloads })
  const identity = createIdentityService(node, { singleUse: overrides.singleUseCodes ?? !node.sandbox })
  const { sandbox, partners, bank, payees, ...providers } = createProviders(node, { jobs, downloads, overrides })
  const paymentQueue = createQueueService(node, { bank, sandboxBank: sandbox.bank, routing: providers.routing })
  const { queue, gate } = paymentQueue
  const incomingPayments = createIncomingPaymentService(node, {
    compliance,
    partner: partners.credits,
    credits: sandbox.credits,
  })
  const debits = debitNouns(node, { partners, sandbox })
  const recipients = createRecipientService(node, { payees, validation, approvals, operators })
  const exchanges = createExchangeService(node, {
    queue,
    approvals,
    compliance,
    operators,
    dealer: sandbox.exchanges,
    markets: partners.markets,
    partner: partners.exchanges,
  })
  const payments = createPaymentService(node, {
    routing: providers.routing,
    queue,
    bank: sandbox.bank,
    payees,
    approvals,
    compliance,
    recipients,
    exchanges,
    operators,
    hasOperation: (operationId) => table.some((each) => each.operationId === operationId),
  })
  const bulkPayments = createBulkService(node, {
    payments,
    recipients,
    validation,
    exchanges,
    queue,
    approvals,
    jobs,
    downloads,
  })
  const transactions = createTransactionService(node, { jobs, downloads, identity })
  const { scanner = sandboxScanner } = overrides
  const documents = createDocumentService(node, { scanner, downloads, transactions })

  return {
    ...independentNouns(node),
    ...treasuryNouns(node, { partner: partners.statements, inbox: queue.inbox, jobs, downloads }),
    ...customerNouns(node, { recipients, downloads, sumsubUrl: overrides.sumsubUrl }),
    accounts: createAccountService(node, { exchanges, accountBook: partners.accounts }),
    approvals,
    balances: createBalanceService(node, { gate, accountBook: partners.accounts }),
    bulkPayments,
    compliance,
    ...debits,
    documents,
    downloads,
    exchanges,
    fundsRequests: createFundsRequestService(node, { operators }),
    identity,
    incomingPayments,
    integration: integrationOf(node, table),
    jobs,
    operators,
    partners,
    paymentQueue,
    payments,
    providerEvents: inboxOf(node, { partners, paymentQueue, exchanges, incomingPayments, ...debits }),
    ...providers,
    recipients,
    scheduledPayments: createScheduleService(node, { payments, recipients }),
    statements: createStatementService(node, { jobs, downloads }),
    transactions,
    transfers: createTransferService(node, { compliance, gate, partner: partners.bookTransfers }),
    webhooks: createWebhookService(node, overrides.webhooks),
  }
}

export type BuiltNouns = Awaited<ReturnType<typeof createNouns>>

/** Returns the nouns under the names by which handlers find them. */
export function servedNouns(nouns: BuiltNouns): Nouns {
  const { exchanges, identity, payments, recipients, transactions } = nouns
  return {
    ...nouns,
    bankLookups: recipients.bankLookups,
    confirmations: payments.confirmations,
    contracts: exchanges.contracts,
    exports: transactions.exports,
    members: identity.members,
  }
}

/**
 * Returns the work in the background, in the order of its start. It is stopped in reverse: work stops before the
 * queues, caches and tables that it uses, so approvals and holds, which work on the subjects of other nouns, stand last. The
 * tasks start after all of it.
 */
export function backgroundOf(nouns: BuiltNouns): readonly Background[] {
  return [
    nouns.identity,
    nouns.partners,
    nouns.providerConnections,
    nouns.routing,
    nouns.incomingDebits,
    nouns.incomingPayments,
    nouns.paymentQueue,
    nouns.debitOrders,
    nouns.webhooks,
    nouns.exchanges,
    nouns.transfers,
    nouns.providerEvents,
    { background: [background('journal chain', nouns.journalChain)] },
    nouns.customers,
    nouns.accounts,
    nouns.balances,
    nouns.fundsRequests,
    nouns.transactions,
    nouns.bulkPayments,
    nouns.cards,
    nouns.payments,
    nouns.approvals,
    nouns.compliance,
    nouns.scheduledPayments,
    nouns.statements,
  ].flatMap((noun): readonly Background[] => noun.background)
}

/** Returns the tasks: background work that graphile-worker gives to one of the nodes (actors/runtime/tasks.ts). */
export function tasksOf(nouns: BuiltNouns): readonly Task[] {
  return [
    nouns.accounts,
    nouns.cards,
    nouns.directDebits,
    nouns.documents,
    nouns.exchanges.contracts,
    nouns.identity,
    nouns.incomingDebits,
    nouns.jobs,
    nouns.kyc,
    nouns.ledger,
    nouns.notices,
    nouns.onboarding,
    nouns.partners,
    nouns.providerConnections,
    nouns.providerEvents,
    nouns.recipients,
    nouns.reconciliation,
    nouns.statements,
  ].flatMap((noun): readonly Task[] => noun.tasks)
}

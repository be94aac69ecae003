/** Groups of nouns that need little of the others, and the parts of nouns that a test or a bench replaces. */
import { createAdjustmentService } from '../../../actors/adjustments/adjustment-service.ts'
import { createBrandingService } from '../../../actors/branding/branding-service.ts'
import { createCardService } from '../../../actors/cards/card-service.ts'
import { createCustomerService } from '../../../actors/customers/customer-service.ts'
import type { DownloadService } from '../../../actors/documents/document-service.ts'
import { createDebitOrderService } from '../../../actors/direct-debits/debit-order-service.ts'
import { createCollectionFileService } from '../../../actors/direct-debits/files/collection-file-service.ts'
import {
  createDirectDebitService,
  type DirectDebitService,
} from '../../../actors/direct-debits/direct-debit-service.ts'
import type { ExchangeService } from '../../../actors/exchange/exchange-service.ts'
import { createImpersonationService } from '../../../actors/impersonations/impersonation-service.ts'
import {
  createIncomingDebitService,
  type IncomingDebitService,
} from '../../../actors/incoming-debits/incoming-debit-service.ts'
import type { IncomingPaymentService } from '../../../actors/incoming-payments/incoming-payment-service.ts'
import { JournalChain } from '../../../actors/journal/journal-chain.ts'
import { askReviews } from '../../../actors/kyc/ask-reviews.ts'
import { createKycService } from '../../../actors/kyc/kyc-service.ts'
import { createLedgerService } from '../../../actors/ledger/ledger-service.ts'
import { createNoticeService } from '../../../actors/notices/notice-service.ts'
import { createOnboardingService } from '../../../actors/onboarding/onboarding-service.ts'
import { createCaseReviewService } from '../../../actors/onboarding/case-review-service.ts'
import type { QueueService } from '../../../actors/payments/queue-service.ts'
import { createPricing } from '../../../actors/pricing/pricing-operations.ts'
import type { BankPartner, PayeeVerifier, RecallPartner } from '../../../actors/providers/bank.ts'
import { ADAPTERS } from '../../../actors/providers/adapters/adapters.ts'
import type { Adapters } from '../../../actors/providers/open-connections.ts'
import { createPartnerService, type PartnerService } from '../../../actors/providers/partner-service.ts'
import {
  createConnectionService,
  type ConnectionServiceParts,
} from '../../../actors/providers/connections/connection-service.ts'
import { createConnectionCalendars } from '../../../actors/providers/connection-calendars.ts'
import type { InboxPartners } from '../../../actors/providers/inbox/inbox-ports.ts'
import { createPayeeChecks } from '../../../actors/providers/payee-checks.ts'
import { createInboxService } from '../../../actors/providers/inbox/inbox-service.ts'
import { createRoutingService } from '../../../actors/providers/routing/routing-service.ts'
import type { RecipientService } from '../../../actors/recipients/recipient-service.ts'
import {
  createReconciliationService,
  type ReconciliationServiceParts,
} from '../../../actors/reconciliation/reconciliation-service.ts'
import type { JobService } from '../../../actors/jobs/job-service.ts'
import type { Node } from '../../../actors/runtime/node.ts'
import { sandboxAdapter } from '../../../actors/sandbox/sandbox-adapter.ts'
import { sandboxIssuer } from '../../../actors/sandbox/sandbox-cards.ts'
import { moveSandboxCash } from '../../../actors/sandbox/sandbox-cash-moves.ts'
import { createSandboxPartners } from '../../../actors/sandbox/sandbox-partners.ts'
import { createReportService, type ReportServiceParts } from '../../../actors/reports/report-service.ts'
import { createStaffService } from '../../../actors/staff/staff-service.ts'
import { createStatisticsService } from '../../../actors/statistics/statistics-service.ts'
import type { WebhookParts } from '../../../actors/webhooks/webhook-service.ts'
import type { Scanner } from '../../../lib/documents/scan.ts'

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

/** The nouns that need no other but the connections to partners. */
export const independentNouns = (node: Node, partners: InboxPartners) => ({
  cards: createCardService(node, { issuer: sandboxIssuer, partners }),
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
export function customerNouns(
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
export function createProviders(
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
export const treasuryNouns = (node: Node, parts: ReconciliationServiceParts & ReportServiceParts) => ({
  adjustments: createAdjustmentService(node),
  ledger: createLedgerService(node),
  reconciliation: createReconciliationService(node, parts),
  reports: createReportService(node, parts),
})

/** The inbox of what partners tell, before the inboxes of the nouns that it concerns. */
export const inboxOf = (
  node: Node,
  nouns: {
    readonly partners: PartnerService & { readonly inbox: InboxPartners }
    readonly paymentQueue: QueueService
    readonly exchanges: ExchangeService
    readonly incomingPayments: IncomingPaymentService
    readonly incomingDebits: IncomingDebitService
    readonly directDebits: Pick<DirectDebitService, 'inbox'>
  },
) =>
  createInboxService(node, {
    partners: nouns.partners.inbox,
    ports: {
      bank: nouns.paymentQueue.messages,
      fx: nouns.exchanges.messages,
      credits: nouns.incomingPayments.messages,
      incomingDebits: nouns.incomingDebits.messages,
      debits: { inbox: (messages) => nouns.directDebits.inbox.take(messages) },
    },
  })

/** Direct debits: those that customers collect, their way to the banks, and those that customers pay. */
export function debitNouns(
  node: Node,
  {
    partners,
    sandbox,
    downloads,
    jobs,
  }: Pick<ReturnType<typeof createProviders>, 'partners' | 'sandbox'> & {
    readonly downloads: DownloadService
    readonly jobs: JobService
  },
) {
  const directDebits = createDirectDebitService(node)
  const { mover, inbox } = directDebits
  const { descriptions } = partners
  return {
    directDebits,
    collectionFiles: createCollectionFileService(node, { downloads, jobs, mover, inbox, descriptions }),
    incomingDebits: createIncomingDebitService(node, { partner: partners.incomingDebits, sandbox: sandbox.credits }),
    debitOrders: createDebitOrderService(node, { inbox: directDebits.inbox, partners, sandbox }),
  }
}

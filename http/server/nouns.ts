/** The nouns of a node: how they are built, under which names handlers find them, and in which order they work. */
import { createAccountService } from '../../actors/accounts/account-service.ts'
import { createBalanceService } from '../../actors/accounts/balance-service.ts'
import { createApprovalService } from '../../actors/approvals/approval-service.ts'
import { createBulkService } from '../../actors/bulk-payments/bulk-service.ts'
import { createComplianceService } from '../../actors/compliance/compliance-service.ts'
import { createDocumentService, createDownloadService } from '../../actors/documents/document-service.ts'
import { createExchangeService } from '../../actors/exchange/exchange-service.ts'
import { createFundsRequestService } from '../../actors/funds-requests/funds-request-service.ts'
import { createIdentityService } from '../../actors/identity/identity-service.ts'
import { createIncomingPaymentService } from '../../actors/incoming-payments/incoming-payment-service.ts'
import { createJobService } from '../../actors/jobs/job-service.ts'
import { createOperatorService } from '../../actors/operators/operator-operations.ts'
import { createPaymentService } from '../../actors/payments/payment-service.ts'
import { createQueueService } from '../../actors/payments/queue-service.ts'
import { createRecipientService } from '../../actors/recipients/recipient-service.ts'
import { background, type Background, type Node } from '../../actors/runtime/node.ts'
import type { Task } from '../../actors/runtime/tasks.ts'
import { createScheduleService } from '../../actors/scheduled-payments/schedule-service.ts'
import { createStatementService } from '../../actors/statements/statement-service.ts'
import { createTransactionService } from '../../actors/transactions/transaction-service.ts'
import { createTransferService } from '../../actors/transfers/transfer-service.ts'
import { createWebhookService } from '../../actors/webhooks/webhook-service.ts'
import { sandboxScanner } from '../../lib/sandbox/scanner.ts'
import { loadBankDirectory } from '../../storage/recipients/bank-directory-file.ts'
import { loadUkModulusTable } from '../../storage/recipients/uk-modulus-files.ts'
import type { Route } from '../route/route.ts'
import { createIntegrationService } from '../../actors/integration/integration-service.ts'
import type { Nouns } from '../route/services.ts'
import { deprecatedOperations, integrationLinks } from './deprecation.ts'
import {
  createProviders,
  customerNouns,
  debitNouns,
  inboxOf,
  independentNouns,
  type NounOverrides,
  treasuryNouns,
} from './nouns/noun-groups.ts'

/** Reads the tables with which the details of recipients are checked. @throws StartError when a file cannot be read */
const loadValidation = async ({ ukModulusDir, bankDirectory }: Node['config']) => ({
  ukModulus: await loadUkModulusTable(ukModulusDir),
  banks: await loadBankDirectory(bankDirectory),
})

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
  const debits = debitNouns(node, { partners, sandbox, downloads, jobs })
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
    directDebits: debits.directDebits,
    operators,
  })
  const transactions = createTransactionService(node, { jobs, downloads, identity })
  const { scanner = sandboxScanner } = overrides
  const documents = createDocumentService(node, { scanner, downloads, transactions })

  return {
    ...independentNouns(node, partners.inbox),
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
    collectionResponses: nouns.collectionFiles.responses,
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
    nouns.collectionFiles,
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
    nouns.collectionFiles,
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

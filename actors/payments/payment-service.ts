/** Payments: their reads and commands, and the pollers for their dates and for what follows them. */
import { statusesOf } from '../../storage/documents/documents.ts'
import type { RecipientCache } from '../../storage/recipients/recipient-cache.ts'
import type { ApprovalService } from '../approvals/approval-service.ts'
import type { ComplianceService } from '../compliance/compliance-service.ts'
import { exceptionalPayment } from '../compliance/resolve-exception.ts'
import type { ExchangeDeps } from '../exchange/create-exchange.ts'
import type { PayeeVerifier } from '../providers/bank.ts'
import type { RoutingTable } from '../providers/routing/routing-table.ts'
import { followUpPayments } from '../../storage/payments/payment-follow-up.ts'
import { background, type Node } from '../runtime/node.ts'
import { Poller } from '../runtime/poller.ts'
import { untilEvents } from '../runtime/rest.ts'
import { paymentSubject } from './approve-payment.ts'
import { heldPayment } from './payment-compliance.ts'
import { DuePayments } from './due-payments.ts'
import { createPaymentChanges } from './payment-changes.ts'
import { createConfirmations } from './payment-confirmations.ts'
import { createConversions } from './payment-conversions.ts'
import { createPaymentCommands } from './payment-operations.ts'
import { createPaymentOutcomeCommands, createPaymentOutcomeReads } from './payment-outcomes.ts'
import type { PaymentOutcomeDeps } from './request-recall.ts'
import type { PaymentQueue } from './payment-queue.ts'
import { createPaymentReads, createProofReads, type ThresholdDeps } from './payment-reads.ts'
import type { PayDeps } from './submit-payment.ts'

/** The shortest time between two runs of the follow-up, and the most passes of a run. */
const FOLLOW_UP_MS = 1_000
const FOLLOW_UP_PASSES_MAX = 16

/** The nouns and partners that payments need. */
export interface PaymentServiceParts {
  readonly queue: PaymentQueue
  readonly bank: PaymentOutcomeDeps['bank']
  /** Checks names of payees. */
  readonly payees: PayeeVerifier
  readonly approvals: Pick<ApprovalService, 'approvals' | 'addSubjects'>
  readonly compliance: Pick<ComplianceService, 'addHeld' | 'addExceptions'>
  readonly recipients: { readonly directory: RecipientCache }
  readonly exchanges: { readonly deps: ExchangeDeps }
  readonly operators: { readonly reads: ThresholdDeps['operators'] }
  readonly routing: { readonly table: RoutingTable }
  /** Tells whether the API has an operation of this name, for the catalogue of simulations. */
  readonly hasOperation: (operationId: string) => boolean
}

export type PaymentService = ReturnType<typeof createPaymentService>

/** Creates the service. */
export function createPaymentService(
  node: Node,
  {
    queue,
    bank,
    payees,
    approvals,
    compliance,
    recipients,
    exchanges,
    operators,
    routing,
    hasOperation,
  }: PaymentServiceParts,
) {
  const { config, clock, database, sandbox } = node
  approvals.addSubjects({ payment: paymentSubject({ queue, sandbox, exchanges: exchanges.deps }) })
  compliance.addHeld({ payment: heldPayment({ queue }) })
  compliance.addExceptions({ payment: exceptionalPayment(node) })
  const paying = {
    ...node,
    queue,
    payees,
    routing: routing.table,
    recipients: recipients.directory,
    conversions: createConversions(exchanges.deps),
    market: exchanges.deps.market,
    documents: { statuses: (customerId: string, ids: readonly string[]) => statusesOf(database.pool, customerId, ids) },
  } satisfies PayDeps
  const outcomes = { ...node, bank, environment: config.appEnv, hasOperation }
  return {
    reads: {
      ...createPaymentReads({ database, clock, drainPerSecond: () => queue.rate }),
      ...createProofReads({ ...exchanges.deps, operators: operators.reads }),
      ...createPaymentOutcomeReads(outcomes),
    },
    commands: {
      ...createPaymentCommands({ ...paying, approvals: approvals.approvals }, node.answers),
      ...createPaymentChanges(node),
      ...createPaymentOutcomeCommands(outcomes),
    },
    background: [
      background('follow-up of payments', followUpOf(node)),
      background('due payments', new DuePayments({ ...node, queue, recipients: recipients.directory })),
    ],
    /** The dependencies for making payments, for nouns that make them in another way. */
    paying,
    confirmations: { reads: createConfirmations({ database, clock, render: node.workers.renderConfirmation }) },
  }
}

/**
 * Follows payments that have ended, one second later: sets `lastPaidAt` of recipients, and tells people of failures and
 * returns. Every node polls and one at a time writes (storage/payments/payment-follow-up.ts). After a stop or a crash,
 * the next pass of any node does the rest.
 */
function followUpOf(node: Node): Poller {
  const { database, ids, clock, onError } = node
  return new Poller({
    everyMs: FOLLOW_UP_MS,
    rest: untilEvents(node, 'payment_follow_up'),
    onError: (error) => onError(error, 'payment follow-up'),
    poll: async () => {
      for (let pass = 0; pass < FOLLOW_UP_PASSES_MAX; pass++) {
        const { more } = await followUpPayments(database, ids, clock.now())
        if (!more) return
      }
    },
  })
}

/** Exchanges and contracts: quotes, rates, orders to the partner, and the caches of desks and quotes. */
import { ExchangeFactsCache } from '../../storage/exchange/exchange-facts.ts'
import { QuoteCache } from '../../storage/exchange/quotes.ts'
import { NO_MARKET } from '../../lib/exchange/market.ts'
import type { ApprovalService } from '../approvals/approval-service.ts'
import type { ComplianceService } from '../compliance/compliance-service.ts'
import type { FxMessage } from '../providers/fx.ts'
import type { Background, Node } from '../runtime/node.ts'
import type { FxMarkets, FxPartner } from '../providers/fx.ts'
import type { SandboxFx } from '../sandbox/sandbox-fx.ts'
import { exchangeSubject } from './approve-exchange.ts'
import { createContractCommands, createContractReads } from './contract-operations.ts'
import { Contracts } from './contracts.ts'
import type { ExchangeDeps } from './create-exchange.ts'
import { createExchangeCommands, createExchangeReads } from './exchange-operations.ts'
import { foreseeMessages } from './foresee-messages.ts'
import { exchangeExceptions, FxOrders, type FxOrdersOptions } from './fx-orders.ts'

/** The NOTIFY channel for changes of a rate, a customer's currencies or a connection. */
const EXCHANGE_CHANGED = 'exchange_changed'
/** The time that a new rate waits for other nodes. A node that does not answer learns of it when it is back. */
const HEARD_WITHIN_MS = 1_000

/** The nouns that exchanges need. */
export interface ExchangeServiceParts extends Pick<FxOrdersOptions, 'queue'> {
  readonly approvals: Pick<ApprovalService, 'approvals' | 'addSubjects'>
  readonly compliance: Pick<ComplianceService, 'addExceptions'>
  readonly operators: {
    readonly reads: Pick<ExchangeDeps, 'hasFeature'>
    onChange(listener: () => void): void
  }
  /** The dealer of the sandbox, which tells of its orders by itself, and whose rates a simulation moves. */
  readonly dealer: SandboxFx
  /** The rates of every connection. */
  readonly markets: Pick<FxMarkets, 'of'>
  /** Takes the orders of every connection. */
  readonly partner: FxPartner
}

export type ExchangeService = ReturnType<typeof createExchangeService>

/** Creates the service. */
export function createExchangeService(node: Node, parts: ExchangeServiceParts) {
  const { queue, approvals, compliance, operators, dealer, markets, partner } = parts
  const { database, listener, system, onError } = node
  const desks = new ExchangeFactsCache(database)
  const quotes = new QuoteCache(database)
  const deps = {
    ...node,
    desks,
    quotes,
    market: { of: markets.of, rates: () => (node.sandbox ? dealer.rates() : NO_MARKET) },
    hasFeature: operators.reads.hasFeature,
  } satisfies ExchangeDeps
  const readRates = () => {
    dealer.readShifts().catch((error: unknown) => onError(error, 'rates'))
  }
  const changes = listener.subscribe(EXCHANGE_CHANGED, {
    confirms: true,
    onMessage: (payload) => {
      const [what, id = ''] = payload.split(' ')
      if (what === 'rates') readRates()
      else if (what === 'currencies') desks.forget(id)
      else desks.forgetAll()
    },
    onGap: () => {
      desks.forgetAll()
      readRates()
    },
  })
  const orders = new FxOrders({ ...node, queue, partner })
  operators.onChange(() => desks.forgetAll())
  // A quote may have been read that the new server never had.
  system.onReconnected(() => quotes.forgetAll())
  approvals.addSubjects({ exchange: exchangeSubject(deps) })
  compliance.addExceptions({ exchange: exchangeExceptions({ ...node, queue }) })
  const dispatching: readonly Background[] = [
    {
      name: 'exchange orders',
      start() {
        orders.start()
        if (node.sandbox) dealer.start(orders.inbox)
      },
      async stop() {
        await dealer.stop()
        await orders.stop()
      },
    },
  ]
  return {
    reads: createExchangeReads(deps),
    commands: createExchangeCommands(
      { ...deps, partner: dealer, heard: (connectionId) => changes.heard(`rates ${connectionId}`, HEARD_WITHIN_MS) },
      node.answers,
    ),
    background: [
      { name: 'exchange rates', start: () => dealer.readShifts(), stop: () => undefined },
      ...(node.dispatch ? dispatching : []),
    ],
    /** The dependencies for exchanges, for nouns that make them in another way. */
    deps,
    /** For the inbox of providers. */
    messages: {
      inbox: orders.inbox,
      foresee: (messages: readonly FxMessage[]) => foreseeMessages(node, messages),
    },
    contracts: {
      reads: createContractReads(database),
      commands: createContractCommands({ ...deps, approvals: approvals.approvals }, node.answers),
      tasks: [new Contracts(deps).task()],
    },
  }
}

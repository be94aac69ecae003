/** The operations on exchanges: quotes, rates, exchanges, and the simulations of both. */
import type { SimulationResult } from '../../lib/contract/simulation.ts'
import { simulateRate, simulateStatus, type SimulationDeps } from './simulate-exchange.ts'
import { createExchange, type ExchangeDeps } from './create-exchange.ts'
import { createQuote, deskOf, marketOf, mustHave, refreshQuote } from './create-quote.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { MARKET_CURRENCIES } from '../../lib/exchange/market.ts'
import { currencyFault } from '../../lib/exchange/make-quote.ts'
import { bidAndAsk } from '../../lib/exchange/pricing.ts'
import { quoteJson } from '../../lib/exchange/quote.ts'
import { formatRate, rateOf } from '../../lib/exchange/rate.ts'
import { refuse } from '../../lib/base/problems.ts'
import { getExchange, listExchanges } from '../../storage/exchange/exchange-queries.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { contractAnswer } from './contract-operations.ts'
import { type Answers, exchangeAnswer, quoteAnswer } from '../commands/answers.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type {
  Exchange,
  ExchangeCreate,
  exchangeList,
  IndicativeRates,
  Quote,
  QuoteCreate,
  SimExchangeStatus,
  SimFxRate,
} from '../../lib/exchange/exchange-schema.ts'
import type { Command, CommandAnswer, Versioned } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

/** The reads. Null means: no such row in this tenant. */
export interface ExchangeReads {
  getQuote(tenant: Tenant, id: string): Promise<Quote | null>
  getExchange(tenant: Tenant, id: string): Promise<Versioned<Exchange> | null>
  listExchanges(query: ListQuery<typeof exchangeList>): Promise<ListResult<Exchange>>
  /** @throws ProblemError for a currency that is not quoted */
  rates(tenant: Tenant, sellCurrency: string, buyCurrencies: readonly string[] | null): Promise<IndicativeRates>
}

type Asked<Body> = Pick<Command<Body>, 'tenantId' | 'body' | 'idempotency' | 'requestId' | 'instance'>

/**
 * The writes. A refusal is returned as an answer; only operating errors, bugs and problems that no key records are
 * thrown.
 */
export interface ExchangeCommands {
  createQuote(command: Command<QuoteCreate>): Promise<CommandAnswer<Quote, 201>>
  refreshQuote(command: Command<null>, quoteId: string): Promise<CommandAnswer<Quote, 201>>
  createExchange(command: Command<ExchangeCreate>): Promise<CommandAnswer<Exchange, 201>>
  simulateStatus(command: Asked<SimExchangeStatus>, exchangeId: string): Promise<CommandAnswer<SimulationResult, 202>>
  simulateRate(command: Asked<SimFxRate>): Promise<CommandAnswer<SimulationResult, 202>>
}

/** Creates the reads of exchanges. */
export function createExchangeReads(deps: ExchangeDeps): ExchangeReads {
  const { database, quotes, clock } = deps
  const db = readDatabase(database)
  return {
    async getQuote(tenant, id) {
      const found = await quotes.findWithUse(tenant.id, id)
      return found === null ? null : quoteJson(found.quote, found.used)
    },
    getExchange: (tenant, id) => getExchange(database, tenant, id),
    listExchanges: (query) => listExchanges(db, query),
    async rates(tenant, sellCurrency, buyCurrencies) {
      await mustHave(deps, tenant.id, 'spot')
      const desk = await deskOf(deps, tenant.id)
      const market = await marketOf(deps, desk.connectionId, 'spot')
      const now = clock.now()
      const sell = quoted('query.sellCurrency', sellCurrency)
      const others =
        buyCurrencies ??
        MARKET_CURRENCIES.filter((code) => code !== sell && (desk.enabled === null || desk.enabled.has(code)))
      return {
        data: others.map((code) => {
          const buy = quoted('query.buyCurrency', code)
          const mid = market.mid(sell, buy)
          if (mid === null || sell === buy)
            return malformed('query.buyCurrency', `${sell} is not exchanged for ${buy}.`)
          const { bid, ask } = bidAndAsk(mid, desk.terms.marginBps)
          return {
            sellCurrency: sell,
            buyCurrency: buy,
            mid: formatRate(rateOf(mid)),
            bid: formatRate(bid),
            ask: formatRate(ask),
            at: timestamp(now),
          }
        }),
      }
    },
  }
}

function quoted(field: string, code: string): CurrencyCode {
  const fault = currencyFault(field, code, null)
  return fault === null && MARKET_CURRENCIES.includes(code as CurrencyCode)
    ? (code as CurrencyCode)
    : malformed(field, `${code} is not quoted.`)
}

function malformed(field: string, message: string): never {
  refuse('malformed-request', message, { errors: [{ field, code: 'invalid_value', message }] })
}

/** Creates the commands of exchanges. */
export function createExchangeCommands(deps: SimulationDeps, { answer }: Answers): ExchangeCommands {
  return {
    createQuote: (command) =>
      answer(
        command,
        (caller, body) => createQuote(deps, caller, body),
        ({ quote }) => quoteAnswer(quote, false),
      ),
    refreshQuote: (command, quoteId) =>
      answer(
        command,
        (caller) => refreshQuote(deps, caller, quoteId),
        ({ quote }) => quoteAnswer(quote, false),
      ),
    createExchange: (command) =>
      answer(
        command,
        (caller, body) => createExchange(deps, caller, body),
        (made) => (made.kind === 'exchange_booked' ? exchangeAnswer(made.exchange, false) : contractAnswer(made)),
      ),

    simulateStatus: (command, exchangeId) => simulateStatus(deps, command, exchangeId),

    simulateRate: (command) => simulateRate(deps, command),
  }
}

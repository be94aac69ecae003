/** The sections of the commit statement for foreign exchange. */
import { timestamp } from '../../lib/base/clock.ts'
import { uuidTime } from '../../lib/base/ids.ts'
import type { ExchangeChange, ExchangeRow, QuoteRow } from '../../lib/exchange/effects.ts'
import { computed, type Columns } from '../commit/columns.ts'
import {
  alike,
  changed,
  commandConflict,
  existingConflict,
  externalIds,
  fence,
  gathered,
  insertInto,
  moves,
  existingDetail,
  NO_DETAIL,
  rowsOf,
  section,
  waitsFor,
  type Changeable,
  type CommandRef,
  type Section,
  type VersionRow,
} from '../commit/section.ts'
import { columns, pick, without } from '../db/columns.ts'
import { Exchange } from './exchange-entity.ts'
import { FxOrder } from './fx-order-entity.ts'
import { Quote } from './quote-entity.ts'

/** Derives the day of a quote's partition from the quote's id. */
export function quoteDay(id: string): string {
  const ms = uuidTime(id)
  if (ms === null) throw new Error(`${id} is no id of a quote.`)
  return timestamp(ms).slice(0, 10)
}

const QUOTE = columns(Quote)

export const QUOTES = rowsOf(
  'quotes',
  alike(
    insertInto(Quote, { ...QUOTE, day: computed<QuoteRow>(QUOTE.day, (quote) => quoteDay(quote.id)) }),
    ['day', 'kind', 'fixed_side', 'deposit_required', 'hold_minutes'],
    ['sell_currency', 'buy_currency', 'settlement_date'],
  ),
)

export const EXTERNAL_IDS_OF_EXCHANGES = externalIds('exchange')

const COLUMNS = columns(Exchange)

/** The columns of a contract's deposit, and of the time at which the contract is due. */
const OF_DEPOSITS = [
  'depositStatus',
  'depositCurrency',
  'depositRequired',
  'depositReceived',
  'depositPlaced',
  'depositDueAt',
  'dueAt',
  'depositUsed',
  'depositPlacedUsed',
] as const

/** The columns that the partner's answer sets. */
const OF_PARTNER = ['failure', 'exception', 'providerRef', 'partnerSold', 'partnerBought'] as const

/** The columns that moves write, and no creation. */
const MOVED = ['settledAt', ...OF_PARTNER] as const

/** The columns that contracts and their drawdowns have, and no spot exchange. */
const OF_CONTRACTS = [
  'parentExchangeId',
  'drawdownCount',
  'remainingSell',
  'remainingBuy',
  'forwardType',
  'drawdownFrom',
  'heldUntil',
  ...OF_DEPOSITS,
] as const
const CREATED = without(COLUMNS, [...OF_CONTRACTS, ...MOVED, 'version', 'updatedAt'])
const CONSTANTS = { version: '1', updated_at: 'u.created_at' }

export const EXCHANGES: Section<ExchangeRow> = gathered(
  'exchanges',
  insertInto(Exchange, CREATED, CONSTANTS),
  (exchange, batch) => {
    batch.add(exchange.kind === 'spot' ? EXCHANGES : EXCHANGES_OF_CONTRACTS, exchange)
    const { quoteId, externalId, customerId } = exchange
    if (quoteId !== null) batch.add(QUOTE_FENCES, { command: batch.nth, id: quoteId })
    if (externalId !== null) batch.add(EXTERNAL_IDS_OF_EXCHANGES, { command: batch.nth, externalId, customerId })
  },
)

/** Inserts contracts and their drawdowns. */
export const EXCHANGES_OF_CONTRACTS: Section<ExchangeRow> = insertInto(
  Exchange,
  { ...CREATED, ...pick(COLUMNS, OF_CONTRACTS) } satisfies Columns<ExchangeRow>,
  CONSTANTS,
  'exchange_of_contract',
)

const CHANGEABLE = pick(COLUMNS, [
  'sellAmount',
  'buyAmount',
  'rate',
  'partnerRate',
  'fee',
  'holdId',
  'approvalId',
  'tradeDate',
  'settlementDate',
  'settledAt',
  'drawdownCount',
  'remainingSell',
  'remainingBuy',
  'heldUntil',
  ...OF_DEPOSITS,
  ...OF_PARTNER,
  'metadata',
]) satisfies Changeable<ExchangeChange>

/** Writes moves of exchanges, and what each of them causes for the payment that the exchange buys for. */
export const EXCHANGE_CHANGES: Section<ExchangeChange> = gathered(
  'exchangeChanges',
  moves<ExchangeChange>(
    'exchange_changed',
    CHANGEABLE,
    (source, bound) => `exchange_changed_written as (
  update exchange e set status = u.status, version = e.version + 1, updated_at = u.updated_at, ${changed(CHANGEABLE, 'e')}
  from ${source} where e.id = u.id and e.id = any(${bound('id')}) and (select ok from verdict))`,
  ),
  (change, batch) => {
    if (typeof change.payment !== 'string') batch.effects(change.payment)
    batch.add(EXCHANGE_CHANGES, change)
    batch.change(EXCHANGE_FENCES, change.id, change.version)
  },
)

export const FX_ORDERS = rowsOf(
  'fxOrders',
  insertInto(FxOrder, pick(columns(FxOrder), ['exchangeId', 'shard', 'dueAt'])),
)

export const FX_ORDERS_DONE = rowsOf(
  'fxOrdersDone',
  section<string, 'exchangeId'>(
    'fx_order_done',
    { exchangeId: computed('uuid', (id) => id) },
    (source, bound) => `fx_order_done_written as (
  delete from fx_order o using ${source}
  where o.exchange_id = u.exchange_id and o.exchange_id = any(${bound('exchange_id')}) and (select ok from verdict))`,
  ),
)

// ── Fences and stale facts
// ────────────────────────────────────────────────────────────────────────────────────────────

const EXCHANGE_STALE = commandConflict('exchange_stale')

/** Locks the exchanges that change, after the balances and the payments, and compares their versions. */
export const EXCHANGE_FENCES = {
  ...fence<VersionRow, ReturnType<typeof EXCHANGE_STALE.of>>(
    EXCHANGE_STALE,
    'exchange_fence',
    { turn: 'integer', id: 'uuid', version: 'integer' },
    (source) => `${NO_DETAIL} from ${source} left join locked_exchange l on l.id = u.id
  where l.version is distinct from u.version`,
  ),
  lock: {
    name: 'locked_exchange',
    sql: (ids: string, after: readonly string[]) => `
  select e.id, e.version from exchange e where e.id = any(${ids}) ${waitsFor(after.slice(0, 1))}
    ${waitsFor(after.slice(1))} order by e.id for update`,
  },
}

/** `existingId`: the exchange that has used it. */
const QUOTE_USED = existingConflict('quote_used')

/**
 * Finds quotes that an exchange has used already. When two exchanges use one quote at the same moment, the unique index
 * accepts one.
 */
export const QUOTE_FENCES = fence<CommandRef, ReturnType<typeof QUOTE_USED.of>>(
  QUOTE_USED,
  'quote_fence',
  { command: 'integer', id: 'uuid' },
  (source, bound) => `${existingDetail('x.id')}
  from ${source} join (select e.id, e.quote_id from exchange e where e.quote_id = any(${bound('id')})) x on x.quote_id = u.id`,
)

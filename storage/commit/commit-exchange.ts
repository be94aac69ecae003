/** The sections of the commit statement (commit.ts) for foreign exchange. */
import type { ExchangeChange, ExchangeRow, FxOrderRow, QuoteRow } from '../../lib/exchange/effects.ts'
import { uuidTime } from '../../lib/base/ids.ts'
import { timestamp } from '../../lib/base/clock.ts'
import {
  changed,
  changesOf,
  column,
  insert,
  NO_DETAIL,
  section,
  type Changeable,
  type CommandRef,
  type Fence,
} from './commit-section.ts'

/** Derives the day of a quote's partition from the quote's id. */
export function quoteDay(id: string): string {
  const ms = uuidTime(id)
  if (ms === null) throw new Error(`${id} is no id of a quote.`)
  return timestamp(ms).slice(0, 10)
}

export const QUOTES = insert<QuoteRow>('quote', [
  column('id', 'uuid', (q) => q.id),
  column('day', 'date', (q) => quoteDay(q.id)),
  column('customer_id', 'uuid', (q) => q.customerId),
  column('connection_id', 'uuid', (q) => q.connectionId),
  column('kind', 'text', (q) => q.kind),
  column('sell_currency', 'text', (q) => q.sellCurrency),
  column('buy_currency', 'text', (q) => q.buyCurrency),
  column('sell_amount', 'bigint', (q) => q.sellAmount),
  column('buy_amount', 'bigint', (q) => q.buyAmount),
  column('rate', 'numeric', (q) => q.rate),
  column('partner_rate', 'numeric', (q) => q.partnerRate),
  column('fixed_side', 'text', (q) => q.fixedSide),
  column('fee', 'bigint', (q) => q.fee),
  column('settlement_date', 'date', (q) => q.settlementDate),
  column('deposit_required', 'bigint', (q) => q.depositRequired),
  column('hold_minutes', 'integer', (q) => q.holdMinutes),
  column('sell_balance_id', 'uuid', (q) => q.sellBalanceId),
  column('buy_balance_id', 'uuid', (q) => q.buyBalanceId),
  column('expires_at', 'timestamptz', (q) => q.expiresAt),
  column('created_at', 'timestamptz', (q) => q.createdAt),
])

const EXCHANGE_COLUMNS = [
  column('id', 'uuid', (e) => e.id),
  column('customer_id', 'uuid', (e) => e.customerId),
  column('operator_id', 'uuid', (e) => e.operatorId),
  column('connection_id', 'uuid', (e) => e.connectionId),
  column('shard', 'smallint', (e) => e.shard),
  column('number', 'text', (e) => e.number),
  column('external_id', 'text', (e) => e.externalId),
  column('kind', 'text', (e) => e.kind),
  column('status', 'text', (e) => e.status),
  column('quote_id', 'uuid', (e) => e.quoteId),
  column('payment_id', 'uuid', (e) => e.paymentId),
  column('sell_balance_id', 'uuid', (e) => e.sellBalanceId),
  column('buy_balance_id', 'uuid', (e) => e.buyBalanceId),
  column('sell_currency', 'text', (e) => e.sellCurrency),
  column('buy_currency', 'text', (e) => e.buyCurrency),
  column('sell_amount', 'bigint', (e) => e.sellAmount),
  column('buy_amount', 'bigint', (e) => e.buyAmount),
  column('rate', 'numeric', (e) => e.rate),
  column('partner_rate', 'numeric', (e) => e.partnerRate),
  column('fixed_side', 'text', (e) => e.fixedSide),
  column('fee', 'bigint', (e) => e.fee),
  column('hold_id', 'uuid', (e) => e.holdId),
  column('approval_id', 'uuid', (e) => e.approvalId),
  column('trade_date', 'date', (e) => e.tradeDate),
  column('settlement_date', 'date', (e) => e.settlementDate),
  column('reference', 'text', (e) => e.reference),
  column('created_by', 'uuid', (e) => e.createdBy),
  column('created_via', 'text', (e) => e.createdVia),
  column('metadata', 'jsonb', (e) => e.metadata),
  column('created_at', 'timestamptz', (e) => e.createdAt),
] as const satisfies readonly ReturnType<typeof column<ExchangeRow>>[]
const EXCHANGE_CONSTANTS = { version: '1', updated_at: 'u.created_at' }

export const EXCHANGES = insert('exchange', EXCHANGE_COLUMNS, EXCHANGE_CONSTANTS)

/**
 * Inserts contracts and their drawdowns. A spot exchange has none of these columns and uses the section without them.
 */
export const EXCHANGES_OF_CONTRACTS = insert<ExchangeRow>(
  'exchange',
  [
    ...EXCHANGE_COLUMNS,
    column('parent_exchange_id', 'uuid', (e) => e.parentExchangeId),
    column('drawdown_count', 'integer', (e) => e.drawdownCount),
    column('remaining_sell', 'bigint', (e) => e.remainingSell),
    column('remaining_buy', 'bigint', (e) => e.remainingBuy),
    column('forward_type', 'text', (e) => e.forwardType),
    column('drawdown_from', 'date', (e) => e.drawdownFrom),
    column('held_until', 'timestamptz', (e) => e.heldUntil),
    column('deposit_status', 'text', (e) => e.depositStatus),
    column('deposit_currency', 'text', (e) => e.depositCurrency),
    column('deposit_required', 'bigint', (e) => e.depositRequired),
    column('deposit_received', 'bigint', (e) => e.depositReceived),
    column('deposit_placed', 'bigint', (e) => e.depositPlaced),
    column('deposit_due_at', 'timestamptz', (e) => e.depositDueAt),
    column('due_at', 'timestamptz', (e) => e.dueAt),
    column('deposit_used', 'bigint', (e) => e.depositUsed),
    column('deposit_placed_used', 'bigint', (e) => e.depositPlacedUsed),
  ],
  EXCHANGE_CONSTANTS,
  'exchange_of_contract',
)

const CHANGEABLE = {
  sellAmount: ['sell_amount', 'bigint'],
  buyAmount: ['buy_amount', 'bigint'],
  rate: ['rate', 'numeric'],
  partnerRate: ['partner_rate', 'numeric'],
  fee: ['fee', 'bigint'],
  holdId: ['hold_id', 'uuid'],
  approvalId: ['approval_id', 'uuid'],
  tradeDate: ['trade_date', 'date'],
  settlementDate: ['settlement_date', 'date'],
  settledAt: ['settled_at', 'timestamptz'],
  drawdownCount: ['drawdown_count', 'integer'],
  remainingSell: ['remaining_sell', 'bigint'],
  remainingBuy: ['remaining_buy', 'bigint'],
  heldUntil: ['held_until', 'timestamptz'],
  depositStatus: ['deposit_status', 'text'],
  depositCurrency: ['deposit_currency', 'text'],
  depositRequired: ['deposit_required', 'bigint'],
  depositReceived: ['deposit_received', 'bigint'],
  depositPlaced: ['deposit_placed', 'bigint'],
  depositDueAt: ['deposit_due_at', 'timestamptz'],
  dueAt: ['due_at', 'timestamptz'],
  depositUsed: ['deposit_used', 'bigint'],
  depositPlacedUsed: ['deposit_placed_used', 'bigint'],
  failure: ['failure', 'text'],
  exception: ['exception', 'text'],
  providerRef: ['provider_ref', 'text'],
  partnerSold: ['partner_sold', 'bigint'],
  partnerBought: ['partner_bought', 'bigint'],
  metadata: ['metadata', 'jsonb'],
} as const satisfies Changeable<ExchangeChange>

export const EXCHANGE_CHANGES = section<ExchangeChange>(
  'exchange_changed',
  [
    column('id', 'uuid', (e) => e.id),
    column('status', 'text', (e) => e.status),
    column('updated_at', 'timestamptz', (e) => e.updatedAt),
    column('changes', 'jsonb', (e) => changesOf<ExchangeChange>(CHANGEABLE, e)),
  ],
  (source, bound) => `exchange_changed_written as (
  update exchange e set status = u.status, version = e.version + 1, updated_at = u.updated_at, ${changed<ExchangeChange>(CHANGEABLE, 'e')}
  from ${source} where e.id = u.id and e.id = any(${bound('id')}) and (select ok from verdict))`,
)

export const FX_ORDERS = insert<FxOrderRow>('fx_order', [
  column('exchange_id', 'uuid', (o) => o.exchangeId),
  column('shard', 'smallint', (o) => o.shard),
  column('due_at', 'timestamptz', (o) => o.dueAt),
])

export const FX_ORDERS_DONE = section<string>(
  'fx_order_done',
  [column('exchange_id', 'uuid', (id) => id)],
  (source, bound) => `fx_order_done_written as (
  delete from fx_order o using ${source}
  where o.exchange_id = u.exchange_id and o.exchange_id = any(${bound('exchange_id')}) and (select ok from verdict))`,
)

// ── Fences and stale facts ────────────────────────────────────────────────────────────────────────────────────────────

export const EXCHANGE_FENCES = section<Fence>(
  'exchange_fence',
  [
    column('turn', 'integer', (f) => f.turn),
    column('id', 'uuid', (f) => f.id),
    column('version', 'integer', (f) => f.version),
  ],
  (source) => `select 'exchange_stale', u.turn, ${NO_DETAIL} from ${source} left join locked_exchange l on l.id = u.id
  where l.version is distinct from u.version`,
)

/**
 * Finds quotes that an exchange has used already. When two exchanges use one quote at the same moment, the unique index
 * accepts one.
 */
export const QUOTE_FENCES = section<CommandRef>(
  'quote_fence',
  [column('command', 'integer', (q) => q.command), column('id', 'uuid', (q) => q.id)],
  (source, bound) => `select 'quote_used', u.command, null::uuid, x.id, null::smallint, null::text, null::timestamptz
  from ${source} join (select e.id, e.quote_id from exchange e where e.quote_id = any(${bound('id')})) x on x.quote_id = u.id`,
)

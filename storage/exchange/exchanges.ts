/** Reads exchanges from their rows: for decisions and for display. */
import type { BoughtFor } from '../../lib/exchange/bought-for.ts'
import { BoughtPayment } from '../../lib/payments/bought-payment.ts'
import type { ExchangeState } from '../../lib/exchange/moves.ts'
import type {
  DepositStatus,
  ExchangeKind,
  ExchangeRecord,
  ExchangeStatus,
  ForwardType,
} from '../../lib/exchange/exchange.ts'
import { parseRate, type FixedSide, type Rate } from '../../lib/exchange/rate.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { CalendarTerms } from '../../lib/rails/business-days.ts'
import { plainArray } from '../db/array-literal.ts'
import type { Reader } from '../db/connection.ts'
import type { Database } from '../db/database.ts'
import { CALENDAR_OF_CONNECTION } from '../providers/connection-calendars.ts'
import { loadPayments } from '../payments/payment-states.ts'
import type { TransactionClient } from '../db/transaction.ts'

/** The columns of a row as they are read below: wide numbers are text, times are epoch milliseconds. */
export interface ExchangeColumns {
  readonly id: string
  readonly customer_id: string
  readonly operator_id: string
  readonly connection_id: string
  readonly shard: number
  readonly number: string
  readonly external_id: string | null
  readonly kind: ExchangeKind
  readonly status: ExchangeStatus
  readonly version: number
  readonly quote_id: string | null
  readonly parent_exchange_id: string | null
  readonly payment_id: string | null
  readonly sell_balance_id: string
  readonly buy_balance_id: string
  readonly sell_currency: CurrencyCode
  readonly buy_currency: CurrencyCode
  readonly sell_amount: string
  readonly buy_amount: string
  readonly rate: string
  readonly partner_rate: string
  readonly fixed_side: FixedSide
  readonly fee: string
  readonly hold_id: string | null
  readonly approval_id: string | null
  readonly trade_date: string
  readonly settlement_date: string
  readonly settled_at: number | null
  readonly reference: string | null
  readonly drawdown_count: number
  readonly remaining_sell: string | null
  readonly remaining_buy: string | null
  readonly forward_type: ForwardType | null
  readonly drawdown_from: string | null
  readonly held_until: number | null
  readonly deposit_status: DepositStatus | null
  readonly deposit_currency: CurrencyCode | null
  readonly deposit_required: string | null
  readonly deposit_received: string
  readonly deposit_placed: string
  readonly deposit_due_at: number | null
  readonly due_at: number | null
  readonly deposit_used: string
  readonly deposit_placed_used: string
  readonly failure: string | null
  readonly exception: string | null
  readonly provider_ref: string | null
  readonly partner_sold: string | null
  readonly partner_bought: string | null
  readonly created_by: string
  readonly created_via: ExchangeRecord['createdVia']
  readonly metadata: Readonly<Record<string, string>> | null
  readonly created_at: number
  readonly updated_at: number
}

const TIMES = new Set(['settled_at', 'held_until', 'deposit_due_at', 'due_at', 'created_at', 'updated_at'])
const DAYS = new Set(['trade_date', 'settlement_date', 'drawdown_from'])
const NAMES = [
  'id',
  'customer_id',
  'operator_id',
  'connection_id',
  'shard',
  'number',
  'external_id',
  'kind',
  'status',
  'version',
  'quote_id',
  'parent_exchange_id',
  'payment_id',
  'sell_balance_id',
  'buy_balance_id',
  'sell_currency',
  'buy_currency',
  'sell_amount',
  'buy_amount',
  'rate',
  'partner_rate',
  'fixed_side',
  'fee',
  'hold_id',
  'approval_id',
  'trade_date',
  'settlement_date',
  'settled_at',
  'reference',
  'drawdown_count',
  'remaining_sell',
  'remaining_buy',
  'forward_type',
  'drawdown_from',
  'held_until',
  'deposit_status',
  'deposit_currency',
  'deposit_required',
  'deposit_received',
  'deposit_placed',
  'deposit_due_at',
  'due_at',
  'deposit_used',
  'deposit_placed_used',
  'failure',
  'exception',
  'provider_ref',
  'partner_sold',
  'partner_bought',
  'created_by',
  'created_via',
  'metadata',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof ExchangeColumns)[]

/** The columns of a row `e`. */
export const EXCHANGE_COLUMNS = NAMES.map((name) =>
  TIMES.has(name)
    ? `(extract(epoch from e.${name}) * 1000)::float8 as ${name}`
    : DAYS.has(name)
      ? `e.${name}::text as ${name}`
      : `e.${name}`,
).join(', ')

const big = (text: string | null): bigint | null => (text === null ? null : BigInt(text))

function rateFrom(text: string): Rate {
  const rate = parseRate(text)
  if (rate === null) throw new Error(`${text} is not a rate.`)
  return rate
}

/** Converts a row to a record. */
export function exchangeRecord(row: ExchangeColumns): ExchangeRecord {
  return {
    id: row.id,
    customerId: row.customer_id,
    operatorId: row.operator_id,
    connectionId: row.connection_id,
    shard: row.shard,
    number: row.number,
    externalId: row.external_id,
    kind: row.kind,
    status: row.status,
    version: row.version,
    quoteId: row.quote_id,
    parentExchangeId: row.parent_exchange_id,
    paymentId: row.payment_id,
    sellBalanceId: row.sell_balance_id,
    buyBalanceId: row.buy_balance_id,
    sellCurrency: row.sell_currency,
    buyCurrency: row.buy_currency,
    sellAmount: BigInt(row.sell_amount),
    buyAmount: BigInt(row.buy_amount),
    rate: rateFrom(row.rate),
    partnerRate: rateFrom(row.partner_rate),
    fixedSide: row.fixed_side,
    fee: BigInt(row.fee),
    holdId: row.hold_id,
    approvalId: row.approval_id,
    tradeDate: row.trade_date,
    settlementDate: row.settlement_date,
    settledAt: row.settled_at,
    reference: row.reference,
    drawdownCount: row.drawdown_count,
    remainingSell: big(row.remaining_sell),
    remainingBuy: big(row.remaining_buy),
    forwardType: row.forward_type,
    drawdownFrom: row.drawdown_from,
    heldUntil: row.held_until,
    deposit:
      row.deposit_status === null
        ? null
        : {
            status: row.deposit_status,
            currency: row.deposit_currency ?? row.sell_currency,
            required: BigInt(row.deposit_required ?? '0'),
            received: BigInt(row.deposit_received),
            placed: BigInt(row.deposit_placed),
            dueAt: row.deposit_due_at,
          },
    dueAt: row.due_at,
    depositUsed: BigInt(row.deposit_used),
    depositPlacedUsed: BigInt(row.deposit_placed_used),
    failure: row.failure === null ? null : (JSON.parse(row.failure) as ExchangeRecord['failure']),
    exception: row.exception === null ? null : (JSON.parse(row.exception) as ExchangeRecord['exception']),
    providerRef: row.provider_ref,
    partnerSold: big(row.partner_sold),
    partnerBought: big(row.partner_bought),
    createdBy: row.created_by,
    createdVia: row.created_via,
    metadata: row.metadata ?? {},
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

const fromArray = (row: readonly unknown[]): ExchangeRecord =>
  exchangeRecord(Object.fromEntries(NAMES.map((name, nth) => [name, row[nth]])) as unknown as ExchangeColumns)

const STATES = `select ${EXCHANGE_COLUMNS} from exchange e
  where e.id = any($1::uuid[]) or e.id in (select d.parent_exchange_id from exchange d where d.id = any($1::uuid[])) order by e.id`

/**
 * Reads the state of exchanges that actors cache: each drawdown with its contract, each exchange with the payment it
 * buys for. An id without a row is absent. `lock` locks the rows in the order of their ids.
 */
export async function loadExchanges(
  reader: Reader,
  ids: readonly string[],
  lock: boolean,
): Promise<Map<string, ExchangeState>> {
  const { rows } = await reader.query(
    lock
      ? { name: 'lock_exchanges', text: `${STATES} for update of e`, values: [plainArray(ids)] }
      : { name: 'load_exchanges', text: STATES, values: [plainArray(ids)] },
  )
  const records = new Map(rows.map((row) => fromArray(row)).map((record) => [record.id, record]))
  const payments = await paymentsOf(
    reader,
    ids.flatMap((id) => records.get(id)?.paymentId ?? []),
  )
  return new Map(
    ids.flatMap((id): [string, ExchangeState][] => {
      const exchange = records.get(id)
      if (exchange === undefined) return []
      const { parentExchangeId: parent, paymentId } = exchange
      return [
        [
          id,
          {
            exchange,
            contract: parent === null ? null : (records.get(parent) ?? null),
            payment: paymentId === null ? null : (payments.get(paymentId) ?? null),
          },
        ],
      ]
    }),
  )
}

const DATES = `select p.id, p.execution_date::text, ${CALENDAR_OF_CONNECTION} from payment p join provider_connection k on k.id = p.connection_id where p.id = any($1::uuid[])`

/** Reads the payments that exchanges buy for, by their ids. They are not locked: their versions are the fence. */
async function paymentsOf(reader: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, BoughtFor>> {
  if (ids.length === 0) return NO_PAYMENTS
  const states = await loadPayments(reader, ids, false)
  const { rows } = await reader.query({ name: 'dates_of_payments_bought_for', text: DATES, values: [plainArray(ids)] })
  return new Map(
    (rows as [string, string, CalendarTerms | null][]).flatMap(
      ([id, executionDate, calendar]): [string, BoughtFor][] => {
        const payment = states.get(id)
        return payment === undefined ? [] : [[id, new BoughtPayment(payment, executionDate, calendar)]]
      },
    ),
  )
}

const NO_PAYMENTS: ReadonlyMap<string, BoughtFor> = new Map()

/**
 * Reads one exchange with its contract within a transaction; null when it does not exist. `lock` locks both until the
 * transaction ends.
 */
export async function readExchange(client: TransactionClient, id: string, lock = false): Promise<ExchangeState | null> {
  const reader: Reader = {
    query: async (statement) =>
      (await client.query({ ...statement, rowMode: 'array' })) as unknown as { rows: unknown[][] },
  }
  return (await loadExchanges(reader, [id], lock)).get(id) ?? null
}

/** Finds an exchange by its id, of any customer; null when it does not exist. */
export async function findExchange({ pool }: Pick<Database, 'pool'>, id: string): Promise<ExchangeRecord | null> {
  const {
    rows: [row],
  } = await pool.query<ExchangeColumns>({
    name: 'find_exchange',
    text: `select ${EXCHANGE_COLUMNS} from exchange e where e.id = $1`,
    values: [id],
  })
  return row === undefined ? null : exchangeRecord(row)
}

/** Finds exchanges by their ids; an exchange that does not exist is absent. */
export async function findExchanges(
  database: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ExchangeRecord>> {
  const rows = await database.query({
    name: 'find_exchanges',
    text: `select ${EXCHANGE_COLUMNS} from exchange e where e.id = any($1::uuid[])`,
    values: [plainArray(ids)],
  })
  return new Map(rows.map((row) => fromArray(row)).map((record) => [record.id, record]))
}

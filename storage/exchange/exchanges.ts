/** Reads exchanges from their rows: for decisions and for display. */
import type { BoughtFor } from '../../lib/exchange/bought-for.ts'
import { BoughtPayment } from '../../lib/payments/bought-payment.ts'
import type { ExchangeState } from '../../lib/exchange/moves.ts'
import type { ExchangeRecord } from '../../lib/exchange/exchange.ts'
import { parseRate, type Rate } from '../../lib/exchange/rate.ts'
import type { CalendarTerms } from '../../lib/rails/business-days.ts'
import { plainArray } from '../db/array-literal.ts'
import type { Reader } from '../db/connection.ts'
import type { Database } from '../db/database.ts'
import { CALENDAR_OF_CONNECTION, LEAVES_BY } from '../providers/connection-calendars.ts'
import { loadPayments } from '../payments/payment-states.ts'
import { from, select } from '../db/select.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { Exchange } from './exchange-entity.ts'

/** All columns of a row `e`. */
export const EXCHANGE = select(from(Exchange, 'e'))

function rateFrom(text: string): Rate {
  const rate = parseRate(text)
  if (rate === null) throw new Error(`${text} is not a rate.`)
  return rate
}

/** Converts a row to a record. */
export function exchangeRecord({
  depositStatus,
  depositCurrency,
  depositRequired,
  depositReceived,
  depositPlaced,
  depositDueAt,
  ...row
}: ReturnType<typeof EXCHANGE.read>): ExchangeRecord {
  return {
    ...row,
    rate: rateFrom(row.rate),
    partnerRate: rateFrom(row.partnerRate),
    deposit:
      depositStatus === null
        ? null
        : {
            status: depositStatus,
            currency: depositCurrency ?? row.sellCurrency,
            required: depositRequired ?? 0n,
            received: depositReceived,
            placed: depositPlaced,
            dueAt: depositDueAt,
          },
    metadata: row.metadata ?? {},
  }
}

const fromArray = (row: readonly unknown[]): ExchangeRecord => exchangeRecord(EXCHANGE.read(row))

const STATES = `select ${EXCHANGE.sql} from exchange e
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

const DATES = `select p.id, p.execution_date::text, ${CALENDAR_OF_CONNECTION} from payment p ${LEAVES_BY} where p.id = any($1::uuid[])`

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
export async function findExchange(database: Pick<Database, 'query'>, id: string): Promise<ExchangeRecord | null> {
  const [row] = await database.query({
    name: 'find_exchange',
    text: `select ${EXCHANGE.sql} from exchange e where e.id = $1`,
    values: [id],
  })
  return row === undefined ? null : fromArray(row)
}

/** Finds exchanges by their ids; an exchange that does not exist is absent. */
export async function findExchanges(
  database: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ExchangeRecord>> {
  const rows = await database.query({
    name: 'find_exchanges',
    text: `select ${EXCHANGE.sql} from exchange e where e.id = any($1::uuid[])`,
    values: [plainArray(ids)],
  })
  return new Map(rows.map((row) => fromArray(row)).map((record) => [record.id, record]))
}

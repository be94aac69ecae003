/**
 * Money of customers and money at the bank, by day: summed from the postings themselves, like the trial balance, beside
 * what the bank's statements say. An account that no connection has (money under review, deposits, the operator's own)
 * counts where the other side of its posting is, and a balance where it was at the time.
 */
import type { AccountKey } from '../../lib/ledger/chart.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { instantsOf, type ReportQuestion, type SafeguardedDay } from '../../lib/reports/report.ts'
import type { Database } from '../db/database.ts'
import { inSnapshot } from '../db/snapshot.ts'
import type { TransactionClient } from '../db/transaction.ts'

/** The connection of each balance at each time: a balance may have moved from one to another (L96). */
const PLACES = `select balance_id as id, operator_id, from_connection_id as connection_id,
    coalesce(lag(moved_at) over (partition by balance_id order by moved_at, id), '-infinity') as since, moved_at as until
  from connection_move where operator_id = $1
  union all
  select b.id, b.operator_id, b.connection_id, coalesce(m.moved_at, '-infinity'), 'infinity'
  from balance b left join (select balance_id, max(moved_at) as moved_at from connection_move where operator_id = $1 group by 1) m on m.balance_id = b.id
  where b.operator_id = $1`

const joined = (side: 'debit' | 'credit'): string => `
  left join account ${side}_a on ${side}_a.id = p.${side}_account
  left join place ${side}_b on ${side}_b.id = p.${side}_account and p.booked_at >= ${side}_b.since and p.booked_at < ${side}_b.until`

/** Days before the first one of the report count as the day before it. */
const dayOf = (time: string): string => `greatest((${time} at time zone 'UTC')::date, $2::date - 1)`

const side = (name: 'debit' | 'credit', other: 'debit' | 'credit', sign: '' | '-'): string => `
  select ${dayOf('p.booked_at')} as day, p.currency,
    coalesce(${name}_a.connection_id, ${name}_b.connection_id, ${other}_a.connection_id, ${other}_b.connection_id) as connection_id,
    coalesce(${name}_a.key, 'cust') as key, ${sign}p.amount as amount
  from posting p ${joined(name)} ${joined(other)}
  where p.booked_at < $3::timestamptz and coalesce(${name}_a.operator_id, ${name}_b.operator_id) = $1 and ($4::text is null or p.currency = $4)`

/** The debt to a customer moves with its balance. */
const moved = (connection: 'from' | 'to', sign: '' | '-'): string => `
  select ${dayOf('m.moved_at')}, m.currency, m.${connection}_connection_id, 'cust', ${sign}m.amount
  from connection_move m where m.operator_id = $1 and m.moved_at < $3::timestamptz and ($4::text is null or m.currency = $4)`

/** The movement of each account on each day: debits less credits. */
const MOVED = `with place as materialized (${PLACES})
  select day::text as day, currency, connection_id, key, sum(amount)::text as amount
  from (${side('debit', 'credit', '')} union all ${side('credit', 'debit', '-')} union all ${moved('from', '')} union all ${moved('to', '-')}) s
  where $5::uuid is null or connection_id = $5 group by 1, 2, 3, 4 order by 1, 2, 3, 4`

const STATEMENTS = `select r.day::text as day, r.connection_id, r.currency, r.status, r.partner_closing, coalesce(r.unexplained, 0) as unexplained
  from reconciliation r where r.operator_id = $1 and r.day between $2::date and $3::date and r.partner_closing is not null`

const placeOf = (connectionId: string | null, currency: string): string => `${currency} ${connectionId ?? ''}`

interface Place {
  readonly connectionId: string | null
  readonly currency: string
  /** Debits less credits so far. */
  readonly accounts: Map<AccountKey, bigint>
}

/** Reads the days of a report in their order, in batches of one day. @throws DatabaseUnavailable */
export async function* safeguardedDays(
  snapshots: Database,
  operatorId: string,
  question: ReportQuestion,
): AsyncGenerator<SafeguardedDay[]> {
  yield* inSnapshot(snapshots, async function* (client) {
    await client.query('set local statement_timeout = 0')
    const { from, to, currency, connectionId } = question
    const { before } = instantsOf({ ...question, timezone: 'UTC' })
    const { rows: moved } = await client.query<[string, string, string | null, AccountKey, string]>({
      name: 'safeguarding_moved',
      rowMode: 'array',
      text: MOVED,
      values: [operatorId, from, timestamp(before), currency, connectionId],
    })
    const names = await connectionNames(client, operatorId)
    const statements = await statementsOf(client, operatorId, question)
    const places = new Map<string, Place>()
    let next = 0
    for (const day of daysOf(from, to)) {
      for (; next < moved.length && (moved[next] as (typeof moved)[number])[0] <= day; next++) {
        const [, code, connection, key, amount] = moved[next] as (typeof moved)[number]
        const name = placeOf(connection, code)
        const place = places.get(name) ?? { connectionId: connection, currency: code, accounts: new Map() }
        places.set(name, place)
        place.accounts.set(key, (place.accounts.get(key) ?? 0n) + BigInt(amount))
      }
      yield [...places]
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(([name, place]) => ({
          day,
          ...place,
          accounts: new Map(place.accounts),
          connection: names.get(place.connectionId ?? '') ?? null,
          statement: statements.get(`${day} ${name}`) ?? null,
        }))
    }
  })
}

function* daysOf(from: string, to: string): Generator<string> {
  for (let day = Temporal.PlainDate.from(from); ; day = day.add({ days: 1 })) {
    const text = day.toString()
    if (text > to) return
    yield text
  }
}

async function connectionNames(client: TransactionClient, operatorId: string): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<[string, string]>({
    name: 'safeguarding_connections',
    rowMode: 'array',
    text: 'select id, name from provider_connection where operator_id = $1',
    values: [operatorId],
  })
  return new Map(rows)
}

async function statementsOf(
  client: TransactionClient,
  operatorId: string,
  { from, to }: ReportQuestion,
): Promise<ReadonlyMap<string, SafeguardedDay['statement']>> {
  const { rows } = await client.query<[string, string, string, string, string, string]>({
    name: 'safeguarding_statements',
    rowMode: 'array',
    text: STATEMENTS,
    values: [operatorId, from, to],
  })
  return new Map(
    rows.map(([day, connectionId, currency, status, closing, unexplained]) => [
      `${day} ${placeOf(connectionId, currency)}`,
      { closing: BigInt(closing), unexplained: BigInt(unexplained), status },
    ]),
  )
}

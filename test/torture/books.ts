/**
 * The books of some customers as the checker wants them: every change of every balance with the transaction that made
 * it and the time at which that was committed. The rows it reads are written once and never again, so the transaction
 * that made them is the one that they name (xmin).
 */
import { idempotencyId } from '../../lib/commands/idempotency.ts'
import type { CreatedCustomer } from '../../storage/seed/seed-customers.ts'
import type { Cluster } from '../support/cluster.ts'
import { ANSWERS, type Books, type Change, type Command, type Effect, type Failure, type Thing } from './history.ts'

/** When a row was committed, in epoch milliseconds; the transaction, and both as columns. */
const at = (table: string): string => `(extract(epoch from pg_xact_commit_timestamp(${table}.xmin)) * 1000)::float8`
const written = (table: string): string => `${table}.xmin::text as transaction, ${at(table)} as at`

/** Reads the books of these customers. `commands` tell which keys to look for. */
export async function readBooks(
  cluster: Pick<Cluster, 'query'>,
  customers: readonly CreatedCustomer[],
  commands: readonly Command[],
): Promise<Books> {
  const ids = [customers.map(({ id }) => id)]
  const balances = await cluster.query<{ id: string; posted: string; held: string }>(
    'select id, posted, held from balance where customer_id = any($1)',
    ids,
  )
  const lines = await cluster.query<ChangeRow>(
    `select p.debit_account as balance_id, ${written('p')}, -p.amount as posted,
       case when p.rule = 'L10' then -p.amount else 0 end as held, p.debit_sequence as sequence, p.debit_balance as running
     from posting p where p.customer_id = any($1) and p.debit_sequence is not null
     union all
     select p.credit_account, ${written('p')}, p.amount, 0, p.credit_sequence, p.credit_balance
     from posting p where p.customer_id = any($1) and p.credit_sequence is not null`,
    ids,
  )
  // A hold is resolved later, so its own row has another transaction; the payment's first update has the one of both,
  // or, of one that had to wait for its money, the one with which that was over. While it is under review another hold
  // takes its place, of the same amount; blocked, it is free again without having been sent. A draft holds nothing, nor
  // does a payment whose money is still to be bought.
  const holds = await cluster.query<ChangeRow>(
    `select p.paying_balance_id as balance_id, ${written('u')}, 0 as posted, h.amount as held, null as sequence, null as running
     from payment p join hold h on h.id = p.hold_id
       join status_update u on u.object_id = p.id and u.version = (select min(f.version) from status_update f where f.object_id = p.id and f.status not in ('scheduled', 'draft')
         and (p.paying_balance_id = p.source_balance_id or f.message = 'What it pays was bought.')) where p.customer_id = any($1)
     union all
     select p.paying_balance_id, ${written('u')}, 0, -h.amount, null, null
     from payment p join hold h on h.id = p.hold_id join status_update u on u.object_id = p.id and u.status = 'failed' where p.customer_id = any($1) and p.sent_at is null`,
    ids,
  )
  const updates = await cluster.query<Books['updates'][number]>(
    `select object_id as "objectId", version, previous_status as previous, status from status_update where customer_id = any($1)`,
    ids,
  )
  const events = await cluster.query<Books['events'][number]>(
    `select o.object_id as "objectId", o.type, o.previous_status as previous, o.status from outbox o where o.customer_id = any($1)
       and (o.object in ('payment', 'transfer', 'exchange', 'bulk_payment', 'scheduled_payment', 'funds_request')
         or o.object = 'incoming_payment' and not exists (select from incoming_payment i where i.id = o.object_id and ${IS_OPENING}))`,
    ids,
  )
  return {
    balances: balances.map(({ id, posted, held }) => ({ id, posted: BigInt(posted), held: BigInt(held) })),
    effects: await readEffects(cluster, ids),
    failures: await readFailures(cluster, ids),
    things: await readThings(cluster, ids),
    changes: [...lines, ...holds].map(changeOf),
    decisions: await readDecisions(cluster, customers, commands),
    updates,
    events,
  }
}

/** The opening amounts of balances, for which no command was sent. */
const IS_OPENING = `i.reference = 'Opening balance'`

/** The money that has moved, under the names that those who want it gave it. */
async function readEffects(cluster: Pick<Cluster, 'query'>, ids: readonly unknown[]): Promise<Effect[]> {
  const rows = await cluster.query<
    Omit<Effect, 'amount' | 'counted'> & {
      readonly amount: string
      readonly counted_key: string | null
      readonly counted_at: number | null
    }
  >(
    `with made as materialized (
       select p.id, case when p.created_via = 'schedule' then s.external_id || '/' || c.number else p.external_id end as name, 'payment' as kind,
         p.source_balance_id as from, null::uuid as to, coalesce(x.sell_amount, p.amount) as amount, p.status, x.id as exchange
       from payment p left join exchange x on x.payment_id = p.id left join scheduled_occurrence c on c.payment_id = p.id left join scheduled_payment s on s.id = c.scheduled_payment_id where p.customer_id = any($1) and p.status <> 'draft'
       union all select id, coalesce(external_id, 'rest-of/' || from_balance_id), 'transfer', from_balance_id, to_balance_id, amount, status, null from transfer where customer_id = any($1)
       union all select x.id, coalesce(x.external_id, 'exchange-of/' || p.external_id), 'exchange', x.sell_balance_id, x.buy_balance_id, x.sell_amount, x.status, x.id
         from exchange x left join payment p on p.id = x.payment_id where x.customer_id = any($1))
     select m.id, m.name, m.kind, m.from, m.to, m.amount, m.status, m.exchange as "exchangeId", ${at('u')} as at, null as counted_key, null as counted_at,
       m.exchange is not null and not exists (select from sandbox_fx_order o where o.reference = m.exchange) as lost
     from made m join status_update u on u.object_id = m.id and u.version = (select min(f.version) from status_update f where f.object_id = m.id and f.status <> 'draft')
     union all
     select i.id, i.end_to_end_id, 'arrival', null, i.balance_id, i.amount, i.status, null, ${at('p')}, r.external_id, ${at('f')}, false
     from incoming_payment i join posting p on p.source_id = i.id and p.rule = 'L01'
       left join funds_request_payment f on f.incoming_payment_id = i.id left join funds_request r on r.id = f.funds_request_id
     where i.customer_id = any($1) and not ${IS_OPENING}`,
    ids,
  )
  return rows.map(({ counted_key: key, counted_at, ...row }) => ({
    ...row,
    amount: BigInt(row.amount),
    counted: key === null ? null : { key, at: counted_at as number },
  }))
}

/** Rows of files, and days of schedules, that came to nothing. */
async function readFailures(cluster: Pick<Cluster, 'query'>, ids: readonly unknown[]): Promise<Failure[]> {
  const rows = await cluster.query<{
    name: string
    about: string
    answer: string | null
    transaction: string | null
    at: number | null
  }>(
    `select r.external_id as name, ${KEY_OF_FILE} as about, i.answer, ${written('i')}
     from bulk_payment b join bulk_payment_row r on r.bulk_payment_id = b.id left join idempotency i on i.id = r.id where b.customer_id = any($1) and r.status in ('failed', 'invalid')
     union all
     select s.external_id || '/' || c.number, s.external_id, null, null, null
     from scheduled_occurrence c join scheduled_payment s on s.id = c.scheduled_payment_id where s.customer_id = any($1) and c.status in ('refused', 'skipped')`,
    ids,
  )
  return rows.map(({ name, about, answer, transaction, at }) => ({
    name,
    about,
    answer,
    ...(transaction === null || at === null ? {} : { transaction, at }),
  }))
}

/** A file has no name of its client's own but the one that people read; the key is at its end. */
const KEY_OF_FILE = 'right(b.name, 36)'

async function readThings(cluster: Pick<Cluster, 'query'>, ids: readonly unknown[]): Promise<Thing[]> {
  const rows = await cluster.query<
    Omit<Thing, 'made' | 'failed' | 'amount'> & {
      readonly made: string
      readonly failed: string
      readonly amount: string | null
    }
  >(
    `select b.id, ${KEY_OF_FILE} as key, 'file' as kind, b.status, b.submitted as made, b.failed + b.invalid as failed, null::bigint as amount from bulk_payment b where b.customer_id = any($1)
     union all select id, external_id, 'schedule', status, occurrences_created, occurrences_begun - occurrences_created, null from scheduled_payment where customer_id = any($1)
     union all select id, external_id, 'request', status, paid_amount, 0, amount from funds_request where customer_id = any($1)`,
    ids,
  )
  return rows.map(({ made, failed, amount, ...row }) => ({
    ...row,
    made: BigInt(made),
    failed: BigInt(failed),
    amount: amount === null ? null : BigInt(amount),
  }))
}

interface ChangeRow {
  readonly balance_id: string
  readonly transaction: string
  readonly at: number
  readonly posted: string
  readonly held: string
  readonly sequence: string | null
  readonly running: string | null
}

const changeOf = ({ balance_id, transaction, at, posted, held, sequence, running }: ChangeRow): Change => ({
  balanceId: balance_id,
  transaction,
  at,
  posted: BigInt(posted),
  held: BigInt(held),
  line: sequence === null || running === null ? null : { sequence: BigInt(sequence), running: BigInt(running) },
})

/** Records are kept under a hash of the key and its scope. */
async function readDecisions(
  cluster: Pick<Cluster, 'query'>,
  customers: readonly CreatedCustomer[],
  commands: readonly Command[],
): Promise<Books['decisions']> {
  const owners = new Map(customers.map((customer) => [customer.id, customer]))
  const sent = new Map(
    commands.map((command) => {
      const { key, path, tenantId } = command
      return [
        idempotencyId({
          principalId: (owners.get(tenantId) as CreatedCustomer).apiKeyId,
          tenantId,
          method: 'POST',
          path,
          key,
        }),
        command,
      ]
    }),
  )
  const rows = await cluster.query<{ id: string; transaction: string; at: number; status: number }>(
    `select i.id, ${written('i')}, i.status from idempotency i where i.id = any($1)`,
    [[...sent.keys()]],
  )
  return rows.map(({ id, transaction, at, status }) => {
    const { key, kind } = sent.get(id) as Command
    return { key, transaction, at, yes: status === ANSWERS[kind].yes }
  })
}

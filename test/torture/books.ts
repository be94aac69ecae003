/**
 * The books of some customers as the checker wants them: every change of every balance with the transaction that made it
 * and the time at which that was committed. The rows it reads are written once and never again, so the transaction that
 * made them is the one that they name (xmin).
 */
import { idempotencyId } from '../../http/idempotency.ts'
import type { CreatedCustomer } from '../../storage/seed.ts'
import type { Cluster } from '../support/cluster.ts'
import type { Books, Change, Command } from './checker.ts'

/** When a row was committed, in epoch milliseconds. */
const at = (table: string): string => `(extract(epoch from pg_xact_commit_timestamp(${table}.xmin)) * 1000)::float8`

/** Reads the books of these customers. `commands` tell which keys to look for. */
export async function readBooks(cluster: Pick<Cluster, 'query'>, customers: readonly CreatedCustomer[], commands: readonly Command[]): Promise<Books> {
  const ids = [customers.map(({ id }) => id)]
  const balances = await cluster.query<{ id: string; posted: string; held: string }>('select id, posted, held from balance where customer_id = any($1)', ids)
  const effects = await cluster.query<{ id: string; key: string | null; kind: Command['kind']; from: string; to: string | null; amount: string; status: string }>(
    `select id, external_id as key, 'payment' as kind, source_balance_id as from, null::uuid as to, amount, status from payment where customer_id = any($1)
     union all select id, external_id, 'transfer', from_balance_id, to_balance_id, amount, status from transfer where customer_id = any($1)
     union all select id, external_id, 'exchange', sell_balance_id, buy_balance_id, sell_amount, status from exchange where customer_id = any($1)`, ids)
  const lines = await cluster.query<ChangeRow>(
    `select p.debit_account as balance_id, p.xmin::text as transaction, ${at('p')} as at, -p.amount as posted,
       case when p.rule = 'L10' then -p.amount else 0 end as held, p.debit_sequence as sequence, p.debit_balance as running
     from posting p where p.customer_id = any($1) and p.debit_sequence is not null
     union all
     select p.credit_account, p.xmin::text, ${at('p')}, p.amount, 0, p.credit_sequence, p.credit_balance
     from posting p where p.customer_id = any($1) and p.credit_sequence is not null`, ids)
  // A hold is resolved later, so its own row has another transaction; the payment's first update has the one of both. While it is under
  // review another hold takes its place, of the same amount; blocked, it is free again without having been sent.
  const holds = await cluster.query<ChangeRow>(
    `select p.source_balance_id as balance_id, u.xmin::text as transaction, ${at('u')} as at, 0 as posted, h.amount as held, null as sequence, null as running
     from payment p join hold h on h.id = p.hold_id join status_update u on u.object_id = p.id and u.version = 1 where p.customer_id = any($1)
     union all
     select p.source_balance_id, u.xmin::text, ${at('u')}, 0, -h.amount, null, null
     from payment p join hold h on h.id = p.hold_id join status_update u on u.object_id = p.id and u.status = 'failed' where p.customer_id = any($1) and p.sent_at is null`, ids)
  const updates = await cluster.query<Books['updates'][number]>(
    `select object_id as "objectId", version, previous_status as previous, status from status_update where customer_id = any($1)`, ids)
  const events = await cluster.query<Books['events'][number]>(
    `select object_id as "objectId", type, status from outbox where customer_id = any($1) and object in ('payment', 'transfer', 'exchange')`, ids)
  return {
    balances: balances.map(({ id, posted, held }) => ({ id, posted: BigInt(posted), held: BigInt(held) })),
    effects: effects.map((row) => ({ ...row, amount: BigInt(row.amount) })),
    changes: [...lines, ...holds].map(changeOf),
    decisions: await readDecisions(cluster, customers, commands),
    updates, events,
  }
}

/** Where a command is sent. */
export const PATHS = { payment: '/v1/payments', transfer: '/v1/transfers', exchange: '/v1/exchanges' } as const satisfies Record<Command['kind'], string>

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
  balanceId: balance_id, transaction, at, posted: BigInt(posted), held: BigInt(held),
  line: sequence === null || running === null ? null : { sequence: BigInt(sequence), running: BigInt(running) },
})

/** Records are kept under a hash of the key and its scope. */
async function readDecisions(cluster: Pick<Cluster, 'query'>, customers: readonly CreatedCustomer[], commands: readonly Command[]): Promise<Books['decisions']> {
  const owners = new Map(customers.flatMap((customer) => customer.balanceIds.map((balanceId) => [balanceId, customer])))
  const keys = new Map(commands.map(({ key, kind, from }) => {
    const owner = owners.get(from) as CreatedCustomer
    return [idempotencyId({ principalId: owner.apiKeyId, tenantId: owner.id, method: 'POST', path: PATHS[kind], key }), key]
  }))
  const rows = await cluster.query<{ id: string; transaction: string; at: number; status: number }>(
    `select i.id, i.xmin::text as transaction, ${at('i')} as at, i.status from idempotency i where i.id = any($1)`, [[...keys.keys()]])
  return rows.map(({ id, transaction, at, status }) => ({ key: keys.get(id) as string, transaction, at, yes: status === 201 }))
}

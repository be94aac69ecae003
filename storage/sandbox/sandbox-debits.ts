/**
 * Direct debits in the book of the sandbox bank: rows of sandbox_debit, one for each mandate and for each presentation
 * of a collection. `steps` is the text of the reports still to come, the next one first, and `due_at` its time.
 * Statements only.
 *
 * Written by hand: every collection of a sandbox passes these rows, in batches.
 */
import { timestamp } from '../../lib/base/clock.ts'
import type { CounterpartyAccount } from '../../lib/direct-debits/mandate.ts'
import type { MandateScheme } from '../../lib/rails/debit-schemes.ts'
import { plainArray, plainArrayOrNull, textArray } from '../db/array-literal.ts'
import { bigintOrNull, expression, instantExpression, instantOrNull, select } from '../db/select.ts'
import type { Queries } from '../db/transaction.ts'

/** An order as the bank takes it. Amounts are minor units, times epoch milliseconds. */
export interface NewSandboxDebit {
  readonly reference: string
  readonly kind: 'mandate' | 'collection'
  /** Our mandate or collection. */
  readonly objectId: string
  readonly shard: number
  readonly connectionId: string
  readonly scheme: MandateScheme
  readonly currency: string
  /** Null for a mandate. */
  readonly amount: bigint | null
  /** The payer's account, which the payer's bank may tell to have changed. */
  readonly account: CounterpartyAccount
  readonly steps: string
  /** When the first report is due; null: none is to come. */
  readonly dueAt: number | null
  /** The moment from which the times of steps count. */
  readonly receivedAt: number
}

/**
 * Inserts orders; an existing reference is left as it is.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function insertSandboxDebits(queries: Queries, orders: readonly NewSandboxDebit[]): Promise<void> {
  await queries.query({
    name: 'sandbox_debit_take',
    text: `insert into sandbox_debit (reference, kind, object_id, shard, connection_id, scheme, currency, amount, account, steps, due_at, received_at)
      select * from unnest($1::uuid[], $2::text[], $3::uuid[], $4::smallint[], $5::uuid[], $6::text[], $7::text[], $8::bigint[], $9::text[], $10::text[], $11::timestamptz[], $12::timestamptz[])
      on conflict (reference) do nothing`,
    values: [
      plainArray(orders.map(({ reference }) => reference)),
      plainArray(orders.map(({ kind }) => kind)),
      plainArray(orders.map(({ objectId }) => objectId)),
      plainArray(orders.map(({ shard }) => shard)),
      plainArray(orders.map(({ connectionId }) => connectionId)),
      plainArray(orders.map(({ scheme }) => scheme)),
      plainArray(orders.map(({ currency }) => currency)),
      plainArray(orders.map(({ amount }) => amount)),
      textArray(orders.map(({ account }) => JSON.stringify(account))),
      textArray(orders.map(({ steps }) => steps)),
      plainArray(orders.map(({ dueAt }) => (dueAt === null ? null : timestamp(dueAt)))),
      plainArray(orders.map(({ receivedAt }) => timestamp(receivedAt))),
    ],
  })
}

/** Finds which references the bank has. @throws DatabaseUnavailable, and what the driver throws */
export async function knownSandboxDebits(
  queries: Queries,
  references: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await queries.query<[string]>({
    name: 'sandbox_debit_known',
    text: 'select reference from sandbox_debit where reference = any($1::uuid[])',
    values: [plainArray(references)],
  })
  return new Set(rows.map(([reference]) => reference))
}

/** An order with its plan. Times are epoch milliseconds. */
export interface SandboxDebitOrder extends Omit<NewSandboxDebit, 'account' | 'dueAt'> {
  /** JSON text. */
  readonly account: string
  readonly eventNumber: number
  /** Null: no report is to come. */
  readonly dueAt: number | null
}

const DEBIT = select({
  reference: expression<string>('reference'),
  kind: expression<'mandate' | 'collection'>('kind'),
  objectId: expression<string>('object_id'),
  shard: expression<number>('shard'),
  connectionId: expression<string>('connection_id'),
  scheme: expression<MandateScheme>('scheme'),
  currency: expression<string>('currency'),
  amount: bigintOrNull('amount'),
  account: expression<string>('account'),
  steps: expression<string>('steps'),
  eventNumber: expression<number>('event_number'),
  dueAt: instantOrNull('due_at'),
  receivedAt: instantExpression('received_at'),
})

/** Reads an order about one of our objects, the latest presentation of it; null when the bank has none. */
export async function findSandboxDebit(queries: Queries, objectId: string): Promise<SandboxDebitOrder | null> {
  const [row] = await queries.query({
    name: 'sandbox_debit_of',
    text: `select ${DEBIT.sql} from sandbox_debit where object_id = $1 order by received_at desc, reference limit 1`,
    values: [objectId],
  })
  return row === undefined ? null : DEBIT.read(row)
}

/**
 * Reads the orders of these shards (null: all) with a report that is due at `now` (epoch milliseconds), the longest due
 * first, `max` at most.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function dueSandboxDebits(
  queries: Queries,
  { now, max, owned }: { readonly now: number; readonly max: number; readonly owned: readonly number[] | null },
): Promise<readonly SandboxDebitOrder[]> {
  const rows = await queries.query({
    name: 'sandbox_debit_due',
    text: `select ${DEBIT.sql} from sandbox_debit
      where due_at <= $1::timestamptz and ($3::smallint[] is null or shard = any($3)) order by due_at, reference limit $2`,
    values: [timestamp(now), max, plainArrayOrNull(owned)],
  })
  return rows.map((row) => DEBIT.read(row))
}

/** The plan of an order after a report, or after a simulation. */
export interface SandboxDebitPlan {
  readonly reference: string
  /** As the order was read; an order that was planned anew since stays as it is. */
  readonly eventNumber: number
  readonly steps: string
  /** Epoch milliseconds; null: no report is to come. */
  readonly dueAt: number | null
}

/**
 * Replaces the plans of orders, and raises their event numbers by one.
 *
 * @returns the references of the orders whose plan was replaced
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function replanSandboxDebits(
  queries: Queries,
  plans: readonly SandboxDebitPlan[],
): Promise<readonly string[]> {
  const rows = await queries.query<[string]>({
    name: 'sandbox_debit_plan',
    text: `update sandbox_debit d set steps = p.steps, due_at = p.due_at, event_number = d.event_number + 1
      from unnest($1::uuid[], $2::int[], $3::text[], $4::timestamptz[]) p(reference, event_number, steps, due_at)
      where d.reference = p.reference and d.event_number = p.event_number returning d.reference`,
    values: [
      plainArray(plans.map(({ reference }) => reference)),
      plainArray(plans.map(({ eventNumber }) => eventNumber)),
      textArray(plans.map(({ steps }) => steps)),
      plainArray(plans.map(({ dueAt }) => (dueAt === null ? null : timestamp(dueAt)))),
    ],
  })
  return rows.map(([reference]) => reference)
}

/**
 * Mandates and collections that travel by orders (lib/providers/provider.ts) and that their bank has not acknowledged
 * yet: those to be sent, and those whose sending has an unknown outcome. Statements only.
 *
 * Written by hand: every collection of such a bank passes these statements, in batches.
 */
import { timestamp } from '../../lib/base/clock.ts'
import type { MandateDirection } from '../../lib/direct-debits/mandate.ts'
import type { SequenceType } from '../../lib/direct-debits/schemes.ts'
import type { MandateScheme } from '../../lib/rails/debit-schemes.ts'
import { plainArray, plainArrayOrNull, textArray } from '../db/array-literal.ts'
import { bigintExpression, expression, instantExpression, instantOrNull, select } from '../db/select.ts'
import type { Queries } from '../db/transaction.ts'

/** The orders that are read. Times are epoch milliseconds. */
export interface DebitOrderRange {
  readonly now: number
  /** A collection of a bank without a calendar is sent this long after its creation, milliseconds. */
  readonly sandboxDelayMs: number
  /** Orders that were sent before this moment and are not acknowledged have an unknown outcome. */
  readonly sentBefore: number
  /** The schemes that travel by orders, each with its provider (`sandbox bacs_dd`). */
  readonly carriers: readonly string[]
  /** The shards of this node; null: all. */
  readonly owned: readonly number[] | null
  readonly max: number
}

const CONNECTIONS = `select id from provider_connection where provider = any($1::text[])`
const providersOf = (carriers: readonly string[]): readonly string[] => [
  ...new Set(carriers.map((carrier) => carrier.split(' ')[0] as string)),
]

/** A mandate to be lodged. */
export interface MandateToLodge {
  readonly id: string
  readonly shard: number
  readonly connectionId: string
  readonly direction: MandateDirection
  readonly scheme: MandateScheme
  readonly currency: string
  /** JSON text. */
  readonly counterparty: string
  readonly reference: string
  readonly creditorId: string | null
  readonly creditorName: string | null
  readonly signedAt: number | null
  readonly createdAt: number
  /** Whether it was sent before, with an unknown outcome. */
  readonly isSent: boolean
}

const MANDATE = select({
  id: expression<string>('m.id'),
  shard: expression<number>('m.shard'),
  connectionId: expression<string>('m.connection_id'),
  direction: expression<MandateDirection>('m.direction'),
  scheme: expression<MandateScheme>('m.scheme'),
  currency: expression<string>('m.currency'),
  counterparty: expression<string>('m.counterparty'),
  reference: expression<string>('m.reference'),
  creditorId: expression<string | null>('m.creditor_id'),
  creditorName: expression<string | null>('m.creditor_name'),
  signedAt: instantOrNull('m.signed_at'),
  createdAt: instantExpression('m.created_at'),
  isSent: expression<boolean>(`m.status = 'submitted'`),
})

/** Reads mandates to be lodged, the oldest first. @throws DatabaseUnavailable, and what the driver throws */
export async function mandatesToLodge(
  queries: Queries,
  { sentBefore, carriers, owned, max }: DebitOrderRange,
): Promise<readonly MandateToLodge[]> {
  const rows = await queries.query({
    name: 'mandates_to_lodge',
    values: [
      textArray(providersOf(carriers)),
      textArray(carriers),
      plainArrayOrNull(owned),
      timestamp(sentBefore),
      max,
    ],
    text: `select ${MANDATE.sql} from mandate m join provider_connection k on k.id = m.connection_id
      where m.connection_id in (${CONNECTIONS}) and m.provider_ref is null
        and m.status in ('pending', 'submitted') and (m.status = 'pending' or m.submitted_at < $4)
        and k.provider || ' ' || m.scheme = any($2::text[]) and ($3::smallint[] is null or m.shard = any($3))
      order by m.created_at, m.id limit $5`,
  })
  return rows.map((row) => MANDATE.read(row))
}

/** A collection to be presented. */
export interface CollectionToPresent {
  readonly id: string
  readonly mandateId: string
  readonly shard: number
  readonly connectionId: string
  readonly scheme: MandateScheme
  readonly currency: string
  readonly amount: bigint
  readonly dueDate: string
  readonly sequenceType: SequenceType
  readonly remittance: string
  readonly endToEndId: string
  /** 1 for the first presentation. */
  readonly attempt: number
  /** JSON text. */
  readonly counterparty: string
  readonly mandateReference: string
  readonly createdAt: number
  readonly isSent: boolean
}

const COLLECTION = select({
  id: expression<string>('c.id'),
  mandateId: expression<string>('c.mandate_id'),
  shard: expression<number>('c.shard'),
  connectionId: expression<string>('c.connection_id'),
  scheme: expression<MandateScheme>('c.scheme'),
  currency: expression<string>('c.currency'),
  amount: bigintExpression('c.amount'),
  dueDate: expression<string>('c.due_date::text'),
  sequenceType: expression<SequenceType>('c.sequence_type'),
  remittance: expression<string>('c.reference'),
  endToEndId: expression<string>('c.end_to_end_id'),
  attempt: expression<number>(
    `jsonb_array_length(c.attempts::jsonb) + case when c.status = 'pending' then 1 else 0 end`,
  ),
  counterparty: expression<string>('m.counterparty'),
  mandateReference: expression<string>('m.reference'),
  createdAt: instantExpression('c.created_at'),
  isSent: expression<boolean>(`c.status = 'submitted'`),
})

/** SQL of the moment at which a pending collection `c` of a connection `k` leaves; `$delay` in milliseconds. */
const leavesAt = (delay: string): string =>
  `case when k.provider = 'sandbox' and not coalesce((k.config->>'realCalendar')::boolean, false)
    then c.created_at + ${delay} * interval '1 millisecond' else c.submission_deadline end`

/** Reads collections to be presented, the oldest first. @throws DatabaseUnavailable, and what the driver throws */
export async function collectionsToPresent(
  queries: Queries,
  { now, sandboxDelayMs, sentBefore, carriers, owned, max }: DebitOrderRange,
): Promise<readonly CollectionToPresent[]> {
  const rows = await queries.query({
    name: 'collections_to_present',
    values: [
      textArray(providersOf(carriers)),
      textArray(carriers),
      plainArrayOrNull(owned),
      timestamp(sentBefore),
      max,
      timestamp(now),
      sandboxDelayMs,
    ],
    text: `select ${COLLECTION.sql} from collection c join mandate m on m.id = c.mandate_id join provider_connection k on k.id = c.connection_id
      where c.connection_id in (${CONNECTIONS}) and c.provider_ref is null and c.file_id is null and c.status in ('pending', 'submitted')
        and case c.status when 'pending' then m.status = 'active' and ${leavesAt('$7')} <= $6 else c.submitted_at < $4 end
        and k.provider || ' ' || c.scheme = any($2::text[]) and ($3::smallint[] is null or c.shard = any($3))
      order by c.created_at, c.id limit $5`,
  })
  return rows.map((row) => COLLECTION.read(row))
}

/**
 * Returns when the next order is due, epoch milliseconds, which may have passed; null: there is none. What waits for
 * its mandate is not counted, because a move of the mandate wakes the queue.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function nextDebitOrder(
  queries: Queries,
  { sandboxDelayMs, carriers, owned }: Pick<DebitOrderRange, 'sandboxDelayMs' | 'carriers' | 'owned'>,
  doubtMs: number,
): Promise<number | null> {
  const [row] = await queries.query<[number | null]>({
    name: 'next_debit_order',
    values: [textArray(providersOf(carriers)), textArray(carriers), plainArrayOrNull(owned), sandboxDelayMs, doubtMs],
    text: `select ceil(extract(epoch from min(at)) * 1000)::float8 from (
        select min(case m.status when 'pending' then m.created_at else m.submitted_at + $5 * interval '1 millisecond' end) as at
        from mandate m join provider_connection k on k.id = m.connection_id
        where m.connection_id in (${CONNECTIONS}) and m.provider_ref is null and m.status in ('pending', 'submitted')
          and k.provider || ' ' || m.scheme = any($2::text[]) and ($3::smallint[] is null or m.shard = any($3))
        union all
        select min(case c.status when 'pending' then ${leavesAt('$4')} else c.submitted_at + $5 * interval '1 millisecond' end)
        from collection c join mandate m on m.id = c.mandate_id join provider_connection k on k.id = c.connection_id
        where c.connection_id in (${CONNECTIONS}) and c.provider_ref is null and c.file_id is null and c.status in ('pending', 'submitted')
          and (c.status = 'submitted' or m.status = 'active')
          and k.provider || ' ' || c.scheme = any($2::text[]) and ($3::smallint[] is null or c.shard = any($3))) due`,
  })
  return row?.[0] ?? null
}

/** Finds which mandates or collections are submitted. @throws DatabaseUnavailable, and what the driver throws */
export async function stillSubmitted(
  queries: Queries,
  table: 'mandate' | 'collection',
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await queries.query<[string]>({
    name: `submitted_${table}s`,
    values: [plainArray(ids)],
    text: `select id from ${table} where id = any($1::uuid[]) and status = 'submitted'`,
  })
  return new Set(rows.map(([id]) => id))
}

/**
 * Writes the banks' references of mandates or collections that they have taken. Moves do not read them, so the versions
 * stay.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function keepDebitRefs(
  queries: Queries,
  table: 'mandate' | 'collection',
  refs: ReadonlyMap<string, string>,
): Promise<void> {
  if (refs.size === 0) return
  await queries.query({
    name: `keep_${table}_refs`,
    values: [plainArray([...refs.keys()]), textArray([...refs.values()])],
    text: `update ${table} o set provider_ref = u.ref from unnest($1::uuid[], $2::text[]) u(id, ref) where o.id = u.id and o.provider_ref is null`,
  })
}

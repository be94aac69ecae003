/**
 * Orders that follow a mandate or a collection that its bank has: reversals of collections, and the ends of mandates.
 * Moves do not read the columns that are written here, so the versions stay. Statements only.
 */
import { timestamp } from '../../lib/base/clock.ts'
import type { MandateScheme } from '../../lib/rails/debit-schemes.ts'
import { plainArray, plainArrayOrNull, textArray } from '../db/array-literal.ts'
import { bigintExpression, expression, instantExpression, select } from '../db/select.ts'
import type { Queries } from '../db/transaction.ts'
import type { DebitOrderRange } from './debit-orders.ts'

/** The orders that are read; see `DebitOrderRange`. */
export type LaterOrderRange = Pick<DebitOrderRange, 'now' | 'sentBefore' | 'carriers' | 'owned' | 'max'>

/** A reversal whose order its bank has not acknowledged. */
export interface ReversalToSend {
  /** Names the order. */
  readonly reference: string
  readonly collectionId: string
  readonly mandateId: string
  readonly shard: number
  readonly connectionId: string
  readonly scheme: MandateScheme
  readonly currency: string
  readonly amount: bigint
  readonly reasonCode: string
  readonly endToEndId: string
  /** The presentation that was collected; 1 for the first. */
  readonly attempt: number
  readonly providerRef: string | null
  /** JSON text. */
  readonly counterparty: string
  readonly mandateReference: string
  readonly createdAt: number
  /** Whether it was sent before, with an unknown outcome. */
  readonly isSent: boolean
}

const REVERSAL = select({
  reference: expression<string>(`c.reversal::jsonb->>'id'`),
  collectionId: expression<string>('c.id'),
  mandateId: expression<string>('c.mandate_id'),
  shard: expression<number>('c.shard'),
  connectionId: expression<string>('c.connection_id'),
  scheme: expression<MandateScheme>('c.scheme'),
  currency: expression<string>('c.currency'),
  amount: bigintExpression(`(c.reversal::jsonb->>'amountMinor')::bigint`),
  reasonCode: expression<string>(`c.reversal::jsonb->>'reasonCode'`),
  endToEndId: expression<string>('c.end_to_end_id'),
  attempt: expression<number>('greatest(jsonb_array_length(c.attempts::jsonb), 1)'),
  providerRef: expression<string | null>('c.provider_ref'),
  counterparty: expression<string>('m.counterparty'),
  mandateReference: expression<string>('m.reference'),
  createdAt: instantExpression('c.reversed_at'),
  isSent: expression<boolean>('c.reversal_sent_at is not null'),
})

/** Reversals of carriers (`$1`) on shards (`$2`) that wait for their bank. */
const WAITING_REVERSALS = `collection c join mandate m on m.id = c.mandate_id join provider_connection k on k.id = c.connection_id
  where c.reversal_status = 'pending' and c.reversal_ref is null and k.provider || ' ' || c.scheme = any($1::text[])
    and ($2::smallint[] is null or c.shard = any($2))`

/** Reads reversals to be sent, the oldest first. @throws DatabaseUnavailable, and what the driver throws */
export async function reversalsToSend(
  queries: Queries,
  { sentBefore, carriers, owned, max }: LaterOrderRange,
): Promise<readonly ReversalToSend[]> {
  const rows = await queries.query({
    name: 'reversals_to_send',
    values: [textArray(carriers), plainArrayOrNull(owned), timestamp(sentBefore), max],
    text: `select ${REVERSAL.sql} from ${WAITING_REVERSALS} and (c.reversal_sent_at is null or c.reversal_sent_at < $3)
      order by c.reversed_at, c.id limit $4`,
  })
  return rows.map((row) => REVERSAL.read(row))
}

/**
 * Notes that reversals go to their bank now, before the call (I1).
 *
 * @returns the collections whose reversal still waits
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function markReversalsSent(
  queries: Queries,
  collectionIds: readonly string[],
  now: number,
): Promise<ReadonlySet<string>> {
  if (collectionIds.length === 0) return new Set()
  const rows = await queries.query<[string]>({
    name: 'mark_reversals_sent',
    values: [plainArray(collectionIds), timestamp(now)],
    text: `update collection set reversal_sent_at = $2 where id = any($1::uuid[]) and reversal_status = 'pending' returning id`,
  })
  return new Set(rows.map(([id]) => id))
}

/** Keeps the bank's references of reversals, by collection. @throws DatabaseUnavailable, and what the driver throws */
export async function keepReversalRefs(queries: Queries, refs: ReadonlyMap<string, string>): Promise<void> {
  if (refs.size === 0) return
  await queries.query({
    name: 'keep_reversal_refs',
    values: [plainArray([...refs.keys()]), textArray([...refs.values()])],
    text: `update collection c set reversal_ref = u.ref from unnest($1::uuid[], $2::text[]) u(id, ref) where c.id = u.id and c.reversal_ref is null`,
  })
}

/** Mandates of carriers (`$1`) on shards (`$2`) whose bank is to be told of their end. */
const WAITING_ENDS = `mandate m join provider_connection k on k.id = m.connection_id
  where m.end_due_at is not null and k.provider || ' ' || m.scheme = any($1::text[]) and ($2::smallint[] is null or m.shard = any($2))`

/** A mandate that has ended. */
export interface EndedMandate {
  readonly id: string
  readonly connectionId: string
}

/** Reads mandates whose bank is to be told now. @throws DatabaseUnavailable, and what the driver throws */
export async function endsToTell(
  queries: Queries,
  { now, carriers, owned, max }: LaterOrderRange,
): Promise<readonly EndedMandate[]> {
  const rows = await queries.query<[string, string]>({
    name: 'mandate_ends_to_tell',
    values: [textArray(carriers), plainArrayOrNull(owned), timestamp(now), max],
    text: `select m.id, m.connection_id from ${WAITING_ENDS} and m.end_due_at <= $3 order by m.end_due_at, m.id limit $4`,
  })
  return rows.map(([id, connectionId]) => ({ id, connectionId }))
}

/**
 * Notes that banks know of ends, or when they are told again.
 *
 * @param at epoch milliseconds; null: they know
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function endsTold(queries: Queries, ids: readonly string[], at: number | null): Promise<void> {
  if (ids.length === 0) return
  await queries.query({
    name: 'mandate_ends_told',
    values: [plainArray(ids), at === null ? null : timestamp(at)],
    text: 'update mandate set end_due_at = $2 where id = any($1::uuid[])',
  })
}

/** Returns when the next of these orders is due, epoch milliseconds; null: there is none. */
export async function nextLaterOrder(
  queries: Queries,
  { carriers, owned }: Pick<LaterOrderRange, 'carriers' | 'owned'>,
  doubtMs: number,
): Promise<number | null> {
  const [row] = await queries.query<[number | null]>({
    name: 'next_later_debit_order',
    values: [textArray(carriers), plainArrayOrNull(owned), doubtMs],
    text: `select ceil(extract(epoch from min(at)) * 1000)::float8 from (
        select min(coalesce(c.reversal_sent_at + $3 * interval '1 millisecond', c.reversed_at)) as at from ${WAITING_REVERSALS}
        union all select min(m.end_due_at) from ${WAITING_ENDS}) due`,
  })
  return row?.[0] ?? null
}

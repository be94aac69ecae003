/**
 * Pending deliveries, as rows that a node claims and finishes.
 *
 * A claim moves the row's `due_at` to the end of the claim, so no other node takes the row meanwhile, and any node can
 * take it again when this node dies. The results of attempts are written for many deliveries at once. No statement
 * waits for the disk: deliveries whose results Postgres loses in a crash are sent once more, under the same event id.
 *
 * Written by hand: every event passes these rows, in batches.
 */
import { DAY_MS, timestamp } from '../../lib/base/clock.ts'
import type { Streak } from '../../lib/webhooks/streak.ts'
import { PAUSE_AFTER_FAILURES } from '../../lib/webhooks/schedule.ts'
import type { WebhookEvent } from '../../lib/webhooks/envelope.ts'
import { plainArray, plainArrayOrNull, textArray } from '../db/array-literal.ts'
import type { SqlStatement } from '../db/connection.ts'
import { Database } from '../db/database.ts'
import { inTransaction, through, type TransactionClient } from '../db/transaction.ts'
import { RELATED, RELATED_JOIN } from '../outbox/outbox.ts'
import type { EventType, EventObject } from '../../lib/base/event-types.ts'
import { bigintExpression, bigintOrNull, expression, instantExpression, select } from '../db/select.ts'

/** Connections for claims and results; each statement is short. */
const POOL_MAX = 4

/**
 * Opens the pool for all statements on deliveries: separate from the readers' pool, and not waiting for the disk. The
 * owner closes it.
 */
export function openWebhookDatabase(url: string): Database {
  const relaxed = new URL(url)
  relaxed.searchParams.set('options', '-c synchronous_commit=off -c jit=off')
  return new Database(relaxed.href, POOL_MAX)
}

/** A delivery that this node has claimed. Times are epoch milliseconds. */
export interface ClaimedDelivery {
  readonly id: string
  readonly createdAt: number
  readonly endpointId: string
  readonly test: boolean
  readonly event: WebhookEvent
  readonly windowEndsAt: number
  /** Attempts made in this window so far. */
  readonly windowAttempts: number
  /** The end of the claim, which also identifies the claim. */
  readonly claimedUntil: number
  /** Version of the endpoint's settings at the time of the claim. */
  readonly endpointVersion: bigint
}

const CLAIMED = select({
  id: expression<string>('t.delivery_id'),
  createdAt: instantExpression('t.delivery_created_at'),
  test: expression<boolean>('t.test'),
  windowEndsAt: instantExpression('t.window_ends_at'),
  windowAttempts: expression<number>('t.window_attempts'),
  endpointVersion: bigintExpression('e.version'),
})
const EVENT = select({
  id: expression<string>('o.id'),
  type: expression<EventType>('o.type'),
  createdAt: instantExpression('o.created_at'),
  customerId: expression<string | null>('o.customer_id'),
  object: expression<EventObject>('o.object'),
  objectId: expression<string>('o.object_id'),
  status: expression<string | null>('o.status'),
  previousStatus: expression<string | null>('o.previous_status'),
  amount: bigintOrNull('o.amount'),
  currency: expression<string | null>('o.currency'),
  sandbox: expression<boolean>('o.sandbox'),
  details: expression<string | null>('o.details'),
  relatedObject: expression<string | null>(RELATED.object),
  relatedId: expression<string | null>(RELATED.id),
})

// Claims are whole milliseconds, so a value read back equals the value written.
const CLAIM = `with due as (
    select q.delivery_id, q.due_at from webhook_queue q where q.endpoint_id = $1 and q.due_at <= $2 and ($5::uuid is null or q.delivery_id = $5)
    order by q.due_at, q.delivery_id limit $3 for update skip locked),
  taken as (
    update webhook_queue q set due_at = $4 from due where q.endpoint_id = $1 and q.due_at = due.due_at and q.delivery_id = due.delivery_id
    returning q.delivery_id, q.delivery_created_at, q.event_id, q.event_created_at, q.test, q.window_ends_at, q.window_attempts, due.due_at)
  select ${CLAIMED.sql}, ${EVENT.sql}
  from taken t join webhook_endpoint e on e.id = $1
    join outbox o on o.id = t.event_id and o.created_at = t.event_created_at ${RELATED_JOIN}
  order by t.due_at, t.delivery_id`

/** Claims up to `limit` due deliveries of an endpoint, the longest waiting first; with `only` just that delivery. */
export async function claimDeliveries(
  database: Database,
  endpointId: string,
  {
    now,
    until,
    limit,
    only = null,
  }: { readonly now: number; readonly until: number; readonly limit: number; readonly only?: string | null },
): Promise<ClaimedDelivery[]> {
  const rows = await database.query({
    name: 'claim_deliveries',
    text: CLAIM,
    values: [endpointId, timestamp(now), limit, timestamp(until), only],
  })
  return rows.map((row) => {
    const { relatedObject, relatedId, ...event } = EVENT.read(row, CLAIMED.width)
    const related = relatedObject === null || relatedId === null ? null : { object: relatedObject, id: relatedId }
    return { ...CLAIMED.read(row), endpointId, claimedUntil: until, event: { ...event, related } }
  })
}

/** Releases claimed deliveries that were not sent, so that they are due again immediately. */
export async function releaseDeliveries(
  database: Database,
  deliveries: readonly ClaimedDelivery[],
  now: number,
): Promise<void> {
  if (deliveries.length === 0) return
  await database.query({
    name: 'release_deliveries',
    text: `update webhook_queue q set due_at = $3 from unnest($1::uuid[], $2::timestamptz[], $4::uuid[]) as u(id, claim, endpoint_id)
      where q.endpoint_id = u.endpoint_id and q.due_at = u.claim and q.delivery_id = u.id`,
    values: [
      plainArray(deliveries.map(({ id }) => id)),
      plainArray(deliveries.map(({ claimedUntil }) => timestamp(claimedUntil))),
      timestamp(now),
      plainArray(deliveries.map(({ endpointId }) => endpointId)),
    ],
  })
}

/** Discards claimed deliveries of an endpoint that must not receive any more; a user can request them again. */
export async function discardDeliveries(
  database: Database,
  deliveries: readonly ClaimedDelivery[],
  now: number,
): Promise<void> {
  await database.query({
    name: 'discard_deliveries',
    text: `with u as (select * from unnest($1::uuid[], $2::timestamptz[], $3::uuid[]) as u(id, claim, endpoint_id)),
        gone as (delete from webhook_queue q using u where q.endpoint_id = u.endpoint_id and q.due_at = u.claim and q.delivery_id = u.id
          returning q.endpoint_id, q.delivery_id, q.delivery_created_at)
      update webhook_delivery d set status = 'discarded', next_attempt_at = null, completed_at = $4
      from gone where d.endpoint_id = gone.endpoint_id and d.id = gone.delivery_id and d.created_at = gone.delivery_created_at`,
    values: [
      plainArray(deliveries.map(({ id }) => id)),
      plainArray(deliveries.map(({ claimedUntil }) => timestamp(claimedUntil))),
      plainArray(deliveries.map(({ endpointId }) => endpointId)),
      timestamp(now),
    ],
  })
}

/** Attempts shown of one delivery: three times as many as a window has, enough for repeated redeliveries. */
const ATTEMPTS_KEPT = 50

/** The result of one attempt. */
export interface FinishedAttempt {
  readonly delivery: ClaimedDelivery
  readonly succeeded: boolean
  readonly endedAt: number
  /** Time of the next attempt; null after a success, and when no time is left. */
  readonly nextAttemptAt: number | null
  /** The attempt as the API will show it, JSON. */
  readonly attempt: string
}

export interface EndpointStreak extends Streak {
  readonly endpointId: string
}

// A delivery that was discarded or redelivered while it was under way has lost its claim: then a failure changes only
// the list of attempts, and a success still counts.
const FINISH = `with u as materialized (
    select * from unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[], $4::boolean[], $5::timestamptz[], $6::timestamptz[], $7::text[], $15::uuid[])
      as u(id, created_at, claim, succeeded, ended_at, next_at, attempt, endpoint_id)),
  again as (
    update webhook_queue q set due_at = u.next_at, window_attempts = q.window_attempts + 1 from u
    where q.endpoint_id = u.endpoint_id and q.due_at = u.claim and q.delivery_id = u.id and not u.succeeded and u.next_at is not null returning q.delivery_id),
  ended as (
    delete from webhook_queue q using u
    where q.endpoint_id = u.endpoint_id and q.due_at = u.claim and q.delivery_id = u.id and (u.succeeded or u.next_at is null) returning q.delivery_id),
  written as (
    update webhook_delivery d set attempts = (array_prepend(u.attempt, d.attempts))[1:${ATTEMPTS_KEPT}], attempt_count = d.attempt_count + 1,
      status = case when u.succeeded then 'succeeded' when a.delivery_id is not null then 'retrying' when f.delivery_id is not null then 'failed' else d.status end,
      next_attempt_at = case when u.succeeded then null when a.delivery_id is not null then u.next_at when f.delivery_id is not null then null else d.next_attempt_at end,
      completed_at = case when u.succeeded or f.delivery_id is not null then u.ended_at else d.completed_at end
    from u left join again a on a.delivery_id = u.id left join ended f on f.delivery_id = u.id
    where d.endpoint_id = u.endpoint_id and d.id = u.id and d.created_at = u.created_at)
  update webhook_endpoint e set
    consecutive_failures = case when s.succeeded_at is null then e.consecutive_failures + s.run_before else s.run_after end,
    failing_since = case when s.succeeded_at is null then coalesce(e.failing_since, s.failing_since) else s.failing_since end,
    last_delivery_at = greatest(e.last_delivery_at, s.last_at), last_success_at = greatest(e.last_success_at, s.succeeded_at),
    status = case when p.pause then 'paused' else e.status end,
    status_changed_at = case when p.pause then s.last_at else e.status_changed_at end,
    updated_at = case when p.pause then s.last_at else e.updated_at end,
    version = e.version + case when p.pause then 1 else 0 end
  from unnest($8::uuid[], $9::integer[], $10::integer[], $11::integer[], $12::timestamptz[], $13::timestamptz[], $14::timestamptz[])
      as s(id, run_before, run_within, run_after, last_at, succeeded_at, failing_since)
    join webhook_endpoint b on b.id = s.id
    cross join lateral (select b.status = 'active' and greatest(b.consecutive_failures + s.run_before, s.run_within, s.run_after) >= ${PAUSE_AFTER_FAILURES} as pause) p
  where e.id = s.id returning e.id, e.tenant_id, p.pause`

/**
 * Writes the results of attempts, and the failure streaks of their endpoints. Failures take a transaction, because they
 * may pause an endpoint.
 *
 * @param tell called in the same transaction for each endpoint that is paused from now on
 */
export async function finishAttempts(
  database: Database,
  attempts: readonly FinishedAttempt[],
  streaks: readonly EndpointStreak[],
  tell: (client: TransactionClient, endpoint: { readonly id: string; readonly tenantId: string }) => Promise<void>,
): Promise<void> {
  const at = (time: number | null) => (time === null ? null : timestamp(time))
  const column = (value: (attempt: FinishedAttempt) => string | null) => plainArray(attempts.map(value))
  const streak = (value: (one: EndpointStreak) => string | number | null) => plainArray(streaks.map(value))
  const statement: SqlStatement = {
    name: 'finish_attempts',
    text: FINISH,
    values: [
      column(({ delivery }) => delivery.id),
      column(({ delivery }) => timestamp(delivery.createdAt)),
      column(({ delivery }) => timestamp(delivery.claimedUntil)),
      column(({ succeeded }) => String(succeeded)),
      column(({ endedAt }) => timestamp(endedAt)),
      column(({ nextAttemptAt }) => at(nextAttemptAt)),
      textArray(attempts.map(({ attempt }) => attempt)),
      streak(({ endpointId }) => endpointId),
      streak(({ leading }) => leading),
      streak(({ longestWithin }) => longestWithin),
      streak(({ trailing }) => trailing),
      streak(({ lastAt }) => at(lastAt)),
      streak(({ lastSuccessAt }) => at(lastSuccessAt)),
      streak(({ failingSince }) => at(failingSince)),
      column(({ delivery }) => delivery.endpointId),
    ],
  }
  if (attempts.every(({ succeeded }) => succeeded)) {
    await database.query(statement)
    return
  }
  await inTransaction(database, async (client) => {
    for (const [id, tenantId, paused] of await through(client).query<[string, string, boolean]>(statement))
      if (paused) await tell(client, { id, tenantId })
  })
}

/**
 * Deliveries whose window ended this long ago are failed without an attempt: a working node would have finished them
 * earlier.
 */
const ORPHAN_MS = DAY_MS

// Jumps from endpoint to endpoint through the index: the cost depends on the number of endpoints with work, not on the
// amount of work.
const HEAD = `with recursive head as (
    (select q.endpoint_id, q.shard, q.due_at from webhook_queue q order by q.endpoint_id, q.due_at limit 1)
    union all
    select n.endpoint_id, n.shard, n.due_at from head h cross join lateral (
      select q.endpoint_id, q.shard, q.due_at from webhook_queue q where q.endpoint_id > h.endpoint_id order by q.endpoint_id, q.due_at limit 1) n)`

const HEADS = `${HEAD}
  select endpoint_id, shard from head where due_at <= $1 and ($2::smallint[] is null or shard = any($2)) order by due_at limit $3`

/**
 * Returns when the next delivery of these shards (null: of all) is due, epoch milliseconds, which may have passed; null
 * when none waits.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function nextDelivery(database: Database, shards: readonly number[] | null): Promise<number | null> {
  const [row] = await database.query<[number | null]>({
    name: 'next_delivery',
    values: [plainArrayOrNull(shards)],
    text: `${HEAD}
  select ceil(extract(epoch from min(due_at)) * 1000)::float8 from head where $1::smallint[] is null or shard = any($1)`,
  })
  return row?.[0] ?? null
}

/** Finds endpoints of these shards (null: of all) with due deliveries, the longest waiting first. */
export async function dueEndpoints(
  database: Database,
  { now, shards, limit }: { readonly now: number; readonly shards: readonly number[] | null; readonly limit: number },
): Promise<{ readonly id: string; readonly shard: number }[]> {
  const rows = await database.query<[string, number]>({
    name: 'due_endpoints',
    text: HEADS,
    values: [timestamp(now), plainArrayOrNull(shards), limit],
  })
  return rows.map(([id, shard]) => ({ id, shard }))
}

/**
 * Removes deliveries from the queue whose endpoint is deleted, or whose window ended too long ago. `now` is epoch
 * milliseconds.
 */
export async function dropOrphans(database: Database, now: number): Promise<void> {
  await database.query({
    name: 'drop_orphans',
    values: [timestamp(now - ORPHAN_MS), timestamp(now)],
    text: `with gone as (
        delete from webhook_queue q where q.window_ends_at < $1 or not exists (select from webhook_endpoint e where e.id = q.endpoint_id)
        returning endpoint_id, delivery_id, delivery_created_at)
      update webhook_delivery d set status = 'failed', next_attempt_at = null, completed_at = $2
      from gone where d.endpoint_id = gone.endpoint_id and d.id = gone.delivery_id and d.created_at = gone.delivery_created_at`,
  })
}

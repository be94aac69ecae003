/**
 * Deliveries that are still to be made, as rows that a node takes and finishes.
 *
 * Taking a row moves its `due_at` to the end of the claim, so no other node takes it meanwhile, and everybody can again when
 * the node dies. What became of an attempt is written for many deliveries at once. None of it waits for the disk: what
 * Postgres loses with its last moments is sent once more, under the same event id.
 */
import { timestamp } from '../../lib/base/clock.ts'
import type { Streak } from '../../lib/webhooks/streak.ts'
import { PAUSE_AFTER_FAILURES } from '../../lib/webhooks/schedule.ts'
import type { WebhookEvent } from '../../lib/webhooks/envelope.ts'
import { plainArray, plainArrayOrNull, textArray } from '../db/array-literal.ts'
import { Database } from '../db/database.ts'
import { RELATED_COLUMNS, RELATED_JOIN } from '../outbox/outbox.ts'

/** Connections that finish and take; each statement of theirs is short. */
const POOL_MAX = 4

/** The pool of everything about deliveries: apart from the readers', and not waiting for the disk. Its owner closes it. */
export function openWebhookDatabase(url: string): Database {
  const relaxed = new URL(url)
  relaxed.searchParams.set('options', '-c synchronous_commit=off -c jit=off')
  return new Database(relaxed.href, POOL_MAX)
}

/** A delivery that this node has taken. Times are epoch milliseconds. */
export interface ClaimedDelivery {
  readonly id: string
  readonly createdAt: number
  readonly endpointId: string
  readonly test: boolean
  readonly event: WebhookEvent
  readonly windowEndsAt: number
  /** Attempts made in this window so far. */
  readonly windowAttempts: number
  /** Until when nobody else takes it; also the mark of this claim. */
  readonly claimedUntil: number
  /** Of the endpoint's settings when it was taken. */
  readonly endpointVersion: bigint
}

const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`

// Claims are whole milliseconds, so what is read back compares equal to what was written.
const CLAIM = `with due as (
    select q.delivery_id, q.due_at from webhook_queue q where q.endpoint_id = $1 and q.due_at <= $2 and ($5::uuid is null or q.delivery_id = $5)
    order by q.due_at, q.delivery_id limit $3 for update skip locked),
  taken as (
    update webhook_queue q set due_at = $4 from due where q.endpoint_id = $1 and q.due_at = due.due_at and q.delivery_id = due.delivery_id
    returning q.delivery_id, q.delivery_created_at, q.event_id, q.event_created_at, q.test, q.window_ends_at, q.window_attempts, due.due_at)
  select t.delivery_id, ${ms('t.delivery_created_at')}, t.test, ${ms('t.window_ends_at')}, t.window_attempts, e.version,
    o.id, o.type, ${ms('o.created_at')}, o.customer_id, o.object, o.object_id, o.status, o.previous_status, o.amount, o.currency, o.sandbox,
    ${RELATED_COLUMNS}
  from taken t join webhook_endpoint e on e.id = $1
    join outbox o on o.id = t.event_id and o.created_at = t.event_created_at ${RELATED_JOIN}
  order by t.due_at, t.delivery_id`

type ClaimRow = [string, number, boolean, number, number, string, string, string, number, string | null, string, string, string | null, string | null,
  string | null, string | null, boolean, string | null, string | null]

/** Takes up to `limit` due deliveries of an endpoint, the longest waiting first; only the one that is named, if any. */
export async function claimDeliveries(
  database: Database,
  endpointId: string,
  { now, until, limit, only = null }: { readonly now: number; readonly until: number; readonly limit: number; readonly only?: string | null },
): Promise<ClaimedDelivery[]> {
  const rows = await database.query<ClaimRow>({ name: 'claim_deliveries', text: CLAIM, values: [endpointId, timestamp(now), limit, timestamp(until), only] })
  return rows.map(([id, createdAt, test, windowEndsAt, windowAttempts, version, eventId, type, eventCreatedAt, customerId, object, objectId, status,
    previousStatus, amount, currency, sandbox, relatedObject, relatedId]) => ({
    id, createdAt, endpointId, test, windowEndsAt, windowAttempts, claimedUntil: until, endpointVersion: BigInt(version),
    event: {
      id: eventId, type, createdAt: eventCreatedAt, customerId, object, objectId, status, previousStatus,
      amount: amount === null ? null : BigInt(amount), currency, sandbox,
      related: relatedObject === null || relatedId === null ? null : { object: relatedObject, id: relatedId },
    },
  }))
}

/** Gives back what was taken and not sent, so that it can be taken again at once. */
export async function releaseDeliveries(database: Database, deliveries: readonly ClaimedDelivery[], now: number): Promise<void> {
  if (deliveries.length === 0) return
  await database.query({
    name: 'release_deliveries',
    text: `update webhook_queue q set due_at = $3 from unnest($1::uuid[], $2::timestamptz[], $4::uuid[]) as u(id, claim, endpoint_id)
      where q.endpoint_id = u.endpoint_id and q.due_at = u.claim and q.delivery_id = u.id`,
    values: [plainArray(deliveries.map(({ id }) => id)), plainArray(deliveries.map(({ claimedUntil }) => timestamp(claimedUntil))), timestamp(now),
      plainArray(deliveries.map(({ endpointId }) => endpointId))],
  })
}

/** What was taken for an endpoint that is no longer to get anything; it can be sent again by hand. */
export async function discardDeliveries(database: Database, deliveries: readonly ClaimedDelivery[], now: number): Promise<void> {
  await database.query({
    name: 'discard_deliveries',
    text: `with u as (select * from unnest($1::uuid[], $2::timestamptz[], $3::uuid[]) as u(id, claim, endpoint_id)),
        gone as (delete from webhook_queue q using u where q.endpoint_id = u.endpoint_id and q.due_at = u.claim and q.delivery_id = u.id
          returning q.endpoint_id, q.delivery_id, q.delivery_created_at)
      update webhook_delivery d set status = 'discarded', next_attempt_at = null, completed_at = $4
      from gone where d.endpoint_id = gone.endpoint_id and d.id = gone.delivery_id and d.created_at = gone.delivery_created_at`,
    values: [plainArray(deliveries.map(({ id }) => id)), plainArray(deliveries.map(({ claimedUntil }) => timestamp(claimedUntil))),
      plainArray(deliveries.map(({ endpointId }) => endpointId)), timestamp(now)],
  })
}

/** Attempts shown of one delivery: three times what a window has, and enough for whoever keeps sending it again. */
const ATTEMPTS_KEPT = 50

/** What became of one attempt. */
export interface FinishedAttempt {
  readonly delivery: ClaimedDelivery
  readonly succeeded: boolean
  readonly endedAt: number
  /** When it is tried again; null after a success, and when no time is left. */
  readonly nextAttemptAt: number | null
  /** The attempt as it will be shown, JSON. */
  readonly attempt: string
}

export interface EndpointStreak extends Streak {
  readonly endpointId: string
}

// A delivery that was discarded or redelivered while it was under way has lost its claim: a failure then changes nothing but
// the list of attempts, a success is one.
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

/** Writes what became of attempts, and of their endpoints. @returns the endpoints that are paused from now on */
export async function finishAttempts(database: Database, attempts: readonly FinishedAttempt[], streaks: readonly EndpointStreak[]): Promise<{ readonly id: string; readonly tenantId: string }[]> {
  const at = (time: number | null) => (time === null ? null : timestamp(time))
  const column = (value: (attempt: FinishedAttempt) => string | null) => plainArray(attempts.map(value))
  const streak = (value: (one: EndpointStreak) => string | number | null) => plainArray(streaks.map(value))
  const rows = await database.query<[string, string, boolean]>({
    name: 'finish_attempts', text: FINISH,
    values: [
      column(({ delivery }) => delivery.id), column(({ delivery }) => timestamp(delivery.createdAt)), column(({ delivery }) => timestamp(delivery.claimedUntil)),
      column(({ succeeded }) => String(succeeded)), column(({ endedAt }) => timestamp(endedAt)), column(({ nextAttemptAt }) => at(nextAttemptAt)),
      textArray(attempts.map(({ attempt }) => attempt)),
      streak(({ endpointId }) => endpointId), streak(({ leading }) => leading), streak(({ longestWithin }) => longestWithin), streak(({ trailing }) => trailing),
      streak(({ lastAt }) => at(lastAt)), streak(({ lastSuccessAt }) => at(lastSuccessAt)), streak(({ failingSince }) => at(failingSince)),
      column(({ delivery }) => delivery.endpointId),
    ],
  })
  return rows.filter(([, , paused]) => paused).map(([id, tenantId]) => ({ id, tenantId }))
}

/** An attempt ends what its window does not; what is older than that cannot be attempted. */
const ORPHAN_MS = 86_400_000

// Jumps from endpoint to endpoint through the index: what it costs depends on how many have work, not on how much.
const HEADS = `with recursive head as (
    (select q.endpoint_id, q.shard, q.due_at from webhook_queue q order by q.endpoint_id, q.due_at limit 1)
    union all
    select n.endpoint_id, n.shard, n.due_at from head h cross join lateral (
      select q.endpoint_id, q.shard, q.due_at from webhook_queue q where q.endpoint_id > h.endpoint_id order by q.endpoint_id, q.due_at limit 1) n)
  select endpoint_id, shard from head where due_at <= $1 and ($2::smallint[] is null or shard = any($2)) order by due_at limit $3`

/** Endpoints of these shards (null: of all) for which something is due, the longest waiting first. */
export async function dueEndpoints(
  database: Database,
  { now, shards, limit }: { readonly now: number; readonly shards: readonly number[] | null; readonly limit: number },
): Promise<{ readonly id: string; readonly shard: number }[]> {
  const rows = await database.query<[string, number]>({ name: 'due_endpoints', text: HEADS, values: [timestamp(now), plainArrayOrNull(shards), limit] })
  return rows.map(([id, shard]) => ({ id, shard }))
}

/** Takes out of the queue what belongs to endpoints that are gone, or was due so long ago that nothing can be made of it. `now` is epoch milliseconds. */
export async function dropOrphans(database: Database, now: number): Promise<void> {
  await database.query({
    name: 'drop_orphans', values: [timestamp(now - ORPHAN_MS), timestamp(now)],
    text: `with gone as (
        delete from webhook_queue q where q.window_ends_at < $1 or not exists (select from webhook_endpoint e where e.id = q.endpoint_id)
        returning endpoint_id, delivery_id, delivery_created_at)
      update webhook_delivery d set status = 'failed', next_attempt_at = null, completed_at = $2
      from gone where d.endpoint_id = gone.endpoint_id and d.id = gone.delivery_id and d.created_at = gone.delivery_created_at`,
  })
}

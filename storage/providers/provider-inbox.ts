/**
 * The inbox of providers: events as they came, until they were used.
 *
 * Written by hand: events come in floods, so they are kept, claimed and ended many at a time.
 */
import { timestamp } from '../../lib/base/clock.ts'
import {
  PROVIDER_EVENTS_KEPT_MS,
  type EventProposal,
  type ProviderEventReason,
  type ProviderEventSource,
  type ProviderEventStatus,
  type EventMessage,
  type VerifiedBy,
} from '../../lib/providers/provider-event.ts'
import { plainArray, textArray } from '../db/array-literal.ts'
import { pick } from '../db/columns.ts'
import { from, select } from '../db/select.ts'
import type { Queries, TransactionClient } from '../db/transaction.ts'
import { ProviderInboxRow } from './provider-inbox-entity.ts'

/** Bytes of bodies that are read into memory at a time; one body may be larger. */
const CLAIMED_BYTES_MAX = 16 * 1024 * 1024
/** Events that are removed with one statement. */
const REMOVED_MAX = 1_000

/** An event to keep. Times are epoch milliseconds. */
export interface NewInboxEvent {
  readonly id: string
  readonly connectionId: string
  readonly operatorId: string
  readonly shard: number
  readonly source: Exclude<ProviderEventSource, 'message'>
  readonly partnerEventId: string
  readonly type: string
  readonly hash: Uint8Array
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly verifiedBy: VerifiedBy
  readonly occurredAt: number | null
  readonly receivedAt: number
}

/** The status of an event that waits. */
export const waitingStatus = (verifiedBy: VerifiedBy): ProviderEventStatus =>
  verifiedBy === 'signature' ? 'verified' : 'received'

const timeOrNull = (ms: number | null): string | null => (ms === null ? null : timestamp(ms))

/**
 * Keeps events that are not kept yet; they are due at once. The order is that of the ids of the provider, so that two
 * nodes that keep the same events at the same time wait for each other in one direction only.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function keepInboxEvents(database: Queries, events: readonly NewInboxEvent[]): Promise<void> {
  const sorted = events.toSorted((one, other) => (one.partnerEventId < other.partnerEventId ? -1 : 1))
  await database.query({
    name: 'keep_inbox_events',
    text: `insert into provider_inbox (id, connection_id, operator_id, shard, source, partner_event_id, type, hash, headers, body, verified_by,
        status, occurred_at, received_at, due_at)
      select u.id, u.connection, u.operator, u.shard, u.source, u.partner, u.type, u.hash, u.headers, u.body, u.verified, u.status, u.occurred, u.received, u.received
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::smallint[], $5::text[], $6::text[], $7::text[], $8::bytea[], $9::jsonb[], $10::bytea[],
        $11::text[], $12::text[], $13::timestamptz[], $14::timestamptz[])
        as u(id, connection, operator, shard, source, partner, type, hash, headers, body, verified, status, occurred, received)
      on conflict do nothing`,
    values: [
      plainArray(sorted.map(({ id }) => id)),
      plainArray(sorted.map(({ connectionId }) => connectionId)),
      plainArray(sorted.map(({ operatorId }) => operatorId)),
      plainArray(sorted.map(({ shard }) => shard)),
      plainArray(sorted.map(({ source }) => source)),
      textArray(sorted.map(({ partnerEventId }) => partnerEventId)),
      textArray(sorted.map(({ type }) => type)),
      bytesArray(sorted.map(({ hash }) => hash)),
      textArray(sorted.map(({ headers }) => JSON.stringify(headers))),
      bytesArray(sorted.map(({ body }) => body)),
      plainArray(sorted.map(({ verifiedBy }) => verifiedBy)),
      plainArray(sorted.map(({ verifiedBy }) => waitingStatus(verifiedBy))),
      plainArray(sorted.map(({ occurredAt }) => timeOrNull(occurredAt))),
      plainArray(sorted.map(({ receivedAt }) => timestamp(receivedAt))),
    ],
  })
}

/** An array literal of byte strings. */
const bytesArray = (values: readonly Uint8Array[]): string =>
  `{${values
    .map((bytes) => `"\\\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}"`)
    .join(',')}}`

const INBOX = select(
  pick(from(ProviderInboxRow, 'e'), [
    'id',
    'connectionId',
    'operatorId',
    'source',
    'partnerEventId',
    'type',
    'headers',
    'body',
    'verifiedBy',
    'status',
    'reason',
    'attempts',
    'assignedId',
    'proposal',
    'version',
    'occurredAt',
    'receivedAt',
  ]),
)

/** An event that is to be used. */
export type InboxEvent = ReturnType<typeof INBOX.read>

/**
 * Claims events of these shards (null: of all) that are due, in the order of their arrival; another node may claim them
 * again at `until`. Each claim is an attempt. Times are epoch milliseconds.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function claimInboxEvents(
  database: Queries,
  {
    now,
    until,
    shards,
    max,
  }: { readonly now: number; readonly until: number; readonly shards: string | null; readonly max: number },
): Promise<readonly InboxEvent[]> {
  const rows = await database.query({
    name: 'claim_inbox_events',
    values: [timestamp(now), timestamp(until), shards, max, CLAIMED_BYTES_MAX],
    text: `with due as materialized (
        select id, octet_length(body) as bytes from provider_inbox
        where due_at <= $1::timestamptz and ($3::smallint[] is null or shard = any($3)) order by due_at, id limit $4 for update skip locked
      ), few as (select id, sum(bytes) over (order by id) - bytes as before from due)
      update provider_inbox e set due_at = $2, attempts = e.attempts + 1 from few f where f.id = e.id and f.before < $5::bigint
      returning ${INBOX.sql}`,
  })
  return rows.map((row) => INBOX.read(row)).sort((one, other) => (one.id < other.id ? -1 : 1))
}

/** Reads events of an operator by id, in the order of their arrival. Those that do not exist are absent. */
export async function readInboxEvents(
  database: Queries,
  operatorId: string,
  ids: readonly string[],
): Promise<readonly InboxEvent[]> {
  const rows = await database.query({
    name: 'read_inbox_events',
    values: [operatorId, plainArray(ids)],
    text: `select ${INBOX.sql} from provider_inbox e where e.operator_id = $1 and e.id = any($2::uuid[]) order by e.id`,
  })
  return rows.map((row) => INBOX.read(row))
}

/** The end of an attempt to use an event. `dueAt`: when it is tried again; null: never. */
export interface InboxEnd {
  readonly event: Pick<InboxEvent, 'id' | 'attempts' | 'version'>
  readonly status: ProviderEventStatus
  readonly reason: ProviderEventReason | null
  readonly error: string | null
  readonly dueAt: number | null
  readonly messages: readonly EventMessage[]
  /** True where nothing was tried, so that the claim was no attempt: the connection could not be opened. */
  readonly isUntried?: boolean
}

/**
 * Writes what became of events, and of each of their messages. A message that an earlier attempt has applied stays
 * `applied`. An event that another node has claimed again meanwhile is passed over.
 *
 * @returns the ids of the events that were written
 */
export async function endInboxEvents(
  client: TransactionClient,
  ends: readonly InboxEnd[],
  now: number,
): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ id: string }>({
    name: 'end_inbox_events',
    values: [
      plainArray(ends.map(({ event }) => event.id)),
      plainArray(ends.map(({ event }) => event.attempts)),
      plainArray(ends.map(({ status }) => status)),
      plainArray(ends.map(({ reason }) => reason)),
      textArray(ends.map(({ error }) => error)),
      plainArray(ends.map(({ dueAt }) => timeOrNull(dueAt))),
      timestamp(now),
      plainArray(ends.map(({ event }) => event.version)),
      plainArray(ends.map(({ isUntried = false }) => isUntried)),
    ],
    text: `update provider_inbox e set status = u.status, reason = u.reason, error = u.error, due_at = u.due_at, version = e.version + 1,
        attempts = e.attempts - u.untried::int,
        processed_at = case when u.due_at is null then $7::timestamptz end
      from unnest($1::uuid[], $2::smallint[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $8::integer[], $9::boolean[])
        as u(id, attempts, status, reason, error, due_at, version, untried)
      where e.id = u.id and e.attempts = u.attempts and e.version = u.version and e.due_at is not null returning e.id`,
  })
  const written = new Set(rows.map(({ id }) => id))
  const lines = ends
    .filter(({ event }) => written.has(event.id))
    .flatMap(({ event, messages }) => messages.map((message, nth) => ({ eventId: event.id, nth, ...message })))
  if (lines.length > 0) await writeMessages(client, lines)
  return written
}

async function writeMessages(
  client: TransactionClient,
  lines: readonly (EventMessage & { readonly eventId: string; readonly nth: number })[],
): Promise<void> {
  await client.query({
    name: 'write_inbox_messages',
    values: [
      plainArray(lines.map(({ eventId }) => eventId)),
      plainArray(lines.map(({ nth }) => nth)),
      plainArray(lines.map(({ messageId }) => messageId)),
      textArray(lines.map(({ type }) => type)),
      textArray(lines.map(({ reference }) => reference)),
      plainArray(lines.map(({ object }) => object)),
      plainArray(lines.map(({ objectId }) => objectId)),
      textArray(lines.map(({ schemeCode }) => schemeCode)),
      plainArray(lines.map(({ amount }) => amount)),
      plainArray(lines.map(({ outcome }) => outcome)),
      plainArray(lines.map(({ statusBefore }) => statusBefore)),
      plainArray(lines.map(({ statusAfter }) => statusAfter)),
      textArray(lines.map(({ note }) => note)),
    ],
    text: `insert into provider_inbox_message as m (event_id, nth, message_id, type, reference, object, object_id, scheme_code, amount, outcome,
        status_before, status_after, note)
      select * from unnest($1::uuid[], $2::smallint[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::text[], $9::bigint[],
        $10::text[], $11::text[], $12::text[], $13::text[])
      on conflict (event_id, nth) do update set message_id = excluded.message_id, type = excluded.type, reference = excluded.reference,
        object = excluded.object, object_id = excluded.object_id, scheme_code = excluded.scheme_code, amount = excluded.amount,
        outcome = excluded.outcome, status_before = excluded.status_before, status_after = excluded.status_after, note = excluded.note
      where not (m.outcome in ('applied', 'corrected') and excluded.outcome = 'known')`,
  })
}

/** Messages that count already, and those that another event has told. */
export interface KnownMessages {
  readonly counted: ReadonlySet<string>
  /** The ids of messages with the events that told them. */
  readonly told: ReadonlyMap<string, ReadonlySet<string>>
}

/** Reads which of these messages are known. @throws DatabaseUnavailable, and what the driver throws */
export async function knownMessages(database: Queries, ids: readonly string[]): Promise<KnownMessages> {
  const rows = await database.query<[string, string | null]>({
    name: 'known_inbox_messages',
    values: [plainArray(ids)],
    text: `select id, null::uuid from provider_event where id = any($1::uuid[])
      union all select message_id, event_id from provider_inbox_message where message_id = any($1::uuid[])`,
  })
  const told = new Map<string, Set<string>>()
  for (const [id, eventId] of rows) {
    if (eventId === null) continue
    const events = told.get(id)
    if (events === undefined) told.set(id, new Set([eventId]))
    else events.add(eventId)
  }
  return { counted: new Set(rows.flatMap(([id, eventId]) => (eventId === null ? [id] : []))), told }
}

// ── Decisions of staff
// ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A decision of staff about an event; the versions are those that they have seen. */
export interface InboxDecision {
  readonly events: readonly Pick<InboxEvent, 'id' | 'version' | 'verifiedBy'>[]
  readonly by: string
  readonly reason: string | null
  readonly now: number
}

/**
 * Makes events due again, from their first attempt on. `assignedId`: what the messages that match nothing are about;
 * null leaves what was assigned before.
 *
 * @returns false when one of them has changed since; then nothing may be kept of this transaction
 */
export async function reopenInboxEvents(
  client: TransactionClient,
  { events, by, reason, now }: InboxDecision,
  assignedId: string | null,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'reopen_inbox_events',
    values: [
      plainArray(events.map(({ id }) => id)),
      plainArray(events.map(({ version }) => version)),
      plainArray(events.map(({ verifiedBy }) => waitingStatus(verifiedBy))),
      by,
      reason,
      timestamp(now),
      assignedId,
    ],
    text: `update provider_inbox e set status = u.status, reason = null, error = null, attempts = 0, due_at = $6, processed_at = null,
        version = e.version + 1, decided_by = $4, decision_reason = $5, assigned_id = coalesce($7, e.assigned_id), proposal = null
      from unnest($1::uuid[], $2::integer[], $3::text[]) as u(id, version, status)
      where e.id = u.id and e.version = u.version and e.due_at is null`,
  })
  return rowCount === events.length
}

/** Keeps the assignment of an event for a second person. @returns false when the event has changed since */
export async function proposeAssignment(
  client: TransactionClient,
  { id, version }: Pick<InboxEvent, 'id' | 'version'>,
  proposal: EventProposal,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'propose_inbox_assignment',
    values: [id, version, JSON.stringify(proposal)],
    text: 'update provider_inbox set proposal = $3, version = version + 1 where id = $1 and version = $2 and due_at is null',
  })
  return rowCount === 1
}

/**
 * Puts an event aside that could not be used, that matches nothing, or that waits for a connection that cannot be opened.
 *
 * @returns false when it has changed since
 */
export async function dismissInboxEvent(
  client: TransactionClient,
  { events: [event], by, reason, now }: InboxDecision,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'dismiss_inbox_event',
    values: [event?.id, event?.version, by, reason, timestamp(now)],
    text: `update provider_inbox set status = 'ignored', reason = 'dismissed', decided_by = $3, decision_reason = $4, proposal = null, version = version + 1,
        due_at = null, processed_at = coalesce(processed_at, $5)
      where id = $1 and version = $2 and (due_at is null or reason = 'connection_unusable')`,
  })
  return rowCount === 1
}

/** Removes events that were kept for long enough. @returns how many were removed, of a bounded number */
export async function removeOldInboxEvents(database: Queries, now: number): Promise<number> {
  const rows = await database.query({
    name: 'remove_inbox_events',
    values: [timestamp(now - PROVIDER_EVENTS_KEPT_MS), REMOVED_MAX],
    text: `with gone as (
        delete from provider_inbox where id in (select id from provider_inbox where received_at < $1::timestamptz and due_at is null order by received_at limit $2)
        returning id
      ), theirs as (delete from provider_inbox_message m using gone where m.event_id = gone.id)
      select 1 from gone`,
  })
  return rows.length
}

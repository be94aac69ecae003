/** One event of a provider as staff see it: raw, with its messages beside those of the other events about their objects. */
import { sql } from 'kysely'
import { timestamp } from '../../lib/base/clock.ts'
import {
  compareTellings,
  type EventProposal,
  type MessageObject,
  type MessageOutcome,
  type ProviderEventSource,
  type Telling,
} from '../../lib/providers/provider-event.ts'
import type { ProviderEventDetail } from '../../lib/providers/provider-event-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { ReadDatabase } from '../db/page.ts'
import {
  INBOX_COLUMNS,
  MESSAGE_COLUMNS,
  providerEventView,
  TOLD_IN_PROCESS,
  type ProviderEventListRow,
} from './provider-event-list.ts'

/** Events about one object that are compared. */
const COMPARED_MAX = 200

interface DetailRow extends ProviderEventListRow {
  readonly version: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | null
  readonly error: string | null
  readonly assigned_id: string | null
  readonly proposal: EventProposal | null
  readonly decided_by: string | null
  readonly decision_reason: string | null
  readonly code: string | null
}

interface MessageRow {
  readonly message_id: string | null
  readonly type: string
  readonly reference: string | null
  readonly object: MessageObject | null
  readonly object_id: string | null
  readonly scheme_code: string | null
  readonly amount: string | null
  readonly outcome: MessageOutcome
  readonly status_before: string | null
  readonly status_after: string | null
  readonly note: string | null
}

/** Reads an event of an operator; null when the operator has no such event. */
export async function readProviderEvent(
  { kysely }: ReadDatabase,
  operatorId: string,
  id: string,
): Promise<Versioned<ProviderEventDetail> | null> {
  const {
    rows: [row],
  } = await sql<DetailRow>`
    select ${INBOX_COLUMNS}, e.version, e.headers, e.body, e.error, e.assigned_id, e.proposal, e.decided_by, e.decision_reason, null as code
      from provider_inbox e where e.id = ${id}::uuid and e.operator_id = ${operatorId}::uuid
    union all
    select ${MESSAGE_COLUMNS}, 1, '{}'::jsonb, null, null, null, null, null, null, e.code
      from provider_event e join provider_connection k on k.id = e.connection_id
      where e.id = ${id}::uuid and k.operator_id = ${operatorId}::uuid and k.provider = 'sandbox' and ${TOLD_IN_PROCESS}`.execute(
    kysely,
  )
  if (row === undefined) return null
  const messages = row.source === 'message' ? [messageOf(row)] : await messagesOf(kysely, id)
  const tellings = await tellingsOf(
    kysely,
    row.connection_id,
    messages.flatMap(({ object_id }) => (object_id === null ? [] : [object_id])),
  )
  return {
    version: row.version,
    view: {
      ...providerEventView(row),
      headers: row.headers,
      body: row.body === null ? null : bodyOf(row.body),
      error: row.error,
      assignedId: row.assigned_id,
      proposal: row.proposal === null ? null : proposalView(row.proposal),
      decidedBy: row.decided_by,
      decisionReason: row.decision_reason,
      messages: messages.map((message) => messageView(message, tellings)),
    },
  }
}

const proposalView = ({ assignTo, reason, proposedBy, proposedAt }: EventProposal) => ({
  assignTo,
  reason,
  proposedBy,
  proposedAt: timestamp(proposedAt),
})

/** The message of an event that is nothing else. */
const messageOf = ({ id, type, object_ids, code }: DetailRow): MessageRow => ({
  message_id: id,
  type,
  reference: object_ids[0] ?? null,
  object: null,
  object_id: object_ids[0] ?? null,
  scheme_code: code,
  amount: null,
  outcome: 'applied',
  status_before: null,
  status_after: null,
  note: null,
})

async function messagesOf(kysely: ReadDatabase['kysely'], eventId: string): Promise<readonly MessageRow[]> {
  const { rows } = await sql<MessageRow>`
    select message_id, type, reference, object, object_id, scheme_code, amount, outcome, status_before, status_after, note
    from provider_inbox_message where event_id = ${eventId}::uuid order by nth`.execute(kysely)
  return rows
}

/** Reads what the events of a connection say of objects, by the object. */
async function tellingsOf(
  kysely: ReadDatabase['kysely'],
  connectionId: string,
  objectIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Telling[]>> {
  if (objectIds.length === 0) return new Map()
  const { rows } = await sql<{
    object_id: string
    event_id: string
    source: ProviderEventSource
    type: string
    amount: string | null
    received_ms: number
  }>`
    (select m.object_id, e.id as event_id, e.source, m.type, m.amount, (extract(epoch from e.received_at) * 1000)::float8 as received_ms
      from provider_inbox_message m join provider_inbox e on e.id = m.event_id
      where m.object_id = any(${objectIds}::uuid[]) and e.connection_id = ${connectionId}::uuid limit ${sql.lit(COMPARED_MAX)})
    union all
    (select e.object_id, e.id, 'message', e.type, null::bigint, (extract(epoch from e.received_at) * 1000)::float8
      from provider_event e join provider_connection k on k.id = e.connection_id
      where e.object_id = any(${objectIds}::uuid[]) and e.connection_id = ${connectionId}::uuid and k.provider = 'sandbox'
        and ${TOLD_IN_PROCESS} limit ${sql.lit(COMPARED_MAX)})`.execute(kysely)
  return Map.groupBy(
    rows.map(({ object_id, event_id, source, type, amount, received_ms }) => ({
      objectId: object_id,
      eventId: event_id,
      source,
      type,
      amount: amount === null ? null : BigInt(amount),
      receivedAt: received_ms,
    })),
    ({ objectId }) => objectId,
  )
}

function messageView(
  message: MessageRow,
  tellings: ReadonlyMap<string, readonly Telling[]>,
): ProviderEventDetail['messages'][number] {
  const about = message.object_id === null ? [] : (tellings.get(message.object_id) ?? [])
  const compared = compareTellings(about)
  return {
    messageId: message.message_id,
    type: message.type,
    reference: message.reference,
    object: message.object,
    objectId: message.object_id,
    schemeCode: message.scheme_code,
    amountMinor: message.amount,
    outcome: message.outcome,
    statusBefore: message.status_before,
    statusAfter: message.status_after,
    note: message.note,
    comparison:
      compared === null
        ? null
        : {
            firstEventId: compared.first.eventId,
            firstSource: compared.first.source,
            firstReceivedAt: timestamp(compared.first.receivedAt),
            events: new Set(about.map(({ eventId }) => eventId)).size,
            disagree: compared.disagree,
          },
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A body as text where it is text. */
function bodyOf(bytes: Uint8Array): NonNullable<ProviderEventDetail['body']> {
  try {
    return { encoding: 'utf8', content: utf8.decode(bytes) }
  } catch {
    // Not UTF-8: it is shown as bytes.
    return { encoding: 'base64', content: Buffer.from(bytes).toString('base64') }
  }
}

/** Reads the ids of events of a connection of an operator that were received in a span, in the order of their arrival. */
export async function eventsInRange(
  { kysely }: ReadDatabase,
  {
    operatorId,
    connectionId,
    from,
    to,
    statuses,
    max,
  }: {
    readonly operatorId: string
    readonly connectionId: string
    /** RFC 3339, both included. */
    readonly from: string
    readonly to: string
    readonly statuses: readonly string[]
    readonly max: number
  },
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select e.id from provider_inbox e where e.operator_id = ${operatorId}::uuid and e.connection_id = ${connectionId}::uuid
      and e.received_at between ${from}::timestamptz and ${to}::timestamptz and e.status = any(${statuses}::text[])
    order by e.received_at, e.id limit ${sql.lit(max)}`.execute(kysely)
  return rows.map(({ id }) => id)
}

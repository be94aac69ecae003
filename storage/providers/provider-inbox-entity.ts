/** Events of providers as they came, the messages of each, and how far the events of connections were listed. */
import { defineEntity, p } from '@mikro-orm/core'
import type {
  EventProposal,
  MessageObject,
  MessageOutcome,
  ProviderEventReason,
  ProviderEventSource,
  ProviderEventStatus,
  VerifiedBy,
} from '../../lib/providers/provider-event.ts'
import { dueTriggers } from '../db/due-work.ts'
import { instant } from '../db/entity-types.ts'
import { taskTrigger } from '../tasks/task-triggers.ts'

export const ProviderInboxRow = defineEntity({
  name: 'ProviderInboxRow',
  tableName: 'provider_inbox',
  triggers: dueTriggers('provider_inbox', 'due_at'),
  properties: {
    id: p.uuid().primary(),
    connectionId: p.uuid().fieldName('connection_id'),
    operatorId: p.uuid().fieldName('operator_id'),
    /** The shard of its connection, whose owner uses the events of the connection in their order. */
    shard: p.smallint(),
    source: p.text().$type<Exclude<ProviderEventSource, 'message'>>(),
    /** The provider's id of it; the same event may come more than once. */
    partnerEventId: p.text().fieldName('partner_event_id'),
    type: p.text(),
    /** SHA-256 of the body. */
    hash: p.uint8array(),
    /** Redacted. */
    headers: p.json().$type<Readonly<Record<string, string>>>().defaultRaw(`'{}'`),
    body: p.uint8array(),
    verifiedBy: p.text().$type<VerifiedBy>().fieldName('verified_by'),
    status: p.text().$type<ProviderEventStatus>(),
    reason: p.text().$type<ProviderEventReason>().nullable(),
    /** Of the last attempt, in words for staff. */
    error: p.text().nullable(),
    attempts: p.smallint().defaultRaw('0'),
    /** The payment or exchange for which staff have its messages taken that match nothing. */
    assignedId: p.uuid().fieldName('assigned_id').nullable(),
    /** The assignment that waits for a second person. */
    proposal: p.json().$type<EventProposal>().nullable(),
    decidedBy: p.uuid().fieldName('decided_by').nullable(),
    decisionReason: p.text().fieldName('decision_reason').nullable(),
    version: p.integer().defaultRaw('1'),
    occurredAt: instant().fieldName('occurred_at').nullable(),
    receivedAt: instant().fieldName('received_at'),
    processedAt: instant().fieldName('processed_at').nullable(),
    /** Null once it was used. */
    dueAt: instant().fieldName('due_at').nullable(),
  },
  checks: [{ name: 'provider_inbox_waits', expression: `(due_at is not null) = (status in ('received', 'verified'))` }],
  indexes: [
    { name: 'provider_inbox_due', properties: ['dueAt'], where: 'due_at is not null' },
    { name: 'provider_inbox_list', properties: ['operatorId', 'receivedAt', 'id'] },
    {
      name: 'provider_inbox_open',
      expression: `create index provider_inbox_open on provider_inbox (operator_id, received_at, id) where status in ('ignored', 'failed')`,
    },
    { name: 'provider_inbox_old', properties: ['receivedAt'] },
  ],
  uniques: [
    { name: 'provider_inbox_once', properties: ['connectionId', 'partnerEventId'] },
    { name: 'provider_inbox_hash', properties: ['connectionId', 'hash'] },
  ],
})

export const ProviderInboxMessageRow = defineEntity({
  name: 'ProviderInboxMessageRow',
  tableName: 'provider_inbox_message',
  properties: {
    eventId: p.uuid().fieldName('event_id').primary(),
    nth: p.smallint().primary(),
    messageId: p.uuid().fieldName('message_id').nullable(),
    type: p.text(),
    reference: p.text().nullable(),
    object: p.text().$type<MessageObject>().nullable(),
    objectId: p.uuid().fieldName('object_id').nullable(),
    schemeCode: p.text().fieldName('scheme_code').nullable(),
    amount: p.bigint().nullable(),
    outcome: p.text().$type<MessageOutcome>(),
    statusBefore: p.text().fieldName('status_before').nullable(),
    statusAfter: p.text().fieldName('status_after').nullable(),
    note: p.text().nullable(),
  },
  indexes: [
    { name: 'provider_inbox_message_object', properties: ['objectId'] },
    { name: 'provider_inbox_message_once', properties: ['messageId'] },
  ],
})

export const ProviderPollRow = defineEntity({
  name: 'ProviderPollRow',
  tableName: 'provider_poll',
  triggers: taskTrigger('provider_poll', {
    columns: 'due_at',
    when: 'new.due_at is not null',
    task: ['providers.poll', 'connection_id', 'due_at'],
  }),
  properties: {
    connectionId: p.uuid().fieldName('connection_id').primary(),
    shard: p.smallint(),
    /** The start of the window that is listed. */
    since: instant(),
    /** When the first page of the window was asked for: the start of the next window. */
    beganAt: instant().fieldName('began_at').nullable(),
    /** The next page of the window; null before the first. */
    cursor: p.text().nullable(),
    failures: p.smallint().defaultRaw('0'),
    error: p.text().nullable(),
    polledAt: instant().fieldName('polled_at').nullable(),
    dueAt: instant().fieldName('due_at'),
  },
})

/** Schemas of the events of providers, as the operator's staff see them, and of what staff decide about them. */
import Type, { type Static } from 'typebox'
import { list } from '../contract/list.ts'
import { Nullable, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'
import {
  EVENT_TYPE_MAX,
  MESSAGE_OBJECTS,
  MESSAGE_OUTCOMES,
  PROVIDER_EVENT_REASONS,
  PROVIDER_EVENT_SOURCES,
  PROVIDER_EVENT_STATUSES,
  VERIFICATIONS,
} from './provider-event.ts'

const REASON_MAX = 500
const TOKEN_LENGTH = 43

/** Events that one range may hold, and the differences that its preview shows. */
export const RANGE_EVENTS_MAX = 500

const Source = Words(
  'ProviderEventSource',
  PROVIDER_EVENT_SOURCES,
  'The way by which the event came. `message`: the built-in sandbox has told it; there is no body.',
)
const Status = Words(
  'ProviderEventStatus',
  PROVIDER_EVENT_STATUSES,
  '`received` and `verified` wait, the latter with a right signature. `ignored`: not for the service, or nothing of the ' +
    'connection matches it. `duplicate`: other events had told all of it. `failed`: it could not be used.',
)
const Reason = Words(
  'ProviderEventReason',
  PROVIDER_EVENT_REASONS,
  'Why the event was ignored, has failed, or waits for its connection.',
)

const summary = {
  id: Uuid,
  connectionId: Uuid,
  source: Source,
  status: Status,
  reason: Nullable(Reason),
  type: Type.String({ description: "The provider's own word." }),
  partnerEventId: Nullable(Type.String()),
  verifiedBy: Nullable(
    Words('ProviderEventVerification', VERIFICATIONS, '`transport`: the service has fetched the event itself.'),
  ),
  objectIds: Type.Array(Uuid, {
    description: 'The payments, exchanges and incoming payments that the event is about.',
  }),
  attempts: Type.Integer({ minimum: 0 }),
  occurredAt: Nullable(Timestamp, { description: "By the provider's clock." }),
  receivedAt: Timestamp,
  processedAt: Nullable(Timestamp),
  nextAttemptAt: Nullable(Timestamp),
}

export const ProviderEvent = Type.Object(summary, { title: 'ProviderEvent' })
export type ProviderEventView = Static<typeof ProviderEvent>

const ObjectKind = Words('ProviderMessageObject', MESSAGE_OBJECTS)

const Message = Type.Object(
  {
    messageId: Nullable(Uuid, { description: 'A message counts once, however many events tell it.' }),
    type: Type.String(),
    reference: Nullable(Type.String()),
    object: Nullable(ObjectKind),
    objectId: Nullable(Uuid),
    schemeCode: Nullable(Type.String()),
    amountMinor: Nullable(Type.String({ description: 'Minor units of the currency of the object.' })),
    outcome: Words(
      'ProviderMessageOutcome',
      MESSAGE_OUTCOMES,
      '`known`: it counted before. `no_effect`: it came late, or said nothing new. `corrected`: the provider was asked, ' +
        'and its answer counted in place of the message.',
    ),
    statusBefore: Nullable(Type.String()),
    statusAfter: Nullable(Type.String()),
    note: Nullable(Type.String()),
    comparison: Nullable(
      Type.Object(
        {
          firstEventId: Uuid,
          firstSource: Source,
          firstReceivedAt: Timestamp,
          events: Type.Integer({ minimum: 1, description: 'The events about the same object.' }),
          disagree: Type.Boolean({ description: 'Two of them cannot both be true.' }),
        },
        {
          title: 'ProviderEventComparison',
          description: 'The event among the others about the same object; null where it is about none.',
        },
      ),
    ),
  },
  { title: 'ProviderEventMessage' },
)

export const ProviderEventDetail = Type.Object(
  {
    ...summary,
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'Of a webhook; values that prove something are `[redacted]`.',
    }),
    body: Nullable(
      Type.Object(
        { encoding: Words('ProviderEventEncoding', ['utf8', 'base64']), content: Type.String() },
        { title: 'ProviderEventBody', description: 'As it came.' },
      ),
    ),
    error: Nullable(Type.String({ description: 'Of the last attempt.' })),
    assignedId: Nullable(Uuid, { description: 'The payment or exchange to which staff have assigned the event.' }),
    proposal: Nullable(
      Type.Object(
        { assignTo: Uuid, reason: Nullable(Type.String()), proposedBy: Uuid, proposedAt: Timestamp },
        {
          title: 'ProviderEventProposal',
          description: 'An assignment that waits for a second person; null when none does.',
        },
      ),
    ),
    decidedBy: Nullable(Uuid, { description: 'The person who has had it used again, or has dismissed it.' }),
    decisionReason: Nullable(Type.String()),
    messages: Type.Array(Message),
  },
  { title: 'ProviderEventDetail' },
)
export type ProviderEventDetail = Static<typeof ProviderEventDetail>

export const providerEventList = list({
  filters: {
    connectionId: { kind: 'ids' },
    status: { kind: 'words', values: PROVIDER_EVENT_STATUSES },
    reason: { kind: 'words', values: PROVIDER_EVENT_REASONS },
    source: { kind: 'words', values: PROVIDER_EVENT_SOURCES },
    type: { kind: 'text', max: EVENT_TYPE_MAX },
    objectId: { kind: 'ids' },
    receivedFrom: { kind: 'timeFrom' },
    receivedTo: { kind: 'timeTo' },
  },
  sorts: ['-receivedAt'],
})

// ── Again
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────────

const Mode = Words(
  'ReprocessMode',
  ['preview', 'apply'],
  '`preview` shows what would change and changes nothing; `apply` does what the preview has shown.',
)
const previewToken = Type.Optional(
  Type.String({
    minLength: TOKEN_LENGTH,
    maxLength: TOKEN_LENGTH,
    description: 'With `apply`: the token of the preview. When the difference is another one by now, nothing is done.',
  }),
)
const reason = Text(1, REASON_MAX)

export const ProviderEventReprocess = Type.Object(
  {
    mode: Mode,
    previewToken,
    assignTo: Type.Optional(
      Type.String({
        format: 'uuid',
        description:
          'A payment or exchange of the same connection, of which the messages are that match nothing by themselves.',
      }),
    ),
    reason: Type.Optional(reason),
  },
  { title: 'ProviderEventReprocess', additionalProperties: false, examples: [{ mode: 'preview' }] },
)
export type ProviderEventReprocess = Static<typeof ProviderEventReprocess>

export const ProviderEventsReprocess = Type.Object(
  {
    mode: Mode,
    previewToken,
    connectionId: Uuid,
    receivedFrom: Timestamp,
    receivedTo: Timestamp,
    status: Type.Optional(
      Type.Array(Words('ReprocessedStatus', ['processed', 'ignored', 'failed', 'duplicate']), {
        minItems: 1,
        uniqueItems: true,
        description: 'By default `failed` and `ignored`.',
      }),
    ),
    reason: Type.Optional(reason),
  },
  {
    title: 'ProviderEventsReprocess',
    additionalProperties: false,
    description: `Events of one connection, at most ${RANGE_EVENTS_MAX}.`,
  },
)
export type ProviderEventsReprocess = Static<typeof ProviderEventsReprocess>

const Change = Type.Object(
  {
    type: Type.String(),
    reference: Nullable(Type.String()),
    object: Nullable(ObjectKind),
    objectId: Nullable(Uuid),
    schemeCode: Nullable(Type.String()),
    amountMinor: Nullable(Type.String()),
    outcome: Words('ProviderMessageForecast', ['applied', 'known', 'no_effect', 'unmatched', 'not_for_us']),
    statusBefore: Nullable(Type.String()),
    statusAfter: Nullable(Type.String()),
    note: Nullable(Type.String()),
  },
  { title: 'ProviderEventChange', description: 'A message of the event, and what it would change now.' },
)

export const ProviderEventReprocessing = Type.Object(
  {
    mode: Mode,
    status: Words(
      'ReprocessingStatus',
      ['shown', 'pending_approval', 'accepted'],
      '`pending_approval`: the assignment changes something, so a second person has to ask for the same; `accepted`: ' +
        'what was shown is done.',
    ),
    previewToken: Type.String(),
    events: Type.Array(
      Type.Object(
        { eventId: Uuid, status: Status, messages: Type.Array(Change) },
        { title: 'ProviderEventDifference' },
      ),
    ),
    changing: Type.Integer({ minimum: 0, description: 'The messages that would change something.' }),
  },
  { title: 'ProviderEventReprocessing' },
)
export type ProviderEventReprocessing = Static<typeof ProviderEventReprocessing>

export const ProviderEventDismiss = Type.Object(
  { reason },
  { title: 'ProviderEventDismiss', additionalProperties: false, examples: [{ reason: 'A test of the bank.' }] },
)
export type ProviderEventDismiss = Static<typeof ProviderEventDismiss>

export const ProviderWebhook = Type.Object(
  {},
  {
    title: 'ProviderWebhook',
    additionalProperties: true,
    description: 'As the provider words it. The sandbox sends `id`, `type`, `occurredAt` and `data`.',
  },
)

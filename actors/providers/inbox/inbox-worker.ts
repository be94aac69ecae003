/**
 * Uses the events of providers that were kept, on the node that owns the shard of their connection and in the order of
 * their arrival: each is translated by the adapter of its connection, and its messages are given to the inboxes of
 * payments, exchanges and incoming payments. An event that fails lets the later ones pass, and is tried again.
 */
import { MINUTE_MS, type Clock } from '../../../lib/base/clock.ts'
import type { IdSource } from '../../../lib/base/ids.ts'
import { matchAgainAfter, retryAfter, type ProviderEventReason } from '../../../lib/providers/provider-event.ts'
import { shardOf } from '../../../lib/shards/shard.ts'
import type { Shards } from '../../../lib/shards/shards.ts'
import { plainArrayOrNull } from '../../../storage/db/array-literal.ts'
import type { Database } from '../../../storage/db/database.ts'
import { writeEvent } from '../../../storage/outbox/outbox.ts'
import {
  claimInboxEvents,
  endInboxEvents,
  waitingStatus,
  type InboxEnd,
  type InboxEvent,
} from '../../../storage/providers/provider-inbox.ts'
import { runChange, type ChangeTransaction } from '../../commands/changes.ts'
import { Poller } from '../../runtime/poller.ts'
import { untilDue } from '../../runtime/rest.ts'
import { ConnectionUnusable } from '../open-connections.ts'
import type { Wakes } from '../../runtime/wakes.ts'
import { eventLines } from './event-lines.ts'
import type { InboxConnection, InboxPartners, InboxPorts } from './inbox-ports.ts'
import { takeLines, type TakenLine } from './take-lines.ts'

/** The shortest time between two looks for events. */
const TICK_MS = 100
/** Events that are claimed at a time. */
const CLAIMED_MAX = 200
/** Longer than a batch takes whose provider is asked about every event. */
const CLAIMED_MS = 60_000

/** The time after which a connection that could not be opened is tried again. */
const UNUSABLE_MS = MINUTE_MS

const ERROR_MAX = 500

export interface InboxWorkerOptions {
  readonly database: Database
  readonly ids: IdSource
  readonly clock: Clock
  readonly shards: Shards
  readonly wakes: Wakes
  readonly partners: InboxPartners
  readonly ports: InboxPorts
  readonly onError: (error: unknown, what: string) => void
}

export class InboxWorker extends Poller {
  readonly #options: InboxWorkerOptions

  constructor(options: InboxWorkerOptions) {
    super({
      everyMs: TICK_MS,
      poll: () => this.#poll(),
      rest: untilDue(options, ['provider_inbox']),
      onError: (error) => options.onError(error, 'events of providers'),
    })
    this.#options = options
  }

  async #poll(): Promise<void> {
    const { database, clock, shards, onError } = this.#options
    for (;;) {
      const now = clock.now()
      const events = await claimInboxEvents(database, {
        now,
        until: now + CLAIMED_MS,
        shards: plainArrayOrNull(shards.owned()),
        max: CLAIMED_MAX,
      })
      if (events.length === 0) return
      const parts = Map.groupBy(events, ({ connectionId }) => connectionId)
      await Promise.all(
        [...parts].map(([connectionId, part]) =>
          this.#use(connectionId, part).catch((error: unknown) =>
            onError(error, `events of connection ${connectionId}`),
          ),
        ),
      )
    }
  }

  async #use(connectionId: string, events: readonly InboxEvent[]): Promise<void> {
    const { database, clock, partners, ports } = this.#options
    let connection: InboxConnection | null
    try {
      connection = await partners.open(connectionId)
    } catch (error) {
      if (!(error instanceof ConnectionUnusable)) throw error
      await this.#end(events.map((event) => waitFor(event, error.message, clock.now())))
      return
    }
    if (connection === null) {
      await this.#end(events.map((event) => endOf(event, [], 'The connection is closed.', clock.now())))
      return
    }
    const lines = await eventLines(database, connection, events)
    const taken = Map.groupBy(
      await takeLines({ database, ports, now: clock.now() }, connection, lines),
      ({ line }) => line.event,
    )
    const now = clock.now()
    await this.#end(events.map((event) => endOf(event, taken.get(event) ?? [], null, now)))
  }

  async #end(ends: readonly InboxEnd[]): Promise<void> {
    const failed = new Map(
      ends.filter(({ status }) => status === 'failed').map(({ event }) => [event.id, event as InboxEvent]),
    )
    await runChange(this.#options, async (tx) => {
      const written = await endInboxEvents(tx.client, ends, tx.now)
      for (const [id, event] of failed) if (written.has(id)) await tellOfFailure(tx, event)
    })
  }
}

/** Tells the operator of an event that could not be used. */
async function tellOfFailure({ client, ids, now }: ChangeTransaction, event: InboxEvent): Promise<void> {
  await writeEvent(client, {
    id: ids.next(),
    createdAt: now,
    customerId: null,
    operatorId: event.operatorId,
    shard: shardOf(event.operatorId),
    type: 'provider_event.failed',
    object: 'provider_event',
    objectId: event.id,
    status: 'failed',
    previousStatus: waitingStatus(event.verifiedBy),
    amount: null,
    currency: null,
  })
}

/**
 * Lets an event wait for its connection, which cannot be opened: its secrets were sealed with another key, or its
 * configuration is refused. That takes as long as staff take, so it uses up no attempt.
 */
const waitFor = (event: InboxEvent, why: string, now: number): InboxEnd => ({
  event,
  status: waitingStatus(event.verifiedBy),
  reason: 'connection_unusable',
  error: `The connection cannot be opened. ${why}`.slice(0, ERROR_MAX),
  dueAt: now + UNUSABLE_MS,
  messages: [],
  isUntried: true,
})

/** Decides the status of an event after an attempt. `error`: the reason why nothing of it was taken; `now` is epoch milliseconds. */
function endOf(
  event: InboxEvent & { readonly operatorId: string },
  taken: readonly TakenLine[],
  error: string | null,
  now: number,
): InboxEnd & { readonly event: InboxEvent } {
  const messages = taken.map(({ message }) => message)
  const again = (after: number | null, reason: ProviderEventReason, why: string) => ({
    event,
    messages,
    error: why.slice(0, ERROR_MAX),
    ...(after === null
      ? { status: 'failed' as const, reason, dueAt: null }
      : { status: waitingStatus(event.verifiedBy), reason: null, dueAt: now + after }),
  })
  const ended = (status: InboxEnd['status'], reason: ProviderEventReason | null = null) => ({
    event,
    messages,
    status,
    reason,
    error: null,
    dueAt: null,
  })
  if (error !== null) return again(retryAfter(event.attempts), 'internal', error)
  const unconfirmed = taken.find(({ retry }) => retry === 'unconfirmed')
  if (taken.some(({ retry }) => retry === 'refused'))
    return again(retryAfter(event.attempts), 'internal', 'A message could not be taken.')
  if (unconfirmed !== undefined)
    return again(
      retryAfter(event.attempts),
      'contradicted',
      unconfirmed.message.note ?? 'The provider does not confirm it.',
    )
  const fault = taken.find(({ line }) => line.lack === 'fault')
  if (fault !== undefined) return again(null, 'unreadable', fault.message.note ?? 'The event cannot be read.')
  if (messages.some(({ outcome }) => outcome === 'unmatched')) {
    const after = matchAgainAfter(event.attempts)
    return after === null
      ? ended('ignored', 'unmatched')
      : again(after, 'unmatched', 'Nothing of the connection matches it.')
  }
  const told = taken.filter(({ message }) => message.outcome !== 'not_for_us')
  if (told.length === 0) return ended('ignored', 'not_for_us')
  return ended(told.every(({ isTold }) => isTold) ? 'duplicate' : 'processed')
}

/**
 * The health of connections to banking partners. Nodes count their calls in memory and add them to Postgres every few
 * seconds, where the calls of all nodes are judged together; a new state is an event for the operator, and is told to
 * every node.
 *
 * Counts that Postgres cannot take are lost: they say nothing about money, and probes follow.
 */
import type { Clock } from '../../../lib/base/clock.ts'
import type { IdSource } from '../../../lib/base/ids.ts'
import type { ProbeResult } from '../../../lib/providers/connection.ts'
import {
  countCall,
  NO_TALLY,
  type CallOutcome,
  type CallTally,
  type HealthState,
} from '../../../lib/providers/health.ts'
import { shardOf } from '../../../lib/shards/shard.ts'
import type { Database } from '../../../storage/db/database.ts'
import { inTransaction } from '../../../storage/db/transaction.ts'
import { writeEvent } from '../../../storage/outbox/outbox.ts'
import { addCalls, readUnhealthy } from '../../../storage/providers/provider-health.ts'
import type { Node } from '../../runtime/node.ts'
import { Poller } from '../../runtime/poller.ts'

/** The time between two additions to Postgres; half of a slot, so that no call is counted in a much later one. */
const FLUSH_MS = 5_000
/** The channel of changes (storage/providers/provider-health.ts). */
const HEALTH_CHANGED = 'provider_health'

export interface ConnectionHealthOptions extends Pick<Node, 'listener' | 'onError'> {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
}

export class ConnectionHealth {
  readonly #options: ConnectionHealthOptions
  readonly #poller: Poller
  #tallies = new Map<string, CallTally>()
  #unhealthy: ReadonlyMap<string, HealthState> = new Map()

  constructor(options: ConnectionHealthOptions) {
    this.#options = options
    this.#poller = new Poller({
      everyMs: FLUSH_MS,
      poll: () => this.flush(),
      onError: (error) => options.onError(error, 'the health of connections'),
    })
    const read = () => {
      this.#read().catch((error: unknown) => options.onError(error, 'the health of connections'))
    }
    options.listener.subscribe(HEALTH_CHANGED, { onMessage: read, onGap: read })
  }

  async start(): Promise<void> {
    await this.#read()
    this.#poller.start()
  }

  async stop(): Promise<void> {
    await this.#poller.stop()
    await this.flush()
  }

  async runOnce(): Promise<void> {
    await this.flush()
  }

  /** Counts a call of a connection. An answer that refuses an order is a success. */
  record(connectionId: string, outcome: CallOutcome): void {
    this.#tallies.set(connectionId, countCall(this.#tallies.get(connectionId) ?? NO_TALLY, outcome))
  }

  /** The state of a connection as this node last read it. */
  stateOf(connectionId: string): HealthState {
    return this.#unhealthy.get(connectionId) ?? 'healthy'
  }

  /** Whether the partner may be polled: not while its connection is paused, until a probe succeeds. */
  mayPoll(connectionId: string): boolean {
    return this.stateOf(connectionId) !== 'paused'
  }

  /** Adds the calls counted since the last time to Postgres. */
  async flush(): Promise<void> {
    const tallies = this.#tallies
    this.#tallies = new Map()
    for (const [connectionId, tally] of tallies) await this.#add(connectionId, tally, null)
  }

  /** Records a probe, which counts as a call, and judges the connection by it at once. */
  async probed(connectionId: string, probe: ProbeResult): Promise<void> {
    const { ok, latencyMs, message } = probe
    const before = this.#tallies.get(connectionId) ?? NO_TALLY
    this.#tallies.delete(connectionId)
    const outcome = { ok, latencyMs, ...(message === null ? {} : { error: message }) }
    await this.#add(connectionId, countCall(before, outcome), probe)
  }

  async #add(connectionId: string, tally: CallTally, probe: ProbeResult | null): Promise<void> {
    const { database, clock, ids } = this.#options
    const now = clock.now()
    const change = await inTransaction(database, async (client) => {
      const changed = await addCalls(client, connectionId, { tally, probe, now })
      if (changed === null) return null
      const { operatorId, before: previousStatus, after: status } = changed
      await writeEvent(client, {
        id: ids.next(),
        createdAt: now,
        customerId: null,
        operatorId,
        shard: shardOf(operatorId),
        type: 'provider_connection.status_changed',
        object: 'provider_connection',
        objectId: connectionId,
        status,
        previousStatus,
        amount: null,
        currency: null,
      })
      return changed
    })
    // This node need not wait for its own message.
    if (change !== null) await this.#read()
  }

  async #read(): Promise<void> {
    this.#unhealthy = await readUnhealthy(this.#options.database)
  }
}

/**
 * Callbacks to integrators. The relay turns events into deliveries; one actor per endpoint sends the deliveries to the
 * receiver.
 *
 * Promises:
 *  * At least once: an event is written in the transaction of its cause, and relayed in a transaction that records the
 *    relay's progress. A delivery leaves the queue only together with its outcome. Deliveries that a dead node had in
 *    flight are sent again with the same event id.
 *  * Payments never wait for callbacks: a commit only tells the relay of its own process that there may be events. The
 *    relay informs the nodes by NOTIFY, and every node looks as well when a delivery is due.
 *  * Endpoints do not wait for each other: each has its own queue, sockets and pace.
 */
import { MINUTE_MS, type Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import type { SecretBox } from '../../lib/security/secret-box.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import type { TargetPolicy } from '../../lib/webhooks/target.ts'
import type { Database } from '../../storage/db/database.ts'
import type { PgListener } from '../../storage/db/pg-listener.ts'
import { disableHopeless } from '../../storage/webhooks/webhook-endpoints.ts'
import { dropOrphans, dueEndpoints, openWebhookDatabase } from '../../storage/webhooks/webhook-queue.ts'
import { readAnnouncement, relayEvents, WEBHOOK_CHANNEL } from '../../storage/webhooks/webhook-relay.ts'
import { hasUnfollowedEvents } from '../../storage/outbox/outbox-cursor.ts'
import type { SignBatch } from '../../workers/pool/pool.ts'
import { DeliveryOutcomes } from './delivery-outcomes.ts'
import { EndpointActor, type EndpointDeps } from './endpoint.ts'
import type { EndpointOwners } from './endpoint-owners.ts'
import { createResolve, type ResolveHost } from './sender.ts'
import { Poller, type Rest } from '../runtime/poller.ts'
import { untilDelivery, untilHopeless } from './relay-rests.ts'
import type { Wakes } from '../runtime/wakes.ts'

/** The time that the relay waits for more events after the first one, so that a burst needs one pass. */
const GATHER_MS = 20
/** While there are events, the relay polls again after this time, because not every writer of events notifies it. */
const BUSY_MS = 50
/** The poll interval of the relay and the queue without a notification, while there is work. */
const LOOK_MS = 500
/** The interval of the search for endpoints that have failed for too long. */
const TIDY_MS = 5_000
/** The interval of the search for deliveries of deleted endpoints. */
const SWEEP_MS = MINUTE_MS
/** The maximum number of endpoints found per poll; the rest follow with the next poll. */
const DUE_MAX = 1_000
/** An actor without work keeps its connection for this time. */
const IDLE_MS = 30_000
/** The time that deliveries in flight may take when the service stops. */
const CLOSE_MS = 1_500

export interface WebhooksOptions {
  readonly wakes: Wakes
  readonly databaseUrl: string
  readonly listener: Pick<PgListener, 'subscribe'>
  readonly ids: IdSource
  readonly clock: Clock
  readonly shards: Shards
  readonly secrets: Pick<SecretBox, 'open'>
  readonly signBatch: SignBatch
  readonly policy: TargetPolicy
  /** In a sandbox, a URL that ends with /sbx-fail always fails. */
  readonly sandbox: boolean
  readonly onError: (error: unknown, what: string) => void
  /** Tells people in the transaction in which an endpoint is paused or disabled. */
  readonly tellStatus: EndpointOwners['tellStatus']
  /** Resolves host names; the network's resolver unless a test sets another. */
  readonly resolve?: ResolveHost | undefined
  /** Returns a random number from 0 to 1. */
  readonly chance: () => number
}

/** The pause between two runs of a relay that is behind, and the maximum number of such runs. */
const BEHIND_MS = 20
const BEHIND_RUNS_MAX = 250

/**
 * Runs `run` again until it is not behind any more. A transaction under way hides the work of later ones; such a
 * transaction lasts milliseconds, and after five seconds it is left to the relay's own runs. Never rejects when `run`
 * does not: a question that fails counts as an answer.
 */
async function untilCaughtUp(isBehind: () => Promise<boolean>, run: () => Promise<void>): Promise<void> {
  for (let runs = 0; runs < BEHIND_RUNS_MAX; runs++) {
    if (!(await isBehind().catch(() => false))) return
    await new Promise((resolve) => setTimeout(resolve, BEHIND_MS))
    await run()
  }
}

export class Webhooks {
  readonly #options: WebhooksOptions
  readonly #database: Database
  readonly #deps: EndpointDeps
  readonly #actors = new Map<string, EndpointActor>()
  /** Actors of shards that have left this node, until their deliveries in flight end. */
  readonly #leaving = new Set<EndpointActor>()
  readonly #work = new Set<Promise<void>>()
  readonly #looks: Poller
  readonly #tidying: Poller
  readonly #sweeps: Poller
  readonly #written = new Map<string, (() => void)[]>()
  readonly #outcomes: DeliveryOutcomes
  #relaying = false
  #relayAgain = false
  #relayTimer: NodeJS.Timeout | undefined
  #looking = false
  /** Whether any endpoint subscribes to events, as of the last pass. */
  #wanted = true
  #running = false
  #sockets = 0
  /** Callbacks of the actors that found no free socket, in the order of their requests. */
  readonly #starving = new Set<() => void>()
  readonly counters = { attempts: 0, failures: 0 }

  constructor(options: WebhooksOptions) {
    this.#options = options
    this.#database = openWebhookDatabase(options.databaseUrl)
    const { clock, secrets, policy, sandbox, signBatch, onError } = options
    this.#outcomes = new DeliveryOutcomes({
      ...options,
      database: this.#database,
      counters: this.counters,
      isRunning: () => this.#running,
      background: (work) => this.#background(work, 'webhook outcomes'),
      onWritten: (deliveryId) => {
        for (const written of this.#written.get(deliveryId) ?? []) written()
      },
      // A delivery that failed is due again later.
      onBatch: () => this.#looks.wake(),
    })
    this.#deps = {
      database: this.#database,
      clock,
      secrets,
      policy,
      sandbox,
      signBatch,
      onError,
      resolve: options.resolve ?? createResolve(policy),
      chance: options.chance,
      finish: (attempt) => this.#outcomes.add(attempt),
      sockets: { take: (onFree) => this.#takeSocket(onFree), give: () => this.#giveSocket() },
    }
    const poller = (what: string, everyMs: number, poll: () => Promise<void>, rest?: Rest) =>
      new Poller({ everyMs, poll, onError: (error) => onError(error, what), ...(rest === undefined ? {} : { rest }) })
    const deps = { ...options, database: this.#database }
    this.#looks = poller('due webhook deliveries', LOOK_MS, async () => this.#lookAll(), untilDelivery(deps))
    this.#tidying = poller('webhook endpoints', TIDY_MS, () => this.#tidy(), untilHopeless(deps))
    this.#sweeps = poller('webhook queue', SWEEP_MS, () => dropOrphans(this.#database, clock.now()))
    options.listener.subscribe(WEBHOOK_CHANNEL, {
      onMessage: (payload) => this.#heard(payload),
      onGap: () => this.#look(),
    })
  }

  /** The number of callbacks in flight on this node. */
  get underWay(): number {
    return this.#sockets
  }
  /** The number of endpoints with an actor in memory. */
  get endpoints(): number {
    return this.#actors.size
  }

  async start(): Promise<void> {
    this.#running = true
    this.#options.shards.onChange(({ gained, lost }) => {
      if (lost.length > 0) this.#leave(new Set(lost))
      if (gained.length > 0) this.#look()
    })
    for (const poller of [this.#looks, this.#tidying, this.#sweeps]) poller.start()
    this.#relaySoon(0)
  }

  /** Stops taking deliveries. Deliveries in flight may end; otherwise they are given back. */
  async stop(): Promise<void> {
    this.#running = false
    await Promise.all([this.#looks, this.#tidying, this.#sweeps].map((poller) => poller.stop()))
    clearTimeout(this.#relayTimer)
    await Promise.all([...this.#actors.values(), ...this.#leaving].map((actor) => actor.close(CLOSE_MS)))
    this.#actors.clear()
    await this.#idle()
    await this.#database.close()
  }

  /**
   * Disables the endpoints that have failed for too long, relays the events and finds the deliveries that are due, as
   * the timers do; resolves when the callbacks of these deliveries have been answered.
   */
  async runOnce(): Promise<void> {
    await this.#tidying.runOnce()
    await this.#idle()
    clearTimeout(this.#relayTimer)
    this.#relayTimer = undefined
    const { clock } = this.#options
    const relay = async () => {
      this.#background(this.#relay(), 'webhook relay')
      await this.#idle()
    }
    await relay()
    await untilCaughtUp(() => hasUnfollowedEvents(this.#database, 'webhook_relay', clock.now()), relay)
    this.#look()
    await this.#idle()
    await Promise.all(Array.from(this.#actors.values(), (actor) => actor.settled()))
    await this.#idle()
  }

  async #idle(): Promise<void> {
    while (this.#work.size > 0) await Promise.allSettled(this.#work)
  }

  /** Tells the relay that a commit may have written events. */
  nudge(): void {
    if (this.#wanted) this.#relaySoon(GATHER_MS)
  }

  /**
   * Makes one delivery at once; resolves when its outcome is written or `patienceMs` have passed. Only for endpoints of
   * tenants whose shard is on this node; on other nodes the queue delivers soon.
   */
  async deliverNow(endpointId: string, tenantId: string, deliveryId: string, patienceMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#written.set(deliveryId, [...(this.#written.get(deliveryId) ?? []), resolve])
    const timer = setTimeout(resolve, patienceMs)
    try {
      // When another claim has already taken the delivery, its outcome counts as well.
      await this.#actor(endpointId, shardOf(tenantId)).now(deliveryId)
      await promise
    } finally {
      clearTimeout(timer)
      this.#written.delete(deliveryId)
    }
  }

  #background(work: Promise<void>, what: string): void {
    const guarded = work
      .catch((error: unknown) => this.#options.onError(error, what))
      .finally(() => this.#work.delete(guarded))
    this.#work.add(guarded)
  }

  // ── Relay
  // ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

  #relaySoon(ms: number): void {
    if (!this.#running) return
    if (this.#relaying) {
      this.#relayAgain = true
      return
    }
    if (this.#relayTimer !== undefined) return
    this.#relayTimer = setTimeout(() => {
      this.#relayTimer = undefined
      this.#background(this.#relay(), 'webhook relay')
    }, ms)
  }

  async #relay(): Promise<void> {
    const { ids, clock, onError } = this.#options
    this.#relaying = true
    this.#relayAgain = false
    let againMs: number | null = null
    try {
      const pass = await relayEvents(this.#database, ids, clock.now(), () =>
        onError(new Error('The database was copied: events that were not relayed yet are lost.'), 'webhook relay'),
      )
      this.#wanted = pass.wanted
      againMs = pass.again ? 0 : pass.events ? BUSY_MS : null
    } finally {
      this.#relaying = false
      if (this.#relayAgain) againMs = Math.min(againMs ?? GATHER_MS, GATHER_MS)
      if (againMs !== null) this.#relaySoon(againMs)
    }
  }

  // ── Endpoints
  // ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  #heard(payload: string): void {
    if (!this.#running) return
    const announced = readAnnouncement(payload)
    if (announced === null) {
      this.#look()
      return
    }
    const { kind, endpoints } = announced
    if (kind === 'changed') this.#wanted = true
    for (const { id, shard } of endpoints) {
      const actor = this.#actors.get(id)
      if (kind === 'changed' && actor !== undefined) this.#background(actor.changed(), 'a changed webhook endpoint')
      else if (this.#options.shards.owns(shard)) this.#actor(id, shard).wake()
    }
  }

  #lookAll(): void {
    this.#relaySoon(0)
    this.#look()
  }

  /** Polls for endpoints with due deliveries, and drops the actors that have been idle for a while. */
  #look(): void {
    if (!this.#running || this.#looking) return
    this.#looking = true
    const { clock, shards } = this.#options
    this.#background(
      (async () => {
        try {
          for (const { id, shard } of await dueEndpoints(this.#database, {
            now: clock.now(),
            shards: shards.owned(),
            limit: DUE_MAX,
          }))
            this.#actor(id, shard).wake()
        } finally {
          this.#looking = false
        }
        for (const [id, actor] of this.#actors) {
          if (actor.idle && clock.now() - actor.busyAt > IDLE_MS) {
            this.#actors.delete(id)
            this.#background(actor.close(0), 'an idle webhook endpoint')
          }
        }
      })(),
      'due webhook deliveries',
    )
  }

  #actor(id: string, shard: number): EndpointActor {
    let actor = this.#actors.get(id)
    if (actor === undefined) this.#actors.set(id, (actor = new EndpointActor(id, shard, this.#deps)))
    return actor
  }

  /** Handles shards that have moved to other nodes: deliveries not sent yet belong to those nodes. */
  #leave(gone: ReadonlySet<number>): void {
    for (const [id, actor] of this.#actors) {
      if (!gone.has(actor.shard)) continue
      this.#actors.delete(id)
      this.#leaving.add(actor)
      this.#background(
        actor.close(LIMITS.webhookTimeoutMs).finally(() => this.#leaving.delete(actor)),
        'a webhook endpoint that moved',
      )
    }
  }

  async #tidy(): Promise<void> {
    const { clock, shards, tellStatus } = this.#options
    await disableHopeless(this.#database, { now: clock.now(), shards: shards.owned() }, (client, endpoint) =>
      tellStatus(client, endpoint, 'disabled'),
    )
  }

  #takeSocket(onFree: () => void): boolean {
    if (this.#sockets < LIMITS.webhookSocketsMax) {
      this.#sockets += 1
      return true
    }
    this.#starving.add(onFree)
    return false
  }

  #giveSocket(): void {
    this.#sockets -= 1
    const [first] = this.#starving
    if (first === undefined) return
    this.#starving.delete(first)
    first()
  }
}

/**
 * Callbacks to integrators: from events to deliveries (the relay), and from deliveries to receivers (an actor an endpoint).
 *
 * What it promises
 *  * At least once: an event is written in the transaction of its cause and relayed in one that remembers it; a delivery
 *    leaves the queue with its outcome and not before. What a dead node had under way is sent again, with the same event id.
 *  * Nothing of it is on the way of a payment: a commit only says, in this process, that there may be something to relay.
 *    The relay tells the nodes by NOTIFY, and every node also looks by itself, so a word that is lost costs half a second.
 *  * Endpoints do not wait for each other: each has its own queue, sockets and pace.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import type { SecretBox } from '../../lib/security/secret-box.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { streakOf } from '../../lib/webhooks/streak.ts'
import type { TargetPolicy } from '../../lib/webhooks/target.ts'
import type { Database } from '../../storage/db/database.ts'
import { PgListener } from '../../storage/db/pg-listener.ts'
import { disableHopeless } from '../../storage/webhooks/webhook-endpoints.ts'
import { dropOrphans, dueEndpoints, finishAttempts, openWebhookDatabase, type FinishedAttempt } from '../../storage/webhooks/webhook-queue.ts'
import { readAnnouncement, relayEvents, WEBHOOK_CHANNEL } from '../../storage/webhooks/webhook-relay.ts'
import type { SignBatch } from '../../workers/pool/pool.ts'
import { EndpointActor, type EndpointDeps } from './endpoint.ts'
import { createResolve, type ResolveHost } from './sender.ts'

/** How long the relay waits for more events after it heard of one: a burst is one pass. */
const GATHER_MS = 20
/** While there are events the relay looks again after this: not everybody who writes them says so. */
const BUSY_MS = 50
/** How often the relay and the queue are looked at without having heard anything. */
const LOOK_MS = 500
/** How often endpoints that have failed for too long are looked for. */
const TIDY_MS = 5_000
/** How often what deleted endpoints have left in the queue is looked for. */
const SWEEP_MS = 60_000
/** After a failure of the database, how long until it is asked again. */
const PAUSE_MS = 500
/** Endpoints that a look finds at once; the rest come with the next. */
const DUE_MAX = 1_000
/** Outcomes written in one statement. */
const FINISH_MAX = 512
/** An actor without work keeps its connection this long. */
const IDLE_MS = 30_000
/** When the service stops, what is under way may take this long. */
const CLOSE_MS = 1_500

export interface WebhooksOptions {
  readonly databaseUrl: string
  readonly ids: IdSource
  readonly clock: Clock
  readonly shards: Shards
  readonly secrets: Pick<SecretBox, 'open'>
  readonly signBatch: SignBatch
  readonly policy: TargetPolicy
  /** A URL that ends with /sbx-fail fails by itself. */
  readonly sandbox: boolean
  readonly onError: (error: unknown, what: string) => void
  /** Told of endpoints that were paused or disabled, after it has happened. */
  readonly onStatus: (change: { readonly endpointId: string; readonly tenantId: string; readonly status: 'paused' | 'disabled' }) => void
  /** Where names lead; the network's own answer unless a test knows better. */
  readonly resolve?: ResolveHost | undefined
  /** 0 to 1, different each time. */
  readonly chance: () => number
}

interface Finished {
  readonly attempt: FinishedAttempt
  readonly written: () => void
}

export class Webhooks {
  readonly #options: WebhooksOptions
  readonly #database: Database
  readonly #notifications: PgListener
  readonly #world: EndpointDeps
  readonly #actors = new Map<string, EndpointActor>()
  /** Of shards that have gone, while what they have under way ends. */
  readonly #leaving = new Set<EndpointActor>()
  readonly #work = new Set<Promise<void>>()
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #written = new Map<string, (() => void)[]>()
  #finished: Finished[] = []
  #finishing = false
  #relaying = false
  #relayAgain = false
  #relayTimer: NodeJS.Timeout | undefined
  #looking = false
  /** Whether anybody wants events, as far as the last pass knows. */
  #wanted = true
  #running = false
  #sockets = 0
  /** Those who found no socket left, in the order in which they asked. */
  readonly #starving = new Set<() => void>()
  readonly counters = { attempts: 0, failures: 0 }

  constructor(options: WebhooksOptions) {
    this.#options = options
    this.#database = openWebhookDatabase(options.databaseUrl)
    const { clock, secrets, policy, sandbox, signBatch, onError } = options
    this.#world = {
      database: this.#database, clock, secrets, policy, sandbox, signBatch, onError,
      resolve: options.resolve ?? createResolve(policy),
      chance: options.chance,
      finish: (attempt) => this.#finish(attempt),
      sockets: { take: (onFree) => this.#takeSocket(onFree), give: () => this.#giveSocket() },
    }
    this.#notifications = new PgListener({
      url: options.databaseUrl, channel: WEBHOOK_CHANNEL, onMessage: (payload) => this.#heard(payload), onGap: () => this.#look(), onError,
    })
  }

  /** Callbacks under way on this node. */
  get underWay(): number { return this.#sockets }
  /** Endpoints with an actor in memory. */
  get endpoints(): number { return this.#actors.size }

  async start(): Promise<void> {
    this.#running = true
    this.#options.shards.onChange(({ gained, lost }) => {
      if (lost.length > 0) this.#leave(new Set(lost))
      if (gained.length > 0) this.#look()
    })
    await this.#notifications.start()
    this.#every(LOOK_MS, () => { this.#relaySoon(0); this.#look() })
    this.#every(TIDY_MS, () => this.#background(this.#tidy(), 'webhook endpoints'))
    this.#every(SWEEP_MS, () => this.#background(dropOrphans(this.#database, this.#options.clock.now()), 'webhook queue'))
    this.#relaySoon(0)
  }

  /** Stops taking; what is under way may end, or is given back. */
  async stop(): Promise<void> {
    this.#running = false
    for (const timer of this.#timers) clearInterval(timer)
    clearTimeout(this.#relayTimer)
    await this.#notifications.stop()
    await Promise.all([...this.#actors.values(), ...this.#leaving].map((actor) => actor.close(CLOSE_MS)))
    this.#actors.clear()
    while (this.#work.size > 0) await Promise.allSettled(this.#work)
    await this.#database.close()
  }

  /** Something was committed, and may have events. */
  nudge(): void {
    if (this.#wanted) this.#relaySoon(GATHER_MS)
  }

  /**
   * Makes one delivery at once; resolves when its outcome is written, or when `patienceMs` have passed. For endpoints of
   * tenants whose home is here; elsewhere the queue does it soon.
   */
  async deliverNow(endpointId: string, tenantId: string, deliveryId: string, patienceMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#written.set(deliveryId, [...this.#written.get(deliveryId) ?? [], resolve])
    const timer = setTimeout(resolve, patienceMs)
    try {
      // Somebody else may have taken it already, which is as good.
      await this.#actor(endpointId, shardOf(tenantId)).now(deliveryId)
      await promise
    } finally {
      clearTimeout(timer)
      this.#written.delete(deliveryId)
    }
  }

  #every(ms: number, work: () => void): void {
    this.#timers.add(setInterval(work, ms))
  }

  #background(work: Promise<void>, what: string): void {
    const guarded = work.catch((error: unknown) => this.#options.onError(error, what)).finally(() => this.#work.delete(guarded))
    this.#work.add(guarded)
  }

  // ── Relay ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

  #relaySoon(ms: number): void {
    if (!this.#running) return
    if (this.#relaying) { this.#relayAgain = true; return }
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
      const pass = await relayEvents(this.#database, ids, clock.now(), () => onError(new Error('The database was copied: events that were not relayed yet are lost.'), 'webhook relay'))
      this.#wanted = pass.wanted
      againMs = pass.again ? 0 : pass.events ? BUSY_MS : null
    } finally {
      this.#relaying = false
      if (this.#relayAgain) againMs = Math.min(againMs ?? GATHER_MS, GATHER_MS)
      if (againMs !== null) this.#relaySoon(againMs)
    }
  }

  // ── Endpoints ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  #heard(payload: string): void {
    if (!this.#running) return
    const announced = readAnnouncement(payload)
    if (announced === null) { this.#look(); return }
    const { kind, endpoints } = announced
    if (kind === 'changed') this.#wanted = true
    for (const { id, shard } of endpoints) {
      const actor = this.#actors.get(id)
      if (kind === 'changed' && actor !== undefined) this.#background(actor.changed(), 'a changed webhook endpoint')
      else if (this.#options.shards.owns(shard)) this.#actor(id, shard).wake()
    }
  }

  /** Looks for endpoints with something due, and lets those go that have had nothing for a while. */
  #look(): void {
    if (!this.#running || this.#looking) return
    this.#looking = true
    const { clock, shards } = this.#options
    this.#background((async () => {
      try {
        for (const { id, shard } of await dueEndpoints(this.#database, { now: clock.now(), shards: shards.owned(), limit: DUE_MAX })) this.#actor(id, shard).wake()
      } finally {
        this.#looking = false
      }
      for (const [id, actor] of this.#actors) {
        if (actor.idle && clock.now() - actor.busyAt > IDLE_MS) { this.#actors.delete(id); this.#background(actor.close(0), 'an idle webhook endpoint') }
      }
    })(), 'due webhook deliveries')
  }

  #actor(id: string, shard: number): EndpointActor {
    let actor = this.#actors.get(id)
    if (actor === undefined) this.#actors.set(id, actor = new EndpointActor(id, shard, this.#world))
    return actor
  }

  /** Shards have gone to other nodes: what has not been sent is theirs. */
  #leave(gone: ReadonlySet<number>): void {
    for (const [id, actor] of this.#actors) {
      if (!gone.has(actor.shard)) continue
      this.#actors.delete(id)
      this.#leaving.add(actor)
      this.#background(actor.close(LIMITS.webhookTimeoutMs).finally(() => this.#leaving.delete(actor)), 'a webhook endpoint that moved')
    }
  }

  async #tidy(): Promise<void> {
    const { clock, shards, onStatus } = this.#options
    for (const { id, tenantId } of await disableHopeless(this.#database, { now: clock.now(), shards: shards.owned() })) onStatus({ endpointId: id, tenantId, status: 'disabled' })
  }

  #takeSocket(onFree: () => void): boolean {
    if (this.#sockets < LIMITS.webhookSocketsMax) { this.#sockets += 1; return true }
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

  // ── Outcomes ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  #finish(attempt: FinishedAttempt): Promise<void> {
    this.counters.attempts += 1
    if (!attempt.succeeded) this.counters.failures += 1
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#finished.push({ attempt, written: resolve })
    if (!this.#finishing) this.#background(this.#writeOutcomes(), 'webhook outcomes')
    return promise
  }

  /** Writes what has gathered while the last batch was written: alone an outcome is written at once. */
  async #writeOutcomes(): Promise<void> {
    this.#finishing = true
    try {
      while (this.#finished.length > 0) {
        const batch = this.#finished.splice(0, FINISH_MAX)
        try {
          await this.#write(batch.map(({ attempt }) => attempt))
          for (const { written } of batch) written()
        } catch (error) {
          this.#options.onError(error, 'webhook outcomes')
          // Claims run out meanwhile, and then the deliveries are made again: better twice than not known.
          if (!this.#running) return
          this.#finished.unshift(...batch)
          await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
        }
      }
    } finally {
      this.#finishing = false
    }
  }

  async #write(batch: readonly FinishedAttempt[]): Promise<void> {
    const byEndpoint = Map.groupBy(batch, ({ delivery }) => delivery.endpointId)
    const streaks = [...byEndpoint].map(([endpointId, outcomes]) => ({ endpointId, ...streakOf(outcomes) }))
    const paused = await finishAttempts(this.#database, batch, streaks)
    for (const { delivery } of batch) for (const written of this.#written.get(delivery.id) ?? []) written()
    for (const { id, tenantId } of paused) this.#options.onStatus({ endpointId: id, tenantId, status: 'paused' })
  }
}

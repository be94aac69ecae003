/**
 * The actor of an endpoint: takes a bounded number of due deliveries from the queue, and sends at most ten at once.
 * Endpoints share nothing, so a slow endpoint delays only itself.
 *
 * Events of one object are sent in order: the next event waits while one of the same object is in flight. A failed
 * delivery does not hold up later ones; it is sent again by its retry schedule, after them.
 */
import { LIMITS } from '../../lib/base/limits.ts'
import { timestamp, type Clock } from '../../lib/base/clock.ts'
import { FAILING_PATH } from '../../lib/sandbox/webhooks.ts'
import type { SecretBox } from '../../lib/security/secret-box.ts'
import { callbackHeaders, envelope } from '../../lib/webhooks/envelope.ts'
import { nextAttemptAt } from '../../lib/webhooks/schedule.ts'
import { sign, type Signatures } from '../../lib/webhooks/signature.ts'
import type { TargetPolicy } from '../../lib/webhooks/target.ts'
import type { Database } from '../../storage/db/database.ts'
import type { StoredAttempt } from '../../storage/webhooks/webhook-queries.ts'
import { readEndpointSettings, type EndpointSettings } from '../../storage/webhooks/webhook-endpoints.ts'
import {
  claimDeliveries,
  discardDeliveries,
  releaseDeliveries,
  type ClaimedDelivery,
  type FinishedAttempt,
} from '../../storage/webhooks/webhook-queue.ts'
import type { SignBatch } from '../../workers/pool/pool.ts'
import { ReceiverClient, type AttemptResult, type ResolveHost } from './sender.ts'

/**
 * The duration of a claim: one attempt and the wait before it. After it, other nodes take the deliveries of a dead
 * node.
 */
const CLAIM_MS = 20_000
/** An attempt begins only when its claim lasts longer than the attempt can. */
const ATTEMPT_ROOM_MS = LIMITS.webhookTimeoutMs + 1_000
/** The number of deliveries per claim: doubled after a quick claim, halved after a slow one. */
const CLAIM_FIRST = 16
const CLAIM_MIN = LIMITS.webhookInFlightMax
/**
 * The maximum number of attempts without a written outcome, which a crash would repeat. Above it, sending waits for the
 * writes.
 */
const UNWRITTEN_MAX = 64
const CLAIM_QUICK_MS = 500
const CLAIM_SLOW_MS = 4_000

/** The sockets of this node. */
export interface Sockets {
  /** Takes one socket. When none is free, returns false and calls `onFree` once when one may be free. */
  take(onFree: () => void): boolean
  give(): void
}

/** The dependencies that all endpoint actors share. */
export interface EndpointDeps {
  readonly database: Database
  readonly clock: Clock
  readonly secrets: Pick<SecretBox, 'open'>
  readonly policy: TargetPolicy
  readonly resolve: ResolveHost
  readonly sandbox: boolean
  readonly signBatch: SignBatch
  /** Returns a random number from 0 to 1. */
  readonly chance: () => number
  /** Takes the outcome of an attempt, to be written in a batch; resolves when it is written. */
  readonly finish: (attempt: FinishedAttempt) => Promise<void>
  readonly sockets: Sockets
  readonly onError: (error: unknown, what: string) => void
}

interface Waiting {
  readonly delivery: ClaimedDelivery
  readonly body: string
  readonly signed: { readonly seconds: number; readonly signatures: Signatures } | null
}

interface Known extends EndpointSettings {
  readonly secretsOf: (now: number) => string[]
  readonly failsBySandbox: boolean
}

/** The context under which an endpoint's secrets are sealed. */
export const secretContext = (endpointId: string): string => `webhook_endpoint ${endpointId}`

export class EndpointActor {
  readonly id: string
  readonly shard: number
  readonly #deps: EndpointDeps
  readonly #line: ReceiverClient
  #known: Known | null = null
  #waiting: Waiting[] = []
  readonly #underWay = new Map<string, Promise<void>>()
  readonly #objects = new Set<string>()
  /** True when the queue may have due rows that are not in memory. */
  #more = false
  #taking: Promise<void> | null = null
  #unwritten = 0
  #claimSize = CLAIM_FIRST
  #takenAt = 0
  #failing = false
  #closed = false
  #givenUp = false
  readonly #onFree = (): void => this.pump()
  /** The last time with work, epoch milliseconds. */
  busyAt: number

  constructor(id: string, shard: number, deps: EndpointDeps) {
    this.id = id
    this.shard = shard
    this.#deps = deps
    this.#line = new ReceiverClient({
      policy: deps.policy,
      resolve: deps.resolve,
      connections: LIMITS.webhookInFlightMax,
      now: () => deps.clock.now(),
    })
    this.busyAt = deps.clock.now()
  }

  get underWay(): number {
    return this.#underWay.size
  }
  get idle(): boolean {
    return this.#underWay.size === 0 && this.#waiting.length === 0 && this.#taking === null && !this.#more
  }

  /** Tells the actor that deliveries may be due. */
  wake(): void {
    this.#more = true
    this.pump()
  }

  /** Makes one delivery before all that wait. @returns false when it could not be claimed */
  async now(deliveryId: string): Promise<boolean> {
    const [taken] = await this.#claim(1, deliveryId)
    if (taken === undefined) return false
    this.#waiting.unshift(taken)
    this.pump()
    return true
  }

  /**
   * Applies changed settings: gives back the deliveries that were not sent, and takes them again under the new
   * settings.
   */
  async changed(): Promise<void> {
    this.#known = null
    await this.#release(this.#waiting.splice(0))
    this.wake()
  }

  /** Starts the deliveries that may start, and claims more when few are left. */
  pump(): void {
    if (this.#closed) return
    const most = this.#failing ? LIMITS.webhookInFlightFailingMax : LIMITS.webhookInFlightMax
    for (let at = 0; at < this.#waiting.length && this.#underWay.size < most && this.#unwritten < UNWRITTEN_MAX; ) {
      const next = this.#waiting[at] as Waiting
      if (this.#objects.has(next.delivery.event.objectId)) {
        at += 1
        continue
      }
      if (!this.#deps.sockets.take(this.#onFree)) break
      this.#waiting.splice(at, 1)
      this.#begin(next)
    }
    if (this.#more && this.#taking === null && this.#waiting.length < this.#claimSize / 2) this.#take()
  }

  /** Resolves when no delivery is being claimed or sent. */
  async settled(): Promise<void> {
    while (this.#taking !== null || this.#underWay.size > 0)
      await Promise.allSettled([this.#taking, ...this.#underWay.values()])
  }

  /** Stops: gives back the waiting deliveries, gives those in flight `patienceMs` to end, then aborts them. */
  async close(patienceMs: number): Promise<void> {
    this.#closed = true
    await this.#taking
    const released = this.#release(this.#waiting.splice(0))
    const cut = setTimeout(() => {
      this.#givenUp = true
      this.#line.giveUp()
    }, patienceMs)
    await Promise.allSettled(this.#underWay.values())
    clearTimeout(cut)
    this.#line.close()
    await released
  }

  #take(): void {
    this.#more = false
    const now = this.#deps.clock.now()
    const lasted = now - this.#takenAt
    if (this.#takenAt > 0 && lasted < CLAIM_QUICK_MS)
      this.#claimSize = Math.min(LIMITS.webhookClaimMax, this.#claimSize * 2)
    if (this.#takenAt > 0 && lasted > CLAIM_SLOW_MS)
      this.#claimSize = Math.max(CLAIM_MIN, Math.floor(this.#claimSize / 2))
    this.#takenAt = now
    const limit = this.#claimSize
    this.#taking = this.#claim(limit, null)
      .then((taken) => {
        if (taken.length === limit) this.#more = true
        this.#waiting.push(...taken)
      })
      .catch((error: unknown) => {
        // The next poll takes the deliveries again.
        this.#deps.onError(error, 'taking webhook deliveries')
      })
      .finally(() => {
        this.#taking = null
        this.pump()
      })
  }

  async #claim(limit: number, only: string | null): Promise<Waiting[]> {
    const { database, clock } = this.#deps
    const now = clock.now()
    this.busyAt = now
    const claimed = await claimDeliveries(database, this.id, { now, until: now + CLAIM_MS, limit, only })
    const newest = claimed[0]?.endpointVersion
    if (newest === undefined) return []
    if (this.#known === null || this.#known.version < newest) await this.#learn()
    const known = this.#known as Known | null
    if (known === null) {
      // The endpoint was disabled after the relay wrote the deliveries.
      await discardDeliveries(database, claimed, clock.now())
      return []
    }
    return await this.#prepare(known, claimed)
  }

  async #learn(): Promise<void> {
    const { database, secrets, sandbox } = this.#deps
    const settings = await readEndpointSettings(database, this.id)
    if (settings === null || settings.status === 'disabled') {
      this.#known = null
      return
    }
    const open = (sealed: Uint8Array): string => {
      const secret = secrets.open(sealed, secretContext(this.id))
      if (secret === null) throw new Error(`The secret of the endpoint ${this.id} was sealed under another key.`)
      return secret
    }
    const current = open(settings.secret)
    const previous = settings.previousSecret === null ? null : open(settings.previousSecret)
    const until = settings.previousSecretExpiresAt ?? 0
    this.#failing = settings.failing
    const failsBySandbox = sandbox && new URL(settings.url).pathname.endsWith(FAILING_PATH)
    this.#known = {
      ...settings,
      failsBySandbox,
      secretsOf: (now) => (previous !== null && now < until ? [current, previous] : [current]),
    }
  }

  async #prepare(known: Known, claimed: readonly ClaimedDelivery[]): Promise<Waiting[]> {
    const bodies = claimed.map(({ event, test }) =>
      JSON.stringify(envelope(event, { tenantId: known.tenantId, apiVersion: known.apiVersion, test })),
    )
    const plain = (delivery: ClaimedDelivery, index: number): Waiting => ({
      delivery,
      body: bodies[index] as string,
      signed: null,
    })
    if (claimed.length < LIMITS.webhookSignBatchMin) return claimed.map(plain)
    const now = this.#deps.clock.now()
    const seconds = Math.floor(now / 1_000)
    const secrets = known.secretsOf(now)
    const signatures = await this.#deps
      .signBatch({
        secrets,
        timestamp: seconds,
        callbacks: claimed.map(({ event }, index) => ({ eventId: event.id, body: bodies[index] as string })),
      })
      // The pool is busy or stopped: each delivery is signed when it is sent.
      .catch(() => null)
    if (signatures === null) return claimed.map(plain)
    return claimed.map((delivery, index) => ({
      delivery,
      body: bodies[index] as string,
      signed: { seconds, signatures: signatures[index] as Signatures },
    }))
  }

  #begin(next: Waiting): void {
    const { delivery } = next
    const { sockets, onError } = this.#deps
    this.#objects.add(delivery.event.objectId)
    const done = this.#attempt(next)
      .catch((error: unknown) => onError(error, `webhook delivery ${delivery.id}`))
      .finally(() => {
        this.#objects.delete(delivery.event.objectId)
        this.#underWay.delete(delivery.id)
        sockets.give()
        this.pump()
      })
    this.#underWay.set(delivery.id, done)
  }

  async #attempt({ delivery, body, signed }: Waiting): Promise<void> {
    const { clock, finish, chance } = this.#deps
    const startedAt = clock.now()
    const known = this.#known
    // The claim ends too soon, or the endpoint has changed: the delivery is claimed again.
    if (known === null || delivery.claimedUntil - startedAt < ATTEMPT_ROOM_MS) {
      this.#more = true
      return await this.#giveBack([delivery])
    }
    const { event } = delivery
    const seconds = signed?.seconds ?? Math.floor(startedAt / 1_000)
    const signatures =
      signed?.signatures ?? sign({ eventId: event.id, timestamp: seconds, body, secrets: known.secretsOf(startedAt) })
    const from = performance.now()
    const result = await this.#send(known, delivery, body, { seconds, signatures })
    if (this.#givenUp && result.responseStatus === null) return await this.#giveBack([delivery])
    const endedAt = clock.now()
    this.#failing = !result.succeeded
    this.busyAt = endedAt
    const next = result.succeeded
      ? null
      : nextAttemptAt({
          endedAt,
          attempts: delivery.windowAttempts + 1,
          windowEndsAt: delivery.windowEndsAt,
          retryAfterMs: result.retryAfterMs,
          chance: chance(),
        })
    const { responseStatus, errorKind, errorMessage, responseSnippet, resolvedAddress } = result
    const attempt: StoredAttempt = {
      startedAt: timestamp(startedAt),
      durationMs: Math.round(performance.now() - from),
      responseStatus,
      errorKind,
      errorMessage,
      responseSnippet,
      resolvedAddress,
      signedAt: seconds,
    }
    this.#unwritten += 1
    void finish({
      delivery,
      succeeded: result.succeeded,
      endedAt,
      nextAttemptAt: next,
      attempt: JSON.stringify(attempt),
    }).then(() => {
      this.#unwritten -= 1
      this.pump()
    })
  }

  async #send(
    known: Known,
    delivery: ClaimedDelivery,
    body: string,
    { seconds, signatures }: { readonly seconds: number; readonly signatures: Signatures },
  ): Promise<AttemptResult> {
    if (known.failsBySandbox) return SANDBOX_ANSWER
    const { event, test, windowAttempts } = delivery
    const headers = {
      ...callbackHeaders({ eventId: event.id, eventType: event.type, seconds, test }),
      'Service-Signature': signatures.service,
      'webhook-signature': signatures.standard,
    }
    return await this.#line.send({ url: known.url, headers, body, nth: windowAttempts })
  }

  async #release(waiting: readonly Waiting[]): Promise<void> {
    await this.#giveBack(waiting.map(({ delivery }) => delivery))
  }

  async #giveBack(deliveries: readonly ClaimedDelivery[]): Promise<void> {
    // Deliveries that could not be given back are free again when their claim ends.
    await releaseDeliveries(this.#deps.database, deliveries, this.#deps.clock.now()).catch((error: unknown) =>
      this.#deps.onError(error, 'giving webhook deliveries back'),
    )
  }
}

const SANDBOX_ANSWER: AttemptResult = {
  succeeded: false,
  responseStatus: 500,
  errorKind: 'http_status',
  errorMessage: `The sandbox answers for addresses that end with ${FAILING_PATH}.`,
  responseSnippet: null,
  resolvedAddress: null,
  retryAfterMs: null,
}

/**
 * Payments on their way to the bank, and the bank's answers on their way back.
 *
 * Promises:
 *  * The queue is the rows of partner_instruction, written with the payment and deleted with its outcome. Memory holds
 *    a bounded window of the rows. After a crash, the rows show which payments still have to be submitted.
 *  * The compliance gate screens each payment before its hand-over entry (L10). A payment with a hit leaves the queue
 *    and is under review.
 *  * The hand-over entry (L10) is committed before the bank is called (I1). A submission that times out is not
 *    repeated: the payment becomes `exception`, and the queue asks the bank for its status (I7).
 *  * A payment of a balance that staff have frozen keeps its row and its hold, and nothing leaves the balance: the queue
 *    passes it over, and the commit refuses what was decided before the freeze. The end of the freeze wakes the queue.
 *  * A payment whose connection takes none leaves through another one, and waits where there is none. After an unknown
 *    outcome it never does.
 *  * A payment on the rail `internal` is booked instead of handed over: one commit debits the payer and credits the
 *    payee, and no bank is called.
 *  * For a payment that was handed over by a process that died, the queue first asks the bank for its status. The
 *    payment is submitted, under the same reference, only when the bank answers that it never arrived. When the bank
 *    gives no status, the payment is treated as if the submission had timed out.
 */
import { type Clock, timestamp } from '../../lib/base/clock.ts'
import type { Screener, ScreeningHit } from '../../lib/compliance/screening.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import type { PaymentState } from '../../lib/payments/payment-state.ts'
import { ON_PLATFORM_RAIL } from '../../lib/rails/rails.ts'
import type { QueuePlace } from '../../lib/payments/payment.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { OutcomeUnknown } from '../../storage/db/connection.ts'
import type { Database } from '../../storage/db/database.ts'
import type { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import { internalPayees } from '../../storage/payments/internal-payees.ts'
import { countUnsentPayments, unsentPayments, type QueuedPayment } from '../../storage/payments/partner-instructions.ts'
import type { BankInbox, BankPartner } from '../providers/bank.ts'
import type { Detours } from '../providers/routing/detours.ts'
import { takeMessages } from './bank-messages.ts'
import { PartnerLanes } from '../providers/partner-lanes.ts'
import { ComplianceGate } from './payment-compliance.ts'
import { BatchGathering } from '../runtime/batch-gathering.ts'
import type { ActorSystem } from '../runtime/system.ts'
import { Throughput } from '../runtime/throughput.ts'
import type { Wakes } from '../runtime/wakes.ts'
import { QueueUpkeep } from './queue-upkeep.ts'
import { PartnerOrders } from './partner-orders.ts'
import { PaymentMover, type PaymentContext } from './payment-mover.ts'

/** Batches handed over at the same time: while one is at the bank, the next one commits. */
const BATCHES_MAX = 2
/**
 * A hand-over costs two reads, a commit and a call of the bank however few payments it has. So after one of BACKLOG_MIN
 * payments and more the next one begins GATHER_MS later, or when it is full; without a backlog it begins at once.
 */
const GATHER_MS = 20
const BACKLOG_MIN = 4
/** Pause of the queue after a failure of the database or the bank. */
const PAUSE_MS = 500
/** Lowest rate, in payments a second, also used before the first measurement: a bank takes at least this many. */
const RATE_MIN = 50
/** The rate is measured over this time. */
const RATE_WINDOW_MS = 5_000

export interface PaymentQueueOptions {
  readonly wakes: Wakes
  readonly system: ActorSystem
  readonly database: Database
  readonly accounts: InternalAccountCache
  readonly bank: BankPartner
  /** Screens every payment before it is handed over. */
  readonly screener: Screener
  readonly ids: IdSource
  readonly clock: Clock
  /** Only the node that owns a shard works on the rows of that shard. */
  readonly shards: Shards
  /**
   * Tells the owner of a shard that a payment waits there, when a request on this node queued a payment of that shard.
   */
  readonly elsewhere?: (shard: number) => void
  /** Finds other connections for payments that theirs do not take; absent: payments wait for their own. */
  readonly detours?: Detours
  readonly onError: (error: unknown, what: string) => void
}

const NOTHING_STUCK: ReadonlySet<string> = new Set()
const NO_HITS: ReadonlyMap<string, ScreeningHit> = new Map()

export class PaymentQueue {
  readonly #options: PaymentQueueOptions
  readonly #gate: ComplianceGate
  readonly #mover: PaymentMover
  readonly #orders: PartnerOrders
  #waiting: QueuedPayment[] = []
  /** True when there may be rows that memory does not hold: the window was full, or nothing has been read yet. */
  #more = true
  #batches = 0
  readonly #gathering = new BatchGathering({
    gatherMs: GATHER_MS,
    backlogMin: BACKLOG_MIN,
    batchMax: LIMITS.partnerBatchMax,
    onDue: () => this.#pump(),
  })
  #running = false
  #pausedUntil = 0
  readonly #upkeep: QueueUpkeep
  #work = new Set<Promise<void>>()
  /** Ids of the payments that this process is handing over: a refill must not take them twice. */
  readonly #moving = new Set<string>()
  #backlog = 0
  readonly #rate: Throughput
  /** Connections, each with a currency and a rail, whose payments no connection takes at present. */
  #stuck = new Set<string>()
  readonly #lanes: PartnerLanes

  constructor(options: PaymentQueueOptions) {
    this.#options = options
    this.#rate = new Throughput({ clock: options.clock, min: RATE_MIN, windowMs: RATE_WINDOW_MS })
    this.#gate = new ComplianceGate(options)
    this.#mover = new PaymentMover(options)
    options.detours?.onChange(() => {
      this.#stuck = new Set()
      if (this.#running) this.look()
    })
    this.#lanes = new PartnerLanes({
      bank: options.bank,
      background: (work) => this.#background(work),
      onRoom: () => this.look(),
    })
    this.#orders = new PartnerOrders({
      ...options,
      mover: this.#mover,
      isMoving: (id) => this.#moving.has(id) || this.#lanes.has(id),
      isRunning: () => this.#running,
    })
    this.#upkeep = new QueueUpkeep({
      ...options,
      tick: () => this.#tick(),
      look: () => this.look(),
      recover: (sentBefore) => this.#orders.recover(sentBefore),
      isBusy: () => this.#more || this.#waiting.length > 0 || this.#orders.isDoubtful,
      onError: (error) => options.onError(error, 'payment queue'),
    })
  }

  /** Number of payments that wait for the bank, as far as this node knows. */
  get backlog(): number {
    return this.#backlog
  }

  /**
   * Starts the queue with the payments left over from before; new payments follow.
   *
   * @throws what the driver throws
   */
  async start(): Promise<void> {
    const { database, shards } = this.#options
    this.#backlog = await countUnsentPayments(database, shards.owned())
    this.#running = true
    shards.onChange((change) => this.#moved(change))
    this.#background(this.#orders.recover(this.#options.clock.now()))
    this.#upkeep.start()
    this.#pump()
  }

  /** Stops taking payments, and waits until the work already begun is finished. */
  async stop(): Promise<void> {
    this.#running = false
    this.#gathering.end()
    await this.#upkeep.stop()
    await this.#idle()
  }

  /** Does what the timers do, once; resolves when all work that has begun is finished. */
  async runOnce(): Promise<void> {
    await this.#idle()
    this.#gathering.end()
    this.#tick()
    this.look()
    await this.#idle()
  }

  #tick(): void {
    this.#background(this.#orders.askAboutUnknown())
    this.#background(this.#orders.askAboutDoubtful())
    this.#pump()
  }

  async #idle(): Promise<void> {
    while (this.#work.size > 0) await Promise.allSettled(this.#work)
  }

  /** Returns the position that a payment made now would have in the queue, with an estimate of its waiting time. */
  place(now: number): QueuePlace {
    const position = this.#backlog + 1
    const etaSeconds = Math.ceil(position / this.#rate.perSecond)
    return { position, etaSeconds, estimatedAt: timestamp(now + etaSeconds * 1_000) }
  }

  /** Rate at which payments leave the queue, in payments a second; at least `RATE_MIN`. */
  get rate(): number {
    return this.#rate.perSecond
  }

  /** Reads the rows for payments that were never offered to this queue. */
  look(): void {
    this.#more = true
    this.#pump()
  }

  /**
   * Adds a committed payment to the queue. When another node owns its shard, that node is told through `elsewhere`, and
   * finds the row there.
   */
  offer(id: string, shard: number): void {
    if (!this.#options.shards.owns(shard)) {
      this.#options.elsewhere?.(shard)
      return
    }
    this.#backlog += 1
    if (!this.#running) return
    if (this.#waiting.length < LIMITS.dispatchQueueMax) this.#waiting.push({ id, shard })
    else this.#more = true
    this.#pump()
  }

  /** Processes the bank's messages; resolves with the ids of the messages that the bank need not send again. */
  readonly inbox: BankInbox = async (messages) => await takeMessages({ ...this.#options, mover: this.#mover }, messages)

  /**
   * Reads the rows of gained shards, and drops the payments of lost shards from memory: their new owner reads the rows.
   */
  #moved({ gained, lost }: { readonly gained: readonly number[]; readonly lost: readonly number[] }): void {
    if (lost.length > 0) {
      const gone = new Set(lost)
      this.#waiting = this.#waiting.filter(({ shard }) => !gone.has(shard))
    }
    if (gained.length > 0 && this.#running) {
      this.#more = true
      this.#background(this.#orders.recover(this.#options.clock.now()))
      this.#pump()
    }
  }

  #background(work: Promise<void>): void {
    const guarded = work
      .catch((error: unknown) => this.#options.onError(error, 'payment queue'))
      .finally(() => this.#work.delete(guarded))
    this.#work.add(guarded)
  }

  #pump(): void {
    if (!this.#running || this.#options.clock.now() < this.#pausedUntil) return
    while (
      this.#batches < BATCHES_MAX &&
      (this.#waiting.length > 0 || this.#more) &&
      !this.#gathering.holds(this.#waiting.length)
    ) {
      this.#batches += 1
      this.#background(
        this.#batch().finally(() => {
          this.#batches -= 1
          this.#pump()
        }),
      )
      // While one batch has to read the rows first, no second batch starts: it would read the same rows.
      if (this.#waiting.length === 0) break
    }
  }

  async #batch(): Promise<void> {
    if (this.#waiting.length === 0) await this.#refill()
    const batch = this.#waiting.splice(0, LIMITS.partnerBatchMax)
    if (batch.length === 0) return
    this.#background(this.#gathering.begin(batch.length))
    for (const { id } of batch) this.#moving.add(id)
    try {
      await this.#handOver(batch)
    } catch (error) {
      this.#pausedUntil = this.#options.clock.now() + PAUSE_MS
      this.#more = true
      this.#upkeep.wake()
      throw error
    } finally {
      for (const { id } of batch) this.#moving.delete(id)
    }
  }

  async #refill(): Promise<void> {
    if (!this.#more) return
    this.#more = false
    const { database, shards, clock } = this.#options
    const unsent = await unsentPayments(database, {
      now: clock.now(),
      owned: shards.owned(),
      max: LIMITS.dispatchQueueMax,
      except: [...this.#stuck, ...this.#lanes.crowded],
    })
    this.#more ||= unsent.length === LIMITS.dispatchQueueMax
    const known = new Set(this.#waiting.map(({ id }) => id))
    this.#waiting.unshift(...unsent.filter(({ id }) => !this.#moving.has(id) && !known.has(id)))
    if (!this.#more) this.#backlog = this.#waiting.length + this.#moving.size
  }

  /**
   * Puts payments with a screening hit on hold; hands over all others and then submits them to the bank.
   */
  async #handOver(batch: readonly QueuedPayment[]): Promise<void> {
    const [contexts, outgoing] = await Promise.all([
      this.#mover.handOverContextsOf(batch.map(({ id }) => id)),
      this.#gate.hits(batch),
    ])
    const stuck = await this.#detour(
      batch.filter(({ id }) => !outgoing.has(id)),
      contexts,
    )
    const payees = await internalPayees(
      this.#options.database,
      this.#options.accounts,
      [...contexts].filter(([, { rail }]) => rail === ON_PLATFORM_RAIL).map(([id]) => id),
    )
    // The payer of an internal payment is screened for the payee, like the payer of any incoming payment, before the
    // move.
    const incoming =
      payees.size === 0
        ? NO_HITS
        : await this.#gate.screen(
            [...payees].map(([id, { payer }]) => ({ id, amount: 0n, reference: '', recipientName: payer.name })),
          )
    const settled = await Promise.allSettled(
      batch.map(({ id, shard }) => {
        const context = contexts.get(id)
        const hit = outgoing.get(id) ?? incoming.get(id)
        if (context === undefined) return Promise.resolve(null)
        if (hit !== undefined) return this.#mover.ask(id, shard, { kind: 'hold', hit })
        // Its row stays, and is read again when the balance pays again, or when a connection takes the payment.
        if (context.isStopped || stuck.has(id) || this.#lanes.passesOver(context)) return Promise.resolve(null)
        const payee = payees.get(id)
        return this.#mover.ask(
          id,
          shard,
          payee === undefined ? { kind: 'hand_over', context } : { kind: 'book', payee, context },
        )
      }),
    )
    const handedOver: PaymentState[] = []
    let failure: unknown
    settled.forEach((result, nth) => {
      if (result.status === 'rejected') {
        failure ??= result.reason
        if (result.reason instanceof OutcomeUnknown) this.#orders.doubt(batch[nth] as QueuedPayment)
      } else {
        this.#backlog = Math.max(0, this.#backlog - 1)
        const outcome = result.value
        // A balance has moved to another connection since it was read: the row is read again.
        if (outcome?.kind === 'fact_stale') this.#more = true
        if (
          outcome?.kind === 'decided' &&
          outcome.reply.kind === 'moved' &&
          outcome.reply.state.sent &&
          outcome.reply.state.status === 'processing'
        )
          handedOver.push(outcome.reply.state)
      }
    })
    this.#rate.count(handedOver.length)
    if (handedOver.length > 0) await this.#lanes.submit(handedOver, (of) => this.#orders.submit(of, contexts))
    if (failure !== undefined) throw failure
  }

  /**
   * Moves payments of connections that take none to others, with their contexts. Returns those that no connection takes
   * now: their rows are passed over until a connection has changed.
   */
  async #detour(batch: readonly QueuedPayment[], contexts: Map<string, PaymentContext>): Promise<ReadonlySet<string>> {
    const { detours } = this.#options
    // A change replaces the set, so what was decided before the change is passed over at most once.
    const passedOver = this.#stuck
    const closed = batch.filter(({ id }) => {
      const context = contexts.get(id)
      return context !== undefined && !context.isStopped && detours?.isClosed(context.connectionId) === true
    })
    if (detours === undefined || closed.length === 0) return NOTHING_STUCK
    const ways = await detours.beforeHandOver(
      closed.map(({ id }) => id).filter((id) => contexts.get(id)?.rail !== ON_PLATFORM_RAIL),
    )
    const stuck = new Set<string>()
    await Promise.all(
      closed.map(async ({ id, shard }) => {
        const way = ways.get(id)
        const context = contexts.get(id) as PaymentContext
        if (way?.kind === 'detour') await this.#mover.ask(id, shard, { kind: 'reroute', to: way.to, context })
        if (way?.kind !== 'wait') return
        stuck.add(id)
        passedOver.add(`${context.connectionId} ${context.currency} ${context.rail}`)
      }),
    )
    for (const [id, context] of await this.#mover.handOverContextsOf(closed.map(({ id }) => id)))
      contexts.set(id, context)
    if (passedOver !== this.#stuck) this.#more = true
    return stuck
  }
}

/**
 * The sandbox's market and its dealer: base rates that somebody may shift, and a book of its own (table sandbox_fx_order), so that
 * what it has taken survives any of our deaths, and a repeated reference is the same order.
 *
 * What happens to an order is planned when it is taken, from the amount sold (lib/sandbox/exchanges.ts). `next_event` is what it
 * says next and `due_at` when; of an order that it did not answer to it says nothing, and knows the outcome then if it is asked.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { marketRate, type RateShift } from '../../lib/exchange/market.ts'
import { boughtFor, soldFor, type Fraction } from '../../lib/exchange/rate.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { planExchange } from '../../lib/sandbox/exchanges.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import type { Database } from '../../storage/db/database.ts'
import { through, type Queries, type TransactionClient } from '../../storage/db/transaction.ts'
import { acknowledgeSandboxFxOrders, dueSandboxFxOrders, insertSandboxFxOrders, replanSandboxFxOrder, sandboxFxOrderStates } from '../../storage/sandbox/sandbox-fx-orders.ts'
import { readRateShifts, writeRateShift } from '../../storage/exchange/rate-shifts.ts'
import { Poller } from '../runtime/poller.ts'
import type { FxInbox, FxMessage, FxOrder, FxPartner, FxStatus, FxSubmission } from '../providers/fx.ts'
import { messageId } from './sandbox-bank.ts'

/** How often orders that are due are looked for: a fiftieth of the time that one takes. */
const TICK_MS = 100
/** An order whose message was not acknowledged is reported again after this. */
const RESEND_MS = 5_000

export interface SandboxFxOptions {
  readonly database: Database
  readonly clock: Clock
  /** The orders of a shard are reported where it is at home. */
  readonly shards: Shards
  readonly onError: (error: unknown, what: string) => void
}

/** What somebody makes it say of an order in place of what was planned. */
export interface FxSimulation {
  readonly event: FxMessage['type']
  readonly reason: string | null
  readonly delayMs: number
}

export class SandboxFx implements FxPartner {
  readonly #options: SandboxFxOptions
  readonly #poller: Poller
  /** What is shifted, by connection. */
  #shifts: ReadonlyMap<string, readonly RateShift[]> = new Map()
  #inbox: FxInbox | undefined
  /** Reported and not acknowledged yet, and since when. */
  readonly #sent = new Map<string, number>()

  constructor(options: SandboxFxOptions) {
    this.#options = options
    this.#poller = new Poller({ everyMs: TICK_MS, poll: () => this.#report(), onError: (error) => options.onError(error, 'sandbox exchanges') })
  }

  /** Begins to report. */
  start(inbox: FxInbox): void {
    this.#inbox = inbox
    this.#poller.start()
  }

  async stop(): Promise<void> {
    await this.#poller.stop()
  }

  /** Reads what is shifted. @throws what the driver throws */
  async readShifts(): Promise<void> {
    this.#shifts = await readRateShifts(this.#options.database)
  }

  /**
   * Shifts the rate of a pair from its base rate, within a transaction. Nodes use the new rate once they have read it after the commit.
   *
   * @returns the middle rate that this makes; null for a pair that is not quoted
   */
  async shift(client: TransactionClient, connectionId: string, shift: RateShift): Promise<Fraction | null> {
    const queries = through(client)
    await writeRateShift(queries, connectionId, shift)
    const shifts = (await readRateShifts(queries)).get(connectionId) ?? []
    return marketRate(shift.sellCurrency as CurrencyCode, shift.buyCurrency as CurrencyCode, shifts, this.#options.clock.now())
  }

  mid(connectionId: string, sell: CurrencyCode, buy: CurrencyCode): Fraction | null {
    return marketRate(sell, buy, this.#shifts.get(connectionId) ?? [], this.#options.clock.now())
  }

  async submit(orders: readonly FxOrder[]): Promise<ReadonlyMap<string, FxSubmission>> {
    const { database, clock } = this.#options
    const now = clock.now()
    const planned = orders.map((order) => ({ order, plan: planExchange(order.sellAmount), ...fill(order) }))
    await insertSandboxFxOrders(database, planned.map(({ order, plan, sold, bought }) => ({
      reference: order.reference, shard: order.shard, sellCurrency: order.sellCurrency, buyCurrency: order.buyCurrency, sold, bought,
      state: plan.submit === 'timeout' ? 'unanswered' : 'accepted', nextEvent: plan.outcome?.event ?? null, reason: plan.outcome?.reason ?? null,
      dueAt: plan.outcome === null ? null : now + plan.outcome.afterMs, connectionId: order.connectionId,
    })), now)
    return new Map(planned.map(({ order, plan }) => [order.reference, plan.submit]))
  }

  async status(references: readonly string[]): Promise<ReadonlyMap<string, FxStatus>> {
    const { database, clock } = this.#options
    const orders = await sandboxFxOrderStates(database, references, clock.now())
    const statuses = new Map<string, FxStatus>(references.map((reference) => [reference, { kind: 'unknown' }]))
    for (const { reference, state, nextEvent, reason, sold, bought, isDue } of orders) {
      const known = state === 'unanswered' ? (isDue ? nextEvent : null) : state
      if (known === 'settled') statuses.set(reference, { kind: 'settled', sold, bought })
      else if (known === 'refused') statuses.set(reference, { kind: 'refused', reason: reason ?? 'FX00' })
      else if (known === 'accepted') statuses.set(reference, { kind: 'pending' })
      // Of what it did not answer to, or is not clear about, it says nothing.
      else statuses.delete(reference)
    }
    return statuses
  }

  /** Replaces what is still to be said of an order. Returns the id of the message that will say it; null where there is no such order. */
  async simulate(queries: Queries, reference: string, { event, reason, delayMs }: FxSimulation): Promise<string | null> {
    // The number changes with the plan: a message of the old plan that is on its way is not taken for one of the new plan.
    const eventNumber = await replanSandboxFxOrder(queries, reference, { event, reason, dueAt: this.#options.clock.now() + delayMs })
    return eventNumber === null ? null : messageId(reference, eventNumber)
  }

  /** Reports what is due until nothing more is. */
  async #report(): Promise<void> {
    const { database, clock, shards } = this.#options
    for (;;) {
      const now = clock.now()
      for (const [reference, at] of this.#sent) if (at <= now - RESEND_MS) this.#sent.delete(reference)
      const orders = await dueSandboxFxOrders(database, { now, max: LIMITS.partnerEventsMax + this.#sent.size, owned: shards.owned() })
      const due = orders.filter(({ reference }) => !this.#sent.has(reference)).map(({ reference, shard, event, reason, sold, bought, eventNumber }) => ({
        eventNumber, message: { id: messageId(reference, eventNumber), type: event, reference, shard, reason, ...(event === 'settled' ? { sold, bought } : { sold: null, bought: null }) } satisfies FxMessage,
      }))
      if (due.length === 0 || this.#inbox === undefined) return
      for (const { message } of due) this.#sent.set(message.reference, now)
      const acknowledged = new Set(await this.#inbox(due.map(({ message }) => message)))
      const heard = due.filter(({ message }) => acknowledged.has(message.id))
      // By number: the message of an order that was planned anew is still to be sent.
      await acknowledgeSandboxFxOrders(database, heard.map(({ message, eventNumber }) => ({ reference: message.reference, eventNumber })))
      for (const { message } of heard) this.#sent.delete(message.reference)
      if (heard.length < due.length) return
    }
  }
}

/** The side that is fixed stays; the other follows from the rate that was promised. */
function fill({ fixedSide, sellAmount, buyAmount, rate, ...pair }: FxOrder): { readonly sold: bigint; readonly bought: bigint } {
  return fixedSide === 'sell' ? { sold: sellAmount, bought: boughtFor(pair, sellAmount, rate) } : { sold: soldFor(pair, buyAmount, rate), bought: buyAmount }
}

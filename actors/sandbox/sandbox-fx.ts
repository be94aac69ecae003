/**
 * The sandbox's market and its dealer: base rates that a simulation may shift, and a book of its own (table
 * sandbox_fx_order), so that accepted orders survive a crash of the service, and a repeated reference is the same
 * order.
 *
 * The outcome of an order is planned when it is accepted, from the amount sold (lib/sandbox/exchanges.ts). `next_event`
 * is the next message and `due_at` its time. For an order whose submission timed out the dealer sends no message; from
 * `due_at` on it gives the outcome as the status.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { marketRate, midRate, sandboxRates, type MarketRates, type RateShift } from '../../lib/exchange/market.ts'
import { boughtFor, soldFor, type Fraction } from '../../lib/exchange/rate.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { planExchange } from '../../lib/sandbox/exchanges.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import type { Database } from '../../storage/db/database.ts'
import { through, type Queries, type TransactionClient } from '../../storage/db/transaction.ts'
import {
  acknowledgeSandboxFxOrders,
  dueSandboxFxOrders,
  insertSandboxFxOrders,
  replanSandboxFxOrder,
  sandboxFxOrderStates,
} from '../../storage/sandbox/sandbox-fx-orders.ts'
import { readRateShifts, writeRateShift } from '../../storage/exchange/rate-shifts.ts'
import { Poller } from '../runtime/poller.ts'
import { untilDue } from '../runtime/rest.ts'
import type { Wakes } from '../runtime/wakes.ts'
import type { FxInbox, FxMessage, FxOrder, FxPartner, FxStatus, FxSubmission } from '../providers/fx.ts'
import { messageId } from './sandbox-order-plan.ts'

/** Time between two polls for due orders: a fiftieth of the time that an order takes. */
const TICK_MS = 100
/** A message that was not acknowledged is sent again after this time. */
const RESEND_MS = 5_000

export interface SandboxFxOptions {
  readonly wakes: Wakes
  readonly database: Database
  readonly clock: Clock
  /** Only the node that owns a shard sends the messages about its orders. */
  readonly shards: Shards
  readonly onError: (error: unknown, what: string) => void
}

/** A simulated message about an order, which replaces the planned one. */
export interface FxSimulation {
  readonly event: FxMessage['type']
  readonly reason: string | null
  readonly delayMs: number
}

export class SandboxFx implements FxPartner {
  readonly #options: SandboxFxOptions
  readonly #poller: Poller
  /** Shifts of rates, by connection. */
  #rates: MarketRates = sandboxRates(new Map())
  #inbox: FxInbox | undefined
  /** Times at which messages were sent that are not acknowledged yet, by reference. */
  readonly #sent = new Map<string, number>()

  constructor(options: SandboxFxOptions) {
    this.#options = options
    this.#poller = new Poller({
      everyMs: TICK_MS,
      poll: () => this.#report(),
      rest: untilDue(options, ['sandbox_fx_order']),
      onError: (error) => options.onError(error, 'sandbox exchanges'),
    })
  }

  /** Starts sending due messages. */
  start(inbox: FxInbox): void {
    this.#inbox = inbox
    this.#poller.start()
  }

  async stop(): Promise<void> {
    await this.#poller.stop()
  }

  /**
   * Reads the shifts of rates into memory.
   *
   * @throws what the driver throws
   */
  async readShifts(): Promise<void> {
    this.#rates = sandboxRates(await readRateShifts(this.#options.database))
  }

  /**
   * Shifts the rate of a pair from its base rate, within a transaction. Nodes use the new rate once they have read it
   * after the commit.
   *
   * @returns the middle rate that this makes; null for a pair that is not quoted
   */
  async shift(client: TransactionClient, connectionId: string, shift: RateShift): Promise<Fraction | null> {
    const queries = through(client)
    await writeRateShift(queries, connectionId, shift)
    const shifts = (await readRateShifts(queries)).get(connectionId) ?? []
    return marketRate(
      shift.sellCurrency as CurrencyCode,
      shift.buyCurrency as CurrencyCode,
      shifts,
      this.#options.clock.now(),
    )
  }

  /** Returns the mid-market rate of a pair at a connection; null for a pair that is not quoted. */
  mid(connectionId: string, sell: CurrencyCode, buy: CurrencyCode): Fraction | null {
    return midRate(this.#rates, { connectionId, sell, buy }, this.#options.clock.now())
  }

  /** Returns the rates of all connections. */
  rates(): MarketRates {
    return this.#rates
  }

  async submit(orders: readonly FxOrder[]): Promise<ReadonlyMap<string, FxSubmission>> {
    const { database, clock } = this.#options
    const now = clock.now()
    const planned = orders.map((order) => ({ order, plan: planExchange(order.sellAmount), ...fill(order) }))
    await insertSandboxFxOrders(
      database,
      planned.map(({ order, plan, sold, bought }) => ({
        reference: order.reference,
        shard: order.shard,
        sellCurrency: order.sellCurrency,
        buyCurrency: order.buyCurrency,
        sold,
        bought,
        state: plan.submit === 'timeout' ? 'unanswered' : 'accepted',
        nextEvent: plan.outcome?.event ?? null,
        reason: plan.outcome?.reason ?? null,
        dueAt: plan.outcome === null ? null : now + plan.outcome.afterMs,
        connectionId: order.connectionId,
      })),
      now,
    )
    // The trigger of the table tells only of orders whose message is hastened.
    this.#poller.wake()
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
      // The dealer gives no status of an order whose submission timed out and whose outcome is not due yet.
      else statuses.delete(reference)
    }
    return statuses
  }

  /**
   * Replaces the planned message about an order with a simulated one.
   *
   * @returns the id of the simulated message; null where there is no such order
   */
  async simulate(
    queries: Queries,
    reference: string,
    { event, reason, delayMs }: FxSimulation,
  ): Promise<string | null> {
    // The event number changes with the plan, so a message of the old plan under way is not taken for one of the new
    // plan.
    const eventNumber = await replanSandboxFxOrder(queries, reference, {
      event,
      reason,
      dueAt: this.#options.clock.now() + delayMs,
    })
    return eventNumber === null ? null : messageId(reference, eventNumber)
  }

  /** Sends due messages until none is left, or until a batch was not fully acknowledged. */
  async #report(): Promise<void> {
    const { database, clock, shards } = this.#options
    for (;;) {
      const now = clock.now()
      for (const [reference, at] of this.#sent) if (at <= now - RESEND_MS) this.#sent.delete(reference)
      const orders = await dueSandboxFxOrders(database, {
        now,
        max: LIMITS.partnerEventsMax + this.#sent.size,
        owned: shards.owned(),
      })
      const due = orders
        .filter(({ reference }) => !this.#sent.has(reference))
        .map(({ reference, shard, event, reason, sold, bought, eventNumber }) => ({
          eventNumber,
          message: {
            id: messageId(reference, eventNumber),
            type: event,
            reference,
            shard,
            reason,
            ...(event === 'settled' ? { sold, bought } : { sold: null, bought: null }),
          } satisfies FxMessage,
        }))
      if (due.length === 0 || this.#inbox === undefined) return
      for (const { message } of due) this.#sent.set(message.reference, now)
      const acknowledged = new Set(await this.#inbox(due.map(({ message }) => message)))
      const heard = due.filter(({ message }) => acknowledged.has(message.id))
      // Acknowledged by event number: an order that was planned anew still has its new message to send.
      await acknowledgeSandboxFxOrders(
        database,
        heard.map(({ message, eventNumber }) => ({ reference: message.reference, eventNumber })),
      )
      for (const { message } of heard) this.#sent.delete(message.reference)
      if (heard.length < due.length) return
    }
  }
}

/** Returns the amounts of an order: the fixed side as it is, the other side converted at the promised rate. */
function fill({ fixedSide, sellAmount, buyAmount, rate, ...pair }: FxOrder): {
  readonly sold: bigint
  readonly bought: bigint
} {
  return fixedSide === 'sell'
    ? { sold: sellAmount, bought: boughtFor(pair, sellAmount, rate) }
    : { sold: soldFor(pair, buyAmount, rate), bought: buyAmount }
}

/**
 * The sandbox bank: a deterministic partner with a book of its own (table sandbox_order), so that accepted orders
 * survive a crash of the service, and a repeated reference is the same order.
 *
 * The messages about an order are planned when it is accepted, from its amount and the tokens in its texts
 * (lib/sandbox/triggers.ts); a simulation replaces the messages still to come. `next_event` is the next message, and
 * `due_at` is when the bank sends it or, for an order whose submission timed out, from when on the bank gives the
 * outcome as the status. Where several messages are to come, or money comes back, `steps` is the text of all of them,
 * the next one first.
 *
 * An order whose creditor has an account at this bank is a credit of that account as soon as it has settled.
 *
 * Messages are sent in batches, and again until they are acknowledged. Reading due orders one by one would cost more
 * than booking the payments they belong to.
 */
import type { Clock } from '../../lib/base/clock.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import type { PayeeAnswer, PayeeQuestion } from '../../lib/recipients/verification.ts'
import { sandboxPayee } from '../../lib/sandbox/payees.ts'
import { decodeSteps, type BankEvent, type PlanStep } from '../../lib/sandbox/plan-steps.ts'
import { planRecall } from '../../lib/sandbox/triggers.ts'
import type { Database } from '../../storage/db/database.ts'
import {
  advanceSandboxOrder,
  dueSandboxOrders,
  endSandboxPlans,
  findSandboxOrder,
  insertSandboxOrders,
  replanSandboxOrder,
  sandboxOrderStates,
} from '../../storage/sandbox/sandbox-orders.ts'
import type { Queries } from '../../storage/db/transaction.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { Poller } from '../runtime/poller.ts'
import { untilDue } from '../runtime/rest.ts'
import type { Wakes } from '../runtime/wakes.ts'
import type {
  BankInbox,
  BankPartner,
  OrderStatus,
  PaymentOrder,
  RecallPartner,
  BankRecallRequest,
  Submission,
} from '../providers/bank.ts'
import { bookReturns, creditArrivals, type Due } from './sandbox-order-bookings.ts'
import {
  inOrder,
  isRecallAnswer,
  messageId,
  planOrder,
  RECALLED_CODE,
  statusOf,
  stepsText,
  type PlannedOrder,
} from './sandbox-order-plan.ts'

/**
 * Time between two polls for due orders: a twentieth of the 2 s that instant rails take, so the delay is not noticed.
 */
const TICK_MS = 100
/** A message that was not acknowledged is sent again after this time. */
const RESEND_MS = 5_000
/** Attempts to replace the plan of an order that moves on at the same time. */
const ATTEMPTS_MAX = 8

export interface SandboxBankOptions {
  readonly wakes: Wakes
  readonly database: Database
  readonly clock: Clock
  /** Only the node that owns a shard sends the messages about its orders. */
  readonly shards: Shards
  readonly onError: (error: unknown, what: string) => void
}

/** A simulated event of an order, which replaces the planned ones. */
export interface BankSimulation {
  readonly event: BankEvent
  readonly schemeCode: string | null
  /** Amount that comes back, in minor units; null unless the event is `returned`. */
  readonly amount: bigint | null
  readonly delayMs: number
}

/** An order whose plan is to be replaced. Times are epoch milliseconds. */
interface Order {
  readonly amount: bigint
  readonly receivedAt: number
  readonly eventNumber: number
  /** Whether the last message was sent and acknowledged; `steps` then still holds that one step. */
  readonly isAcknowledged: boolean
  readonly steps: readonly PlanStep[]
}

export class SandboxBank implements BankPartner, RecallPartner {
  readonly #options: SandboxBankOptions
  #inbox: BankInbox | undefined
  readonly #poller: Poller
  /**
   * Times at which messages were sent that are not acknowledged yet, by reference: bounded by one batch and the resend
   * time.
   */
  readonly #sent = new Map<string, number>()

  constructor(options: SandboxBankOptions) {
    this.#options = options
    this.#poller = new Poller({
      everyMs: TICK_MS,
      poll: () => this.#report(),
      rest: untilDue(options, ['sandbox_order']),
      onError: (error) => options.onError(error, 'sandbox bank'),
    })
  }

  /** Starts sending messages. */
  start(inbox: BankInbox): void {
    this.#inbox = inbox
    this.#poller.start()
  }

  /** Sends the messages that are due now; resolves when they are processed. */
  async runOnce(): Promise<void> {
    await this.#poller.runOnce()
  }

  /** Stops sending, and waits until the messages under way are finished. */
  async stop(): Promise<void> {
    await this.#poller.stop()
  }

  async submit(orders: readonly PaymentOrder[]): Promise<ReadonlyMap<string, Submission>> {
    const now = this.#options.clock.now()
    const submissions = new Map<string, Submission>()
    const booked: { order: PaymentOrder; planned: PlannedOrder }[] = []
    for (const order of orders) {
      const planned = planOrder(order)
      submissions.set(order.reference, planned.submission)
      if (planned.submission.kind !== 'refused') booked.push({ order, planned })
    }
    if (booked.length > 0) {
      await insertSandboxOrders(
        this.#options.database,
        booked.map(({ order, planned: { state, steps } }) => ({
          reference: order.reference,
          shard: order.shard,
          currency: order.currency,
          amount: order.amount,
          state,
          nextEvent: steps[0]?.event ?? null,
          schemeCode: steps[0]?.schemeCode ?? null,
          dueAt: steps[0] === undefined ? null : now + steps[0].afterMs,
          steps: stepsText(steps),
          connectionId: order.connectionId,
          creditedBalanceId: order.creditorAccount ?? null,
        })),
        now,
      )
      // The trigger of the table tells only of orders whose message is hastened.
      this.#poller.wake()
    }
    return submissions
  }

  async status(references: readonly string[]): Promise<ReadonlyMap<string, OrderStatus>> {
    const { database, clock } = this.#options
    const orders = await sandboxOrderStates(database, references, clock.now())
    const statuses = new Map<string, OrderStatus>(references.map((reference) => [reference, { kind: 'unknown' }]))
    for (const order of orders) {
      const status = statusOf(order)
      if (status === null) statuses.delete(order.reference)
      else statuses.set(order.reference, status)
    }
    return statuses
  }

  /** Answers by the tokens in the name, and by the number of the account. */
  async verifyPayee(question: PayeeQuestion): Promise<PayeeAnswer> {
    return sandboxPayee(question)
  }

  async recall(requests: readonly BankRecallRequest[]): Promise<void> {
    for (const { reference } of requests) {
      await this.#replan(this.#options.database, reference, ({ amount, steps, isAcknowledged }, nowMs) => {
        if (steps.some(isRecallAnswer)) return null
        const { afterMs, outcome, schemeCode } = planRecall(amount)
        const answer: PlanStep =
          outcome === 'accepted'
            ? { afterMs: nowMs + afterMs, event: 'returned', schemeCode: RECALLED_CODE, amountMinor: amount }
            : { afterMs: nowMs + afterMs, event: 'recall_rejected', schemeCode, amountMinor: null }
        return inOrder([...(isAcknowledged ? [] : steps), answer])
      })
    }
  }

  /**
   * Replaces the planned messages of an order with a simulated one. A simulated refusal of a recall replaces only the
   * planned answer to the recall.
   *
   * @returns the id of the simulated message; null where the bank has no such order
   */
  async simulate(
    queries: Queries,
    reference: string,
    { event, schemeCode, amount, delayMs }: BankSimulation,
  ): Promise<string | null> {
    return await this.#replan(queries, reference, ({ steps, isAcknowledged }, nowMs) => {
      const simulated: PlanStep = { afterMs: nowMs + delayMs, event, schemeCode, amountMinor: amount }
      return event === 'recall_rejected' && !isAcknowledged
        ? inOrder([...steps.filter((step) => !isRecallAnswer(step)), simulated])
        : [simulated]
    })
  }

  /**
   * Replaces the plan of an order with the steps that `decide` returns. Times of steps, and `nowMs`, count in
   * milliseconds from when the bank received the order.
   *
   * @returns the id of the next message; null where there is no such order, or `decide` returns null to keep the plan
   * @throws Error when the order has changed at each of `ATTEMPTS_MAX` attempts
   */
  async #replan(
    queries: Queries,
    reference: string,
    decide: (order: Order, nowMs: number) => readonly PlanStep[] | null,
  ): Promise<string | null> {
    const { clock } = this.#options
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const found = await findSandboxOrder(queries, reference)
      if (found === null) return null
      const { amount, eventNumber, receivedAt, dueAt, nextEvent, schemeCode, steps: text } = found
      const only =
        nextEvent === null
          ? []
          : [{ afterMs: (dueAt ?? receivedAt) - receivedAt, event: nextEvent, schemeCode, amountMinor: null }]
      const order: Order = {
        amount,
        receivedAt,
        eventNumber,
        isAcknowledged: dueAt === null,
        steps: text === null ? only : decodeSteps(text),
      }
      const steps = decide(order, clock.now() - receivedAt)
      const next = steps?.[0]
      if (steps === null || next === undefined) return null
      // The event number changes with the plan, so a message of the old plan under way is not taken for one of the new
      // plan.
      if (
        await replanSandboxOrder(
          queries,
          { reference, eventNumber, isAcknowledged: order.isAcknowledged },
          { ...next, steps: stepsText(steps) },
        )
      )
        return messageId(reference, eventNumber + 1)
    }
    throw new Error(`The order ${reference} of the sandbox bank keeps changing.`)
  }

  /** Sends due messages until none is left, or until a batch was not fully acknowledged. */
  async #report(): Promise<void> {
    const { database, clock, shards } = this.#options
    for (;;) {
      const now = clock.now()
      for (const [reference, at] of this.#sent) if (at <= now - RESEND_MS) this.#sent.delete(reference)
      const orders = await dueSandboxOrders(database, {
        now,
        max: LIMITS.partnerEventsMax + this.#sent.size,
        owned: shards.owned(),
      })
      const due = orders
        .filter(({ reference }) => !this.#sent.has(reference))
        .map(
          ({
            reference,
            shard,
            event,
            schemeCode,
            steps,
            eventNumber,
            dueAt,
            connectionId,
            currency,
            creditedBalanceId,
          }): Due => {
            const [current, ...later] = steps === null ? [] : decodeSteps(steps)
            const message = {
              id: messageId(reference, eventNumber),
              type: event,
              reference,
              shard,
              ...(connectionId === null ? {} : { connectionId }),
              schemeCode,
              amount: current?.amountMinor ?? null,
            }
            return {
              message,
              eventNumber,
              later,
              bookedAt: dueAt,
              account: connectionId === null ? null : { connectionId, currency },
              creditorAccount: creditedBalanceId,
            }
          },
        )
      if (due.length === 0 || this.#inbox === undefined) return
      await bookReturns(database, due)
      for (const { message } of due) this.#sent.set(message.reference, now)
      const acknowledged = new Set(await this.#inbox(due.map(({ message }) => message)))
      const heard = due.filter(({ message }) => acknowledged.has(message.id))
      await creditArrivals(this.#options, heard)
      await this.#advance(heard)
      for (const { message } of heard) this.#sent.delete(message.reference)
      if (heard.length < due.length) return
    }
  }

  /**
   * Moves orders whose message was acknowledged on to their next message. Compares the event number, because an order
   * that was planned anew still has its new message to send.
   */
  async #advance(heard: readonly Due[]): Promise<void> {
    const { database } = this.#options
    for (const eventNumber of new Set(heard.map((due) => due.eventNumber))) {
      const last = heard.filter((due) => due.eventNumber === eventNumber && due.later.length === 0)
      if (last.length === 0) continue
      await endSandboxPlans(
        database,
        last.map(({ message }) => message.reference),
        eventNumber,
      )
    }
    for (const { message, eventNumber, later } of heard) {
      const [next] = later
      if (next === undefined) continue
      await advanceSandboxOrder(
        database,
        { reference: message.reference, eventNumber },
        { ...next, steps: stepsText(later) },
      )
    }
  }
}

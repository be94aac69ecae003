/**
 * The sandbox bank: a deterministic partner with a book of its own (table sandbox_order), so that what it has accepted
 * survives any of our deaths, and a repeated reference is the same order.
 *
 * What happens to an order is planned when it is accepted, from its amount and the tokens in its texts
 * (lib/sandbox/triggers.ts), one message after the other; a simulation replaces what is still to come. `next_event` is the
 * next message, and `due_at` when the bank sends it or, for an order whose submission timed out, when it will know the
 * outcome if asked. Where more is to come, or money comes back, `steps` is the text of all of it, the next one first.
 *
 * An order whose creditor has an account at this bank is a credit of that account as soon as it has settled.
 *
 * Messages are sent until they are acknowledged, in batches: reading due orders one by one would cost more than booking
 * the payments they belong to.
 */
import type { Clock } from '../../lib/base/clock.ts'
import { dateIn } from '../../lib/base/clock.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import type { PayeeAnswer, PayeeQuestion } from '../../lib/recipients/verification.ts'
import { sandboxPayee } from '../../lib/sandbox/payees.ts'
import { decodeSteps, encodeSteps, planOutcome, planRecall, type BankEvent, type PlanStep } from '../../lib/sandbox/triggers.ts'
import { RAILS, speedOf, type Rail } from '../../lib/rails/rails.ts'
import type { Database } from '../../storage/db/database.ts'
import { insertSandboxBookings, sandboxDeliveries } from '../../storage/sandbox/sandbox-book.ts'
import { insertCreditAnnouncements } from '../../storage/sandbox/sandbox-messages.ts'
import { advanceSandboxOrder, dueSandboxOrders, endSandboxPlans, findSandboxOrder, insertSandboxOrders, replanSandboxOrder, sandboxOrderStates, type SandboxOrderState } from '../../storage/sandbox/sandbox-orders.ts'
import type { Queries } from '../../storage/db/transaction.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { Poller } from '../runtime/poller.ts'
import { creditBody } from './sandbox-credits.ts'
import type { BankInbox, BankMessage, BankPartner, OrderStatus, PayeeVerifier, PaymentOrder, RecallPartner, RecallRequest, Submission } from '../providers/bank.ts'

/** How often due orders are looked for. Instant rails take 2 s, so a twentieth of that is not noticed. */
const TICK_MS = 100
/** An order that its owner's node did not acknowledge is sent again after this. */
const RESEND_MS = 5_000
/** The scheme's reason of money that comes back because it was asked back. */
const RECALLED_CODE = 'FOCR'
/** How often a plan is made again because the order has moved on meanwhile. */
const ATTEMPTS_MAX = 8

export interface SandboxBankOptions {
  readonly database: Database
  readonly clock: Clock
  /** The orders of a shard are reported where it is at home. */
  readonly shards: Shards
  readonly onError: (error: unknown, what: string) => void
}

interface Planned {
  readonly submission: Submission
  readonly state: 'accepted' | 'unanswered'
  readonly steps: readonly PlanStep[]
}

/** What somebody makes the bank say of an order in place of what was planned. */
export interface BankSimulation {
  readonly event: BankEvent
  readonly schemeCode: string | null
  /** Minor units that come back; null unless the event is `returned`. */
  readonly amount: bigint | null
  readonly delayMs: number
}

/** A row of the book, as it is planned anew. Times are epoch milliseconds. */
interface Order {
  readonly amount: bigint
  readonly receivedAt: number
  readonly eventNumber: number
  /** Its last message was sent and acknowledged, and is the one step that `steps` still shows. */
  readonly said: boolean
  readonly steps: readonly PlanStep[]
}

/** A message that is due, and what comes after it. */
interface Due {
  readonly message: BankMessage
  readonly eventNumber: number
  readonly later: readonly PlanStep[]
  /** When the bank booked what it says, epoch milliseconds, and in which account. */
  readonly bookedAt: number
  readonly account: { readonly connectionId: string; readonly currency: string } | null
  /** The account at this bank that is paid; null for one elsewhere. */
  readonly creditorAccount: string | null
}

export class SandboxBank implements BankPartner, PayeeVerifier, RecallPartner {
  readonly #options: SandboxBankOptions
  #inbox: BankInbox | undefined
  readonly #poller: Poller
  /** Sent and not acknowledged yet, with the time they were sent: bounded by one batch and the resend time. */
  readonly #sent = new Map<string, number>()

  constructor(options: SandboxBankOptions) {
    this.#options = options
    this.#poller = new Poller({ everyMs: TICK_MS, poll: () => this.#report(), onError: (error) => options.onError(error, 'sandbox bank') })
  }

  /** Starts sending messages. */
  start(inbox: BankInbox): void {
    this.#inbox = inbox
    this.#poller.start()
  }

  /** Stops sending; what is under way is finished. */
  async stop(): Promise<void> {
    await this.#poller.stop()
  }

  async submit(orders: readonly PaymentOrder[]): Promise<ReadonlyMap<string, Submission>> {
    const now = this.#options.clock.now()
    const submissions = new Map<string, Submission>()
    const booked: { order: PaymentOrder; planned: Planned }[] = []
    for (const order of orders) {
      const planned = plan(order)
      submissions.set(order.reference, planned.submission)
      if (planned.submission.kind !== 'refused') booked.push({ order, planned })
    }
    if (booked.length > 0) {
      await insertSandboxOrders(this.#options.database, booked.map(({ order, planned: { state, steps } }) => ({
        reference: order.reference, shard: order.shard, currency: order.currency, amount: order.amount, state, nextEvent: steps[0]?.event ?? null, schemeCode: steps[0]?.schemeCode ?? null,
        dueAt: steps[0] === undefined ? null : now + steps[0].afterMs, steps: stepsText(steps), connectionId: order.connectionId, creditedBalanceId: order.creditorAccount ?? null,
      })), now)
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

  async verifyPayee(question: PayeeQuestion): Promise<PayeeAnswer> {
    return sandboxPayee(question)
  }

  async recall(requests: readonly RecallRequest[]): Promise<void> {
    for (const { reference } of requests) {
      await this.#replan(this.#options.database, reference, ({ amount, steps, said }, nowMs) => {
        if (steps.some(isRecallAnswer)) return null
        const { afterMs, outcome, schemeCode } = planRecall(amount)
        const answer: PlanStep = outcome === 'accepted'
          ? { afterMs: nowMs + afterMs, event: 'returned', schemeCode: RECALLED_CODE, amountMinor: amount }
          : { afterMs: nowMs + afterMs, event: 'recall_rejected', schemeCode, amountMinor: null }
        return inOrder([...(said ? [] : steps), answer])
      })
    }
  }

  /**
   * Replaces what is still to come of an order, except that a refused recall changes nothing else. Returns the id of the
   * message that will say so; null where the bank has no such order.
   */
  async simulate(queries: Queries, reference: string, { event, schemeCode, amount, delayMs }: BankSimulation): Promise<string | null> {
    return await this.#replan(queries, reference, ({ steps, said }, nowMs) => {
      const simulated: PlanStep = { afterMs: nowMs + delayMs, event, schemeCode, amountMinor: amount }
      return event === 'recall_rejected' && !said ? inOrder([...steps.filter((step) => !isRecallAnswer(step)), simulated]) : [simulated]
    })
  }

  /**
   * Plans anew what comes of an order; the times of `decide` count from when the bank got it, and `nowMs` is now in these terms.
   * Returns the id of its next message; null where there is no such order, or `decide` leaves it as it is.
   */
  async #replan(queries: Queries, reference: string, decide: (order: Order, nowMs: number) => readonly PlanStep[] | null): Promise<string | null> {
    const { clock } = this.#options
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const found = await findSandboxOrder(queries, reference)
      if (found === null) return null
      const { amount, eventNumber, receivedAt, dueAt, nextEvent, schemeCode, steps: text } = found
      const only = nextEvent === null ? [] : [{ afterMs: (dueAt ?? receivedAt) - receivedAt, event: nextEvent, schemeCode, amountMinor: null }]
      const order: Order = { amount, receivedAt, eventNumber, said: dueAt === null, steps: text === null ? only : decodeSteps(text) }
      const steps = decide(order, clock.now() - receivedAt)
      const next = steps?.[0]
      if (steps === null || next === undefined) return null
      // The number changes with the plan: a message of the old plan that is on its way is not taken for one of the new plan.
      if (await replanSandboxOrder(queries, { reference, eventNumber, said: order.said }, { ...next, steps: stepsText(steps) })) return messageId(reference, eventNumber + 1)
    }
    throw new Error(`The order ${reference} of the sandbox bank keeps changing.`)
  }

  /** Sends what is due until nothing more is. */
  async #report(): Promise<void> {
    const { database, clock, shards } = this.#options
    for (;;) {
      const now = clock.now()
      for (const [reference, at] of this.#sent) if (at <= now - RESEND_MS) this.#sent.delete(reference)
      const orders = await dueSandboxOrders(database, { now, max: LIMITS.partnerEventsMax + this.#sent.size, owned: shards.owned() })
      const due = orders.filter(({ reference }) => !this.#sent.has(reference)).map(({ reference, shard, event, schemeCode, steps, eventNumber, dueAt, connectionId, currency, creditedBalanceId }): Due => {
        const [current, ...later] = steps === null ? [] : decodeSteps(steps)
        const message = { id: messageId(reference, eventNumber), type: event, reference, shard, schemeCode, amount: current?.amountMinor ?? null }
        return { message, eventNumber, later, bookedAt: dueAt, account: connectionId === null ? null : { connectionId, currency }, creditorAccount: creditedBalanceId }
      })
      if (due.length === 0 || this.#inbox === undefined) return
      await this.#bookReturns(due)
      for (const { message } of due) this.#sent.set(message.reference, now)
      const acknowledged = new Set(await this.#inbox(due.map(({ message }) => message)))
      const heard = due.filter(({ message }) => acknowledged.has(message.id))
      await this.#deliver(heard)
      await this.#said(heard)
      for (const { message } of heard) this.#sent.delete(message.reference)
      if (heard.length < due.length) return
    }
  }

  /** What comes back is credited before it is said; the id of the message makes it once. */
  async #bookReturns(due: readonly Due[]): Promise<void> {
    const returned = due.flatMap(({ message: { id, type, reference, amount }, bookedAt, account }) => (type !== 'returned' || amount === null || account === null ? [] : [{
      id, ...account, reference, direction: 'CRDT' as const, amount, at: bookedAt, code: 'RRTN', text: null,
    }]))
    if (returned.length > 0) await insertSandboxBookings(this.#options.database, returned)
  }

  /** What has settled for an account at this bank arrives there, once; not what is planned to come back. */
  async #deliver(heard: readonly Due[]): Promise<void> {
    const { database, clock } = this.#options
    const arrived = heard.filter(({ message, creditorAccount, later }) => message.type === 'settled' && creditorAccount !== null && !later.some(({ event }) => event === 'returned'))
    if (arrived.length === 0) return
    const credits = await sandboxDeliveries(database, arrived.map(({ message }) => message.reference), dateIn(clock.now(), 'UTC'))
    if (credits.length === 0) return
    await insertCreditAnnouncements(database, credits.map(({ paymentId, shard, connectionId, account, credit }) => ({
      id: messageId(paymentId, DELIVERY_EVENT), shard, reference: arrivalId({ paymentId }),
      body: creditBody({ connectionId, account, credit: { ...credit, reference: arrivalId({ paymentId: credit.reference }) } }),
    })), clock.now())
    await insertSandboxBookings(database, credits.map(({ paymentId, connectionId, credit }) => ({
      id: messageId(paymentId, DELIVERY_EVENT), connectionId, currency: credit.currency, reference: arrivalId({ paymentId }), direction: 'CRDT' as const, amount: credit.amount,
      at: clock.now(), code: 'RCDT', text: credit.remittance,
    })))
  }

  /** What was heard need not be said again, and what comes after it is next. By number: what was planned anew is still to be said. */
  async #said(heard: readonly Due[]): Promise<void> {
    const { database } = this.#options
    for (const eventNumber of new Set(heard.map((due) => due.eventNumber))) {
      const last = heard.filter((due) => due.eventNumber === eventNumber && due.later.length === 0)
      if (last.length === 0) continue
      await endSandboxPlans(database, last.map(({ message }) => message.reference), eventNumber)
    }
    for (const { message, eventNumber, later } of heard) {
      const [next] = later
      if (next === undefined) continue
      await advanceSandboxOrder(database, { reference: message.reference, eventNumber }, { ...next, steps: stepsText(later) })
    }
  }
}

/** The bank's id of one of its messages about a reference: a UUID of version 8, which no reference is, told apart by its number. */
export function messageId(reference: string, eventNumber: number): string {
  const counter = Number.parseInt(reference.slice(15, 18), 16) ^ (eventNumber & 0xfff)
  return `${reference.slice(0, 14)}8${counter.toString(16).padStart(3, '0')}${reference.slice(18)}`
}

/** Numbers of the messages about the credit that an order has become; an order never has so many of its own. */
const DELIVERY_EVENT = 0x800
const ARRIVAL_EVENT = 0x801

/** The bank's reference of the credit that an order has become. */
const arrivalId = ({ paymentId }: { readonly paymentId: string }): string => messageId(paymentId, ARRIVAL_EVENT)

/** Null where the columns of the next message say it all. */
function stepsText(steps: readonly PlanStep[]): string | null {
  return steps.length > 1 || (steps[0] !== undefined && steps[0].amountMinor !== null) ? encodeSteps(steps) : null
}

const inOrder = (steps: readonly PlanStep[]): PlanStep[] => steps.toSorted((left, right) => left.afterMs - right.afterMs)

const isRecallAnswer = ({ event, schemeCode }: PlanStep): boolean => event === 'recall_rejected' || (event === 'returned' && schemeCode === RECALLED_CODE)

/** Null: no answer. An order whose submission went unanswered is not spoken of before it is due. */
function statusOf({ state, nextEvent, schemeCode, isDue, steps }: SandboxOrderState): OrderStatus | null {
  const known = state === 'unanswered' ? (isDue ? nextEvent : null) : state
  switch (known) {
    case null: return null
    case 'settled': return { kind: 'settled' }
    case 'rejected': return { kind: 'rejected', schemeCode: schemeCode ?? 'NARR' }
    case 'returned': return { kind: 'returned', schemeCode: schemeCode ?? 'NARR', amount: decodeSteps(steps ?? '')[0]?.amountMinor ?? 0n }
    default: return { kind: 'pending' }
  }
}

function plan(order: PaymentOrder): Planned {
  const terms = RAILS.get(order.rail as Rail)
  const instant = terms !== undefined && speedOf(terms, order.amount) === 'instant'
  const { submit, refusalCode, steps, reconcile } = planOutcome({ amountMinor: order.amount, reference: order.remittance, recipientName: order.creditorName, instant })
  if (submit === 'refused') return { submission: { kind: 'refused', schemeCode: refusalCode ?? 'NARR' }, state: 'unanswered', steps: [] }
  if (submit === 'accepted') return { submission: { kind: 'accepted' }, state: 'accepted', steps }
  return { submission: { kind: 'timeout' }, state: 'unanswered', steps: reconcile === null ? [] : [{ afterMs: reconcile.afterMs, event: reconcile.outcome, schemeCode: reconcile.schemeCode, amountMinor: null }] }
}

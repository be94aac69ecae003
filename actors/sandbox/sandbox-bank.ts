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
import { dateIn, timestamp } from '../../lib/base/clock.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import type { PayeeAnswer, PayeeQuestion } from '../../lib/recipients/verification.ts'
import { sandboxPayee } from '../../lib/sandbox/payees.ts'
import { decodeSteps, encodeSteps, planOutcome, planRecall, type BankEvent, type PlanStep } from '../../lib/sandbox/triggers.ts'
import { RAILS, speedOf, type Rail } from '../../lib/rails/rails.ts'
import { plainArray, plainArrayOrNull, textArray } from '../../storage/db/array-literal.ts'
import type { Database } from '../../storage/db/database.ts'
import { sandboxBookings, sandboxDeliveries } from '../../storage/sandbox/sandbox-book.ts'
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
/** When the bank has debited an order: before it says so. What comes back has left before. */
const SETTLED_AFTER = `case when o.next_event in ('settled', 'returned') then coalesce(o.settled_at, o.due_at) else o.settled_at end`
/** What an order is called once its message was sent. Answers to recalls leave it as it was. */
const STATE_AFTER = `case when o.next_event in ('settled', 'rejected', 'returned') then o.next_event
  when o.next_event = 'pending' then 'accepted' when o.next_event = 'unclear' then 'unanswered' else o.state end`

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
      await this.#options.database.query({
        name: 'sandbox_submit',
        text: `insert into sandbox_order (reference, shard, currency, amount, state, next_event, scheme_code, due_at, steps, connection_id, credited_balance_id, received_at)
          select u.reference, u.shard, u.currency, u.amount, u.state, u.next_event, u.scheme_code, u.due_at, u.steps, u.connection_id, u.credited_balance_id, $12::timestamptz
          from unnest($1::uuid[], $2::smallint[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::timestamptz[], $9::text[], $10::uuid[], $11::uuid[])
            as u(reference, shard, currency, amount, state, next_event, scheme_code, due_at, steps, connection_id, credited_balance_id)
          on conflict (reference) do nothing`,
        values: [
          plainArray(booked.map(({ order }) => order.reference)), plainArray(booked.map(({ order }) => order.shard)),
          textArray(booked.map(({ order }) => order.currency)), plainArray(booked.map(({ order }) => order.amount)),
          textArray(booked.map(({ planned }) => planned.state)), textArray(booked.map(({ planned }) => planned.steps[0]?.event ?? null)),
          textArray(booked.map(({ planned }) => planned.steps[0]?.schemeCode ?? null)),
          plainArray(booked.map(({ planned: { steps: [next] } }) => (next === undefined ? null : timestamp(now + next.afterMs)))),
          textArray(booked.map(({ planned }) => stepsText(planned.steps))), plainArray(booked.map(({ order }) => order.connectionId)),
          plainArray(booked.map(({ order }) => order.creditorAccount ?? null)), timestamp(now),
        ],
      })
    }
    return submissions
  }

  async status(references: readonly string[]): Promise<ReadonlyMap<string, OrderStatus>> {
    const rows = await this.#options.database.query<[string, string, string | null, string | null, boolean | null, string | null]>({
      name: 'sandbox_status',
      text: `select reference, state, next_event, scheme_code, due_at <= $2::timestamptz, steps from sandbox_order where reference = any($1::uuid[])`,
      values: [plainArray(references), timestamp(this.#options.clock.now())],
    })
    const statuses = new Map<string, OrderStatus>(references.map((reference) => [reference, { kind: 'unknown' }]))
    for (const [reference, state, outcome, schemeCode, due, steps] of rows) {
      const status = statusOf(state, outcome, schemeCode, due === true, steps)
      if (status === null) statuses.delete(reference)
      else statuses.set(reference, status)
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
      const [row] = await queries.query<[string, number, number, number | null, string | null, string | null, string | null]>({
        name: 'sandbox_order',
        text: `select amount, event_number, (extract(epoch from received_at) * 1000)::float8, (extract(epoch from due_at) * 1000)::float8,
          next_event, scheme_code, steps from sandbox_order where reference = $1`,
        values: [reference],
      })
      if (row === undefined) return null
      const [amount, eventNumber, receivedAt, dueAt, event, schemeCode, text] = row
      const only = event === null ? [] : [{ afterMs: (dueAt ?? receivedAt) - receivedAt, event: event as BankEvent, schemeCode, amountMinor: null }]
      const order: Order = { amount: BigInt(amount), receivedAt, eventNumber, said: dueAt === null, steps: text === null ? only : decodeSteps(text) }
      const steps = decide(order, clock.now() - receivedAt)
      const next = steps?.[0]
      if (steps === null || next === undefined) return null
      // The number changes with the plan: a message of the old one that is just on its way is not taken for the new one's.
      const planned = await queries.query({
        name: 'sandbox_replanned',
        text: `update sandbox_order set state = case when state = 'unanswered' then 'accepted' else state end, next_event = $3, scheme_code = $4,
            due_at = received_at + $5 * interval '1 millisecond', steps = $6, event_number = event_number + 1
          where reference = $1 and event_number = $2 and (due_at is null) = $7 returning 1`,
        values: [reference, eventNumber, next.event, next.schemeCode, next.afterMs, stepsText(steps), order.said],
      })
      if (planned.length > 0) return messageId(reference, eventNumber + 1)
    }
    throw new Error(`The order ${reference} of the sandbox bank keeps changing.`)
  }

  /** Sends what is due until nothing more is. */
  async #report(): Promise<void> {
    for (;;) {
      const now = this.#options.clock.now()
      for (const [reference, at] of this.#sent) if (at <= now - RESEND_MS) this.#sent.delete(reference)
      const owned = this.#options.shards.owned()
      const rows = await this.#options.database.query<[string, number, BankMessage['type'], string | null, string | null, number, number, string | null, string, string | null]>({
        name: 'sandbox_due',
        text: `select reference, shard, next_event, scheme_code, steps, event_number, (extract(epoch from due_at) * 1000)::float8, connection_id, currency, credited_balance_id from sandbox_order
          where due_at <= $1::timestamptz and state <> 'unanswered' and ($3::smallint[] is null or shard = any($3)) order by due_at limit $2`,
        values: [timestamp(now), LIMITS.partnerEventsMax + this.#sent.size, plainArrayOrNull(owned)],
      })
      const due = rows.filter(([reference]) => !this.#sent.has(reference)).map(([reference, shard, type, schemeCode, text, eventNumber, bookedAt, connectionId, currency, creditorAccount]): Due => {
        const [current, ...later] = text === null ? [] : decodeSteps(text)
        const message = { id: messageId(reference, eventNumber), type, reference, shard, schemeCode, amount: current?.amountMinor ?? null }
        return { message, eventNumber, later, bookedAt, account: connectionId === null ? null : { connectionId, currency }, creditorAccount }
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
    if (returned.length > 0) await this.#options.database.query(sandboxBookings(returned))
  }

  /** What has settled for an account at this bank arrives there, once; not what is planned to come back. */
  async #deliver(heard: readonly Due[]): Promise<void> {
    const { database, clock } = this.#options
    const arrived = heard.filter(({ message, creditorAccount, later }) => message.type === 'settled' && creditorAccount !== null && !later.some(({ event }) => event === 'returned'))
    if (arrived.length === 0) return
    const credits = await sandboxDeliveries(database, arrived.map(({ message }) => message.reference), dateIn(clock.now(), 'UTC'))
    if (credits.length === 0) return
    await database.query({
      name: 'sandbox_deliver',
      text: `insert into sandbox_message (id, shard, type, reference, body, due_at)
        select u.id, u.shard, 'account.credited', u.reference, u.body, $5::timestamptz from unnest($1::uuid[], $2::smallint[], $3::uuid[], $4::text[]) u(id, shard, reference, body)
        on conflict (id) do nothing`,
      values: [
        plainArray(credits.map(({ paymentId }) => messageId(paymentId, DELIVERY_EVENT))), plainArray(credits.map(({ shard }) => shard)), plainArray(credits.map(arrivalId)),
        textArray(credits.map(({ connectionId, account, credit }) => creditBody({ connectionId, account, credit: { ...credit, reference: arrivalId({ paymentId: credit.reference }) } }))), timestamp(clock.now()),
      ],
    })
    await database.query(sandboxBookings(credits.map(({ paymentId, connectionId, credit }) => ({
      id: messageId(paymentId, DELIVERY_EVENT), connectionId, currency: credit.currency, reference: arrivalId({ paymentId }), direction: 'CRDT' as const, amount: credit.amount,
      at: clock.now(), code: 'RCDT', text: credit.remittance,
    }))))
  }

  /** What was heard need not be said again, and what comes after it is next. By number: what was planned anew is still to be said. */
  async #said(heard: readonly Due[]): Promise<void> {
    const { database } = this.#options
    for (const eventNumber of new Set(heard.map((due) => due.eventNumber))) {
      const last = heard.filter((due) => due.eventNumber === eventNumber && due.later.length === 0)
      if (last.length === 0) continue
      await database.query({
        name: 'sandbox_acknowledged',
        text: `update sandbox_order o set state = ${STATE_AFTER}, settled_at = ${SETTLED_AFTER}, due_at = null where reference = any($1::uuid[]) and event_number = $2`,
        values: [plainArray(last.map(({ message }) => message.reference)), eventNumber],
      })
    }
    for (const { message, eventNumber, later } of heard) {
      const [next] = later
      if (next === undefined) continue
      await database.query({
        name: 'sandbox_advanced',
        text: `update sandbox_order o set state = ${STATE_AFTER}, settled_at = ${SETTLED_AFTER}, next_event = $3, scheme_code = $4, due_at = received_at + $5 * interval '1 millisecond',
            steps = $6, event_number = event_number + 1
          where reference = $1 and event_number = $2`,
        values: [message.reference, eventNumber, next.event, next.schemeCode, next.afterMs, stepsText(later)],
      })
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
function statusOf(state: string, outcome: string | null, schemeCode: string | null, due: boolean, steps: string | null): OrderStatus | null {
  const known = state === 'unanswered' ? (due ? outcome : null) : state
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

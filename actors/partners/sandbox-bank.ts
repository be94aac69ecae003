/**
 * The sandbox bank: a deterministic partner with a book of its own (table sandbox_order), so that what it has accepted
 * survives any of our deaths, and a repeated reference is the same order.
 *
 * What happens to an order is planned when it is accepted, from its amount and the tokens in its texts
 * (lib/sandbox/triggers.ts); `due_at` is when the bank sends its message or, for an order whose submission timed out,
 * when it will know the outcome if asked.
 *
 * Messages are sent until they are acknowledged, in batches: reading due orders one by one would cost more than booking
 * the payments they belong to.
 */
import type { Clock } from '../../lib/clock.ts'
import { timestamp } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { PayeeAnswer, PayeeQuestion } from '../../lib/recipients/verification.ts'
import { sandboxPayee } from '../../lib/sandbox/payees.ts'
import { planOutcome } from '../../lib/sandbox/triggers.ts'
import { RAILS, speedOf, type Rail } from '../../lib/payments/rails.ts'
import { plainArray, textArray } from '../../storage/array-literal.ts'
import type { Database } from '../../storage/database.ts'
import type { Shards } from '../../lib/shards.ts'
import { Lookout } from '../runtime/lookout.ts'
import type { BankInbox, BankMessage, BankPartner, OrderStatus, PayeeVerifier, PaymentOrder, Submission } from './bank.ts'

/** How often due orders are looked for. Instant rails take 2 s, so a twentieth of that is not noticed. */
const TICK_MS = 100
/** An order that its owner's node did not acknowledge is sent again after this. */
const RESEND_MS = 5_000

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
  readonly outcome: 'settled' | 'rejected' | null
  readonly schemeCode: string | null
  readonly afterMs: number | null
}

export class SandboxBank implements BankPartner, PayeeVerifier {
  readonly #options: SandboxBankOptions
  #inbox: BankInbox | undefined
  readonly #lookout: Lookout
  /** Sent and not acknowledged yet, with the time they were sent: bounded by one batch and the resend time. */
  readonly #sent = new Map<string, number>()

  constructor(options: SandboxBankOptions) {
    this.#options = options
    this.#lookout = new Lookout({ everyMs: TICK_MS, look: () => this.#report(), onError: (error) => options.onError(error, 'sandbox bank') })
  }

  /** Starts sending messages. */
  start(inbox: BankInbox): void {
    this.#inbox = inbox
    this.#lookout.start()
  }

  /** Stops sending; what is under way is finished. */
  async stop(): Promise<void> {
    await this.#lookout.stop()
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
        text: `insert into sandbox_order (reference, shard, currency, amount, state, next_event, scheme_code, due_at, received_at)
          select u.reference, u.shard, u.currency, u.amount, u.state, u.next_event, u.scheme_code, u.due_at, $9::timestamptz
          from unnest($1::uuid[], $2::smallint[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::timestamptz[])
            as u(reference, shard, currency, amount, state, next_event, scheme_code, due_at)
          on conflict (reference) do nothing`,
        values: [
          plainArray(booked.map(({ order }) => order.reference)), plainArray(booked.map(({ order }) => order.shard)),
          textArray(booked.map(({ order }) => order.currency)), plainArray(booked.map(({ order }) => order.amount)),
          textArray(booked.map(({ planned }) => planned.state)), textArray(booked.map(({ planned }) => planned.outcome)),
          textArray(booked.map(({ planned }) => planned.schemeCode)),
          plainArray(booked.map(({ planned }) => (planned.afterMs === null ? null : timestamp(now + planned.afterMs)))), timestamp(now),
        ],
      })
    }
    return submissions
  }

  async status(references: readonly string[]): Promise<ReadonlyMap<string, OrderStatus>> {
    const rows = await this.#options.database.query<[string, string, string | null, string | null, boolean | null]>({
      name: 'sandbox_status',
      text: `select reference, state, next_event, scheme_code, due_at <= $2::timestamptz from sandbox_order where reference = any($1::uuid[])`,
      values: [plainArray(references), timestamp(this.#options.clock.now())],
    })
    const statuses = new Map<string, OrderStatus>(references.map((reference) => [reference, { kind: 'unknown' }]))
    for (const [reference, state, outcome, schemeCode, due] of rows) {
      const status = statusOf(state, outcome, schemeCode, due === true)
      if (status === null) statuses.delete(reference)
      else statuses.set(reference, status)
    }
    return statuses
  }

  async verifyPayee(question: PayeeQuestion): Promise<PayeeAnswer> {
    return sandboxPayee(question)
  }

  /** Sends what is due until nothing more is. */
  async #report(): Promise<void> {
    for (;;) {
      const now = this.#options.clock.now()
      for (const [reference, at] of this.#sent) if (at <= now - RESEND_MS) this.#sent.delete(reference)
      const owned = this.#options.shards.owned()
      const rows = await this.#options.database.query<[string, number, BankMessage['type'], string | null]>({
        name: 'sandbox_due',
        text: `select reference, shard, next_event, scheme_code from sandbox_order
          where due_at <= $1::timestamptz and state = 'accepted' and ($3::smallint[] is null or shard = any($3)) order by due_at limit $2`,
        values: [timestamp(now), LIMITS.partnerEventsMax + this.#sent.size, owned === null ? null : plainArray(owned)],
      })
      const messages = rows
        .filter(([reference]) => !this.#sent.has(reference))
        .map(([reference, shard, type, schemeCode]): BankMessage => ({ id: messageId(reference), type, reference, shard, schemeCode }))
      if (messages.length === 0 || this.#inbox === undefined) return
      for (const { reference } of messages) this.#sent.set(reference, now)
      const acknowledged = await this.#inbox(messages)
      const references = acknowledged.map((id) => messageId(id))
      await this.#options.database.query({
        name: 'sandbox_acknowledged',
        text: `update sandbox_order set state = next_event, due_at = null where reference = any($1::uuid[])`,
        values: [plainArray(references)],
      })
      for (const reference of references) this.#sent.delete(reference)
      if (acknowledged.length < messages.length) return
    }
  }
}

/** The bank's id of its message about a reference: the reference with its last digit mirrored, so it maps both ways. */
function messageId(reference: string): string {
  return reference.slice(0, -1) + (15 - Number.parseInt(reference.slice(-1), 16)).toString(16)
}

/** Null: no answer. An order whose submission went unanswered is not spoken of before it is due. */
function statusOf(state: string, outcome: string | null, schemeCode: string | null, due: boolean): OrderStatus | null {
  const known = state === 'unanswered' ? (due ? outcome : null) : state
  switch (known) {
    case null: return null
    case 'settled': return { kind: 'settled' }
    case 'rejected': return { kind: 'rejected', schemeCode: schemeCode ?? 'NARR' }
    default: return { kind: 'pending' }
  }
}

function plan(order: PaymentOrder): Planned {
  const terms = RAILS.get(order.rail as Rail)
  const instant = terms !== undefined && speedOf(terms, order.amount) === 'instant'
  const { submit, refusalCode, steps, reconcile } = planOutcome({ amountMinor: order.amount, reference: order.remittance, recipientName: order.creditorName, instant })
  if (submit === 'refused') return { submission: { kind: 'refused', schemeCode: refusalCode ?? 'NARR' }, ...NOTHING_PLANNED }
  if (submit === 'timeout') {
    return reconcile === null
      ? { submission: { kind: 'timeout' }, ...NOTHING_PLANNED }
      : { submission: { kind: 'timeout' }, state: 'unanswered', outcome: reconcile.outcome, schemeCode: reconcile.schemeCode, afterMs: reconcile.afterMs }
  }
  const end = steps.find(({ event }) => event !== 'returned')
  return { submission: { kind: 'accepted' }, state: 'accepted', outcome: end?.event === 'rejected' ? 'rejected' : end === undefined ? null : 'settled',
    schemeCode: end?.schemeCode ?? null, afterMs: end?.afterMs ?? null }
}

const NOTHING_PLANNED = { state: 'unanswered', outcome: null, schemeCode: null, afterMs: null } as const

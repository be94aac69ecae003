/**
 * The sandbox's market and its dealer: base rates that somebody may shift, and a book of its own (table sandbox_fx_order), so that
 * what it has taken survives any of our deaths, and a repeated reference is the same order.
 *
 * What happens to an order is planned when it is taken, from the amount sold (lib/sandbox/exchanges.ts). `next_event` is what it
 * says next and `due_at` when; of an order that it did not answer to it says nothing, and knows the outcome then if it is asked.
 */
import { timestamp, type Clock } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { marketRate, type RateShift } from '../../lib/exchange/market.ts'
import { boughtFor, soldFor, type Fraction } from '../../lib/exchange/rate.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { planExchange } from '../../lib/sandbox/exchanges.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { plainArray, plainArrayOrNull, textArray } from '../../storage/db/array-literal.ts'
import type { Database } from '../../storage/db/database.ts'
import { through, type Queries, type TransactionClient } from '../../storage/db/transaction.ts'
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
    await database.query({
      name: 'sandbox_fx_submit',
      text: `insert into sandbox_fx_order (reference, shard, sell_currency, buy_currency, sold, bought, state, next_event, reason, due_at, connection_id, received_at)
        select u.*, $12::timestamptz from unnest($1::uuid[], $2::smallint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::text[], $10::timestamptz[], $11::uuid[]) u
        on conflict (reference) do nothing`,
      values: [
        plainArray(planned.map(({ order }) => order.reference)), plainArray(planned.map(({ order }) => order.shard)),
        textArray(planned.map(({ order }) => order.sellCurrency)), textArray(planned.map(({ order }) => order.buyCurrency)),
        plainArray(planned.map(({ sold }) => sold)), plainArray(planned.map(({ bought }) => bought)),
        textArray(planned.map(({ plan }) => (plan.submit === 'timeout' ? 'unanswered' : 'accepted'))), textArray(planned.map(({ plan }) => plan.outcome?.event ?? null)),
        textArray(planned.map(({ plan }) => plan.outcome?.reason ?? null)), plainArray(planned.map(({ plan }) => (plan.outcome === null ? null : timestamp(now + plan.outcome.afterMs)))),
        plainArray(planned.map(({ order }) => order.connectionId)), timestamp(now),
      ],
    })
    return new Map(planned.map(({ order, plan }) => [order.reference, plan.submit]))
  }

  async status(references: readonly string[]): Promise<ReadonlyMap<string, FxStatus>> {
    const rows = await this.#options.database.query<[string, string, string | null, string | null, string, string, boolean | null]>({
      name: 'sandbox_fx_status', values: [plainArray(references), timestamp(this.#options.clock.now())],
      text: 'select reference, state, next_event, reason, sold, bought, due_at <= $2::timestamptz from sandbox_fx_order where reference = any($1::uuid[])',
    })
    const statuses = new Map<string, FxStatus>(references.map((reference) => [reference, { kind: 'unknown' }]))
    for (const [reference, state, outcome, reason, sold, bought, due] of rows) {
      const known = state === 'unanswered' ? (due === true ? outcome : null) : state
      if (known === 'settled') statuses.set(reference, { kind: 'settled', sold: BigInt(sold), bought: BigInt(bought) })
      else if (known === 'refused') statuses.set(reference, { kind: 'refused', reason: reason ?? 'FX00' })
      else if (known === 'accepted') statuses.set(reference, { kind: 'pending' })
      // Of what it did not answer to, or is not clear about, it says nothing.
      else statuses.delete(reference)
    }
    return statuses
  }

  /** Replaces what is still to be said of an order. Returns the id of the message that will say it; null where there is no such order. */
  async simulate(queries: Queries, reference: string, { event, reason, delayMs }: FxSimulation): Promise<string | null> {
    const { clock } = this.#options
    // The number changes with the plan: a message of the old one that is just on its way is not taken for the new one's.
    const [row] = await queries.query<[number]>({
      name: 'sandbox_fx_replanned', values: [reference, event, reason, timestamp(clock.now() + delayMs)],
      text: `update sandbox_fx_order set state = case when state = 'unanswered' then 'accepted' else state end, next_event = $2, reason = $3, due_at = $4,
          event_number = event_number + 1 where reference = $1 returning event_number`,
    })
    return row === undefined ? null : messageId(reference, row[0])
  }

  /** Reports what is due until nothing more is. */
  async #report(): Promise<void> {
    const { database, clock, shards } = this.#options
    for (;;) {
      const now = clock.now()
      for (const [reference, at] of this.#sent) if (at <= now - RESEND_MS) this.#sent.delete(reference)
      const owned = shards.owned()
      const rows = await database.query<[string, number, FxMessage['type'], string | null, string, string, number]>({
        name: 'sandbox_fx_due',
        text: `select reference, shard, next_event, reason, sold, bought, event_number from sandbox_fx_order
          where due_at <= $1::timestamptz and state <> 'unanswered' and ($3::smallint[] is null or shard = any($3)) order by due_at limit $2`,
        values: [timestamp(now), LIMITS.partnerEventsMax + this.#sent.size, plainArrayOrNull(owned)],
      })
      const due = rows.filter(([reference]) => !this.#sent.has(reference)).map(([reference, shard, type, reason, sold, bought, eventNumber]) => ({
        eventNumber, message: { id: messageId(reference, eventNumber), type, reference, shard, reason, ...(type === 'settled' ? { sold: BigInt(sold), bought: BigInt(bought) } : { sold: null, bought: null }) } satisfies FxMessage,
      }))
      if (due.length === 0 || this.#inbox === undefined) return
      for (const { message } of due) this.#sent.set(message.reference, now)
      const acknowledged = new Set(await this.#inbox(due.map(({ message }) => message)))
      const heard = due.filter(({ message }) => acknowledged.has(message.id))
      // By number: what was planned anew is still to be said.
      await database.query({
        name: 'sandbox_fx_acknowledged',
        text: `update sandbox_fx_order o set state = case when o.next_event = 'unclear' then 'unanswered' else o.next_event end,
            settled_at = case when o.next_event = 'settled' then coalesce(o.settled_at, o.due_at) else o.settled_at end, due_at = null,
            next_event = case when o.next_event = 'unclear' then null else o.next_event end
          from unnest($1::uuid[], $2::smallint[]) u(reference, event_number) where o.reference = u.reference and o.event_number = u.event_number`,
        values: [plainArray(heard.map(({ message }) => message.reference)), plainArray(heard.map(({ eventNumber }) => eventNumber))],
      })
      for (const { message } of heard) this.#sent.delete(message.reference)
      if (heard.length < due.length) return
    }
  }
}

/** The side that is fixed stays; the other follows from the rate that was promised. */
function fill({ fixedSide, sellAmount, buyAmount, rate, ...pair }: FxOrder): { readonly sold: bigint; readonly bought: bigint } {
  return fixedSide === 'sell' ? { sold: sellAmount, bought: boughtFor(pair, sellAmount, rate) } : { sold: soldFor(pair, buyAmount, rate), bought: buyAmount }
}

/**
 * Sends exchanges to the partner, and books the partner's answers.
 *
 * Promises:
 *  * Each exchange that the partner has to know is a row (`fx_order`), written with the booking and deleted with the
 *    outcome. The node that owns its shard works on it. A node claims the row by moving its time, so that two nodes
 *    that poll at once do not both have it.
 *  * The booking L30 is committed before the order is sent to the partner (I1). An order without an answer becomes an
 *    `exception`: its status is asked for, and it is never sent again (I7). For an order that a dead process may have
 *    sent, the status is asked for first; the order is sent, under the same reference, only when the partner says that
 *    it never arrived.
 *  * Messages may come late, come twice or contradict each other: the first that fits the exchange is booked, and every
 *    message is stored.
 *  * On a connection whose partner does not exchange, the operator itself is the counterparty (L36).
 */
import type { Seeded } from '../../lib/decisions/seeded.ts'
import { queueDelayMs } from '../../lib/sandbox/triggers.ts'
import { MINUTE_MS, dateIn, type Clock } from '../../lib/base/clock.ts'
import type { ExchangeRecord } from '../../lib/exchange/exchange.ts'
import {
  moveExchange,
  type ExchangeCommand,
  type ExchangeMoveContext,
  type ExchangeReply,
} from '../../lib/exchange/moves.ts'
import { boughtFor, soldFor } from '../../lib/exchange/rate.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { refuse, refuseTransition } from '../../lib/base/problems.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { plainArrayOrNull } from '../../storage/db/array-literal.ts'
import type { Database } from '../../storage/db/database.ts'
import { findExchanges, readExchange } from '../../storage/exchange/exchanges.ts'
import { askFxOrdersAt, keepFxMessages, takeDueFxOrders, type DueFxOrder } from '../../storage/exchange/fx-orders.ts'
import type { InternalAccountCache, InternalAccountReader } from '../../storage/journal/internal-account-cache.ts'
import type { Reader } from '../../storage/db/connection.ts'
import { readerOf, through } from '../../storage/db/transaction.ts'
import { loadPayments } from '../../storage/payments/payment-states.ts'
import { isKeptAlready } from '../../storage/providers/provider-events.ts'
import { exchangeActor } from './exchange.ts'
import type { ExceptionSubjectKind } from '../compliance/resolve-exception.ts'
import type { FxInbox, FxMessage, FxOrder, FxPartner, FxStatus, FxSubmission } from '../providers/fx.ts'
import type { Outcome } from '../runtime/actor.ts'
import { Poller } from '../runtime/poller.ts'
import { untilDue } from '../runtime/rest.ts'
import type { Wakes } from '../runtime/wakes.ts'
import type { ActorSystem } from '../runtime/system.ts'

/** The interval between two polls: less than a tenth of the time that an exchange takes. */
const TICK_MS = 250
/** The maximum number of orders that are sent or asked about at once. */
const TAKEN_MAX = LIMITS.partnerBatchMax
/** The claim time of an order: after it, the claim of a dead process no longer counts. */
const TAKEN_MS = 30_000
/** An exchange that the partner has accepted is asked about after this time without a message. */
const SILENCE_MS = 30_000
/** The delay before an exchange of unknown outcome is asked about; it doubles each time, up to the second figure. */
const ASK_MS = 5_000
const ASK_MS_MAX = 15 * MINUTE_MS
/** Attempts to book an outcome: to the credited balance, and then to suspense when that balance is closed. */
const ATTEMPTS_MAX = 2

export interface FxOrdersOptions {
  readonly wakes: Wakes
  readonly system: ActorSystem
  readonly database: Database
  readonly accounts: InternalAccountCache
  readonly partner: FxPartner
  readonly ids: IdSource
  readonly clock: Clock
  readonly shards: Shards
  readonly sandbox: boolean
  /** Receives the payments whose money was bought, for the bank's queue. */
  readonly queue: { offer(paymentId: string, shard: number): void }
  readonly onError: (error: unknown, what: string) => void
}

type Move =
  | { readonly kind: 'settle'; readonly sold: bigint; readonly bought: bigint; readonly netted: boolean }
  | { readonly kind: 'refuse'; readonly reason: string }
  | { readonly kind: 'doubt'; readonly why: 'timeout' | 'unclear' }

/** The reason recorded when the partner refuses without a reason. */
const NO_REASON = 'FX00'

export class FxOrders extends Poller {
  readonly #options: FxOrdersOptions

  constructor(options: FxOrdersOptions) {
    super({
      everyMs: TICK_MS,
      poll: () => this.#poll(),
      rest: untilDue(options, ['fx_order'], ['events']),
      onError: (error) => options.onError(error, 'exchanges that are due'),
    })
    this.#options = options
  }

  /** Takes the partner's messages; resolves with the ids of the messages that need not be sent again. */
  readonly inbox: FxInbox = async (messages) => {
    const { database, clock, onError } = this.#options
    const exchanges = await findExchanges(
      database,
      messages.map(({ reference }) => reference),
    )
    const acknowledged: string[] = []
    const ignored: FxMessage[] = []
    await Promise.all(
      messages.map(async (message) => {
        const exchange = exchanges.get(message.reference)
        // An unknown reference is logged once and acknowledged; otherwise the partner would repeat the message for
        // ever.
        if (exchange === undefined) {
          onError(
            new Error(`The partner reports on ${message.reference}, which is not an exchange of ours.`),
            'message about an exchange',
          )
          acknowledged.push(message.id)
          return
        }
        try {
          const moved = await this.#move(exchange, moveOf(message), message)
          if (moved) acknowledged.push(message.id)
          else ignored.push(message)
        } catch (error) {
          // Not acknowledged, so the partner repeats it. A repeat of a message that was committed meanwhile fits no
          // row.
          if (isKeptAlready(error)) acknowledged.push(message.id)
          else onError(error, `message about exchange ${message.reference}`)
        }
      }),
    )
    if (ignored.length > 0) {
      await keepFxMessages(database, ignored, clock.now())
      acknowledged.push(...ignored.map(({ id }) => id))
    }
    return acknowledged
  }

  async #poll(): Promise<void> {
    const { database, clock, shards } = this.#options
    for (;;) {
      const [now, owned] = [clock.now(), shards.owned()]
      const due = await takeDueFxOrders(database, {
        now,
        until: now + TAKEN_MS,
        shards: plainArrayOrNull(owned),
        max: TAKEN_MAX,
      })
      if (due.length === 0) return
      const exchanges = await findExchanges(
        database,
        due.map(({ exchangeId }) => exchangeId),
      )
      await askFxOrdersAt(
        database,
        await this.#follow(
          due.filter(({ exchangeId }) => exchanges.has(exchangeId)),
          exchanges,
        ),
      )
      if (due.length < TAKEN_MAX) return
    }
  }

  /** Sends each order, or asks for its status. Returns the next due time of each order that is still open. */
  async #follow(
    due: readonly DueFxOrder[],
    exchanges: ReadonlyMap<string, ExchangeRecord>,
  ): Promise<ReadonlyMap<string, number>> {
    const { partner, clock, onError } = this.#options
    const next = new Map<string, number>()
    const exchangeOf = ({ exchangeId }: DueFxOrder): ExchangeRecord => exchanges.get(exchangeId) as ExchangeRecord
    const moving = async (order: DueFxOrder, move: Move) => {
      try {
        const moved = await this.#move(exchangeOf(order), move, null)
        if (!moved || move.kind === 'doubt') next.set(order.exchangeId, this.#later(order))
      } catch (error) {
        onError(error, `exchange ${order.exchangeId}`)
      }
    }
    await Promise.all(
      due
        .filter(({ byPartner }) => !byPartner)
        .map((order) => {
          const { sellAmount, buyAmount } = exchangeOf(order)
          return moving(order, { kind: 'settle', sold: sellAmount, bought: buyAmount, netted: true })
        }),
    )
    const told = due.filter(({ byPartner, sent }) => byPartner && !sent)
    const asked = due.filter(({ byPartner, sent }) => byPartner && sent)
    const statuses =
      asked.length === 0 ? new Map<string, FxStatus>() : await partner.status(asked.map(({ exchangeId }) => exchangeId))
    for (const order of asked) {
      const status = statuses.get(order.exchangeId)
      if (status?.kind === 'settled')
        await moving(order, { kind: 'settle', sold: status.sold, bought: status.bought, netted: false })
      else if (status?.kind === 'refused') await moving(order, { kind: 'refuse', reason: status.reason })
      // A process died before it could send this order. An order that timed out once is not sent again.
      else if (status?.kind === 'unknown' && exchangeOf(order).status === 'processing') told.push(order)
      else next.set(order.exchangeId, this.#later(order))
    }
    if (told.length > 0) {
      const submissions = await partner
        .submit(told.map((order) => orderOf(exchangeOf(order))))
        .catch((error: unknown) => {
          // The outcome of every order is unknown: each becomes an exception, and its status is asked for.
          onError(error, 'sending exchanges to the partner')
          return new Map<string, FxSubmission>()
        })
      await Promise.all(
        told.map(async (order) => {
          if (submissions.get(order.exchangeId) === 'accepted') next.set(order.exchangeId, clock.now() + SILENCE_MS)
          else await moving(order, { kind: 'doubt', why: 'timeout' })
        }),
      )
    }
    return next
  }

  #later({ attempts }: DueFxOrder): number {
    return this.#options.clock.now() + Math.min(ASK_MS * attempts, ASK_MS_MAX)
  }

  /**
   * @returns whether the exchange moved.
   * @throws Overloaded, DatabaseUnavailable or OutcomeUnknown; and the error by which a message is not stored twice
   */
  async #move(exchange: ExchangeRecord, move: Move, message: FxMessage | null): Promise<boolean> {
    // Set once the commit has found that the credited balance is closed.
    let suspenseId: string | undefined
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const outcome = await this.#ask(exchange, move, message, suspenseId)
      if (outcome.kind === 'decided') {
        if (outcome.reply.kind === 'ignored') return false
        offer(this.#options, outcome.reply)
        return true
      }
      if (outcome.kind !== 'credit_refused') throw new Error(`Moving an exchange met ${outcome.kind}.`)
      suspenseId ??= this.#options.ids.next()
    }
    throw new Error(`The money of the exchange ${exchange.id} is refused even in suspense.`)
  }

  async #ask(
    exchange: ExchangeRecord,
    move: Move,
    message: FxMessage | null,
    suspenseId: string | undefined,
  ): Promise<Outcome<ExchangeReply>> {
    const { system, ids } = this.#options
    const context = await exchangeContext({ ...this.#options, reader: readerOf(this.#options.database) }, exchange)
    const command: Seeded<ExchangeCommand> = {
      ...move,
      seed: ids.next(),
      message: message === null ? null : { id: message.id, type: message.type },
      context,
      ...(suspenseId === undefined ? {} : { suspenseId }),
    }
    return await system.ask(exchangeActor, exchange.id, exchange.shard, command)
  }
}

/**
 * Reads the context that a move of an exchange needs: the accounts of its connection, and the customer's deposits where
 * one was used.
 */
export async function exchangeContext(
  {
    accounts,
    clock,
    sandbox,
    reader,
  }: Pick<FxOrdersOptions, 'clock' | 'sandbox'> & {
    readonly accounts: InternalAccountReader
    readonly reader: Reader
  },
  exchange: ExchangeRecord,
): Promise<Omit<ExchangeMoveContext, 'ids'>> {
  const { operatorId, connectionId, customerId, sellCurrency, buyCurrency, depositUsed, paymentId } = exchange
  const scope = { operatorId, connectionId, currency: sellCurrency }
  const [sell, buy] = await Promise.all([
    depositUsed > 0n ? accounts.accountsWith(scope, 'fx_deposit', customerId) : accounts.accounts(scope),
    accounts.accounts({ operatorId, connectionId, currency: buyCurrency }),
  ])
  return {
    accounts: { sell, buy },
    valueDate: dateIn(clock.now(), 'UTC'),
    sandbox,
    queueDelayMs: sandbox && paymentId !== null ? await delayOf(reader, paymentId) : 0,
  }
}

/** Reads how long the sandbox keeps a payment in the queue, milliseconds. */
async function delayOf(reader: Reader, paymentId: string): Promise<number> {
  const payment = (await loadPayments(reader, [paymentId], false)).get(paymentId)
  if (payment === undefined) return 0
  const { amount: amountMinor, reference, recipientName } = payment
  return queueDelayMs({ amountMinor, reference, recipientName })
}

/** The move that a message requires. */
export function moveOf({ type, sold, bought, reason }: FxMessage): Move {
  switch (type) {
    case 'settled':
      return { kind: 'settle', sold: sold ?? 0n, bought: bought ?? 0n, netted: false }
    case 'refused':
      return { kind: 'refuse', reason: reason ?? NO_REASON }
    case 'unclear':
      return { kind: 'doubt', why: 'unclear' }
    default:
      return type satisfies never
  }
}

function orderOf({
  id,
  shard,
  connectionId,
  sellCurrency,
  buyCurrency,
  fixedSide,
  sellAmount,
  buyAmount,
  partnerRate,
}: ExchangeRecord): FxOrder {
  return {
    reference: id,
    shard,
    connectionId,
    sellCurrency,
    buyCurrency,
    fixedSide,
    sellAmount,
    buyAmount,
    rate: partnerRate,
  }
}

/** Offers the payment whose money was bought to the bank's queue, after the commit. */
function offer({ queue }: Pick<FxOrdersOptions, 'queue'>, { queued }: Extract<ExchangeReply, { kind: 'moved' }>): void {
  if (queued !== null) queue.offer(queued.id, queued.shard)
}

/**
 * Applies the resolution of an exception by staff to the exchange and its payment: the same step as the partner's own
 * message.
 */
export function exchangeExceptions({
  accounts,
  sandbox,
  queue,
}: Pick<FxOrdersOptions, 'sandbox' | 'queue'> & {
  readonly accounts: Pick<InternalAccountCache, 'within'>
}): ExceptionSubjectKind {
  return {
    async resolved({ client, ids, now }, { subjectId }, outcome, _, suspenseId) {
      if (outcome === 'returned') {
        const message = 'An exchange does not come back; it was settled or it has failed.'
        refuse('validation-error', message, { errors: [{ field: '/outcome', code: 'not_applicable', message }] })
      }
      // Lock order: balances and payments before exchanges. The versions are the fence.
      const state = await readExchange(client, subjectId)
      if (state === null) throw new Error(`The exchange ${subjectId} does not exist.`)
      const { exchange } = state
      const context = await exchangeContext(
        {
          accounts: accounts.within(client),
          sandbox,
          clock: { now: () => now },
          reader: readerOf(through(client)),
        },
        exchange,
      )
      const move: Move =
        outcome === 'failed'
          ? { kind: 'refuse', reason: NO_REASON }
          : { kind: 'settle', ...promised(exchange), netted: false }
      const { reply, effects } = moveExchange(
        state,
        { ...move, message: null, context: { ...context, ids }, ...(suspenseId === undefined ? {} : { suspenseId }) },
        now,
      )
      if (reply.kind === 'moved') return { effects: effects ?? {}, after: () => offer({ queue }, reply) }
      refuseTransition(`The exchange is ${reply.status ?? 'gone'}.`, reply.status, ['exception'])
    },
  }
}

/** The amounts that the partner books when it keeps its promised rate. */
function promised({ fixedSide, sellAmount, buyAmount, partnerRate, sellCurrency, buyCurrency }: ExchangeRecord): {
  readonly sold: bigint
  readonly bought: bigint
} {
  const pair = { sellCurrency, buyCurrency }
  return fixedSide === 'sell'
    ? { sold: sellAmount, bought: boughtFor(pair, sellAmount, partnerRate) }
    : { sold: soldFor(pair, buyAmount, partnerRate), bought: buyAmount }
}

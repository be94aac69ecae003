/** Moves payments through their actors, for the queue and for the orders at the bank. */
import type { Described } from '../../lib/decisions/seeded.ts'
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { railDate } from '../../lib/rails/business-days.ts'
import type {
  PaymentMoveContext,
  PaymentCommand,
  PaymentReply,
  PaymentState,
} from '../../lib/payments/payment-state.ts'
import type { RecallCommand } from '../../lib/payments/recall.ts'
import type { Database } from '../../storage/db/database.ts'
import type { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import { homesOfPayments, placesOfPayments, type PaymentPlace } from '../../storage/payments/partner-instructions.ts'
import { loadPayments } from '../../storage/payments/payment-states.ts'
import { paymentActor } from './payment.ts'
import type { Outcome } from '../runtime/actor.ts'
import type { ActorSystem } from '../runtime/system.ts'
import { readerOf } from '../../storage/db/transaction.ts'
import type { Rail } from '../../lib/rails/rails.ts'

/** The facts that a move of a payment needs beside its state, with the payment's rail. */
export interface PaymentContext extends Omit<PaymentMoveContext, 'ids'> {
  /** The connection that the payment had when the context was read. */
  readonly connectionId: string
  readonly currency: string
  readonly rail: Rail
  /** Whether the balance that pays is frozen, or its customer does not pay at present. */
  readonly isStopped: boolean
}

/** Moves of one balance between connections that a return outlasts: far more than staff make within a second. */
const MOVES_MAX = 5

/** A move of a payment or of its recall, before it gets its seed. */
export type PaymentMove = Described<PaymentCommand | RecallCommand>

export interface PaymentMoverOptions {
  readonly system: ActorSystem
  readonly database: Database
  readonly accounts: InternalAccountCache
  readonly ids: IdSource
  readonly clock: Clock
}

export class PaymentMover {
  readonly #options: PaymentMoverOptions

  constructor(options: PaymentMoverOptions) {
    this.#options = options
  }

  /**
   * Asks a payment for a move. When a credited balance has been closed, a booking becomes a failure, and returned money
   * goes to suspense. When the balance to which money returns has moved to another connection, its place is read again.
   * A payment at rest leaves memory.
   *
   * @throws what the actor system throws
   */
  async ask(id: string, shard: number, command: PaymentMove, moves = 0): Promise<Outcome<PaymentReply>> {
    const { system, ids } = this.#options
    const outcome = await system.ask(paymentActor, id, shard, { ...command, seed: ids.next() })
    if (outcome.kind === 'credit_refused' && command.kind === 'book')
      return await this.ask(id, shard, { kind: 'payee_closed' })
    if (outcome.kind === 'credit_refused' && 'suspenseId' in command === false && givesBack(command))
      return await this.ask(id, shard, { ...command, suspenseId: ids.next() })
    if (outcome.kind === 'fact_stale' && command.kind === 'returned') {
      const context = (await this.contextsOf([id])).get(id)
      if (context === undefined || moves === MOVES_MAX) throw new Error(`The balance of payment ${id} keeps moving.`)
      return await this.ask(id, shard, { ...command, context }, moves + 1)
    }
    if (outcome.kind === 'decided' && outcome.reply.kind === 'moved' && isAtRest(outcome.reply.state))
      system.forget('payment', id)
    return outcome
  }

  /** Reads the stored states of payments. Payments that do not exist are absent. */
  async statesOf(ids: readonly string[]): Promise<Map<string, PaymentState>> {
    return await loadPayments(readerOf(this.#options.database), ids, false)
  }

  /**
   * Reads the context that a hand-over of each payment needs beside its state, and a refusal of it: no cash moves between
   * connections then. Payments that do not exist are absent.
   */
  async handOverContextsOf(ids: readonly string[]): Promise<Map<string, PaymentContext>> {
    return await this.#contexts(await placesOfPayments(this.#options.database, ids))
  }

  /** Reads the context that any move of each payment needs beside its state. Payments that do not exist are absent. */
  async contextsOf(ids: readonly string[]): Promise<Map<string, PaymentContext>> {
    return await this.#contexts(await homesOfPayments(this.#options.database, ids))
  }

  async #contexts(places: readonly PaymentPlace[]): Promise<Map<string, PaymentContext>> {
    const { accounts, clock } = this.#options
    const now = clock.now()
    const contexts = new Map<string, PaymentContext>()
    for (const { id, operatorId, connectionId, currency, rail, isStopped, homeConnectionId: home } of places) {
      const at = async (connection: string) =>
        await accounts.accounts({ operatorId, connectionId: connection, currency })
      contexts.set(id, {
        accounts: await at(connectionId),
        ...(home === null ? {} : { home: { connectionId: home, accounts: await at(home) } }),
        connectionId,
        valueDate: railDate(rail, now),
        currency,
        rail,
        isStopped,
      })
    }
    return contexts
  }
}

/** Whether a command credits the paying balance with returned money; the balance may have been closed since. */
const givesBack = (
  command: PaymentMove,
): command is Extract<PaymentMove, { kind: 'returned' | 'rejected' | 'refused' }> =>
  command.kind === 'returned' || command.kind === 'rejected' || command.kind === 'refused'

/** Whether the queue has nothing more to do for the payment, at least for a while. */
const isAtRest = ({ status }: PaymentState): boolean =>
  status === 'completed' ||
  status === 'failed' ||
  status === 'returned' ||
  status === 'cancelled' ||
  status === 'on_hold'

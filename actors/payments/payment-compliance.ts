/**
 * Compliance of payments: the gate that every payment passes before it is submitted to the partner, and what becomes of
 * a held payment when staff decide. The screener gets a batch of payments at once, and returns a hit for each payment
 * that must not leave yet.
 *
 * The gate costs the database no extra reads: it screens the states in the cache of the payment actors, and puts the
 * states that it had to read into that cache. Only for hits it looks up whether staff have released the payment before.
 */
import type { Screener, ScreeningGate, ScreeningHit, ScreeningSubject } from '../../lib/compliance/screening.ts'
import type { PaymentState } from '../../lib/payments/payment-state.ts'
import { releasedSubjects } from '../../storage/compliance/compliance-holds.ts'
import type { Database } from '../../storage/db/database.ts'
import { loadPayments, readPayment } from '../../storage/payments/payment-states.ts'
import { paymentActor } from './payment.ts'
import type { ActorSystem } from '../runtime/system.ts'
import { readerOf } from '../../storage/db/transaction.ts'
import { movePayment } from '../../lib/payments/payment-moves.ts'
import type { HeldSubjectKind } from '../compliance/compliance-holds.ts'

export interface ComplianceGateOptions {
  readonly screener: Screener
  readonly database: Database
  readonly system: Pick<ActorSystem, 'recall' | 'remember'>
}

export class ComplianceGate implements ScreeningGate {
  readonly #options: ComplianceGateOptions

  constructor(options: ComplianceGateOptions) {
    this.#options = options
  }

  /**
   * Screens payments. Returns the hits by payment; payments that may leave are absent.
   *
   * @throws when the screener does not answer, or the driver throws: none of the payments may leave then
   */
  async hits(
    payments: readonly { readonly id: string; readonly shard: number }[],
  ): Promise<ReadonlyMap<string, ScreeningHit>> {
    return await this.screen(await this.#states(payments))
  }

  /** Screens other subjects in the same way. Returns the hits that staff have not released, by subject. */
  async screen(subjects: readonly ScreeningSubject[]): Promise<ReadonlyMap<string, ScreeningHit>> {
    const hits = await this.#options.screener.screen(subjects)
    if (hits.size === 0) return hits
    const released = await releasedSubjects(this.#options.database, [...hits.keys()])
    return new Map([...hits].filter(([id]) => !released.has(id)))
  }

  async #states(
    payments: readonly { readonly id: string; readonly shard: number }[],
  ): Promise<readonly PaymentState[]> {
    const { system, database } = this.#options
    const known: PaymentState[] = []
    const unknown: string[] = []
    for (const { id } of payments) {
      const state = system.recall(paymentActor, id)
      if (state === undefined) unknown.push(id)
      else if (state !== null) known.push(state)
    }
    if (unknown.length === 0) return known
    const read = await loadPayments(readerOf(database), unknown, false)
    for (const state of read.values()) system.remember(paymentActor, state.id, state.shard, state)
    return [...known, ...read.values()]
  }
}

/**
 * Payments as the subjects of compliance holds: a released payment waits for the partner again, a blocked payment has
 * failed.
 */
export function heldPayment({
  queue,
}: {
  readonly queue: { offer(id: string, shard: number): void }
}): HeldSubjectKind {
  return {
    async decided({ client, ids, now }, { subjectId }, decision, { freezeFunds }) {
      const payment = await readPayment(client, subjectId)
      const { reply, effects } = movePayment(
        payment,
        decision === 'released'
          ? { kind: 'release', context: { ids } }
          : { kind: 'block', freezeFunds, context: { ids } },
        now,
      )
      // A payment leaves `on_hold` with its hold and in no other way, so this would be a bug.
      if (reply.kind !== 'moved') throw new Error(`The payment ${subjectId} is ${reply.status ?? 'gone'}, not on_hold.`)
      return {
        effects: effects ?? {},
        ...(decision === 'released' ? { after: () => queue.offer(reply.state.id, reply.state.shard) } : {}),
      }
    },
  }
}

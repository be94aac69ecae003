/**
 * Payments that are being submitted through connections outside of this process. A bank may take its time for each of
 * them, so no batch of the queue waits for it: each connection has a lane of its own, and a lane that is full takes no
 * more until half of it is free. A lane is full with two batches, as the queue is with those of the process itself.
 */
import { LIMITS } from '../../lib/base/limits.ts'
import { ON_PLATFORM_RAIL } from '../../lib/rails/rails.ts'
import type { BankPartner } from './bank.ts'

/** A payment on its way to its partner. */
interface Submitted {
  readonly id: string
  readonly connectionId: string
}

const LANE_MAX = 2 * LIMITS.partnerBatchMax

export interface PartnerLanesOptions {
  readonly bank: Pick<BankPartner, 'isOutside'>
  /** Looks after work that is not waited for, whose errors are its own matter. */
  readonly background: (work: Promise<void>) => void
  /** Called when a lane that was full has room again. */
  readonly onRoom: () => void
}

export class PartnerLanes {
  readonly #options: PartnerLanesOptions
  readonly #underWay = new Map<string, Set<string>>()
  /** By connection with a full lane: the connection, currency and rail of the payments that were passed over. */
  readonly #full = new Map<string, Set<string>>()

  constructor(options: PartnerLanesOptions) {
    this.#options = options
  }

  /** The payments that are passed over at present: connections, each with a currency and a rail (`id EUR sepa`). */
  get crowded(): readonly string[] {
    return [...this.#full.values()].flatMap((keys) => [...keys])
  }

  /** Whether a payment is passed over, because the lane of its connection is full. */
  passesOver({
    connectionId,
    currency,
    rail,
  }: {
    readonly connectionId: string
    readonly currency: string
    readonly rail: string
  }): boolean {
    // No partner carries payments within the platform.
    if (rail === ON_PLATFORM_RAIL) return false
    return this.#full.get(connectionId)?.add(`${connectionId} ${currency} ${rail}`) !== undefined
  }

  /** Whether a payment is being submitted. */
  has(id: string): boolean {
    for (const lane of this.#underWay.values()) if (lane.has(id)) return true
    return false
  }

  /**
   * Submits payments. Those of connections within this process are waited for; the others of each connection by
   * themselves, in the background.
   *
   * @throws what `submit` throws for payments of connections within this process
   */
  async submit<Payment extends Submitted>(
    payments: readonly Payment[],
    submit: (payments: readonly Payment[]) => Promise<void>,
  ): Promise<void> {
    const { bank, background } = this.#options
    const isOutside = ({ connectionId }: Submitted): boolean => bank.isOutside?.(connectionId) === true
    if (!payments.some(isOutside)) return await submit(payments)
    for (const [connectionId, of] of Map.groupBy(payments.filter(isOutside), (payment) => payment.connectionId))
      background(this.#run(connectionId, of, submit))
    const inside = payments.filter((payment) => !isOutside(payment))
    if (inside.length > 0) await submit(inside)
  }

  async #run<Payment extends Submitted>(
    connectionId: string,
    payments: readonly Payment[],
    submit: (payments: readonly Payment[]) => Promise<void>,
  ): Promise<void> {
    const lane = this.#underWay.get(connectionId) ?? new Set()
    this.#underWay.set(connectionId, lane)
    for (const { id } of payments) lane.add(id)
    if (lane.size >= LANE_MAX && !this.#full.has(connectionId)) this.#full.set(connectionId, new Set())
    try {
      await submit(payments)
    } finally {
      for (const { id } of payments) lane.delete(id)
      if (lane.size === 0) this.#underWay.delete(connectionId)
      if (lane.size <= LANE_MAX / 2 && this.#full.delete(connectionId)) this.#options.onRoom()
    }
  }
}

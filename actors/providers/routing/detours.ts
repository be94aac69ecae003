/**
 * Finds other connections for payments whose own connection does not take them: it is closed for new work before
 * anything was sent, or it has refused the payment for certain before accepting it. A payment of unknown outcome is never
 * brought here, because it may have left.
 */
import type { Detour } from '../../../lib/payments/payment-state.ts'
import type { Database } from '../../../storage/db/database.ts'
import type { InternalAccountCache } from '../../../storage/journal/internal-account-cache.ts'
import { readReroutable, type ReroutablePayment } from '../../../storage/payments/reroutable-payments.ts'
import type { RoutingTable } from './routing-table.ts'

/** Connections that may refuse one payment; then it fails. */
const REFUSALS_MAX = 3

export interface DetoursOptions {
  readonly database: Database
  readonly accounts: Pick<InternalAccountCache, 'accounts'>
  readonly routing: RoutingTable
}

/**
 * The way of a payment whose connection is closed. `own`: it drains, and no other takes the payment, so the payment is
 * finished there. `wait`: no connection takes it now.
 */
export type WayOut = { readonly kind: 'detour'; readonly to: Detour } | { readonly kind: 'own' | 'wait' }

export class Detours {
  readonly #options: DetoursOptions

  constructor(options: DetoursOptions) {
    this.#options = options
  }

  /** Whether a connection is sent nothing new at present. */
  isClosed(connectionId: string): boolean {
    return this.#options.routing.isClosed(connectionId)
  }

  /** Calls the listener when connections may have opened or closed. */
  onChange(listener: () => void): void {
    this.#options.routing.onChange(listener)
  }

  /** Finds the ways of payments that were not handed over, by their ids. @throws what the driver throws */
  async beforeHandOver(ids: readonly string[]): Promise<ReadonlyMap<string, WayOut>> {
    const { database, routing } = this.#options
    const ways = new Map<string, WayOut>()
    for (const payment of await readReroutable(database, ids)) {
      const to = await this.#detour(payment, new Set(payment.routing?.refusedBy), false)
      const kind = routing.isFinishing(payment.operatorId, payment.connectionId) ? 'own' : 'wait'
      ways.set(payment.id, to === null ? { kind } : { kind: 'detour', to })
    }
    return ways
  }

  /** Finds other connections for payments that theirs has refused; payments without one are absent. */
  async afterRefusal(ids: readonly string[]): Promise<ReadonlyMap<string, Detour>> {
    const detours = new Map<string, Detour>()
    for (const payment of await readReroutable(this.#options.database, ids)) {
      const refusedBy = new Set([...(payment.routing?.refusedBy ?? []), payment.connectionId])
      const to = refusedBy.size > REFUSALS_MAX ? null : await this.#detour(payment, refusedBy, true)
      if (to !== null) detours.set(payment.id, to)
    }
    return detours
  }

  async #detour(
    payment: ReroutablePayment,
    refusedBy: ReadonlySet<string>,
    afterRefusal: boolean,
  ): Promise<Detour | null> {
    const { accounts, routing } = this.#options
    const { operatorId, connectionId: own, currency } = payment
    const decision = await routing.decide(operatorId, payment, { canUse: () => false, refusedBy })
    const { connectionId } = decision
    if (!decision.isOpen || connectionId === own) return null
    const why = routing.describe(operatorId, own, afterRefusal)
    const kept = routing.keep(
      { ...decision, reason: decision.reason === why ? why : `${why} ${decision.reason}` },
      payment,
      refusedBy,
    )
    return {
      connectionId,
      accounts: await accounts.accounts({ operatorId, connectionId, currency }),
      routing: JSON.stringify(kept),
      occurrence: Math.max(1, refusedBy.size),
      afterRefusal,
    }
  }
}

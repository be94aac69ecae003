/**
 * Confirmations of payments: rendered when somebody first asks, then kept, one for each version of the payment. Those who ask
 * at the same time wait for one rendering.
 */
import { isConfirmed, paymentConfirmation } from '../lib/payments/confirmation.ts'
import type { PaymentRecord } from '../lib/payments/payment.ts'
import { refuse } from '../lib/problems.ts'
import { findConfirmation, keepConfirmation, partyOf } from '../storage/confirmations.ts'
import type { Database } from '../storage/database.ts'
import { findPayment } from '../storage/queries/payments.ts'
import type { RenderConfirmation } from '../workers/pool.ts'
import type { Tenant } from './world.ts'

/** A document as it is handed out. */
export interface PaymentConfirmation {
  readonly version: number
  /** Order number of the payment. */
  readonly number: string
  readonly pdf: Uint8Array
}

export interface PaymentConfirmations {
  /** Null when the payment is not the tenant's. @throws ProblemError `confirmation-not-available` */
  ofPayment(tenant: Tenant, paymentId: string): Promise<PaymentConfirmation | null>
}

export interface ConfirmationWorld {
  readonly database: Database
  readonly clock: { now(): number }
  readonly render: RenderConfirmation
}

export function createPaymentConfirmations({ database, clock, render }: ConfirmationWorld): PaymentConfirmations {
  /** Renderings under way, by payment and version. */
  const underWay = new Map<string, Promise<Uint8Array>>()

  async function make(payment: PaymentRecord): Promise<Uint8Array> {
    const { id: objectId, version, customerId, sourceBalanceId } = payment
    const kept = await findConfirmation(database, objectId, version)
    if (kept !== null) return kept
    const pdf = await render(paymentConfirmation(payment, await partyOf(database, sourceBalanceId)))
    return await keepConfirmation(database, { objectId, version, customerId, now: clock.now() }, pdf)
  }

  return {
    async ofPayment(tenant, paymentId) {
      const payment = await findPayment(database, paymentId)
      if (payment === null || payment.customerId !== tenant.id) return null
      if (!isConfirmed(payment)) refuse('confirmation-not-available', `The payment is ${payment.status}; it is confirmed when it has completed.`)
      const { version, number } = payment
      const key = `${paymentId} ${version}`
      const making = underWay.get(key) ?? make(payment).finally(() => underWay.delete(key))
      underWay.set(key, making)
      return { version, number, pdf: await making }
    },
  }
}

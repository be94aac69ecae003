/**
 * Confirmations of payments, exchanges and transactions. A confirmation is rendered on the first request and then
 * stored, one for each version of its object. Requests at the same time wait for one rendering, which alone is counted
 * against the customer's limit of exports.
 */
import type { Confirmation } from '../../lib/documents/confirmation-page.ts'
import { exchangeConfirmation, isExchangeConfirmed } from '../../lib/exchange/confirmation.ts'
import { isConfirmed, paymentConfirmation } from '../../lib/payments/confirmation.ts'
import { refuse } from '../../lib/base/problems.ts'
import { confirmationId, isBooked, transactionConfirmation } from '../../lib/transactions/confirmation.ts'
import { findConfirmation, keepConfirmation, partyOf } from '../../storage/documents/confirmations.ts'
import type { Database } from '../../storage/db/database.ts'
import { findExchange } from '../../storage/exchange/exchanges.ts'
import { findPayment } from '../../storage/payments/payment-queries.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { findTransaction } from '../../storage/transactions/transaction-queries.ts'
import type { RenderConfirmation } from '../../workers/pool/pool.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

/** A document as it is answered. */
export interface ConfirmationDocument {
  readonly version: number
  /** The order number of the confirmed payment or exchange. */
  readonly number: string
  readonly pdf: Uint8Array
}

/** Counts a rendering. @throws ProblemError `rate-limited` */
export type CountRendering = (customerId: string) => void

export interface Confirmations {
  /** Null when the payment is not the tenant's. @throws ProblemError `confirmation-not-available` */
  ofPayment(tenant: Tenant, paymentId: string, count: CountRendering): Promise<ConfirmationDocument | null>
  /** Null when the exchange is not the tenant's. @throws ProblemError `confirmation-not-available` */
  ofExchange(tenant: Tenant, exchangeId: string, count: CountRendering): Promise<ConfirmationDocument | null>
  /** Confirms any booked transaction, with the same rules. */
  ofTransaction(tenant: Tenant, transactionId: string, count: CountRendering): Promise<ConfirmationDocument | null>
}

export interface ConfirmationDeps {
  readonly database: Database
  readonly clock: { now(): number }
  readonly render: RenderConfirmation
}

/** The payment or exchange to confirm. */
interface Subject {
  readonly id: string
  readonly version: number
  readonly number: string
  readonly customerId: string
}

export function createConfirmations({ database, clock, render }: ConfirmationDeps): Confirmations {
  const db = readDatabase(database)
  /** The renderings in progress, by object and version. */
  const underWay = new Map<string, Promise<Uint8Array>>()

  async function make(
    { id: objectId, version, customerId }: Subject,
    content: () => Promise<Confirmation>,
    count: CountRendering,
  ): Promise<Uint8Array> {
    const kept = await findConfirmation(database, objectId, version)
    if (kept !== null) return kept
    count(customerId)
    return await keepConfirmation(
      database,
      { objectId, version, customerId, now: clock.now() },
      await render(await content()),
    )
  }

  async function documentOf(
    subject: Subject,
    content: () => Promise<Confirmation>,
    count: CountRendering,
  ): Promise<ConfirmationDocument> {
    const { version, number } = subject
    const key = `${subject.id} ${version}`
    const making = underWay.get(key) ?? make(subject, content, count).finally(() => underWay.delete(key))
    underWay.set(key, making)
    return { version, number, pdf: await making }
  }

  return {
    async ofTransaction(tenant, transactionId, count) {
      const record = await findTransaction(database, db, tenant, transactionId, clock.now())
      if (record === null) return null
      if (!isBooked(record))
        refuse('confirmation-not-available', `The transaction is ${record.status}; it is confirmed when it is booked.`)
      const subject = {
        id: confirmationId(record.id),
        version: Number(record.version),
        number: record.orderId ?? record.id,
        customerId: record.customerId,
      }
      const content = async () => {
        const party = await partyOf(database, record.balanceId)
        return transactionConfirmation(record, party.accountName, party)
      }
      return await documentOf(subject, content, count)
    },
    async ofPayment(tenant, paymentId, count) {
      const payment = await findPayment(database, paymentId)
      if (payment === null || payment.customerId !== tenant.id) return null
      if (!isConfirmed(payment))
        refuse('confirmation-not-available', `The payment is ${payment.status}; it is confirmed when it has completed.`)
      const content = async () => paymentConfirmation(payment, await partyOf(database, payment.sourceBalanceId))
      return await documentOf(payment, content, count)
    },
    async ofExchange(tenant, exchangeId, count) {
      const exchange = await findExchange(database, exchangeId)
      if (exchange === null || exchange.customerId !== tenant.id) return null
      if (!isExchangeConfirmed(exchange))
        refuse(
          'confirmation-not-available',
          `The exchange is ${exchange.status}; it is confirmed when it has completed.`,
        )
      const content = async () =>
        exchangeConfirmation(exchange, {
          sell: await partyOf(database, exchange.sellBalanceId),
          buy: await partyOf(database, exchange.buyBalanceId),
        })
      return await documentOf(exchange, content, count)
    },
  }
}

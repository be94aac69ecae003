/**
 * Money that the messages about orders move in the book of the sandbox bank: returns, and credits of its own accounts.
 */
import type { Clock } from '../../lib/base/clock.ts'
import { dateIn } from '../../lib/base/clock.ts'
import type { PlanStep } from '../../lib/sandbox/plan-steps.ts'
import type { Database } from '../../storage/db/database.ts'
import { insertSandboxBookings, sandboxDeliveries } from '../../storage/sandbox/sandbox-book.ts'
import { insertCreditAnnouncements } from '../../storage/sandbox/sandbox-messages.ts'
import { creditBody } from './sandbox-credits.ts'
import type { BankMessage } from '../providers/bank.ts'
import { messageId } from './sandbox-order-plan.ts'

/** A message that is due that is due, with the steps after it. */
export interface Due {
  readonly message: BankMessage
  readonly eventNumber: number
  readonly later: readonly PlanStep[]
  /** When the bank booked the event of the message, in epoch milliseconds. */
  readonly bookedAt: number
  /** Account of the booking; null for an order that was taken before orders had connections. */
  readonly account: { readonly connectionId: string; readonly currency: string } | null
  /** The creditor's account at this bank; null for an account at another bank. */
  readonly creditorAccount: string | null
}

/** Books returned money before its message is sent; the id of the message makes sure that it is booked once. */
export async function bookReturns(database: Database, due: readonly Due[]): Promise<void> {
  const returned = due.flatMap(({ message: { id, type, reference, amount }, bookedAt, account }) =>
    type !== 'returned' || amount === null || account === null
      ? []
      : [
          {
            id,
            ...account,
            reference,
            direction: 'CRDT' as const,
            amount,
            at: bookedAt,
            code: 'RRTN',
            text: null,
          },
        ],
  )
  if (returned.length > 0) await insertSandboxBookings(database, returned)
}

/**
 * Announces settled orders to accounts at this bank as credits, once each; not orders that are planned to come back.
 */
export async function creditArrivals(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  heard: readonly Due[],
): Promise<void> {
  const arrived = heard.filter(
    ({ message, creditorAccount, later }) =>
      message.type === 'settled' && creditorAccount !== null && !later.some(({ event }) => event === 'returned'),
  )
  if (arrived.length === 0) return
  const credits = await sandboxDeliveries(
    database,
    arrived.map(({ message }) => message.reference),
    dateIn(clock.now(), 'UTC'),
  )
  if (credits.length === 0) return
  await insertCreditAnnouncements(
    database,
    credits.map(({ paymentId, shard, connectionId, account, credit }) => ({
      id: messageId(paymentId, DELIVERY_EVENT),
      shard,
      reference: arrivalId({ paymentId }),
      body: creditBody({
        connectionId,
        account,
        credit: { ...credit, reference: arrivalId({ paymentId: credit.reference }) },
      }),
    })),
    clock.now(),
  )
  await insertSandboxBookings(
    database,
    credits.map(({ paymentId, connectionId, credit }) => ({
      id: messageId(paymentId, DELIVERY_EVENT),
      connectionId,
      currency: credit.currency,
      reference: arrivalId({ paymentId }),
      direction: 'CRDT' as const,
      amount: credit.amount,
      at: clock.now(),
      code: 'RCDT',
      text: credit.remittance,
    })),
  )
}

/**
 * Event numbers of the messages about the credit that results from an order; an order never has so many messages
 * itself.
 */
const DELIVERY_EVENT = 0x800
const ARRIVAL_EVENT = 0x801

/** Returns the bank's reference of the credit that results from an order. */
const arrivalId = ({ paymentId }: { readonly paymentId: string }): string => messageId(paymentId, ARRIVAL_EVENT)

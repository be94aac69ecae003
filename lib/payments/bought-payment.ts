/** The payment that an exchange buys for, moved as the exchange ends. */
import type { BoughtFor, BoughtForContext } from '../exchange/bought-for.ts'
import type { PaymentPart } from '../exchange/effects.ts'
import type { CalendarTerms } from '../rails/business-days.ts'
import { awaitsExchange } from './move-parts.ts'
import { movePayment } from './payment-moves.ts'
import type { PaymentCommand, PaymentState } from './payment-state.ts'
import { dueTiming } from '../rails/timing.ts'

/** A payment as it was read with its exchange. */
export class BoughtPayment implements BoughtFor {
  readonly payment: PaymentState
  /** `YYYY-MM-DD` */
  readonly executionDate: string
  /** The bank's days; null where they are ignored. */
  readonly calendar: CalendarTerms | null

  constructor(payment: PaymentState, executionDate: string, calendar: CalendarTerms | null) {
    this.payment = payment
    this.executionDate = executionDate
    this.calendar = calendar
  }

  get paymentId(): string { return this.payment.id }

  after(outcome: 'settled' | 'refused', context: BoughtForContext, now: number): Exclude<PaymentPart, 'waits'> {
    const { payment } = this
    if (!awaitsExchange(payment)) return {}
    const { ids } = context
    const command: PaymentCommand = outcome === 'refused' ? { kind: 'unfunded', context: { ids } } : { kind: 'funded', context: { ids, notBefore: this.#notBefore(context, now) } }
    return movePayment(payment, command, now).effects ?? {}
  }

  /** Until when the payment is not handed over: its connection keeps cut-offs and its day has not come, or a sandbox keeps it waiting. */
  #notBefore({ queueDelayMs }: BoughtForContext, now: number): number | undefined {
    const { rail, amount, reference, recipientName } = this.payment
    const dueAt = this.calendar === null ? now : dueTiming(rail, this.executionDate, this.calendar, now).dueAt
    const at = Math.max(dueAt, now + queueDelayMs({ amountMinor: amount, reference, recipientName }))
    return at > now ? at : undefined
  }
}

/** The payment that an exchange buys currency for; it is moved when the exchange ends. */
import type { BoughtFor, BoughtForContext } from '../exchange/bought-for.ts'
import type { PaymentPart } from '../exchange/effects.ts'
import type { CalendarTerms } from '../rails/business-days.ts'
import { awaitsExchange } from './move-parts.ts'
import { movePayment } from './payment-moves.ts'
import type { PaymentCommand, PaymentState } from './payment-state.ts'
import { dueTiming } from '../rails/timing.ts'

/** A payment, read together with its exchange. */
export class BoughtPayment implements BoughtFor {
  readonly payment: PaymentState
  /** `YYYY-MM-DD` */
  readonly executionDate: string
  /** The business days of the bank connection; null where the connection ignores them. */
  readonly calendar: CalendarTerms | null

  constructor(payment: PaymentState, executionDate: string, calendar: CalendarTerms | null) {
    this.payment = payment
    this.executionDate = executionDate
    this.calendar = calendar
  }

  get paymentId(): string {
    return this.payment.id
  }

  after(outcome: 'settled' | 'refused', context: BoughtForContext, now: number): Exclude<PaymentPart, 'waits'> {
    const { payment } = this
    if (!awaitsExchange(payment)) return {}
    const { ids } = context
    const command: PaymentCommand =
      outcome === 'refused'
        ? { kind: 'unfunded', context: { ids } }
        : { kind: 'funded', context: { ids, notBefore: this.#notBefore(context, now) } }
    return movePayment(payment, command, now).effects ?? {}
  }

  /**
   * Returns the earliest hand-over, epoch milliseconds: the execution day where the connection keeps cut-offs, or the
   * end of the sandbox's queue delay. Undefined: at once.
   */
  #notBefore({ queueDelayMs }: BoughtForContext, now: number): number | undefined {
    const { rail } = this.payment
    const dueAt = this.calendar === null ? now : dueTiming(rail, this.executionDate, this.calendar, now).dueAt
    const at = Math.max(dueAt, now + queueDelayMs)
    return at > now ? at : undefined
  }
}

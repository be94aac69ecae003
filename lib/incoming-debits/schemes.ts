/**
 * The terms of each direct debit scheme on the payer's side: its currency, the zone in which a due date begins, whether
 * the payer has to confirm a mandate first, and how long the payer may have a debit refunded.
 */
import type { CurrencyCode } from '../base/currency.ts'

export const INCOMING_DEBIT_SCHEMES = ['sepa_dd_core', 'sepa_dd_b2b', 'bacs_dd', 'ach_debit', 'becs_dd', 'pad'] as const
export type IncomingDebitScheme = (typeof INCOMING_DEBIT_SCHEMES)[number]

/** The reasons for which a payer has a debit refunded: an authorised one (MD06), or one without a mandate (MD01). */
export const REFUND_REASONS = ['MD06', 'MD01'] as const
export type RefundReason = (typeof REFUND_REASONS)[number]

/** How long a refund may be asked for, counted from the day of the debit; `never`: not at all. */
export type RefundWindow = { readonly days: number } | { readonly months: number } | 'always' | 'never'

export interface PayerTerms {
  readonly currency: CurrencyCode
  /** The due date begins at midnight of this IANA zone. */
  readonly zone: string
  /** The first debit of a mandate waits until the payer has confirmed the mandate to the bank. */
  readonly needsConfirmation: boolean
  readonly refunds: Readonly<Record<RefundReason, RefundWindow>>
}

/**
 * Sources of the windows: EPC016-06 (core: eight weeks, thirteen months) and EPC222-07 (B2B: no refund); the Bacs direct
 * debit guarantee, which has no limit of time; Nacha (60 days for consumers); the BECS procedures (a claim within twelve
 * months is answered within seven days); Payments Canada rule H1 (90 days for consumers).
 */
export const PAYER_TERMS: Readonly<Record<IncomingDebitScheme, PayerTerms>> = {
  sepa_dd_core: {
    currency: 'EUR',
    zone: 'Europe/Berlin',
    needsConfirmation: false,
    refunds: { MD06: { days: 56 }, MD01: { months: 13 } },
  },
  sepa_dd_b2b: {
    currency: 'EUR',
    zone: 'Europe/Berlin',
    needsConfirmation: true,
    refunds: { MD06: 'never', MD01: 'never' },
  },
  bacs_dd: {
    currency: 'GBP',
    zone: 'Europe/London',
    needsConfirmation: false,
    refunds: { MD06: 'always', MD01: 'always' },
  },
  ach_debit: {
    currency: 'USD',
    zone: 'America/New_York',
    needsConfirmation: false,
    refunds: { MD06: 'never', MD01: { days: 60 } },
  },
  becs_dd: {
    currency: 'AUD',
    zone: 'Australia/Sydney',
    needsConfirmation: false,
    refunds: { MD06: 'never', MD01: { months: 12 } },
  },
  pad: {
    currency: 'CAD',
    zone: 'America/Toronto',
    needsConfirmation: false,
    refunds: { MD06: 'never', MD01: { days: 90 } },
  },
}

/** Returns when a due date (`YYYY-MM-DD`) begins where the scheme clears, epoch milliseconds. */
export function dueMoment(scheme: IncomingDebitScheme, dueDate: string): number {
  return Temporal.PlainDate.from(dueDate).toZonedDateTime(PAYER_TERMS[scheme].zone).epochMilliseconds
}

/**
 * Returns when the window of a refund ends, epoch milliseconds: the end of its last day in the scheme's zone. Infinity
 * where it never ends, null where the scheme has no such refund.
 *
 * @param debitedAt epoch milliseconds
 */
export function refundEnd(scheme: IncomingDebitScheme, reason: RefundReason, debitedAt: number): number | null {
  const { refunds, zone } = PAYER_TERMS[scheme]
  const window = refunds[reason]
  if (window === 'never') return null
  if (window === 'always') return Number.POSITIVE_INFINITY
  const day = Temporal.Instant.fromEpochMilliseconds(debitedAt).toZonedDateTimeISO(zone).toPlainDate()
  return day.add(window).add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds
}

/** What a confirmation of a payment says: words and amounts, no layout. */
import { timestamp } from '../clock.ts'
import { isCurrencyCode, type CurrencyCode } from '../currency.ts'
import { formatMajor } from '../money.ts'
import type { PaymentRecord } from './payment.ts'

/** A page to be printed: a headline, and sections of labelled lines. */
export interface Confirmation {
  readonly issuer: string
  readonly title: string
  /** What matters most, in large letters. */
  readonly headline: string
  readonly status: string
  readonly sections: readonly { readonly title: string; readonly lines: readonly (readonly [label: string, value: string])[] }[]
  readonly footer: string
  /** Of the document's own data; the same for every rendering of one version, epoch milliseconds. */
  readonly createdAt: number
}

/** Who pays: as its customer is registered, and the account as payers would see it. */
export interface ConfirmationParty {
  readonly operatorName: string
  readonly customerName: string
  /** IBAN or account number of the balance; null where it has none. */
  readonly account: string | null
}

/** Rails as people call them; the others go by their word. */
const RAIL_NAMES: Readonly<Record<string, string>> = {
  sepa: 'SEPA Credit Transfer', sepa_instant: 'SEPA Instant Credit Transfer', target2: 'TARGET', faster_payments: 'Faster Payments', chaps: 'CHAPS', bacs: 'Bacs',
  swift: 'SWIFT', ach: 'ACH', ach_same_day: 'Same Day ACH', fedwire: 'Fedwire', rtp: 'RTP', fednow: 'FedNow', internal: 'Internal transfer',
}
const CHARGES: Readonly<Record<string, string>> = { shared: 'Shared (SHAR)', sender: 'Borne by the payer (DEBT)', recipient: 'Borne by the recipient (CRED)' }

/** Whether a payment has got so far that there is something to confirm. */
export function isConfirmed({ status }: Pick<PaymentRecord, 'status'>): boolean {
  return status === 'completed' || status === 'returned'
}

/** The confirmation of a payment that has arrived, or has come back since. */
export function paymentConfirmation(payment: PaymentRecord, { operatorName, customerName, account }: ConfirmationParty): Confirmation {
  const { details, rail, returnInfo } = payment
  const amountOf = (minor: bigint): string => grouped(minor, payment.currency)
  const returned = payment.status === 'returned'
  const lines = (...all: readonly (readonly [string, string | null])[]) => all.filter((line): line is readonly [string, string] => line[1] !== null && line[1] !== '')
  return {
    issuer: operatorName,
    title: 'Payment confirmation',
    headline: amountOf(payment.amount),
    status: returned ? `Returned on ${day(returnInfo?.receivedAt ?? null) ?? day(at(payment.updatedAt))}` : `Completed on ${day(at(payment.completedAt))}`,
    sections: [
      { title: 'Payer', lines: lines(['Name', customerName], ['Account', account], ['Account name', details.sourceBalanceName]) },
      {
        title: 'Recipient',
        lines: lines(['Name', details.recipient.name], ['Account', details.recipient.maskedIdentifier], ['Country of the bank', details.recipient.bankCountry]),
      },
      {
        title: 'Payment',
        lines: lines(
          ['Order number', payment.number], ['Reference', details.reference], ['End-to-end id', details.endToEndId], ['UETR', details.uetr],
          ['Purpose', details.purpose ?? details.purposeCode], ['Rail', rail === null ? null : RAIL_NAMES[rail] ?? rail], ['Charges', CHARGES[details.chargeBearer] ?? null],
          ['Amount', amountOf(payment.amount)], ['Fee', payment.fee === 0n ? null : amountOf(payment.fee)], ['Total debit', amountOf(payment.amount + payment.fee)],
        ),
      },
      {
        title: 'Dates',
        lines: lines(
          ['Ordered', moment(at(payment.createdAt))], ['Execution date', day(payment.executionDate)], ['Sent', moment(at(payment.sentAt))], ['Completed', moment(at(payment.completedAt))],
        ),
      },
      ...(returned ? [{
        title: 'Return',
        lines: lines(
          ['Amount returned', payment.returnedAmount === null ? null : amountOf(payment.returnedAmount)], ['Received', moment(returnInfo?.receivedAt ?? null)],
          ['Reason', [returnInfo?.reasonCode, returnInfo?.reason].filter((part) => part !== null && part !== undefined).join(' – ')],
        ),
      }] : []),
    ],
    footer: `Issued electronically by ${operatorName}; valid without a signature. Payment ${payment.id}. Times are UTC.`,
    createdAt: payment.updatedAt,
  }
}

const at = (ms: number | null): string | null => (ms === null ? null : timestamp(ms))

const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'] as const

/** A date or the date of a moment, as people write it. */
function day(text: string | null): string | null {
  if (text === null) return null
  const { day: number, month, year } = Temporal.PlainDate.from(text.slice(0, 10))
  return `${number} ${MONTHS[month - 1]} ${year}`
}

function moment(text: string | null): string | null {
  return text === null ? null : `${day(text)}, ${text.slice(11, 19)}`
}

/** An amount with its thousands apart: 1,234,567.89 EUR. */
function grouped(minor: bigint, currency: string): string {
  const text = isCurrencyCode(currency) ? formatMajor(minor, currency as CurrencyCode) : minor.toString()
  const [whole, fraction] = text.split('.') as [string, string?]
  const thousands = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return `${fraction === undefined ? thousands : `${thousands}.${fraction}`} ${currency}`
}

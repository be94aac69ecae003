/**
 * The mail to a payer: the payee, the amount, the link to the account details, and the reference that the payment must
 * quote.
 */
import type { CurrencyCode } from '../base/currency.ts'
import type { Mail } from '../notices/mail.ts'
import { formatMajor } from '../base/money.ts'
import { printedReference } from './creditor-reference.ts'

export interface PayerMail {
  readonly to: string
  readonly payerName: string
  readonly payeeName: string
  readonly currency: CurrencyCode
  /** The amount still missing, minor units. */
  readonly remaining: bigint
  readonly description: string
  readonly invoiceNumber: string | null
  readonly dueDate: string | null
  readonly reference: string
  readonly link: string
  /** True for a reminder. */
  readonly again: boolean
}

/** Builds the mail of a request or of a reminder. */
export function payerMail({
  to,
  payerName,
  payeeName,
  currency,
  remaining,
  description,
  invoiceNumber,
  dueDate,
  reference,
  link,
  again,
}: PayerMail): Mail {
  const amount = `${formatMajor(remaining, currency)} ${currency}`
  return {
    to,
    subject: again ? `Reminder: ${payeeName} asks you for ${amount}` : `${payeeName} asks you for ${amount}`,
    text: [
      `Hello ${payerName},`,
      '',
      `${payeeName} asks you for ${amount}${dueDate === null ? '' : `, due on ${dueDate}`}: ${description}`,
      ...(invoiceNumber === null ? [] : [`Invoice: ${invoiceNumber}`]),
      '',
      `Quote this reference when you pay: ${printedReference(reference)}`,
      '',
      'Where to pay, and how to decline:',
      '',
      `  ${link}`,
    ].join('\r\n'),
  }
}

/** What a payer is told by mail: who asks for how much, where to pay, and the reference that has to be quoted. */
import type { CurrencyCode } from '../base/currency.ts'
import type { Mail } from '../notices/mail.ts'
import { formatMajor } from '../base/money.ts'
import { printedReference } from './creditor-reference.ts'

export interface PayerMail {
  readonly to: string
  readonly payerName: string
  readonly payeeName: string
  readonly currency: CurrencyCode
  /** What is still asked for, minor units. */
  readonly remaining: bigint
  readonly description: string
  readonly invoiceNumber: string | null
  readonly dueDate: string | null
  readonly reference: string
  readonly link: string
  /** Asked before. */
  readonly again: boolean
}

/** The mail of a request or of a reminder. */
export function payerMail({ to, payerName, payeeName, currency, remaining, description, invoiceNumber, dueDate, reference, link, again }: PayerMail): Mail {
  const amount = `${formatMajor(remaining, currency)} ${currency}`
  return {
    to,
    subject: again ? `Reminder: ${payeeName} asks you for ${amount}` : `${payeeName} asks you for ${amount}`,
    text: [
      `Hello ${payerName},`, '', `${payeeName} asks you for ${amount}${dueDate === null ? '' : `, due on ${dueDate}`}: ${description}`,
      ...(invoiceNumber === null ? [] : [`Invoice: ${invoiceNumber}`]), '',
      `Quote this reference when you pay: ${printedReference(reference)}`, '',
      'Where to pay, and how to decline:', '', `  ${link}`,
    ].join('\r\n'),
  }
}

/** The mail that tells a payer of a collection before its due date: who collects, how much, when, and by which mandate. */
import type { CurrencyCode } from '../../base/currency.ts'
import { formatMajor } from '../../base/money.ts'
import type { Mail } from '../../notices/mail.ts'
import type { CollectionRecord } from '../collection.ts'
import type { MandateRecord } from '../mandate.ts'
import { DEBIT_SCHEMES } from '../schemes.ts'

/** Builds the mail. `creditorName`: the name of the customer that collects. */
export function noticeMail(
  to: string,
  { amount, currency, dueDate, reference, attempts }: CollectionRecord,
  {
    scheme,
    counterparty,
    reference: mandateReference,
    creditorId,
  }: Pick<MandateRecord, 'scheme' | 'counterparty' | 'reference' | 'creditorId'>,
  creditorName: string,
): Mail {
  const money = `${formatMajor(amount, currency satisfies CurrencyCode)} ${currency}`
  const again = attempts.length === 0 ? '' : ' again, because the last attempt failed'
  return {
    to,
    subject: `${creditorName} collects ${money} on ${dueDate}`,
    text: [
      `Hello ${counterparty.name},`,
      '',
      `${creditorName} will collect ${money} from your account on ${dueDate}${again}: ${reference}`,
      '',
      `Scheme: ${DEBIT_SCHEMES[scheme].name}`,
      `Mandate: ${mandateReference}`,
      ...(creditorId === null ? [] : [`Creditor identifier: ${creditorId}`]),
      '',
      'Please make sure that your account has enough money on that day.',
    ].join('\r\n'),
  }
}

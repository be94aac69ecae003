/** The content of a payment confirmation. */
import { RAILS, type ChargeBearer } from '../rails/rails.ts'
import {
  at,
  day,
  grouped,
  linesOf,
  moment,
  timesNote,
  type Confirmation,
  type ConfirmationParty,
} from '../documents/confirmation-page.ts'
import { taxWithin } from '../pricing/fees.ts'
import { costOf } from './conversion.ts'
import type { PaymentRecord } from './payment.ts'

const CHARGES: Readonly<Record<ChargeBearer, string>> = {
  shared: 'Shared (SHAR)',
  sender: 'Borne by the payer (DEBT)',
  recipient: 'Borne by the recipient (CRED)',
}

/** Lists the fee, the tax in it, and the total debit, in the currency of the source balance. */
function costs({
  amount,
  fee,
  currency,
  details: { conversion, charges },
}: PaymentRecord): readonly (readonly [string, string | null])[] {
  const [cost, tax, total, paidIn] =
    conversion === undefined
      ? [fee, taxWithin(charges), amount + fee, currency]
      : [BigInt(conversion.feeMinor), 0n, costOf(conversion), conversion.sellCurrency]
  return [
    ['Fee', cost === 0n ? null : grouped(cost, paidIn)],
    ['Tax in the fee', tax === 0n ? null : grouped(tax, paidIn)],
    ['Total debit', grouped(total, paidIn)],
  ]
}

/** Tells whether the payment has a confirmation: it has been completed, and may have been returned since. */
export function isConfirmed({ status }: Pick<PaymentRecord, 'status'>): boolean {
  return status === 'completed' || status === 'returned'
}

/** Builds the confirmation of a completed or returned payment. */
export function paymentConfirmation(
  payment: PaymentRecord,
  { operatorName, customerName, account, timezone }: ConfirmationParty,
): Confirmation {
  const { details, rail, returnInfo } = payment
  const amountOf = (minor: bigint): string => grouped(minor, payment.currency)
  const returned = payment.status === 'returned'
  return {
    issuer: operatorName,
    title: 'Payment confirmation',
    headline: amountOf(payment.amount),
    status: returned
      ? `Returned on ${day(at(returnInfo?.receivedAt ?? payment.updatedAt, timezone))}`
      : `Completed on ${day(at(payment.completedAt, timezone))}`,
    sections: [
      {
        title: 'Payer',
        lines: linesOf(['Name', customerName], ['Account', account], ['Account name', details.sourceBalanceName]),
      },
      {
        title: 'Recipient',
        lines: linesOf(
          ['Name', details.recipient.name],
          ['Account', details.recipient.maskedIdentifier],
          ['Country of the bank', details.recipient.bankCountry],
        ),
      },
      {
        title: 'Payment',
        lines: linesOf(
          ['Order number', payment.number],
          ['Reference', details.reference],
          ['End-to-end id', details.endToEndId],
          ['UETR', details.uetr],
          ['Purpose', details.purpose ?? details.purposeCode],
          ['Rail', rail === null ? null : (RAILS.get(rail)?.name ?? rail)],
          ['Charges', CHARGES[details.chargeBearer] ?? null],
          ['Amount', amountOf(payment.amount)],
          ...costs(payment),
        ),
      },
      {
        title: 'Dates',
        lines: linesOf(
          ['Ordered', moment(at(payment.createdAt, timezone))],
          ['Execution date', day(payment.executionDate)],
          ['Sent', moment(at(payment.sentAt, timezone))],
          ['Completed', moment(at(payment.completedAt, timezone))],
        ),
      },
      ...(returned
        ? [
            {
              title: 'Return',
              lines: linesOf(
                ['Amount returned', payment.returnedAmount === null ? null : amountOf(payment.returnedAmount)],
                ['Received', moment(at(returnInfo?.receivedAt ?? null, timezone))],
                [
                  'Reason',
                  [returnInfo?.reasonCode, returnInfo?.reason]
                    .filter((part) => part !== null && part !== undefined)
                    .join(' – '),
                ],
              ),
            },
          ]
        : []),
    ],
    footer: `Issued electronically by ${operatorName}; valid without a signature. Payment ${payment.id}. ${timesNote(timezone)}`,
    createdAt: payment.updatedAt,
  }
}

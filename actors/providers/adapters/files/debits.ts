/** Direct debits of the accounts of customers, as a bank's files tell them: those taken, and those given back. Pure. */
import type { MandateScheme } from '../../../../lib/rails/debit-schemes.ts'
import type { BankTransactionCode } from '../../../../lib/providers/iso20022/reports.ts'
import {
  isSame,
  numberOf,
  referenceOf,
  referenceOrNull,
  remittanceOf,
  type Booking,
  type BookingScope,
} from './credits.ts'
import type { DebitBackTold, DebitTold } from './file-event.ts'

/** ISO 20022's family of received direct debits, and its sub-family of SEPA's debits between businesses. */
const RECEIVED_DEBITS = 'RDDT'
const SEPA_B2B = 'BBDD'
const TEXT_MAX = 140
const REFERENCE_MAX = 35

const SCHEMES: Readonly<Partial<Record<string, MandateScheme>>> = {
  EUR: 'sepa_dd_core',
  GBP: 'bacs_dd',
  USD: 'ach_debit',
  AUD: 'becs_dd',
  CAD: 'pad',
}

const codesOf = ({ entry, transaction }: Booking): readonly (BankTransactionCode | null)[] => [
  transaction?.code ?? null,
  transaction?.returned?.originalCode ?? null,
  entry.code,
]

/** Whether a booking is of a direct debit that was collected from an account here, or of its money coming back. */
export const isReceivedDebit = (booking: Booking): boolean =>
  codesOf(booking).some((code) => code?.family === RECEIVED_DEBITS)

/**
 * Makes the debit of a booking. Null for a debit of the settlement account itself, which no customer pays, of a creditor
 * that is not named, and in a currency without a scheme.
 */
export function debitOf(booking: Booking, scope: BookingScope): DebitTold | null {
  const { entry, transaction, amount } = booking
  const { currency } = entry
  const creditor = transaction?.ultimateCreditor ?? transaction?.creditor ?? null
  const account = transaction?.debtorAccount ?? null
  const scheme = codesOf(booking).some((code) => code?.subFamily === SEPA_B2B) ? 'sepa_dd_b2b' : SCHEMES[currency]
  if (scheme === undefined || creditor?.name == null || account === null || isSame(account, scope.account)) return null
  const references = transaction?.references ?? null
  const creditorId = transaction?.creditor?.id?.value ?? null
  const endToEndId = referenceOrNull(references?.endToEndId)
  // Only SEPA's debits carry the reference of their mandate; elsewhere the creditor's own reference stands for it.
  const others = scheme.startsWith('sepa') ? null : (endToEndId ?? creditorId ?? creditor.name)
  const cut = (text: string | null, max: number): string | null => (text === null ? null : text.slice(0, max))
  return {
    kind: 'debit',
    reference: referenceOf('debit', booking, scope, [creditor.name, numberOf(account)]),
    account: numberOf(account),
    debit: {
      scheme,
      amount: amount.toString(),
      currency,
      creditorName: creditor.name.slice(0, TEXT_MAX),
      creditorId: cut(creditorId, REFERENCE_MAX),
      mandateReference: cut(referenceOrNull(references?.mandateId) ?? others, REFERENCE_MAX),
      remittance: cut(remittanceOf(transaction) ?? entry.text, TEXT_MAX),
      endToEndId,
      dueDate: (entry.valueDate ?? entry.bookedOn ?? '').slice(0, 10),
    },
  }
}

/** Makes the word that money of a debit came back, which names the debit by its end-to-end id; null where it has none. */
export function debitBackOf(booking: Booking, scope: BookingScope): DebitBackTold | null {
  const { transaction, amount } = booking
  const reference = referenceOrNull(transaction?.references.endToEndId)
  return reference === null
    ? null
    : {
        kind: 'debit_back',
        reference,
        booking: referenceOf('debit', booking, scope, [reference]),
        amount: amount.toString(),
        reasonCode: transaction?.returned?.reason.code ?? null,
      }
}

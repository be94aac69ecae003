/** Money that came in, as a bank's files tell it. Pure. */
import type { MessageAccount } from '../../../../lib/providers/iso20022/messages.ts'
import type { ReportEntry, ReportTransaction } from '../../../../lib/providers/iso20022/reports.ts'
import { maskAccountNumber, maskIban } from '../../../../lib/recipients/masking.ts'
import { derivedId } from '../derived-id.ts'
import type { CreditTold } from './file-event.ts'

/** Words that banks write where a reference is required and there is none. */
const NO_REFERENCE = /^(NONREF|NOREF|NOTPROVIDED|NONE|NA|N\/A|0+)$/i
const REMITTANCE_MAX = 140

/** A booking that is no order of ours. */
export interface Booking {
  readonly entry: ReportEntry
  readonly transaction: ReportTransaction | null
  readonly amount: bigint
}

export interface BookingScope {
  readonly connectionId: string
  /** The settlement account. */
  readonly account: MessageAccount
  /** How often a booking without a reference of the bank was seen in this report, by its facts. */
  readonly seen: Map<string, number>
}

/** Makes the credit of a booking. Its reference is the same in each file that tells of the booking. */
export function creditOf(booking: Booking, scope: BookingScope): CreditTold {
  const { entry, transaction, amount } = booking
  const { account } = scope
  const { currency, valueDate, bookedOn, text } = entry
  const debtor = transaction?.ultimateDebtor ?? transaction?.debtor ?? null
  const { debtorAccount = null, debtorAgent = null, creditorAccount = null } = transaction ?? {}
  const references = transaction?.references ?? null
  const day = (valueDate ?? bookedOn ?? '').slice(0, 10)
  const remittance = remittanceOf(transaction) ?? text
  const reference = referenceOf('credit', booking, scope, [debtor?.name ?? '', numberOf(debtorAccount)])
  return {
    kind: 'credit',
    reference,
    account: creditorAccount === null || isSame(creditorAccount, account) ? null : numberOf(creditorAccount),
    credit: {
      amount: amount.toString(),
      currency,
      payerName: debtor?.name ?? null,
      payerIdentifier: debtorAccount === null ? null : masked(debtorAccount),
      payerBankName: debtorAgent?.name ?? null,
      payerCountry: debtor?.address?.country ?? debtorAgent?.country ?? countryOf(debtorAccount, debtorAgent?.bic),
      remittance: remittance === null ? null : remittance.slice(0, REMITTANCE_MAX),
      rail: null,
      endToEndId: referenceOrNull(references?.endToEndId),
      uetr: references?.uetr ?? null,
      valueDate: day,
    },
  }
}

/** The text of a transaction for the payee; null: it has none. */
export function remittanceOf(transaction: ReportTransaction | null): string | null {
  const { unstructured = [], creditorReference = null } = transaction?.remittance ?? {}
  return [creditorReference ?? '', ...unstructured].filter((part) => part !== '').join(' ') || null
}

/**
 * Derives the reference of a booking: the same in each file that tells of it.
 *
 * @param party what tells the other side apart where the bank has no reference
 */
export function referenceOf(
  kind: 'credit' | 'debit',
  { entry, transaction, amount }: Booking,
  { connectionId, seen }: BookingScope,
  party: readonly string[],
): string {
  const references = transaction?.references ?? null
  const day = (entry.valueDate ?? entry.bookedOn ?? '').slice(0, 10)
  const named =
    [references?.bankRef, entry.bankRef, references?.clearingRef, references?.uetr, references?.transactionId].find(
      (one) => one != null && one !== '' && !NO_REFERENCE.test(one),
    ) ?? null
  // The bank's reference of an entry stands for all of its transactions: what they are tells them apart.
  const parts =
    named === null || (named === entry.bankRef && entry.transactions.length > 1)
      ? [named ?? '', references?.endToEndId ?? '', day, ...party, remittanceOf(transaction) ?? entry.text ?? '']
      : [named]
  const facts = [...parts, entry.currency, amount.toString()]
  return derivedId(connectionId, kind, ...facts, ...nth(facts, parts.length > 1, seen))
}

/** Counts bookings that nothing but their order tells apart; the first has no number. */
function nth(facts: readonly string[], isCounted: boolean, seen: Map<string, number>): readonly string[] {
  if (!isCounted) return []
  const key = facts.join('\0')
  const count = (seen.get(key) ?? 0) + 1
  seen.set(key, count)
  return count === 1 ? [] : [String(count)]
}

export const numberOf = (account: MessageAccount | null): string =>
  account === null ? '' : 'iban' in account ? account.iban : account.number
const masked = (account: MessageAccount): string =>
  'iban' in account ? maskIban(account.iban) : maskAccountNumber(account.number)
export const referenceOrNull = (text: string | null | undefined): string | null =>
  text == null || NO_REFERENCE.test(text) ? null : text

/** Whether two accounts are one, as far as their numbers tell. */
export const isSame = (one: MessageAccount, other: MessageAccount): boolean =>
  numberOf(one).replaceAll(' ', '').toUpperCase() === numberOf(other).replaceAll(' ', '').toUpperCase()

function countryOf(account: MessageAccount | null, bic: string | null | undefined): string | null {
  if (account !== null && 'iban' in account) return account.iban.slice(0, 2)
  return bic == null ? null : bic.slice(4, 6)
}

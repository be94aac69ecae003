/**
 * The notice that tells a payer of a collection before its due date, as an object of the collection. Pure: dates are
 * `YYYY-MM-DD`, amounts minor units.
 *
 * A payer with an e-mail address is told by the service; any other is told by the customer, which notes it. The notice is
 * sent again when the amount or the date has changed (collection-moves.ts).
 */
import { accountLines, accountOf } from '../account.ts'
import type { CollectionRecord, PreNotification } from '../collection.ts'
import { noticeDate, type Period } from '../dates.ts'
import type { MandateRecord } from '../mandate.ts'
import { maskedAccount } from '../mandate-view.ts'
import { DEBIT_SCHEMES } from '../schemes.ts'

type Noticed = Pick<CollectionRecord, 'amount' | 'dueDate' | 'reference'>
type Creditor = Pick<MandateRecord, 'scheme' | 'counterparty' | 'creditorName' | 'creditorId' | 'reference'>

/** Builds the notice of a new collection. */
export function preNotificationOf(
  { scheme, counterparty, creditorName, creditorId, reference: mandateReference }: Creditor,
  { amount, dueDate, reference }: Noticed,
  notice: Period,
): PreNotification {
  const isMailed = counterparty.email !== undefined
  return {
    sentBy: isMailed ? 'service' : 'customer',
    channel: isMailed ? 'email' : 'none',
    sentAt: null,
    sendBy: noticeDate(DEBIT_SCHEMES[scheme], dueDate, notice),
    amountMinor: String(amount),
    dueDate,
    creditorName,
    creditorId,
    mandateReference,
    account: maskedLine(counterparty),
    reference,
  }
}

/** Writes the account of a payer in one line, its numbers masked. */
function maskedLine(counterparty: MandateRecord['counterparty']): string | null {
  const masked = Object.entries(maskedAccount(accountOf(counterparty))).filter(([, value]) => value !== null)
  const lines = accountLines(Object.fromEntries(masked))
  return lines.length === 0 ? null : lines.map(([label, value]) => `${label} ${value}`).join(', ')
}

/**
 * What the answers of banks mean for collections and mandates: each item of a file becomes lines, and a line asks for
 * messages to the inbox of direct debits (debit-messages.ts), or says why it asks for none. Pure: the caller looks up the
 * collections and mandates that an item names, and hands them in as they are.
 *
 * What an account shows counts more than what a report says: a report does not reject what was booked.
 */
import type { CollectionStatus } from '../collection.ts'
import type { CollectionFileStatus } from './collection-file.ts'
import type { DebitMessage } from '../debit-messages.ts'
import { OPEN_MANDATE_STATUSES, type CounterpartyAccount, type MandateStatus } from '../mandate.ts'
import type { RTransactionType } from '../reason-codes.ts'
import { collectionReason, DEBIT_SCHEMES, mandateReason, rTypeOf } from '../schemes.ts'
import type { MandateScheme } from '../../rails/debit-schemes.ts'
import type { IndemnityClaim, InstructionAdvice, ReturnedDebit } from '../../providers/bacs/messages.ts'
import type { ReportedReason, ReportEntry, ReportTransaction } from '../../providers/iso20022/reports.ts'
import { outcomeOf, reasonCodeOf } from '../../providers/iso20022/statuses.ts'

/** A collection as a file may name it, with the file that carried it. */
export interface NamedCollection {
  readonly id: string
  readonly connectionId: string
  readonly scheme: MandateScheme
  readonly status: CollectionStatus
  readonly amount: bigint
  readonly dueDate: string
  readonly endToEndId: string
  /** The file of its latest presentation: the same outcome of two presentations is two messages. */
  readonly fileId: string | null
}

/** A mandate as a file may name it. */
export interface NamedMandate {
  readonly id: string
  readonly connectionId: string
  readonly scheme: MandateScheme
  readonly status: MandateStatus
}

/** A message that a line asks for, without its id; `key` tells it apart from other messages of its object. */
export interface AskedMessage {
  readonly type: DebitMessage['type']
  readonly key: readonly string[]
  readonly reasonCode: string | null
  readonly rType: RTransactionType | null
  readonly amount: bigint | null
  readonly bookedOn: string | null
  readonly providerRef: string | null
  readonly account?: CounterpartyAccount
}

/** Why a line asks for no message. */
export type LineFault =
  | 'not_ours'
  | 'wrong_amount'
  | 'wrong_currency'
  | 'contradiction'
  | 'already_told'
  | 'information'

/** A line of the preview: what the bank says of one object. */
export interface ResponseLine {
  readonly object: 'collection' | 'mandate' | 'file'
  readonly objectId: string | null
  /** The name that the bank used, for staff. */
  readonly named: string
  readonly from: CollectionStatus | MandateStatus | null
  readonly to: CollectionStatus | MandateStatus | CollectionFileStatus | null
  readonly reasonCode: string | null
  /** The reason in words, or why the line changes nothing. */
  readonly text: string
  readonly fault: LineFault | null
  readonly messages: readonly AskedMessage[]
}

/** The fault of lines that need the attention of staff; the others are explained by the file itself. */
export const isTrouble = ({ fault }: Pick<ResponseLine, 'fault'>): boolean =>
  fault !== null && fault !== 'already_told' && fault !== 'information'

const QUIET = { reasonCode: null, rType: null, amount: null, bookedOn: null, providerRef: null } as const

// ── Collections
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** What a bank says of one collection. */
export interface CollectionVerdict {
  readonly outcome: 'collected' | 'rejected' | 'returned' | 'reinstated' | 'unclear' | 'accepted'
  readonly reasonCode: string | null
  readonly rType: RTransactionType | null
  readonly amount: bigint | null
  readonly bookedOn: string | null
  readonly providerRef: string | null
}

const STATUS_OF: Readonly<Record<Exclude<CollectionVerdict['outcome'], 'accepted'>, CollectionStatus>> = {
  collected: 'collected',
  rejected: 'failed',
  returned: 'returned',
  reinstated: 'collected',
  unclear: 'exception',
}

/** The statuses from which a collection takes an outcome; any other one contradicts it. */
const FROM: Readonly<Record<keyof typeof STATUS_OF, ReadonlySet<CollectionStatus>>> = {
  collected: new Set(['submitted', 'exception']),
  rejected: new Set(['submitted', 'exception']),
  returned: new Set(['collected', 'submitted', 'exception', 'returned']),
  reinstated: new Set(['returned']),
  unclear: new Set(['submitted']),
}

/** Makes the line of a verdict. `named` is null for a collection that is none of ours. */
export function collectionLine(
  named: string,
  collection: NamedCollection | null,
  verdict: CollectionVerdict,
): ResponseLine {
  const { outcome, reasonCode } = verdict
  if (collection === null) return nothing('collection', named, 'not_ours', 'No collection of ours has this reference.')
  const { id, status, scheme, amount, dueDate } = collection
  const about = { object: 'collection', objectId: id, named, from: status, reasonCode } as const
  const none = (fault: LineFault, text: string): ResponseLine => ({ ...about, to: status, text, fault, messages: [] })
  if (outcome === 'accepted') return none('information', 'The bank has the collection.')
  const to = STATUS_OF[outcome]
  if (!FROM[outcome].has(status))
    return status === to || (outcome === 'collected' && status === 'returned')
      ? none('already_told', `The collection is ${status} already.`)
      : none('contradiction', `A collection that is ${status} cannot be ${outcome}.`)
  if ((outcome === 'collected' || outcome === 'reinstated') && verdict.amount !== null && verdict.amount !== amount)
    return none('wrong_amount', `The bank booked ${verdict.amount}, the collection is about ${amount} (minor units).`)
  const rType =
    outcome === 'rejected' || outcome === 'returned'
      ? (verdict.rType ?? rTypeOf(scheme, reasonCode, outcome === 'returned'))
      : null
  const message = messageOf(collection, verdict, rType)
  // Money that comes back was credited before, also where the bank told only of the return.
  const credit =
    outcome === 'returned' && (status === 'submitted' || status === 'exception')
      ? [messageOf(collection, { ...QUIET, outcome: 'collected', bookedOn: dueDate }, null)]
      : []
  return { ...about, to, text: textOf(scheme, verdict, rType), fault: null, messages: [...credit, message] }
}

function messageOf(
  { fileId }: NamedCollection,
  { outcome, reasonCode, amount, bookedOn, providerRef }: CollectionVerdict,
  rType: RTransactionType | null,
): AskedMessage {
  const dated = outcome === 'returned' || outcome === 'reinstated'
  return {
    type: `collection.${outcome as Exclude<CollectionVerdict['outcome'], 'accepted'>}`,
    key: [outcome, fileId ?? '', ...(dated ? [bookedOn ?? '', String(amount ?? '')] : [])],
    reasonCode,
    rType,
    amount: outcome === 'returned' ? amount : null,
    bookedOn,
    providerRef,
  }
}

function textOf(
  scheme: MandateScheme,
  { outcome, reasonCode }: CollectionVerdict,
  rType: RTransactionType | null,
): string {
  switch (outcome) {
    case 'collected':
      return 'The money was credited.'
    case 'reinstated':
      return 'The returned money was credited again.'
    case 'unclear':
      return 'The bank refused it as a repetition; only the account can tell what happened.'
    default:
      return reasonCode === null
        ? 'The bank gave no reason.'
        : (collectionReason(scheme, reasonCode, rType)?.text ?? `Reason ${reasonCode}, which the scheme does not know.`)
  }
}

const nothing = (object: ResponseLine['object'], named: string, fault: LineFault, text: string): ResponseLine => ({
  object,
  objectId: null,
  named,
  from: null,
  to: null,
  reasonCode: null,
  text,
  fault,
  messages: [],
})

/** Makes the line of a file of ours as a whole, and of a name that is no object. */
export const noteLine = (object: ResponseLine['object'], named: string, fault: LineFault, text: string): ResponseLine =>
  nothing(object, named, fault, text)

/** Returns what a status of pain.002 says of a collection. */
export function reportedVerdict(
  status: string,
  reasons: readonly ReportedReason[],
  bankRef: string | null,
): CollectionVerdict {
  const outcome = outcomeOf(status, reasons)
  const reasonCode = reasonCodeOf(reasons)
  const told = { ...QUIET, providerRef: bankRef }
  switch (outcome) {
    case 'settled':
      return { ...told, outcome: 'collected' }
    case 'rejected':
      return { ...told, outcome: 'rejected', reasonCode }
    case 'unclear':
      return { ...told, outcome: 'unclear', reasonCode }
    case 'pending':
    case 'partial':
      return { ...told, outcome: 'accepted' }
    default:
      return outcome satisfies never
  }
}

/**
 * Returns what a booked transaction of an account says of a collection: a credit collects or, after a return, reinstates;
 * a debit returns.
 */
export function bookedVerdict(
  { bookedOn, bankRef, isReversal }: Pick<ReportEntry, 'bookedOn' | 'bankRef' | 'isReversal'>,
  transaction: Pick<ReportTransaction, 'direction' | 'amount' | 'returned' | 'references'>,
  status: CollectionStatus | null,
): CollectionVerdict {
  const { direction, amount, returned, references } = transaction
  const told = { ...QUIET, amount, bookedOn, providerRef: references.bankRef ?? bankRef }
  if (direction === 'CRDT') {
    const again = status === 'returned' && (isReversal || returned === null)
    return { ...told, outcome: again ? 'reinstated' : 'collected' }
  }
  return { ...told, outcome: 'returned', reasonCode: returned === null ? null : reasonCodeOf([returned.reason]) }
}

// ── Reports of Bacs
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Returns what ARUDD says of a collection. */
export const returnedDebitVerdict = ({ code, amount, processedOn }: ReturnedDebit): CollectionVerdict => ({
  ...QUIET,
  outcome: 'returned',
  reasonCode: code,
  rType: 'return',
  amount,
  bookedOn: processedOn,
})

/** Returns what DDICA says of one debit of a claim; a claim that is taken back gives the money again. */
export const claimVerdict = (
  { code, claimRef, debitedOn, isCancelled }: IndemnityClaim,
  amount: bigint,
): CollectionVerdict => ({
  ...QUIET,
  outcome: isCancelled ? 'reinstated' : 'returned',
  reasonCode: isCancelled ? null : code,
  rType: isCancelled ? null : 'indemnity_claim',
  amount,
  bookedOn: debitedOn,
  providerRef: claimRef,
})

interface Consequence {
  readonly type: `mandate.${'failed' | 'cancelled' | 'amended' | 'reinstated'}`
  readonly from: readonly MandateStatus[]
  /** Null: the status stays. */
  readonly to: MandateStatus | null
}

const CONSEQUENCES: Readonly<Record<'failed' | 'cancelled' | 'amended' | 'reinstated', Consequence>> = {
  failed: { type: 'mandate.failed', from: ['pending', 'submitted'], to: 'failed' },
  cancelled: { type: 'mandate.cancelled', from: OPEN_MANDATE_STATUSES, to: 'cancelled' },
  amended: { type: 'mandate.amended', from: ['active'], to: null },
  reinstated: { type: 'mandate.reinstated', from: ['suspended'], to: 'active' },
}

/** Makes the line of an advice about an instruction (ADDACS, AUDDIS). */
export function mandateLine(advice: InstructionAdvice, mandate: NamedMandate | null): ResponseLine {
  const { reference, code, report, effectiveOn, newPayer } = advice
  if (mandate === null) return nothing('mandate', reference, 'not_ours', 'No mandate of ours has this reference.')
  const { id, status, scheme } = mandate
  const about = { object: 'mandate', objectId: id, named: reference, from: status, reasonCode: code } as const
  const none = (fault: LineFault, text: string): ResponseLine => ({ ...about, to: status, text, fault, messages: [] })
  const reason = mandateReason(scheme, code, report === 'AUDDIS' ? 'lodging' : 'advice')
  if (reason === undefined) return none('contradiction', `${report} does not know the reason ${code}.`)
  if (reason.consequence === 'information') return none('information', reason.text)
  const { type, from, to } = CONSEQUENCES[reason.consequence]
  if (to !== null && to === status) return none('already_told', `The mandate is ${status} already.`)
  if (!from.includes(status))
    return none('contradiction', `${reason.text}, which is not for a mandate that is ${status}.`)
  if (type === 'mandate.amended' && newPayer === null)
    return none('contradiction', `${reason.text}: the advice names no new account.`)
  return {
    ...about,
    to: to ?? status,
    text: reason.text,
    fault: null,
    messages: [
      {
        ...QUIET,
        type,
        key: [type, code, effectiveOn ?? '', newPayer === null ? '' : `${newPayer.sortCode} ${newPayer.accountNumber}`],
        reasonCode: code,
        ...(newPayer === null || type !== 'mandate.amended' ? {} : { account: { ...newPayer } }),
      },
    ],
  }
}

/** The days on which a debit that Bacs processed on a day was due: that day, or the next working day after it. */
export function dueDatesOf(day: string, nextWorkingDay: (day: string) => string): readonly string[] {
  return [nextWorkingDay(day), day]
}

/** Whether files of a scheme name its collections by the reference of the mandate, not by our own references. */
export const isNamedByMandate = (scheme: MandateScheme): boolean => DEBIT_SCHEMES[scheme].lodgingCodes !== null

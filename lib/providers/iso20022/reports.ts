/**
 * The files that a bank sends, as typed values: status reports (pain.002), and statements (camt.053) and notifications
 * (camt.054) of accounts.
 *
 * Amounts are bigint minor units of their currency and never negative unless their name says `signed`; days are
 * `YYYY-MM-DD`; times are kept as the bank wrote them.
 */
import type { CurrencyCode } from '../../base/currency.ts'
import type { MessageAccount, MessageAgent, MessageParty, MessageRemittance } from './messages.ts'

// ── In: status reports
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The reason of a status: a code of ISO 20022's list or the bank's own, and sentences beside it. */
export interface ReportedReason {
  readonly code: string | null
  readonly isProprietary: boolean
  readonly texts: readonly string[]
}

/** The status of the whole file that was sent, as a status report has it. */
export interface StatusReport {
  readonly version: string
  readonly messageId: string
  readonly createdAt: string
  /** The id and kind of the file (`pain.001.001.09`) that was sent. */
  readonly originalMessageId: string
  readonly originalMessageName: string
  /** The number and the sum of its orders, as the report says them. */
  readonly originalCount: number | null
  readonly originalSum: string | null
  /** A status of ISO 20022, for `outcomeOf`. Null where the status of the file depends on its blocks or orders. */
  readonly status: string | null
  readonly reasons: readonly ReportedReason[]
}

/** The status of a block of that file. */
export interface StatusReportBlock {
  readonly blockId: string
  readonly status: string | null
  readonly reasons: readonly ReportedReason[]
}

/** The status of an order. */
export interface StatusReportOrder {
  readonly blockId: string | null
  readonly instructionId: string | null
  readonly endToEndId: string | null
  readonly uetr: string | null
  /** Our reference, where the instruction id (or the end-to-end id in its place) is a UUID. */
  readonly reference: string | null
  /** The status of the order; where it has none, that of its block, then of the file. */
  readonly status: string | null
  readonly reasons: readonly ReportedReason[]
  /** The bank's own reference. */
  readonly bankRef: string | null
  readonly clearingRef: string | null
}

// ── In: account reports
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The direction from the side of the account, as in camt. */
export type ReportDirection = 'CRDT' | 'DBIT'

export interface ReportBalance {
  /** `OPBD`, `CLBD`, `PRCD`, `ITBD`, `CLAV` and the others of ISO 20022. */
  readonly code: string
  /** Negative where the account is overdrawn. */
  readonly signed: bigint
  readonly day: string | null
}

/** The head of a statement (camt.053) or notification (camt.054) of one account. */
export interface AccountReport {
  readonly message: 'camt.053' | 'camt.054'
  readonly version: string
  /** The id of the message, and of this report in it. */
  readonly messageId: string
  readonly id: string
  readonly sequenceNumber: string | null
  readonly page: { readonly number: number; readonly isLast: boolean } | null
  /** `DUPL` for a repetition, `COPY`, `CODU`; null for the original. */
  readonly copy: string | null
  readonly createdAt: string | null
  readonly from: string | null
  readonly to: string | null
  readonly account: MessageAccount
  /** Null where the report says none; then its entries do. */
  readonly currency: CurrencyCode | null
  readonly servicer: MessageAgent | null
  readonly balances: readonly ReportBalance[]
  /** The booked balances between which the booked entries lie, signed; null in a notification, or on a middle page. */
  readonly openingSigned: bigint | null
  readonly closingSigned: bigint | null
}

/** Booked, expected, information only, or of a later day. Only `BOOK` moves money. */
export type ReportEntryStatus = 'BOOK' | 'PDNG' | 'INFO' | 'FUTR'

/** The codes of what an entry is: ISO 20022's domain, family and sub-family, and the bank's own. */
export interface BankTransactionCode {
  readonly domain: string | null
  readonly family: string | null
  readonly subFamily: string | null
  readonly proprietary: string | null
}

export interface ReportCharge {
  readonly amount: bigint
  readonly currency: CurrencyCode
  readonly direction: ReportDirection
  /** The charge is part of the amount of the entry or transaction. */
  readonly isIncluded: boolean
  readonly code: string | null
}

/** An entry of the account: one booking, of one or (booked as a batch) of many transactions. */
export interface ReportEntry {
  readonly entryRef: string | null
  readonly amount: bigint
  readonly currency: CurrencyCode
  readonly direction: ReportDirection
  readonly status: ReportEntryStatus
  /** The entry takes back an earlier one; `direction` is that of this entry. */
  readonly isReversal: boolean
  readonly bookedOn: string | null
  readonly valueDate: string | null
  /** The bank's own reference. */
  readonly bankRef: string | null
  readonly code: BankTransactionCode
  readonly charges: readonly ReportCharge[]
  /** The file, block and number of orders that were booked as one; null where the entry does not say. */
  readonly batch: {
    readonly messageId: string | null
    readonly blockId: string | null
    readonly count: number | null
  } | null
  /** The bank's words; of an entry in several parts, in the last part. */
  readonly text: string | null
  readonly transactions: readonly ReportTransaction[]
  /** A long batch comes in parts, each with the facts of the whole entry and some of its transactions; from 0. */
  readonly part: { readonly number: number; readonly isLast: boolean }
}

/** A return: why money came back, and the code of the transaction that it undoes. The references are the original's. */
export interface ReportReturn {
  readonly reason: ReportedReason
  readonly originalCode: BankTransactionCode | null
}

export interface ReportReferences {
  readonly messageId: string | null
  readonly blockId: string | null
  readonly instructionId: string | null
  readonly endToEndId: string | null
  readonly uetr: string | null
  readonly transactionId: string | null
  readonly mandateId: string | null
  readonly clearingRef: string | null
  readonly bankRef: string | null
  readonly others: readonly string[]
}

/** One transaction of an entry. */
export interface ReportTransaction {
  readonly references: ReportReferences
  /** Our reference, where one of the references is a UUID. */
  readonly reference: string | null
  /** The amount that moved on the account; null where the entry has several transactions and only the entry has an amount. */
  readonly amount: bigint | null
  readonly currency: CurrencyCode
  readonly direction: ReportDirection
  /** The amount that was ordered, where that is another amount or currency. */
  readonly instructed: { readonly amount: bigint; readonly currency: CurrencyCode } | null
  readonly code: BankTransactionCode | null
  readonly charges: readonly ReportCharge[]
  readonly debtor: MessageParty | null
  readonly debtorAccount: MessageAccount | null
  readonly debtorAgent: MessageAgent | null
  readonly ultimateDebtor: MessageParty | null
  readonly creditor: MessageParty | null
  /** Of a credit: the account that was credited, which may be a virtual one of the reported account. */
  readonly creditorAccount: MessageAccount | null
  readonly creditorAgent: MessageAgent | null
  readonly ultimateCreditor: MessageParty | null
  readonly purpose: string | null
  readonly remittance: MessageRemittance
  readonly returned: ReportReturn | null
  readonly text: string | null
}

// ── In: files
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * One item of a bank's file, in the order of the file: a status report with its blocks and orders, or reports of
 * accounts, each followed by its entries.
 */
export type BankFileItem =
  | { readonly kind: 'status_report'; readonly report: StatusReport }
  | { readonly kind: 'status_block'; readonly block: StatusReportBlock }
  | { readonly kind: 'status_order'; readonly order: StatusReportOrder }
  | { readonly kind: 'account_report'; readonly report: AccountReport }
  | { readonly kind: 'entry'; readonly entry: ReportEntry }

/** Why a bank's file cannot be used. */
export type BankFileFault =
  | 'empty_file'
  | 'bad_encoding'
  | 'not_well_formed'
  | 'too_large'
  | 'unsupported_message'
  | 'missing_element'
  | 'invalid_value'
  | 'sum_mismatch'
  | 'contradiction'

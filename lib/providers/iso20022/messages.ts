/**
 * The messages that a bank and its customer exchange in files, as typed values: credit transfers (pain.001) and direct
 * debits (pain.008) that are written, status reports (pain.002) and account reports (camt.053, camt.054) that are read.
 *
 * Amounts are bigint minor units of their currency and never negative unless their name says `signed`; days are
 * `YYYY-MM-DD`; times are kept as the bank wrote them.
 */
import type { CurrencyCode } from '../../base/currency.ts'
import type { ChargeBearer, Rail } from '../../rails/rails.ts'

// ── Parties, in both directions
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A postal address. `line2` is free text beside the structured members. */
export interface PartyAddress {
  readonly line1: string | null
  readonly line2: string | null
  readonly buildingNumber: string | null
  readonly city: string | null
  readonly postalCode: string | null
  readonly state: string | null
  /** ISO 3166 alpha-2. */
  readonly country: string | null
}

/** A person or organisation. `id` is an identifier other than a BIC, with the code of its scheme where there is one. */
export interface MessageParty {
  readonly name: string | null
  readonly address: PartyAddress | null
  readonly id: { readonly value: string; readonly scheme: string | null; readonly isPrivate: boolean } | null
}

/**
 * An account: an IBAN, or the number by which its bank knows it with the code of the number's scheme (`BBAN`, `CUID`),
 * null where the scheme needs none.
 */
export type MessageAccount = { readonly iban: string } | { readonly number: string; readonly scheme: string | null }

/** A bank. In a written message a bank without any of the members is `NOTPROVIDED`. */
export interface MessageAgent {
  readonly bic: string | null
  /** The member id in a clearing system of ISO 20022 (`GBDSC` and a sort code, `USABA` and a routing number). */
  readonly clearing: { readonly system: string | null; readonly member: string } | null
  readonly name: string | null
  readonly country: string | null
}

/** Information for the payee: lines of text, and a creditor reference (ISO 11649 `RF…` or national). */
export interface MessageRemittance {
  readonly unstructured: readonly string[]
  readonly creditorReference: string | null
}

// ── Out: files of orders
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** How a bank wants a rail to be named; it replaces the codes of the standard. */
export interface PaymentType {
  readonly serviceLevel?: string
  /** A code of ISO 20022's list, or the bank's own word. */
  readonly localInstrument?: { readonly code: string } | { readonly proprietary: string }
  readonly categoryPurpose?: string
}

/** What a file says of itself. */
export interface FileHead {
  /** Unique for the bank; at most 29 characters, because the ids of the blocks add their number to it. */
  readonly messageId: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** The customer of the bank that sends the file. */
  readonly initiator: MessageParty
  /** True for one entry per block on the account, false for one per order, null for what was agreed with the bank. */
  readonly batchBooking: boolean | null
  /** The bank's own codes, by rail (credit transfers) or scheme (direct debits). */
  readonly paymentTypes?: Readonly<Partial<Record<Rail | DebitScheme, PaymentType>>>
}

/** A credit transfer of a file. */
export interface FileOrder {
  /** Our reference, a UUID: written as `InstrId`, 32 hexadecimal digits. */
  readonly reference: string
  readonly rail: Rail
  readonly currency: CurrencyCode
  readonly amount: bigint
  readonly executionDate: string
  /** Null writes our reference. */
  readonly endToEndId: string | null
  /** A UUID of version 4; null where the rail has none. */
  readonly uetr: string | null
  readonly chargeBearer: ChargeBearer | null
  /** A code of four characters at most; `proprietary` for a country's own. */
  readonly purpose: { readonly code: string } | { readonly proprietary: string } | null
  readonly categoryPurpose: string | null
  readonly debtor: MessageParty
  readonly debtorAccount: MessageAccount
  readonly debtorAgent: MessageAgent
  readonly ultimateDebtor: MessageParty | null
  readonly intermediaryAgent: MessageAgent | null
  readonly creditor: MessageParty
  readonly creditorAccount: MessageAccount
  readonly creditorAgent: MessageAgent | null
  readonly ultimateCreditor: MessageParty | null
  readonly remittance: MessageRemittance
}

/** The schemes of direct debits. */
export const DEBIT_SCHEMES = ['sepa_dd_core', 'sepa_dd_b2b', 'bacs_dd', 'ach_debit'] as const
export type DebitScheme = (typeof DEBIT_SCHEMES)[number]

/** The place of a collection among those of its mandate. */
export type DebitSequence = 'first' | 'recurring' | 'final' | 'one_off'

/** What changed in a mandate since its last collection: the former values; null where a value is the same. */
export interface MandateAmendment {
  readonly mandateId: string | null
  readonly creditorId: string | null
  readonly creditorName: string | null
  /** `other_bank`: the debtor's account is with another bank now, and the former account is not told. */
  readonly debtorAccount: MessageAccount | 'other_bank' | null
}

/** A direct debit of a file. */
export interface FileCollection {
  /** Our reference, a UUID: written as `InstrId`, 32 hexadecimal digits. */
  readonly reference: string
  readonly scheme: DebitScheme
  readonly sequence: DebitSequence
  readonly dueDate: string
  readonly currency: CurrencyCode
  readonly amount: bigint
  /** Null writes our reference. */
  readonly endToEndId: string | null
  readonly purpose: FileOrder['purpose']
  readonly creditor: MessageParty
  readonly creditorAccount: MessageAccount
  readonly creditorAgent: MessageAgent
  /** The creditor's identifier in the scheme: of SEPA, or a Bacs service user number. */
  readonly creditorId: string
  readonly ultimateCreditor: MessageParty | null
  readonly mandate: {
    readonly id: string
    readonly signedOn: string
    readonly amendment: MandateAmendment | null
  }
  readonly debtor: MessageParty
  readonly debtorAccount: MessageAccount
  readonly debtorAgent: MessageAgent | null
  readonly ultimateDebtor: MessageParty | null
  readonly remittance: MessageRemittance
}

/** A block (`PmtInf`) of a file: neighbouring orders that have its terms in common. */
export interface FileBlock {
  readonly id: string
  /** The position of its first order in the file, from 0. */
  readonly first: number
  readonly count: number
  /** The sum of its amounts in major units, as the file says it. */
  readonly controlSum: string
}

/** The blocks and sums of a file, computed before its first byte is written. */
export interface FilePlan {
  readonly head: FileHead
  readonly count: number
  /** The sum of all amounts in major units, whatever their currencies. */
  readonly controlSum: string
  readonly blocks: readonly FileBlock[]
}

/** Orders of a file: iterable as often as needed, each time the same in the same order. */
export type OrdersOf<Order> = () => AsyncIterable<Order> | Iterable<Order>

/** Why an order cannot be written. `field` is the member at fault (`creditorAccount.iban`). */
export interface OrderFault {
  readonly field: string
  readonly message: string
}

// ── In: status reports
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The statuses of ISO 20022 that reports on orders carry. */
export const REPORTED_STATUSES = [
  'RCVD',
  'ACTC',
  'ACCP',
  'ACSP',
  'ACWC',
  'ACWP',
  'ACFC',
  'ACSC',
  'ACCC',
  'PDNG',
  'PART',
  'PATC',
  'BLCK',
  'CANC',
  'RJCT',
] as const
export type ReportedStatus = (typeof REPORTED_STATUSES)[number]

/** The reason of a status: a code of ISO 20022's list or the bank's own, and sentences beside it. */
export interface ReportedReason {
  readonly code: string | null
  readonly isProprietary: boolean
  readonly texts: readonly string[]
}

/** What a status report says of the whole file that was sent. */
export interface StatusReport {
  readonly version: string
  readonly messageId: string
  readonly createdAt: string
  /** The id and kind of the file (`pain.001.001.09`) that was sent. */
  readonly originalMessageId: string
  readonly originalMessageName: string
  /** Null where the status of the file depends on its blocks or orders. */
  readonly status: ReportedStatus | null
  readonly reasons: readonly ReportedReason[]
}

/** What it says of a block of that file. */
export interface StatusReportBlock {
  readonly blockId: string
  readonly status: ReportedStatus | null
  readonly reasons: readonly ReportedReason[]
}

/** What it says of one order. */
export interface StatusReportOrder {
  readonly blockId: string | null
  readonly instructionId: string | null
  readonly endToEndId: string | null
  readonly uetr: string | null
  /** Our reference, where the instruction id (or the end-to-end id in its place) is a UUID. */
  readonly reference: string | null
  /** The status of the order; where it has none, that of its block, then of the file. */
  readonly status: ReportedStatus | null
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
  readonly text: string | null
  readonly transactions: readonly ReportTransaction[]
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
  /** The amount on the account; null where only the entry has one and it has several transactions. */
  readonly amount: bigint | null
  readonly currency: CurrencyCode
  readonly direction: ReportDirection
  /** What was ordered, where a currency was exchanged on the way. */
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

/**
 * The files that are sent to a bank, as typed values: credit transfers (pain.001) and direct debits (pain.008), and the
 * parties of both directions. What banks answer is in `reports.ts`.
 *
 * Amounts are bigint minor units of their currency, above zero; days are `YYYY-MM-DD`.
 */
import type { CurrencyCode } from '../../base/currency.ts'
import type { MandateScheme } from '../../rails/debit-schemes.ts'
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
 * null where the scheme needs none. `type` is a code of ISO 20022: `CACC` for a current account, `SVGS` for savings.
 */
export type MessageAccount =
  | { readonly iban: string }
  | { readonly number: string; readonly scheme: string | null; readonly type?: 'CACC' | 'SVGS' }

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

/** The head of a file. */
export interface FileHead {
  /** Unique for the bank; at most 28 characters, because the ids of the blocks add their number to it. */
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
export type DebitScheme = MandateScheme

/** The place of a collection among those of its mandate. */
export type DebitSequence = 'first' | 'recurring' | 'final' | 'one_off'

/** The changes of a mandate since its last collection: the former values; null where a value is the same. */
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

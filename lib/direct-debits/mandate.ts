/** Mandates as stored and as their moves read them. Amounts are bigint minor units, times epoch milliseconds. */
import type { Static } from 'typebox'
import type { CurrencyCode } from '../base/currency.ts'
import type { Address } from '../contract/address.ts'
import type { MandateManagement, MandateScheme } from '../rails/debit-schemes.ts'
import type { DebtorAccountField, AuthorisationSource, ConsentType, CounterpartyKind, SequenceType } from './schemes.ts'

/** `collect`: the customer is the creditor. `pay`: the customer is the debtor, and the counterparty collects from it. */
export const MANDATE_DIRECTIONS = ['collect', 'pay'] as const
export type MandateDirection = (typeof MANDATE_DIRECTIONS)[number]

export const MANDATE_STATUSES = [
  'pending',
  'submitted',
  'active',
  'suspended',
  'failed',
  'cancelled',
  'expired',
  'consumed',
] as const
export type MandateStatus = (typeof MANDATE_STATUSES)[number]

/** The statuses from which a mandate can still move. */
export const OPEN_MANDATE_STATUSES = [
  'pending',
  'submitted',
  'active',
  'suspended',
] as const satisfies readonly MandateStatus[]

/** The account of a counterparty: the fields that its scheme asks for (schemes.ts), unmasked. */
export type CounterpartyAccount = { readonly [Field in DebtorAccountField]?: string }

/** The postal address of a counterparty, as the API has it. */
export type CounterpartyAddress = Static<typeof Address>

/** The other party of a mandate: the payer of a `collect` mandate, the creditor of a `pay` mandate. */
export interface MandateCounterparty extends CounterpartyAccount {
  readonly name: string
  readonly kind: CounterpartyKind
  /** Where the payer is told of collections; absent: the customer tells it. */
  readonly email?: string
  /** The creditor's identifier; `pay` mandates have one. */
  readonly creditorId?: string
  readonly address?: CounterpartyAddress
}

/** A line of a mandate's history: a change of its status, or of its account. */
export interface MandateHistoryEntry {
  readonly status: MandateStatus
  /** RFC 3339. */
  readonly at: string
  /** The scheme's code, or words. */
  readonly reason: string | null
  /** The former account of the counterparty, unmasked, where the account changed. */
  readonly formerAccount?: CounterpartyAccount
  readonly formerName?: string
}

/** The values before an amendment that the next file tells the payer's bank about; absent members are the same. */
export interface MandateOriginals {
  readonly reference?: string
  readonly creditorId?: string
  readonly creditorName?: string
  readonly account?: CounterpartyAccount
  /** RFC 3339. */
  readonly since: string
}

export interface MandateRecord {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  /** The connection of the balance when the mandate was made. */
  readonly connectionId: string
  readonly shard: number
  readonly direction: MandateDirection
  readonly scheme: MandateScheme
  readonly status: MandateStatus
  /** Counts every write of the row, also by the moves of the mandate's collections. */
  readonly version: number
  /** Counts the changes by people, for their ETag. */
  readonly termsVersion: number
  readonly reference: string
  readonly balanceId: string
  readonly currency: CurrencyCode
  readonly counterparty: MandateCounterparty
  readonly management: MandateManagement
  /** What the mandate is for: `one_off` takes one collection, `final` makes the next one the last. */
  readonly sequenceType: SequenceType
  readonly amountLimit: bigint | null
  /** The days of notice that were agreed with the payer, in the unit of the scheme; null: those of the scheme. */
  readonly noticeDays: number | null
  readonly consentType: ConsentType | null
  readonly authorisationSource: AuthorisationSource | null
  readonly signedAt: number | null
  readonly documentId: string | null
  /** Our identifier in the scheme, for `collect`. */
  readonly creditorId: string | null
  readonly creditorName: string | null
  /** The bank's reference of the mandate. */
  readonly providerRef: string | null
  /** The scheme's code or the reason in words of the present status. */
  readonly statusReason: string | null
  readonly submittedAt: number | null
  readonly activatedAt: number | null
  readonly cancelledAt: number | null
  /** When its bank is told next that it has ended here; null: it knows, or never had it. */
  readonly endDueAt: number | null
  /** The last time when a collection was collected. */
  readonly lastCollectionAt: number | null
  /** The last time when a collection was submitted, from which dormancy counts. */
  readonly lastPresentedAt: number | null
  /** Collections that were presented, or wait for it: the first one decides the sequence. */
  readonly presentedCount: number
  /** Collections in `pending`, and in `submitted` or `exception`. */
  readonly pendingCount: number
  readonly submittedCount: number
  readonly history: readonly MandateHistoryEntry[]
  readonly pendingAmendment: MandateOriginals | null
  /** When the mandate's timer is due next: silence of its bank is consent, dormancy. */
  readonly dueAt: number | null
  readonly createdBy: string
  readonly createdVia: 'api_key' | 'web' | 'mobile' | 'system' | 'operator' | 'schedule' | 'bulk'
  readonly metadata: Readonly<Record<string, string>>
  readonly createdAt: number
  readonly updatedAt: number
}

/** The members of a new mandate that nothing has happened to. */
export const NEW_MANDATE = {
  version: 1,
  termsVersion: 1,
  status: 'pending',
  providerRef: null,
  statusReason: null,
  submittedAt: null,
  activatedAt: null,
  cancelledAt: null,
  endDueAt: null,
  lastCollectionAt: null,
  lastPresentedAt: null,
  presentedCount: 0,
  pendingCount: 0,
  submittedCount: 0,
  pendingAmendment: null,
  dueAt: null,
} as const satisfies Partial<MandateRecord>

/** Whether a mandate can still move. */
export const isOpenMandate = ({ status }: Pick<MandateRecord, 'status'>): boolean =>
  (OPEN_MANDATE_STATUSES as readonly MandateStatus[]).includes(status)

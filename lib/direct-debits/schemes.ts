/**
 * The schemes of direct debits: all that differs between them, one row each, every column required. Pure data; dates are
 * computed of it in dates.ts.
 */
import type { CurrencyCode } from '../base/currency.ts'
import {
  AUSTRALIA,
  CANADA,
  ENGLAND,
  FEDERAL_RESERVE,
  TARGET,
  type BusinessCalendar,
} from '../rails/national-calendars.ts'
import type { MandateScheme } from '../rails/debit-schemes.ts'
import type { Period } from './dates.ts'
import { ACH_LIMITS, type ReturnRateLimit } from './return-rates.ts'
import {
  COLLECTION_REASONS,
  EARLY_R_TYPES,
  MANDATE_REASONS,
  type CollectionReason,
  type MandateReason,
  type MandateReport,
  type RTransactionType,
} from './reason-codes.ts'

/** The place of a collection among those of its mandate; of a mandate: what it is for. */
export const SEQUENCE_TYPES = ['first', 'recurring', 'final', 'one_off'] as const
export type SequenceType = (typeof SEQUENCE_TYPES)[number]

/** The kind of the payer, which decides windows of ACH and PAD. */
export const COUNTERPARTY_KINDS = ['consumer', 'business'] as const
export type CounterpartyKind = (typeof COUNTERPARTY_KINDS)[number]

/** How the payer gave its authorisation. */
export const AUTHORISATION_SOURCES = ['web', 'telephone', 'paper'] as const
export type AuthorisationSource = (typeof AUTHORISATION_SOURCES)[number]

/** The kind of the agreement, where a scheme knows several. */
export const CONSENT_TYPES = ['one_off', 'single', 'recurring', 'standing', 'sporadic'] as const
export type ConsentType = (typeof CONSENT_TYPES)[number]

/** A length of time from the due date; `unlimited` never ends. */
export type Window = Period | 'unlimited'

/**
 * Until when each R-transaction may come after the settlement; null: the scheme has none.
 */
export interface Windows {
  readonly return: Window
  readonly refund_authorised: Window | null
  readonly refund_unauthorised: Window | null
  readonly indemnity_claim: Window | null
  readonly reversal: Window
}

/** The members of a counterparty's account. */
export const ACCOUNT_FIELDS = [
  'iban',
  'bic',
  'sortCode',
  'accountNumber',
  'routingNumber',
  'accountType',
  'bsb',
  'institutionNumber',
  'transitNumber',
] as const
export type DebtorAccountField = (typeof ACCOUNT_FIELDS)[number]

export interface SchemeTerms {
  readonly scheme: MandateScheme
  /** The name for people. */
  readonly name: string
  readonly currency: CurrencyCode
  /** Banks of the scheme work on the days of this calendar; times are in `zone`. */
  readonly calendar: BusinessCalendar
  readonly zone: string
  /** `HH:mm`: until then a collection leaves on the same day. */
  readonly cutOff: string
  /** Business days from the submission to the due date. */
  readonly daysToSettle: number
  /** Business days from the day of creation (before the cut-off) to the earliest due date, without pre-notification. */
  readonly earliestDays: number
  /** Calendar days from today to the latest due date. */
  readonly dueMaxDays: number
  /** How long before the due date the payer hears of it, unless agreed otherwise. */
  readonly preNotification: Period
  /** The scheme's codes of sequences in files; `represented` of a collection that is sent again. */
  readonly sequenceCodes: Readonly<Record<SequenceType | 'represented', string>>
  /** The scheme's codes for new, cancelled and converted mandates in lodging files; null: mandates are not lodged so. */
  readonly lodgingCodes: { readonly new: string; readonly cancelled: string; readonly converted: string } | null
  /** Months without a presented collection after which a mandate expires; null: it does not. */
  readonly dormancyMonths: number | null
  readonly windows: Readonly<Record<CounterpartyKind, Windows>>
  /** For how long after its due date collected money counts as refundable. */
  readonly refundable: Readonly<Record<CounterpartyKind, Window>>
  /** Reasons for which a collection may be presented again (lack of funds), and how often. */
  readonly retry: { readonly codes: readonly string[]; readonly max: number; readonly withinDays: number }
  /** What a client-managed mandate needs before it is active, and the business days after which silence is consent. */
  readonly lodging: { readonly by: 'none' | 'auddis' | 'debtor_bank'; readonly days: number | null }
  readonly collectionReasons: readonly CollectionReason[]
  readonly mandateReasons: readonly MandateReason[]
  /** The reason of lack of funds, which sandboxes and retries use. */
  readonly noFunds: string
  /** The reason of a refund that the payer asks for after settlement. */
  readonly refundReason: string
  readonly authorisationSources: readonly AuthorisationSource[]
  /** Empty: the scheme does not tell agreements apart. */
  readonly consentTypes: readonly ConsentType[]
  /** Mandate references: `pattern` of the whole text, and its rule in words. */
  readonly reference: { readonly pattern: RegExp; readonly words: string }
  /** The fields of the payer's account. */
  readonly account: {
    readonly required: readonly DebtorAccountField[]
    readonly optional: readonly DebtorAccountField[]
  }
  /** Working days in which an indemnity claim can be challenged; null: it cannot. */
  readonly challengeDays: number | null
  /** Business days after the due date without an answer, after which a collection is an exception. */
  readonly answerDays: number
  /** The limits of return rates; empty: the scheme sets none. */
  readonly returnLimits: readonly ReturnRateLimit[]
}

const business = (count: number): Window => ({ count, unit: 'working' })
const both = <Value>(value: Value): Readonly<Record<CounterpartyKind, Value>> => ({ consumer: value, business: value })

const SEPA_REFERENCE = {
  pattern: /^(?! )[A-Za-z0-9+?/:().,' -]{1,35}(?<! )$/,
  words: "1 to 35 characters: letters, digits, spaces and + ? / : ( ) . , ' -",
} as const

const REVERSAL = business(5)

const SEPA = {
  currency: 'EUR',
  calendar: TARGET,
  zone: 'Europe/Brussels',
  cutOff: '10:00',
  daysToSettle: 1,
  earliestDays: 1,
  dueMaxDays: 366,
  preNotification: { count: 14, unit: 'calendar' },
  sequenceCodes: { first: 'FRST', recurring: 'RCUR', final: 'FNAL', one_off: 'OOFF', represented: 'RCUR' },
  lodgingCodes: null,
  dormancyMonths: 36,
  retry: { codes: ['AM04'], max: 3, withinDays: 28 },
  mandateReasons: MANDATE_REASONS.sepa,
  noFunds: 'AM04',
  authorisationSources: ['web', 'paper'],
  consentTypes: [],
  reference: SEPA_REFERENCE,
  account: { required: ['iban'], optional: ['bic'] },
  challengeDays: null,
  answerDays: 3,
  returnLimits: [],
} as const satisfies Partial<SchemeTerms>

export const DEBIT_SCHEMES: Readonly<Record<MandateScheme, SchemeTerms>> = {
  sepa_dd_core: {
    ...SEPA,
    scheme: 'sepa_dd_core',
    name: 'SEPA Core Direct Debit',
    windows: both({
      return: business(5),
      refund_authorised: { count: 8, unit: 'weeks' },
      refund_unauthorised: { count: 13, unit: 'months' },
      indemnity_claim: null,
      reversal: REVERSAL,
    }),
    refundable: both({ count: 8, unit: 'weeks' }),
    lodging: { by: 'none', days: null },
    collectionReasons: COLLECTION_REASONS.sepa_core,
    refundReason: 'MD06',
  },
  sepa_dd_b2b: {
    ...SEPA,
    scheme: 'sepa_dd_b2b',
    name: 'SEPA B2B Direct Debit',
    windows: both({
      return: business(3),
      refund_authorised: null,
      refund_unauthorised: null,
      indemnity_claim: null,
      reversal: REVERSAL,
    }),
    refundable: both(business(3)),
    lodging: { by: 'debtor_bank', days: null },
    collectionReasons: COLLECTION_REASONS.sepa_b2b,
    refundReason: 'MS02',
  },
  bacs_dd: {
    scheme: 'bacs_dd',
    name: 'Bacs Direct Debit',
    currency: 'GBP',
    calendar: ENGLAND,
    zone: 'Europe/London',
    cutOff: '16:00',
    daysToSettle: 2,
    earliestDays: 3,
    dueMaxDays: 366,
    preNotification: { count: 10, unit: 'working' },
    sequenceCodes: { first: '01', recurring: '17', final: '19', one_off: '01', represented: '18' },
    lodgingCodes: { new: '0N', cancelled: '0C', converted: '0S' },
    dormancyMonths: 24,
    windows: both({
      return: business(2),
      refund_authorised: null,
      refund_unauthorised: null,
      indemnity_claim: 'unlimited',
      reversal: REVERSAL,
    }),
    refundable: both('unlimited'),
    retry: { codes: ['0'], max: 3, withinDays: 28 },
    lodging: { by: 'auddis', days: 5 },
    collectionReasons: COLLECTION_REASONS.bacs,
    mandateReasons: MANDATE_REASONS.bacs,
    noFunds: '0',
    refundReason: '2',
    authorisationSources: AUTHORISATION_SOURCES,
    consentTypes: [],
    reference: { pattern: /^[A-Z0-9]{6,18}$/, words: '6 to 18 upper-case letters and digits' },
    account: { required: ['sortCode', 'accountNumber'], optional: [] },
    challengeDays: 14,
    answerDays: 3,
    returnLimits: [],
  },
  ach_debit: {
    scheme: 'ach_debit',
    name: 'ACH Debit',
    currency: 'USD',
    calendar: FEDERAL_RESERVE,
    zone: 'America/New_York',
    cutOff: '20:00',
    daysToSettle: 1,
    earliestDays: 1,
    dueMaxDays: 366,
    preNotification: { count: 2, unit: 'calendar' },
    sequenceCodes: { first: 'R', recurring: 'R', final: 'R', one_off: 'S', represented: 'R' },
    lodgingCodes: null,
    dormancyMonths: null,
    windows: {
      consumer: {
        return: business(2),
        refund_authorised: null,
        refund_unauthorised: { count: 60, unit: 'calendar' },
        indemnity_claim: null,
        reversal: REVERSAL,
      },
      business: {
        return: business(2),
        refund_authorised: null,
        refund_unauthorised: business(2),
        indemnity_claim: null,
        reversal: REVERSAL,
      },
    },
    refundable: { consumer: { count: 60, unit: 'calendar' }, business: business(2) },
    retry: { codes: ['R01', 'R09'], max: 2, withinDays: 28 },
    lodging: { by: 'none', days: null },
    collectionReasons: COLLECTION_REASONS.ach,
    mandateReasons: MANDATE_REASONS.ach,
    noFunds: 'R01',
    refundReason: 'R10',
    authorisationSources: AUTHORISATION_SOURCES,
    consentTypes: ['one_off', 'recurring', 'standing'],
    reference: { pattern: /^[A-Za-z0-9-]{1,22}$/, words: '1 to 22 letters, digits and hyphens' },
    account: { required: ['routingNumber', 'accountNumber'], optional: ['accountType'] },
    challengeDays: null,
    answerDays: 3,
    returnLimits: ACH_LIMITS,
  },
  becs_dd: {
    scheme: 'becs_dd',
    name: 'BECS Direct Debit',
    currency: 'AUD',
    calendar: AUSTRALIA,
    zone: 'Australia/Sydney',
    cutOff: '16:00',
    daysToSettle: 1,
    earliestDays: 1,
    dueMaxDays: 366,
    preNotification: { count: 2, unit: 'calendar' },
    sequenceCodes: { first: '13', recurring: '13', final: '13', one_off: '13', represented: '13' },
    lodgingCodes: null,
    dormancyMonths: null,
    windows: both({
      return: business(3),
      refund_authorised: null,
      refund_unauthorised: { count: 84, unit: 'months' },
      indemnity_claim: null,
      reversal: REVERSAL,
    }),
    refundable: both(business(3)),
    retry: { codes: ['6'], max: 3, withinDays: 28 },
    lodging: { by: 'none', days: null },
    collectionReasons: COLLECTION_REASONS.becs,
    mandateReasons: MANDATE_REASONS.none,
    noFunds: '6',
    refundReason: 'CLM',
    authorisationSources: AUTHORISATION_SOURCES,
    consentTypes: [],
    reference: { pattern: /^[A-Za-z0-9-]{1,18}$/, words: '1 to 18 letters, digits and hyphens' },
    account: { required: ['bsb', 'accountNumber'], optional: [] },
    challengeDays: null,
    answerDays: 3,
    returnLimits: [],
  },
  pad: {
    scheme: 'pad',
    name: 'Pre-authorised Debit',
    currency: 'CAD',
    calendar: CANADA,
    zone: 'America/Toronto',
    cutOff: '16:00',
    daysToSettle: 1,
    earliestDays: 1,
    dueMaxDays: 366,
    preNotification: { count: 2, unit: 'calendar' },
    sequenceCodes: { first: '450', recurring: '450', final: '450', one_off: '450', represented: '450' },
    lodgingCodes: null,
    dormancyMonths: null,
    windows: {
      consumer: {
        return: business(3),
        refund_authorised: null,
        refund_unauthorised: { count: 90, unit: 'calendar' },
        indemnity_claim: null,
        reversal: REVERSAL,
      },
      business: {
        return: business(3),
        refund_authorised: null,
        refund_unauthorised: business(10),
        indemnity_claim: null,
        reversal: REVERSAL,
      },
    },
    refundable: { consumer: { count: 90, unit: 'calendar' }, business: business(10) },
    retry: { codes: ['901'], max: 3, withinDays: 28 },
    lodging: { by: 'none', days: null },
    collectionReasons: COLLECTION_REASONS.pad,
    mandateReasons: MANDATE_REASONS.none,
    noFunds: '901',
    refundReason: '915',
    authorisationSources: AUTHORISATION_SOURCES,
    consentTypes: ['single', 'recurring', 'sporadic'],
    reference: { pattern: /^[A-Za-z0-9-]{1,19}$/, words: '1 to 19 letters, digits and hyphens' },
    account: { required: ['institutionNumber', 'transitNumber', 'accountNumber'], optional: [] },
    challengeDays: null,
    answerDays: 3,
    returnLimits: [],
  },
}

/**
 * Finds the reason of an R-transaction of a scheme. `type`: the kind that the report names; null: any kind.
 *
 * @returns undefined for a code that the scheme does not know
 */
export function collectionReason(
  scheme: MandateScheme,
  code: string,
  type: RTransactionType | null = null,
): CollectionReason | undefined {
  return DEBIT_SCHEMES[scheme].collectionReasons.find(
    (reason) => reason.code === code && (type === null || reason.kinds.includes(type)),
  )
}

/** Finds the reason of a report about a mandate; undefined for a code that the scheme does not know. */
export function mandateReason(scheme: MandateScheme, code: string, report: MandateReport): MandateReason | undefined {
  return DEBIT_SCHEMES[scheme].mandateReasons.find((reason) => reason.code === code && reason.report === report)
}

/**
 * Returns the kind of an R-transaction of which a report names only the reason: before the settlement a reject or a
 * refusal, after it a return or a refund. Unknown codes are a reject or a return.
 */
export function rTypeOf(scheme: MandateScheme, code: string | null, settled: boolean): RTransactionType {
  const found =
    code === null
      ? undefined
      : DEBIT_SCHEMES[scheme].collectionReasons
          .filter((reason) => reason.code === code)
          .flatMap(({ kinds }) => kinds)
          .find((kind) => kind !== 'reversal' && EARLY_R_TYPES.includes(kind) !== settled)
  return found ?? (settled ? 'return' : 'reject')
}

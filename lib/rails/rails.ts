/**
 * The rails: the schemes that carry payments, and the terms of each. All that depends on a rail is a column here, so a
 * new rail is a name and a row; the name alone does not compile.
 *
 * Limits, cut-offs and lengths are the schemes' own where they are published, and ours where they are not. An operator
 * may replace the table, so every function takes one. Amounts are minor units of the rail's currency.
 */
import type { BankField } from './bank-field.ts'
import type { CurrencyCode } from '../base/currency.ts'
import {
  AUSTRALIA,
  CANADA,
  CZECHIA,
  DENMARK,
  EMIRATES,
  ENGLAND,
  EVERY_DAY,
  FEDERAL_RESERVE,
  HONG_KONG,
  HUNGARY,
  JAPAN,
  NORWAY,
  POLAND,
  ROMANIA,
  SINGAPORE,
  SOUTH_AFRICA,
  SWEDEN,
  SWITZERLAND,
  TARGET,
  WEEKENDS,
  type BusinessCalendar,
} from './national-calendars.ts'

/** The names of the rails, in the order in which the contract lists them. */
export const RAIL_NAMES = [
  'sepa',
  'sepa_instant',
  'target2',
  'faster_payments',
  'chaps',
  'bacs',
  'swift',
  'internal',
  'ach',
  'ach_same_day',
  'fedwire',
  'rtp',
  'fednow',
  'pl_elixir',
  'pl_express_elixir',
  'ch_sic',
  'se_domestic',
  'no_domestic',
  'dk_domestic',
  'cz_certis',
  'hu_giro',
  'ro_transfond',
  'bg_bisera',
  'au_becs',
  'au_npp',
  'nz_becs',
  'ca_eft',
  'sg_fast',
  'sg_giro',
  'hk_fps',
  'hk_chats',
  'jp_zengin',
  'in_neft',
  'in_imps',
  'in_rtgs',
  'mx_spei',
  'za_eft',
  'za_rtc',
  'ae_uaefts',
  'card',
] as const

/**
 * Every way a payment can travel. `internal` stays on this platform; `card` is used only by cards, has no terms and is
 * never chosen.
 */
export type Rail = (typeof RAIL_NAMES)[number]

/**
 * The time until the money arrives: seconds, the day of release, a later day, or the time that correspondent banks
 * take.
 */
export type Speed = 'instant' | 'same_day' | 'batch' | 'international'

/** The characters that a rail carries, see `CHARACTERS`. */
export type CharacterSet = 'epc' | 'epc_polish' | 'swift_x' | 'bacs' | 'bacs_mixed' | 'ascii' | 'half_width' | 'latin'

/** The parties that can bear the charges of a payment. */
export const CHARGE_BEARERS = ['shared', 'sender', 'recipient'] as const
export type ChargeBearer = (typeof CHARGE_BEARERS)[number]

/** The service levels of ISO 20022 by which a payment order can ask for a rail. */
export type ServiceLevel = 'SEPA' | 'URGP' | 'NURG'

/** The terms of one rail. */
export interface RailTerms {
  readonly rail: Rail
  /** The name for people; null shows the code of the rail. */
  readonly name: string | null
  /** Null for any currency. */
  readonly currency: CurrencyCode | null
  /** The countries whose banks the rail reaches. Null for any. */
  readonly countries: ReadonlySet<string> | null
  readonly speed: Speed
  /** The rail is instant up to this amount; above it, `speed` applies. Null when there is no such step. */
  readonly instantMaxMinor: bigint | null
  /** Rank by price among rails of the same speed: lower is cheaper. */
  readonly cost: number
  /** The zone of the rail's days: an IANA name, or `PARTNER_ZONE`. */
  readonly zone: string
  /** The latest release (`HH:mm`) that still counts as that business day. Null: open around the clock. */
  readonly cutOff: { readonly time: string; readonly zone: string } | null
  /** The business days. Null: open on every day. */
  readonly calendar: BusinessCalendar | null
  /** Business days from a release before the cut-off until the money arrives. */
  readonly businessDays: { readonly min: number; readonly max: number }
  readonly minMinor: bigint
  /** Null when the scheme has no cap. */
  readonly limitMinor: bigint | null
  /** Amounts are multiples of this: 100 where the scheme clears whole units only. */
  readonly multipleMinor: bigint
  readonly reference: { readonly max: number; readonly characters: CharacterSet }
  /** Longer names are cut, with a warning. */
  readonly nameMax: number
  /**
   * The account details that identify an account: any one of these groups is enough. The address is listed where the
   * scheme demands it.
   */
  readonly needs: readonly (readonly BankField[])[]
  /** The allowed bearers of charges; the first one applies where a payment names none or another one. */
  readonly chargeBearers: readonly ChargeBearer[]
  /** The local instrument of ISO 20022 that means this rail. */
  readonly localInstrument: 'INST' | null
  /** The service levels of ISO 20022 that mean this rail, for payments in its currency. */
  readonly serviceLevels: readonly ServiceLevel[]
  /**
   * Whether the rail is a credit transfer scheme of the European Payments Council: each payment needs a fresh check of
   * the payee, and an account that the rail reaches can be paid by QR code.
   */
  readonly sepa: boolean
  /** The scheme by which the payee's name must be checked; null where there is none. */
  readonly payeeCheck: 'cop' | 'vop' | null
  /** Whether a payment carries a unique end-to-end transaction reference. */
  readonly uetr: boolean
  /** Time in which the receiving bank may return the money without asking. Null: only on request, or without an end. */
  readonly returnWindow: { readonly days: number; readonly unit: 'business' | 'calendar' } | null
  /**
   * The rail whose business days count for the answer to a recall; null where payments cannot be recalled. It differs
   * for an instant rail: the rail never closes, but the staff who answer recalls have days off.
   */
  readonly recallDays: Rail | null
  /** From this date the rail exists only for old payments. */
  readonly withdrawnSince: string | null
}

/** A rail table: ours, or an operator's in its place. */
export type RailTable = ReadonlyMap<Rail, RailTerms>

// The cut-off is in the zone of the partner's own country, which is known only with the connection.
export const PARTNER_ZONE = 'partner'

/** The 41 countries of the Single Euro Payments Area, per the European Payments Council. */
export const SEPA_COUNTRIES: ReadonlySet<string> = new Set(
  (
    'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK IS LI NO ' +
    'CH GB MC SM AD VA AL ME MD MK RS'
  ).split(' '),
)

// Territories that are in the area through a member: Åland, the Channel Islands, Man, Gibraltar, French overseas
// regions.
const SEPA_REACH: ReadonlySet<string> = new Set([
  ...SEPA_COUNTRIES,
  'AX',
  'GG',
  'JE',
  'IM',
  'GI',
  'GF',
  'GP',
  'MQ',
  'YT',
  'RE',
  'BL',
  'MF',
  'PM',
])
const UK_CLEARING: ReadonlySet<string> = new Set(['GB', 'GG', 'JE', 'IM'])

const SHARED = ['shared'] as const
const ANY_BEARER = CHARGE_BEARERS
const BUSINESS_1 = { days: 1, unit: 'business' } as const
const BUSINESS_2 = { days: 2, unit: 'business' } as const
const BUSINESS_3 = { days: 3, unit: 'business' } as const
const BUSINESS_5 = { days: 5, unit: 'business' } as const
const BUSINESS_10 = { days: 10, unit: 'business' } as const

const US_ACCOUNT: readonly (readonly BankField[])[] = [['routingNumber', 'accountNumber', 'accountType', 'address']]
const UK_ACCOUNT: readonly (readonly BankField[])[] = [['sortCode', 'accountNumber'], ['iban']]

/** A row of the table: the terms, with the cut-off as a time in the rail's zone. */
type Row = Omit<RailTerms, 'rail' | 'cutOff'> & { readonly cutOff: string | null }

/** The order of the rows decides between rails of the same speed and price, and is the order of lists of rails. */
// biome-ignore format: one group of columns a line
const ROWS: { readonly [rail in Exclude<Rail, 'card'>]: Row } = {
  internal: {
    name: 'Internal transfer', currency: null, countries: null,
    speed: 'instant', instantMaxMinor: null, cost: 0,
    zone: 'UTC', cutOff: null, calendar: null, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: null, multipleMinor: 1n, reference: { max: 140, characters: 'latin' }, nameMax: 140,
    needs: [[]],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: null, recallDays: null, withdrawnSince: null,
  },
  sepa: {
    name: 'SEPA Credit Transfer', currency: 'EUR', countries: SEPA_REACH,
    speed: 'same_day', instantMaxMinor: null, cost: 1,
    zone: 'Europe/Brussels', cutOff: '15:00', calendar: TARGET, businessDays: { min: 0, max: 1 },
    minMinor: 1n, limitMinor: null, multipleMinor: 1n, reference: { max: 140, characters: 'epc' }, nameMax: 70,
    needs: [['iban']],
    chargeBearers: SHARED, localInstrument: null, serviceLevels: ['SEPA', 'NURG'], sepa: true, payeeCheck: 'vop', uetr: false,
    returnWindow: BUSINESS_3, recallDays: 'sepa', withdrawnSince: null,
  },
  sepa_instant: {
    name: 'SEPA Instant Credit Transfer', currency: 'EUR', countries: SEPA_REACH,
    speed: 'instant', instantMaxMinor: null, cost: 1,
    zone: 'Europe/Brussels', cutOff: null, calendar: null, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: null, multipleMinor: 1n, reference: { max: 140, characters: 'epc' }, nameMax: 70,
    needs: [['iban']],
    chargeBearers: SHARED, localInstrument: 'INST', serviceLevels: [], sepa: true, payeeCheck: 'vop', uetr: false,
    returnWindow: null, recallDays: 'sepa', withdrawnSince: null,
  },
  target2: {
    name: 'TARGET', currency: 'EUR', countries: SEPA_REACH,
    speed: 'same_day', instantMaxMinor: null, cost: 3,
    zone: 'Europe/Brussels', cutOff: '16:30', calendar: TARGET, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: null, multipleMinor: 1n, reference: { max: 140, characters: 'epc' }, nameMax: 70,
    needs: [['iban', 'address']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: ['URGP'], sepa: false, payeeCheck: 'vop', uetr: true,
    returnWindow: BUSINESS_5, recallDays: 'target2', withdrawnSince: null,
  },
  faster_payments: {
    name: 'Faster Payments', currency: 'GBP', countries: UK_CLEARING,
    speed: 'instant', instantMaxMinor: null, cost: 1,
    zone: 'Europe/London', cutOff: null, calendar: null, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: 1_000_000_00n, multipleMinor: 1n, reference: { max: 18, characters: 'bacs_mixed' }, nameMax: 40,
    needs: UK_ACCOUNT,
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: 'cop', uetr: false,
    returnWindow: { days: 90, unit: 'calendar' }, recallDays: 'bacs', withdrawnSince: null,
  },
  chaps: {
    name: 'CHAPS', currency: 'GBP', countries: UK_CLEARING,
    speed: 'same_day', instantMaxMinor: null, cost: 3,
    zone: 'Europe/London', cutOff: '16:30', calendar: ENGLAND, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: null, multipleMinor: 1n, reference: { max: 35, characters: 'swift_x' }, nameMax: 35,
    needs: [['sortCode', 'accountNumber', 'address'], ['iban', 'address']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: ['URGP'], sepa: false, payeeCheck: 'cop', uetr: true,
    returnWindow: BUSINESS_5, recallDays: 'chaps', withdrawnSince: null,
  },
  bacs: {
    name: 'Bacs', currency: 'GBP', countries: UK_CLEARING,
    speed: 'batch', instantMaxMinor: null, cost: 1,
    zone: 'Europe/London', cutOff: '17:00', calendar: ENGLAND, businessDays: { min: 2, max: 2 },
    minMinor: 1n, limitMinor: 20_000_000_00n, multipleMinor: 1n, reference: { max: 18, characters: 'bacs' }, nameMax: 18,
    needs: UK_ACCOUNT,
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: ['NURG'], sepa: false, payeeCheck: 'cop', uetr: false,
    returnWindow: BUSINESS_5, recallDays: null, withdrawnSince: null,
  },
  rtp: {
    name: 'RTP', currency: 'USD', countries: new Set(['US']),
    speed: 'instant', instantMaxMinor: null, cost: 1,
    zone: 'America/New_York', cutOff: null, calendar: null, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: 10_000_000_00n, multipleMinor: 1n, reference: { max: 140, characters: 'ascii' }, nameMax: 140,
    needs: US_ACCOUNT,
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: null, recallDays: null, withdrawnSince: null,
  },
  fednow: {
    name: 'FedNow', currency: 'USD', countries: new Set(['US']),
    speed: 'instant', instantMaxMinor: null, cost: 2,
    zone: 'America/New_York', cutOff: null, calendar: null, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: 10_000_000_00n, multipleMinor: 1n, reference: { max: 140, characters: 'ascii' }, nameMax: 140,
    needs: US_ACCOUNT,
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: null, recallDays: null, withdrawnSince: null,
  },
  ach_same_day: {
    name: 'Same Day ACH', currency: 'USD', countries: new Set(['US']),
    speed: 'same_day', instantMaxMinor: null, cost: 1,
    zone: 'America/New_York', cutOff: '15:00', calendar: FEDERAL_RESERVE, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: 1_000_000_00n, multipleMinor: 1n, reference: { max: 80, characters: 'ascii' }, nameMax: 22,
    needs: US_ACCOUNT,
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: BUSINESS_2, recallDays: null, withdrawnSince: null,
  },
  ach: {
    name: 'ACH', currency: 'USD', countries: new Set(['US']),
    speed: 'batch', instantMaxMinor: null, cost: 1,
    zone: 'America/New_York', cutOff: '20:00', calendar: FEDERAL_RESERVE, businessDays: { min: 1, max: 2 },
    minMinor: 1n, limitMinor: 10_000_000_00n, multipleMinor: 1n, reference: { max: 80, characters: 'ascii' }, nameMax: 22,
    needs: US_ACCOUNT,
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: ['NURG'], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: BUSINESS_2, recallDays: null, withdrawnSince: null,
  },
  fedwire: {
    name: 'Fedwire', currency: 'USD', countries: new Set(['US']),
    speed: 'same_day', instantMaxMinor: null, cost: 3,
    zone: 'America/New_York', cutOff: '18:00', calendar: FEDERAL_RESERVE, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: null, multipleMinor: 1n, reference: { max: 140, characters: 'ascii' }, nameMax: 35,
    needs: US_ACCOUNT,
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: ['URGP'], sepa: false, payeeCheck: null, uetr: true,
    returnWindow: BUSINESS_5, recallDays: null, withdrawnSince: null,
  },
  pl_express_elixir: {
    name: null, currency: 'PLN', countries: new Set(['PL']),
    speed: 'instant', instantMaxMinor: null, cost: 1,
    zone: 'Europe/Warsaw', cutOff: null, calendar: null, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: 100_000_00n, multipleMinor: 1n, reference: { max: 140, characters: 'epc_polish' }, nameMax: 70,
    needs: [['iban'], ['accountNumber']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: BUSINESS_3, recallDays: null, withdrawnSince: null,
  },
  pl_elixir: {
    name: null, currency: 'PLN', countries: new Set(['PL']),
    speed: 'same_day', instantMaxMinor: null, cost: 1,
    zone: 'Europe/Warsaw', cutOff: '14:30', calendar: POLAND, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: 1_000_000_00n, multipleMinor: 1n, reference: { max: 140, characters: 'epc_polish' }, nameMax: 70,
    needs: [['iban'], ['accountNumber']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: BUSINESS_3, recallDays: null, withdrawnSince: null,
  },
  // Instant at some banks only. These are not known before sending, so only the day is promised.
  ch_sic: {
    name: null, currency: 'CHF', countries: new Set(['CH', 'LI']),
    speed: 'same_day', instantMaxMinor: null, cost: 1,
    zone: 'Europe/Zurich', cutOff: '16:00', calendar: SWITZERLAND, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: null, multipleMinor: 1n, reference: { max: 140, characters: 'epc' }, nameMax: 70,
    needs: [['iban', 'address']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: BUSINESS_10, recallDays: null, withdrawnSince: null,
  },
  se_domestic: {
    name: null, currency: 'SEK', countries: new Set(['SE']),
    speed: 'same_day', instantMaxMinor: null, cost: 1,
    zone: 'Europe/Stockholm', cutOff: '14:00', calendar: SWEDEN, businessDays: { min: 0, max: 1 },
    minMinor: 1n, limitMinor: 100_000_000_00n, multipleMinor: 1n, reference: { max: 35, characters: 'epc' }, nameMax: 35,
    needs: [['iban'], ['clearingNumber', 'accountNumber'], ['bankgiro']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: BUSINESS_5, recallDays: null, withdrawnSince: null,
  },
  no_domestic: {
    name: null, currency: 'NOK', countries: new Set(['NO']),
    speed: 'same_day', instantMaxMinor: null, cost: 1,
    zone: 'Europe/Oslo', cutOff: '14:00', calendar: NORWAY, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: 100_000_000_00n, multipleMinor: 1n, reference: { max: 140, characters: 'latin' }, nameMax: 35,
    needs: [['iban'], ['accountNumber']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: BUSINESS_5, recallDays: null, withdrawnSince: null,
  },
  dk_domestic: {
    name: null, currency: 'DKK', countries: new Set(['DK']),
    speed: 'same_day', instantMaxMinor: 500_000_00n, cost: 1,
    zone: 'Europe/Copenhagen', cutOff: '15:00', calendar: DENMARK, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: 100_000_000_00n, multipleMinor: 1n, reference: { max: 35, characters: 'latin' }, nameMax: 35,
    needs: [['iban'], ['bankCode', 'accountNumber']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: BUSINESS_5, recallDays: null, withdrawnSince: null,
  },
  cz_certis: {
    name: null, currency: 'CZK', countries: new Set(['CZ']),
    speed: 'same_day', instantMaxMinor: 2_500_000_00n, cost: 1,
    zone: 'Europe/Prague', cutOff: '14:00', calendar: CZECHIA, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: 100_000_000_00n, multipleMinor: 1n, reference: { max: 140, characters: 'latin' }, nameMax: 35,
    needs: [['iban'], ['accountNumber', 'bankCode']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: BUSINESS_5, recallDays: null, withdrawnSince: null,
  },
  // The forint has two decimals in ISO 4217, but Hungarian banks clear whole forint only.
  hu_giro: {
    name: null, currency: 'HUF', countries: new Set(['HU']),
    speed: 'same_day', instantMaxMinor: 20_000_000_00n, cost: 1,
    zone: 'Europe/Budapest', cutOff: '16:00', calendar: HUNGARY, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: null, multipleMinor: 100n, reference: { max: 140, characters: 'latin' }, nameMax: 70,
    needs: [['iban'], ['accountNumber']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: BUSINESS_3, recallDays: null, withdrawnSince: null,
  },
  ro_transfond: {
    name: null, currency: 'RON', countries: new Set(['RO']),
    speed: 'same_day', instantMaxMinor: 50_000_00n, cost: 1,
    zone: 'Europe/Bucharest', cutOff: '14:00', calendar: ROMANIA, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: null, multipleMinor: 1n, reference: { max: 140, characters: 'epc' }, nameMax: 70,
    needs: [['iban']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: BUSINESS_3, recallDays: null, withdrawnSince: null,
  },
  bg_bisera: {
    name: null, currency: 'BGN', countries: new Set(['BG']),
    speed: 'same_day', instantMaxMinor: null, cost: 1,
    zone: 'Europe/Sofia', cutOff: '14:00', calendar: WEEKENDS, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: 100_000_00n, multipleMinor: 1n, reference: { max: 70, characters: 'latin' }, nameMax: 35,
    needs: [['iban']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: BUSINESS_3, recallDays: null, withdrawnSince: '2026-01-01',
  },
  au_npp: {
    name: null, currency: 'AUD', countries: new Set(['AU']),
    speed: 'instant', instantMaxMinor: null, cost: 1,
    zone: 'Australia/Sydney', cutOff: null, calendar: null, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: 1_000_000_00n, multipleMinor: 1n, reference: { max: 280, characters: 'latin' }, nameMax: 140,
    needs: [['bsb', 'accountNumber']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: BUSINESS_5, recallDays: null, withdrawnSince: null,
  },
  au_becs: {
    name: null, currency: 'AUD', countries: new Set(['AU']),
    speed: 'batch', instantMaxMinor: null, cost: 1,
    zone: 'Australia/Sydney', cutOff: '16:00', calendar: AUSTRALIA, businessDays: { min: 1, max: 1 },
    minMinor: 1n, limitMinor: null, multipleMinor: 1n, reference: { max: 18, characters: 'ascii' }, nameMax: 32,
    needs: [['bsb', 'accountNumber']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: BUSINESS_5, recallDays: null, withdrawnSince: null,
  },
  // A statement has three fields of twelve characters; ours is the one called reference.
  nz_becs: {
    name: null, currency: 'NZD', countries: new Set(['NZ']),
    speed: 'same_day', instantMaxMinor: null, cost: 1,
    zone: 'Pacific/Auckland', cutOff: '22:00', calendar: EVERY_DAY, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: null, multipleMinor: 1n, reference: { max: 12, characters: 'latin' }, nameMax: 20,
    needs: [['accountNumber']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: BUSINESS_5, recallDays: null, withdrawnSince: null,
  },
  ca_eft: {
    name: null, currency: 'CAD', countries: new Set(['CA']),
    speed: 'batch', instantMaxMinor: null, cost: 1,
    zone: 'America/Toronto', cutOff: '16:00', calendar: CANADA, businessDays: { min: 1, max: 1 },
    minMinor: 1n, limitMinor: 25_000_000_00n, multipleMinor: 1n, reference: { max: 15, characters: 'ascii' }, nameMax: 30,
    needs: [['institutionNumber', 'transitNumber', 'accountNumber', 'address']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: BUSINESS_2, recallDays: null, withdrawnSince: null,
  },
  sg_fast: {
    name: null, currency: 'SGD', countries: new Set(['SG']),
    speed: 'instant', instantMaxMinor: null, cost: 1,
    zone: 'Asia/Singapore', cutOff: null, calendar: null, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: 200_000_00n, multipleMinor: 1n, reference: { max: 140, characters: 'latin' }, nameMax: 140,
    needs: [['bic', 'accountNumber'], ['bankCode', 'accountNumber']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: null, recallDays: null, withdrawnSince: null,
  },
  sg_giro: {
    name: null, currency: 'SGD', countries: new Set(['SG']),
    speed: 'batch', instantMaxMinor: null, cost: 1,
    zone: 'Asia/Singapore', cutOff: '15:00', calendar: SINGAPORE, businessDays: { min: 1, max: 1 },
    minMinor: 1n, limitMinor: null, multipleMinor: 1n, reference: { max: 35, characters: 'latin' }, nameMax: 140,
    needs: [['bic', 'accountNumber'], ['bankCode', 'accountNumber']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: null, recallDays: null, withdrawnSince: null,
  },
  hk_fps: {
    name: null, currency: 'HKD', countries: new Set(['HK']),
    speed: 'instant', instantMaxMinor: null, cost: 1,
    zone: 'Asia/Hong_Kong', cutOff: null, calendar: null, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: 10_000_000_00n, multipleMinor: 1n, reference: { max: 140, characters: 'latin' }, nameMax: 140,
    needs: [['bankCode', 'accountNumber'], ['fpsId']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: null, recallDays: null, withdrawnSince: null,
  },
  hk_chats: {
    name: null, currency: 'HKD', countries: new Set(['HK']),
    speed: 'same_day', instantMaxMinor: null, cost: 1,
    zone: 'Asia/Hong_Kong', cutOff: '16:30', calendar: HONG_KONG, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: null, multipleMinor: 1n, reference: { max: 140, characters: 'swift_x' }, nameMax: 140,
    needs: [['bankCode', 'accountNumber'], ['fpsId']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: null, recallDays: null, withdrawnSince: null,
  },
  jp_zengin: {
    name: null, currency: 'JPY', countries: new Set(['JP']),
    speed: 'same_day', instantMaxMinor: null, cost: 1,
    zone: 'Asia/Tokyo', cutOff: '14:30', calendar: JAPAN, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: 100_000_000n, multipleMinor: 1n, reference: { max: 20, characters: 'half_width' }, nameMax: 30,
    needs: [['bankCode', 'branchCode', 'accountType', 'accountNumber', 'address']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: BUSINESS_5, recallDays: null, withdrawnSince: null,
  },
  in_imps: {
    name: null, currency: 'INR', countries: new Set(['IN']),
    speed: 'instant', instantMaxMinor: null, cost: 1,
    zone: 'Asia/Kolkata', cutOff: null, calendar: null, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: 500_000_00n, multipleMinor: 1n, reference: { max: 50, characters: 'ascii' }, nameMax: 50,
    needs: [['ifsc', 'accountNumber', 'address']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: BUSINESS_3, recallDays: null, withdrawnSince: null,
  },
  in_neft: {
    name: null, currency: 'INR', countries: new Set(['IN']),
    speed: 'same_day', instantMaxMinor: null, cost: 1,
    zone: 'Asia/Kolkata', cutOff: null, calendar: null, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: null, multipleMinor: 1n, reference: { max: 50, characters: 'ascii' }, nameMax: 50,
    needs: [['ifsc', 'accountNumber', 'address']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: BUSINESS_3, recallDays: null, withdrawnSince: null,
  },
  in_rtgs: {
    name: null, currency: 'INR', countries: new Set(['IN']),
    speed: 'same_day', instantMaxMinor: null, cost: 3,
    zone: 'Asia/Kolkata', cutOff: null, calendar: null, businessDays: { min: 0, max: 0 },
    minMinor: 200_000_00n, limitMinor: null, multipleMinor: 1n, reference: { max: 50, characters: 'ascii' }, nameMax: 50,
    needs: [['ifsc', 'accountNumber', 'address']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: BUSINESS_3, recallDays: null, withdrawnSince: null,
  },
  mx_spei: {
    name: null, currency: 'MXN', countries: new Set(['MX']),
    speed: 'instant', instantMaxMinor: null, cost: 1,
    zone: 'America/Mexico_City', cutOff: null, calendar: null, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: null, multipleMinor: 1n, reference: { max: 40, characters: 'ascii' }, nameMax: 40,
    needs: [['clabe']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: BUSINESS_1, recallDays: null, withdrawnSince: null,
  },
  za_rtc: {
    name: null, currency: 'ZAR', countries: new Set(['ZA']),
    speed: 'instant', instantMaxMinor: null, cost: 1,
    zone: 'Africa/Johannesburg', cutOff: null, calendar: null, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: 5_000_000_00n, multipleMinor: 1n, reference: { max: 20, characters: 'ascii' }, nameMax: 30,
    needs: [['branchCode', 'accountNumber', 'accountType', 'address']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: null, recallDays: null, withdrawnSince: null,
  },
  za_eft: {
    name: null, currency: 'ZAR', countries: new Set(['ZA']),
    speed: 'batch', instantMaxMinor: null, cost: 1,
    zone: 'Africa/Johannesburg', cutOff: '15:00', calendar: SOUTH_AFRICA, businessDays: { min: 1, max: 1 },
    minMinor: 1n, limitMinor: null, multipleMinor: 1n, reference: { max: 20, characters: 'ascii' }, nameMax: 30,
    needs: [['branchCode', 'accountNumber', 'accountType', 'address']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: null, recallDays: null, withdrawnSince: null,
  },
  ae_uaefts: {
    name: null, currency: 'AED', countries: new Set(['AE']),
    speed: 'same_day', instantMaxMinor: null, cost: 1,
    zone: 'Asia/Dubai', cutOff: '15:00', calendar: EMIRATES, businessDays: { min: 0, max: 0 },
    minMinor: 1n, limitMinor: null, multipleMinor: 1n, reference: { max: 140, characters: 'swift_x' }, nameMax: 70,
    needs: [['iban', 'address']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: false,
    returnWindow: null, recallDays: null, withdrawnSince: null,
  },
  swift: {
    name: 'SWIFT', currency: null, countries: null,
    speed: 'international', instantMaxMinor: null, cost: 9,
    zone: PARTNER_ZONE, cutOff: '16:00', calendar: WEEKENDS, businessDays: { min: 1, max: 4 },
    minMinor: 1n, limitMinor: null, multipleMinor: 1n, reference: { max: 140, characters: 'swift_x' }, nameMax: 140,
    needs: [['bic', 'iban', 'address'], ['bic', 'accountWithoutIban', 'address']],
    chargeBearers: ANY_BEARER, localInstrument: null, serviceLevels: [], sepa: false, payeeCheck: null, uetr: true,
    returnWindow: null, recallDays: 'swift', withdrawnSince: null,
  },
}

/** The default rail table. */
export const RAILS: RailTable = new Map(
  Object.entries(ROWS).map(([name, row]): [Rail, RailTerms] => {
    const rail = name as Rail
    return [rail, { ...row, rail, cutOff: row.cutOff === null ? null : { time: row.cutOff, zone: row.zone } }]
  }),
)

/** The rail of payments within this platform. */
export const ON_PLATFORM_RAIL = 'internal' satisfies Rail
/** The rail that reaches any country in any currency, through correspondent banks. */
export const CROSS_BORDER_RAIL = 'swift' satisfies Rail

/** Returns the speed of a rail for an amount: several national rails are instant up to a step and same-day above it. */
export function speedOf(row: RailTerms, amountMinor: bigint): Speed {
  return row.instantMaxMinor !== null && amountMinor <= row.instantMaxMinor ? 'instant' : row.speed
}

/** Returns the bearer of charges: the wanted one where the rail allows it. Without a rail, any is allowed. */
export function chargeBearerOf(row: RailTerms | undefined, wanted: ChargeBearer = 'shared'): ChargeBearer {
  const allowed = row?.chargeBearers ?? CHARGE_BEARERS
  return allowed.includes(wanted) ? wanted : allowed[0]!
}

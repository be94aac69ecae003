/**
 * The rails: the schemes that carry payments, the terms of each, and the choice between them.
 *
 * Limits, cut-offs and lengths are the schemes' own where they are published, and ours where they are not. An operator
 * may replace the table, so every function takes one. Amounts are minor units of the rail's currency.
 */
import { WITHDRAWN_CURRENCIES } from '../base/currency.ts'
import type { CurrencyCode } from '../base/currency.ts'

/**
 * Every way a payment can travel. `internal` stays on this platform; `card` is used only by cards and is never chosen.
 */
export type Rail =
  | 'sepa'
  | 'sepa_instant'
  | 'target2'
  | 'faster_payments'
  | 'chaps'
  | 'bacs'
  | 'swift'
  | 'internal'
  | 'ach'
  | 'ach_same_day'
  | 'fedwire'
  | 'rtp'
  | 'fednow'
  | 'pl_elixir'
  | 'pl_express_elixir'
  | 'ch_sic'
  | 'se_domestic'
  | 'no_domestic'
  | 'dk_domestic'
  | 'cz_certis'
  | 'hu_giro'
  | 'ro_transfond'
  | 'bg_bisera'
  | 'au_becs'
  | 'au_npp'
  | 'nz_becs'
  | 'ca_eft'
  | 'sg_fast'
  | 'sg_giro'
  | 'hk_fps'
  | 'hk_chats'
  | 'jp_zengin'
  | 'in_neft'
  | 'in_imps'
  | 'in_rtgs'
  | 'mx_spei'
  | 'za_eft'
  | 'za_rtc'
  | 'ae_uaefts'
  | 'card'

/**
 * The time until the money arrives: seconds, the day of release, a later day, or the time that correspondent banks
 * take.
 */
export type Speed = 'instant' | 'same_day' | 'batch' | 'international'

/** A bank detail that can identify an account, or the recipient's full address. */
export type BankField =
  | 'iban'
  | 'bic'
  | 'accountNumber'
  | 'accountType'
  | 'sortCode'
  | 'routingNumber'
  | 'bsb'
  | 'institutionNumber'
  | 'transitNumber'
  | 'bankCode'
  | 'branchCode'
  | 'clearingNumber'
  | 'ifsc'
  | 'clabe'
  | 'bankgiro'
  | 'fpsId'
  | 'address'

/** The characters that a rail carries, see `CHARACTERS`. */
export type CharacterSet = 'epc' | 'epc_polish' | 'swift_x' | 'bacs' | 'bacs_mixed' | 'ascii' | 'half_width' | 'latin'

/** The terms of one rail. */
export interface RailTerms {
  readonly rail: Rail
  /** Null for any currency. */
  readonly currency: CurrencyCode | null
  /** The countries whose banks the rail reaches. Null for any. */
  readonly countries: ReadonlySet<string> | null
  readonly speed: Speed
  /** The rail is instant up to this amount; above it, `speed` applies. Null when there is no such step. */
  readonly instantMaxMinor: bigint | null
  /**
   * The cut-off: the latest release (`HH:mm` in an IANA zone) that still counts as that business day. Null: open around
   * the clock.
   */
  readonly cutOff: { readonly time: string; readonly zone: string } | null
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
  /** Rank by price among rails of the same speed: lower is cheaper. */
  readonly cost: number
  /** Time in which the receiving bank may return the money without asking. Null: only on request, or without an end. */
  readonly returnWindow: { readonly days: number; readonly unit: 'business' | 'calendar' } | null
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

const BUSINESS_3 = { days: 3, unit: 'business' } as const
const BUSINESS_5 = { days: 5, unit: 'business' } as const
const BUSINESS_10 = { days: 10, unit: 'business' } as const

const DEFAULTS = {
  speed: 'same_day',
  instantMaxMinor: null,
  cutOff: null,
  businessDays: { min: 0, max: 0 },
  minMinor: 1n,
  limitMinor: null,
  multipleMinor: 1n,
  reference: { max: 140, characters: 'latin' },
  nameMax: 140,
  cost: 1,
  returnWindow: null,
  withdrawnSince: null,
} as const satisfies Partial<RailTerms>

type Row = Pick<RailTerms, 'rail' | 'currency' | 'needs'> &
  Partial<Omit<RailTerms, 'countries'>> & { readonly countries?: ReadonlySet<string> | string }

function terms(row: Row): RailTerms {
  const countries = typeof row.countries === 'string' ? new Set(row.countries.split(' ')) : (row.countries ?? null)
  return { ...DEFAULTS, ...row, countries }
}

function cutOff(time: string, zone: string): { readonly time: string; readonly zone: string } {
  return { time, zone }
}

const US_ACCOUNT: readonly (readonly BankField[])[] = [['routingNumber', 'accountNumber', 'accountType', 'address']]
const UK_ACCOUNT: readonly (readonly BankField[])[] = [['sortCode', 'accountNumber'], ['iban']]

const ROWS: readonly RailTerms[] = [
  terms({
    rail: 'internal',
    currency: null,
    speed: 'instant',
    cost: 0,
    needs: [[]],
  }),
  terms({
    rail: 'sepa',
    currency: 'EUR',
    countries: SEPA_REACH,
    cutOff: cutOff('15:00', 'Europe/Brussels'),
    businessDays: { min: 0, max: 1 },
    reference: { max: 140, characters: 'epc' },
    nameMax: 70,
    needs: [['iban']],
    returnWindow: BUSINESS_3,
  }),
  terms({
    rail: 'sepa_instant',
    currency: 'EUR',
    countries: SEPA_REACH,
    speed: 'instant',
    reference: { max: 140, characters: 'epc' },
    nameMax: 70,
    needs: [['iban']],
    returnWindow: null,
  }),
  terms({
    rail: 'target2',
    currency: 'EUR',
    countries: SEPA_REACH,
    cutOff: cutOff('16:30', 'Europe/Brussels'),
    cost: 3,
    reference: { max: 140, characters: 'epc' },
    nameMax: 70,
    needs: [['iban', 'address']],
    returnWindow: BUSINESS_5,
  }),
  terms({
    rail: 'faster_payments',
    currency: 'GBP',
    countries: UK_CLEARING,
    speed: 'instant',
    limitMinor: 1_000_000_00n,
    reference: { max: 18, characters: 'bacs_mixed' },
    nameMax: 40,
    needs: UK_ACCOUNT,
    returnWindow: { days: 90, unit: 'calendar' },
  }),
  terms({
    rail: 'chaps',
    currency: 'GBP',
    countries: UK_CLEARING,
    cutOff: cutOff('16:30', 'Europe/London'),
    cost: 3,
    reference: { max: 35, characters: 'swift_x' },
    nameMax: 35,
    needs: [
      ['sortCode', 'accountNumber', 'address'],
      ['iban', 'address'],
    ],
    returnWindow: BUSINESS_5,
  }),
  terms({
    rail: 'bacs',
    currency: 'GBP',
    countries: UK_CLEARING,
    speed: 'batch',
    cutOff: cutOff('17:00', 'Europe/London'),
    businessDays: { min: 2, max: 2 },
    limitMinor: 20_000_000_00n,
    reference: { max: 18, characters: 'bacs' },
    nameMax: 18,
    needs: UK_ACCOUNT,
    returnWindow: BUSINESS_5,
  }),
  terms({
    rail: 'rtp',
    currency: 'USD',
    countries: 'US',
    speed: 'instant',
    limitMinor: 10_000_000_00n,
    reference: { max: 140, characters: 'ascii' },
    needs: US_ACCOUNT,
  }),
  terms({
    rail: 'fednow',
    currency: 'USD',
    countries: 'US',
    speed: 'instant',
    limitMinor: 10_000_000_00n,
    cost: 2,
    reference: { max: 140, characters: 'ascii' },
    needs: US_ACCOUNT,
  }),
  terms({
    rail: 'ach_same_day',
    currency: 'USD',
    countries: 'US',
    cutOff: cutOff('15:00', 'America/New_York'),
    limitMinor: 1_000_000_00n,
    reference: { max: 80, characters: 'ascii' },
    nameMax: 22,
    needs: US_ACCOUNT,
    returnWindow: { days: 2, unit: 'business' },
  }),
  terms({
    rail: 'ach',
    currency: 'USD',
    countries: 'US',
    speed: 'batch',
    cutOff: cutOff('20:00', 'America/New_York'),
    businessDays: { min: 1, max: 2 },
    limitMinor: 10_000_000_00n,
    reference: { max: 80, characters: 'ascii' },
    nameMax: 22,
    needs: US_ACCOUNT,
    returnWindow: { days: 2, unit: 'business' },
  }),
  terms({
    rail: 'fedwire',
    currency: 'USD',
    countries: 'US',
    cutOff: cutOff('18:00', 'America/New_York'),
    cost: 3,
    reference: { max: 140, characters: 'ascii' },
    nameMax: 35,
    needs: US_ACCOUNT,
    returnWindow: BUSINESS_5,
  }),
  terms({
    rail: 'pl_express_elixir',
    currency: 'PLN',
    countries: 'PL',
    speed: 'instant',
    limitMinor: 100_000_00n,
    reference: { max: 140, characters: 'epc_polish' },
    nameMax: 70,
    needs: [['iban'], ['accountNumber']],
    returnWindow: BUSINESS_3,
  }),
  terms({
    rail: 'pl_elixir',
    currency: 'PLN',
    countries: 'PL',
    cutOff: cutOff('14:30', 'Europe/Warsaw'),
    limitMinor: 1_000_000_00n,
    reference: { max: 140, characters: 'epc_polish' },
    nameMax: 70,
    needs: [['iban'], ['accountNumber']],
    returnWindow: BUSINESS_3,
  }),
  terms({
    // Instant at some banks only. These are not known before sending, so only the day is promised.
    rail: 'ch_sic',
    currency: 'CHF',
    countries: 'CH LI',
    cutOff: cutOff('16:00', 'Europe/Zurich'),
    reference: { max: 140, characters: 'epc' },
    nameMax: 70,
    needs: [['iban', 'address']],
    returnWindow: BUSINESS_10,
  }),
  terms({
    rail: 'se_domestic',
    currency: 'SEK',
    countries: 'SE',
    cutOff: cutOff('14:00', 'Europe/Stockholm'),
    businessDays: { min: 0, max: 1 },
    limitMinor: 100_000_000_00n,
    reference: { max: 35, characters: 'epc' },
    nameMax: 35,
    needs: [['iban'], ['clearingNumber', 'accountNumber'], ['bankgiro']],
    returnWindow: BUSINESS_5,
  }),
  terms({
    rail: 'no_domestic',
    currency: 'NOK',
    countries: 'NO',
    cutOff: cutOff('14:00', 'Europe/Oslo'),
    limitMinor: 100_000_000_00n,
    nameMax: 35,
    needs: [['iban'], ['accountNumber']],
    returnWindow: BUSINESS_5,
  }),
  terms({
    rail: 'dk_domestic',
    currency: 'DKK',
    countries: 'DK',
    instantMaxMinor: 500_000_00n,
    cutOff: cutOff('15:00', 'Europe/Copenhagen'),
    limitMinor: 100_000_000_00n,
    reference: { max: 35, characters: 'latin' },
    nameMax: 35,
    needs: [['iban'], ['bankCode', 'accountNumber']],
    returnWindow: BUSINESS_5,
  }),
  terms({
    rail: 'cz_certis',
    currency: 'CZK',
    countries: 'CZ',
    instantMaxMinor: 2_500_000_00n,
    cutOff: cutOff('14:00', 'Europe/Prague'),
    limitMinor: 100_000_000_00n,
    nameMax: 35,
    needs: [['iban'], ['accountNumber', 'bankCode']],
    returnWindow: BUSINESS_5,
  }),
  terms({
    // The forint has two decimals in ISO 4217, but Hungarian banks clear whole forint only.
    rail: 'hu_giro',
    currency: 'HUF',
    countries: 'HU',
    instantMaxMinor: 20_000_000_00n,
    cutOff: cutOff('16:00', 'Europe/Budapest'),
    multipleMinor: 100n,
    nameMax: 70,
    needs: [['iban'], ['accountNumber']],
    returnWindow: BUSINESS_3,
  }),
  terms({
    rail: 'ro_transfond',
    currency: 'RON',
    countries: 'RO',
    instantMaxMinor: 50_000_00n,
    cutOff: cutOff('14:00', 'Europe/Bucharest'),
    reference: { max: 140, characters: 'epc' },
    nameMax: 70,
    needs: [['iban']],
    returnWindow: BUSINESS_3,
  }),
  terms({
    rail: 'bg_bisera',
    currency: 'BGN',
    countries: 'BG',
    cutOff: cutOff('14:00', 'Europe/Sofia'),
    limitMinor: 100_000_00n,
    reference: { max: 70, characters: 'latin' },
    nameMax: 35,
    needs: [['iban']],
    returnWindow: BUSINESS_3,
    withdrawnSince: '2026-01-01',
  }),
  terms({
    rail: 'au_npp',
    currency: 'AUD',
    countries: 'AU',
    speed: 'instant',
    limitMinor: 1_000_000_00n,
    reference: { max: 280, characters: 'latin' },
    needs: [['bsb', 'accountNumber']],
    returnWindow: BUSINESS_5,
  }),
  terms({
    rail: 'au_becs',
    currency: 'AUD',
    countries: 'AU',
    speed: 'batch',
    cutOff: cutOff('16:00', 'Australia/Sydney'),
    businessDays: { min: 1, max: 1 },
    reference: { max: 18, characters: 'ascii' },
    nameMax: 32,
    needs: [['bsb', 'accountNumber']],
    returnWindow: BUSINESS_5,
  }),
  terms({
    // A statement has three fields of twelve characters; ours is the one called reference.
    rail: 'nz_becs',
    currency: 'NZD',
    countries: 'NZ',
    cutOff: cutOff('22:00', 'Pacific/Auckland'),
    reference: { max: 12, characters: 'latin' },
    nameMax: 20,
    needs: [['accountNumber']],
    returnWindow: BUSINESS_5,
  }),
  terms({
    rail: 'ca_eft',
    currency: 'CAD',
    countries: 'CA',
    speed: 'batch',
    cutOff: cutOff('16:00', 'America/Toronto'),
    businessDays: { min: 1, max: 1 },
    limitMinor: 25_000_000_00n,
    reference: { max: 15, characters: 'ascii' },
    nameMax: 30,
    needs: [['institutionNumber', 'transitNumber', 'accountNumber', 'address']],
    returnWindow: { days: 2, unit: 'business' },
  }),
  terms({
    rail: 'sg_fast',
    currency: 'SGD',
    countries: 'SG',
    speed: 'instant',
    limitMinor: 200_000_00n,
    needs: [
      ['bic', 'accountNumber'],
      ['bankCode', 'accountNumber'],
    ],
  }),
  terms({
    rail: 'sg_giro',
    currency: 'SGD',
    countries: 'SG',
    speed: 'batch',
    cutOff: cutOff('15:00', 'Asia/Singapore'),
    businessDays: { min: 1, max: 1 },
    reference: { max: 35, characters: 'latin' },
    needs: [
      ['bic', 'accountNumber'],
      ['bankCode', 'accountNumber'],
    ],
  }),
  terms({
    rail: 'hk_fps',
    currency: 'HKD',
    countries: 'HK',
    speed: 'instant',
    limitMinor: 10_000_000_00n,
    needs: [['bankCode', 'accountNumber'], ['fpsId']],
  }),
  terms({
    rail: 'hk_chats',
    currency: 'HKD',
    countries: 'HK',
    cutOff: cutOff('16:30', 'Asia/Hong_Kong'),
    reference: { max: 140, characters: 'swift_x' },
    needs: [['bankCode', 'accountNumber'], ['fpsId']],
  }),
  terms({
    rail: 'jp_zengin',
    currency: 'JPY',
    countries: 'JP',
    cutOff: cutOff('14:30', 'Asia/Tokyo'),
    limitMinor: 100_000_000n,
    reference: { max: 20, characters: 'half_width' },
    nameMax: 30,
    needs: [['bankCode', 'branchCode', 'accountType', 'accountNumber', 'address']],
    returnWindow: BUSINESS_5,
  }),
  terms({
    rail: 'in_imps',
    currency: 'INR',
    countries: 'IN',
    speed: 'instant',
    limitMinor: 500_000_00n,
    reference: { max: 50, characters: 'ascii' },
    nameMax: 50,
    needs: [['ifsc', 'accountNumber', 'address']],
    returnWindow: BUSINESS_3,
  }),
  terms({
    rail: 'in_neft',
    currency: 'INR',
    countries: 'IN',
    reference: { max: 50, characters: 'ascii' },
    nameMax: 50,
    needs: [['ifsc', 'accountNumber', 'address']],
    returnWindow: BUSINESS_3,
  }),
  terms({
    rail: 'in_rtgs',
    currency: 'INR',
    countries: 'IN',
    minMinor: 200_000_00n,
    cost: 3,
    reference: { max: 50, characters: 'ascii' },
    nameMax: 50,
    needs: [['ifsc', 'accountNumber', 'address']],
    returnWindow: BUSINESS_3,
  }),
  terms({
    rail: 'mx_spei',
    currency: 'MXN',
    countries: 'MX',
    speed: 'instant',
    reference: { max: 40, characters: 'ascii' },
    nameMax: 40,
    needs: [['clabe']],
    returnWindow: { days: 1, unit: 'business' },
  }),
  terms({
    rail: 'za_rtc',
    currency: 'ZAR',
    countries: 'ZA',
    speed: 'instant',
    limitMinor: 5_000_000_00n,
    reference: { max: 20, characters: 'ascii' },
    nameMax: 30,
    needs: [['branchCode', 'accountNumber', 'accountType', 'address']],
  }),
  terms({
    rail: 'za_eft',
    currency: 'ZAR',
    countries: 'ZA',
    speed: 'batch',
    cutOff: cutOff('15:00', 'Africa/Johannesburg'),
    businessDays: { min: 1, max: 1 },
    reference: { max: 20, characters: 'ascii' },
    nameMax: 30,
    needs: [['branchCode', 'accountNumber', 'accountType', 'address']],
  }),
  terms({
    rail: 'ae_uaefts',
    currency: 'AED',
    countries: 'AE',
    cutOff: cutOff('15:00', 'Asia/Dubai'),
    reference: { max: 140, characters: 'swift_x' },
    nameMax: 70,
    needs: [['iban', 'address']],
  }),
  terms({
    rail: 'swift',
    currency: null,
    speed: 'international',
    cutOff: cutOff('16:00', PARTNER_ZONE),
    businessDays: { min: 1, max: 4 },
    reference: { max: 140, characters: 'swift_x' },
    cost: 9,
    needs: [
      ['bic', 'iban', 'address'],
      ['bic', 'accountNumber', 'address'],
    ],
  }),
]

/** The default rail table. */
export const RAILS: RailTable = new Map(ROWS.map((row) => [row.rail, row]))

/**
 * Limits that an operator sets in place of the schemes' own, in minor units of the rail's currency; null for no limit.
 */
export type RailLimits = { readonly [rail in Rail]?: bigint | null }

/** Applies an operator's limits to the table. */
export function railTable(limits: RailLimits): RailTable {
  if (Object.keys(limits).length === 0) return RAILS
  return new Map(ROWS.map((row) => [row.rail, underLimits(row, limits)]))
}

/** Applies an operator's limits to one rail. */
export function underLimits(row: RailTerms, limits: RailLimits): RailTerms {
  const limitMinor = limits[row.rail]
  return limitMinor === undefined ? row : { ...row, limitMinor }
}

/** Returns the speed of a rail for an amount: several national rails are instant up to a step and same-day above it. */
export function speedOf(row: RailTerms, amountMinor: bigint): Speed {
  return row.instantMaxMinor !== null && amountMinor <= row.instantMaxMinor ? 'instant' : row.speed
}

/** The reason why a rail cannot carry a payment. */
export type RailRefusal =
  | 'unknown_rail'
  | 'currency_withdrawn'
  | 'rail_withdrawn'
  | 'not_on_platform'
  | 'not_offered'
  | 'wrong_currency'
  | 'country_not_reached'
  | 'below_minimum'
  | 'above_limit'
  | 'not_whole_units'
  | 'missing_bank_fields'

/** The facts on which the choice of a rail depends. */
export interface RailQuestion {
  readonly currency: CurrencyCode
  readonly amountMinor: bigint
  /** ISO 3166 alpha-2. */
  readonly bankCountry: string
  /** The bank details that the recipient has, and `address` when its address is complete. */
  readonly fields: ReadonlySet<BankField>
  /** Null lets the platform choose. */
  readonly requested?: Rail | null
  /** The rails that the connection can use and the recipient's bank can receive. Omitted: the whole table. */
  readonly offered?: ReadonlySet<Rail>
  /** Whether the recipient's account is a balance on the same connection as the paying balance. Omitted: false. */
  readonly onPlatform?: boolean
}

/**
 * The reason for a rail: the caller asked for it, the account is on this platform, or it is the fastest and then the
 * cheapest one.
 */
export type RailReason = 'requested' | 'on_platform' | Speed

/** The chosen rail and the reason, or every rail considered with its refusal. */
export type RailChoice =
  | { readonly rail: Rail; readonly reason: RailReason }
  | { readonly refused: readonly { readonly rail: Rail; readonly reason: RailRefusal }[] }

const SPEEDS: readonly Speed[] = ['instant', 'same_day', 'batch', 'international']

/**
 * Chooses the rail of a payment: `internal` when the recipient's account is on this platform, else the cheapest instant
 * rail that fits the amount and reaches the bank, else the cheapest same-day rail, else batch, else swift. A requested
 * rail is taken or refused, never replaced; `internal` is refused for an account that is not on this platform.
 */
export function chooseRail(question: RailQuestion, rails: RailTable = RAILS): RailChoice {
  const { requested } = question
  if (requested !== undefined && requested !== null) {
    const reason = refusalOf(requested, question, rails)
    return reason === null ? { rail: requested, reason: 'requested' } : { refused: [{ rail: requested, reason }] }
  }
  if (question.onPlatform === true) {
    const reason = refusalOf('internal', question, rails)
    return reason === null ? { rail: 'internal', reason: 'on_platform' } : { refused: [{ rail: 'internal', reason }] }
  }
  const refused: { readonly rail: Rail; readonly reason: RailRefusal }[] = []
  let best: RailTerms | null = null
  for (const row of rails.values()) {
    if (row.rail === 'internal' || (row.currency !== null && row.currency !== question.currency)) continue
    const reason = refusalOf(row.rail, question, rails)
    if (reason !== null) refused.push({ rail: row.rail, reason })
    else if (best === null || rank(row, question) < rank(best, question)) best = row
  }
  return best === null ? { refused } : { rail: best.rail, reason: speedOf(best, question.amountMinor) }
}

// Ranks by speed, then by price; ties go to the earlier row of the table.
function rank(row: RailTerms, question: RailQuestion): number {
  return SPEEDS.indexOf(speedOf(row, question.amountMinor)) * 100 + row.cost
}

// The checks begin with facts that the caller can least change, so that the refusal names the root cause.
function refusalOf(rail: Rail, question: RailQuestion, rails: RailTable): RailRefusal | null {
  const row = rails.get(rail)
  if (row === undefined) return 'unknown_rail'
  if (rail === 'internal' && question.onPlatform !== true) return 'not_on_platform'
  if (row.currency !== null && row.currency !== question.currency) return 'wrong_currency'
  if (row.withdrawnSince !== null) return 'rail_withdrawn'
  if (WITHDRAWN_CURRENCIES[question.currency] !== undefined) return 'currency_withdrawn'
  if (question.offered !== undefined && rail !== 'internal' && !question.offered.has(rail)) return 'not_offered'
  if (row.countries !== null && !row.countries.has(question.bankCountry)) return 'country_not_reached'
  if (question.amountMinor < row.minMinor) return 'below_minimum'
  if (row.limitMinor !== null && question.amountMinor > row.limitMinor) return 'above_limit'
  if (question.amountMinor % row.multipleMinor !== 0n) return 'not_whole_units'
  if (!row.needs.some((group) => group.every((field) => question.fields.has(field)))) return 'missing_bank_fields'
  return null
}

/**
 * The characters of each set. `epc` is the Latin set of the European Payments Council, `swift_x` the X set of SWIFT
 * (with line breaks), `bacs` that of Bacs, `half_width` the characters that Japanese clearing prints, `latin` printable
 * letters and signs of the Latin script.
 */
export const CHARACTERS: { readonly [set in CharacterSet]: RegExp } = {
  epc: /^[A-Za-z0-9/\-?:().,'+ ]*$/,
  epc_polish: /^[A-Za-z0-9/\-?:().,'+ ĄąĆćĘęŁłŃńÓóŚśŹźŻż]*$/,
  swift_x: /^[A-Za-z0-9/\-?:().,'+ \r\n]*$/,
  bacs: /^[A-Z0-9.&/\- ]*$/,
  bacs_mixed: /^[A-Za-z0-9.&/\- ]*$/,
  ascii: /^[\x20-\x7e]*$/,
  half_width: /^[\x20-\x7e\uff61-\uff9f]*$/,
  latin: /^[\x20-\x7e\u00a0-\u00ac\u00ae-\u024f\u1e00-\u1eff\u2010-\u2027\u20ac]*$/,
}

/** The character sets, described for people. */
const CHARACTERS_IN_WORDS: { readonly [set in CharacterSet]: string } = {
  epc: "plain letters, digits, spaces and / - ? : ( ) . , ' +, and no two slashes in a row",
  epc_polish: "plain and Polish letters, digits, spaces and / - ? : ( ) . , ' +, and no two slashes in a row",
  swift_x: "plain letters, digits, spaces and / - ? : ( ) . , ' +",
  bacs: 'plain letters, digits, spaces and . & / -',
  bacs_mixed: 'plain letters, digits, spaces and . & / -',
  ascii: 'plain letters, digits, spaces and the signs of a keyboard',
  half_width: 'plain letters, digits, signs and half-width katakana',
  latin: 'Latin letters, digits, spaces and signs',
}

/** The reason why a rail cannot carry a reference. `max` counts code points. */
export type ReferenceFault =
  | { readonly code: 'too_long'; readonly params: { readonly max: number } }
  | { readonly code: 'invalid_characters'; readonly params: { readonly characters: CharacterSet } }

/** Makes the message about a reference that a rail cannot carry. */
export function referenceMessage(rail: Rail, fault: ReferenceFault): string {
  return fault.code === 'too_long'
    ? `A reference may have at most ${fault.params.max} characters on ${rail}.`
    : `A reference consists of ${CHARACTERS_IN_WORDS[fault.params.characters]} on ${rail}.`
}

/** Returns a reference as the rail carries it: in capitals on Bacs, which prints nothing else; unchanged elsewhere. */
export function railReference(rail: Rail, text: string, rails: RailTable = RAILS): string {
  return rails.get(rail)?.reference.characters === 'bacs' ? text.toUpperCase() : text
}

/**
 * Checks a payment reference against the rail's length and characters. Null when it fits. References of the European
 * sets may not contain a double slash, which separates fields in the clearing files. For a rail without terms nothing
 * is checked.
 */
export function checkReference(rail: Rail, text: string, rails: RailTable = RAILS): ReferenceFault | null {
  const row = rails.get(rail)
  if (row === undefined) return null
  const { max, characters } = row.reference
  const carried = railReference(rail, text, rails)
  // Counts code points, not UTF-16 units; only a text that is too long in units can be too long in code points.
  if (carried.length > max && [...carried].length > max) return { code: 'too_long', params: { max } }
  const slashes = (characters === 'epc' || characters === 'epc_polish') && carried.includes('//')
  if (slashes || !CHARACTERS[characters].test(carried)) return { code: 'invalid_characters', params: { characters } }
  return null
}

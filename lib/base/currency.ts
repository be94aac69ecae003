/**
 * Currencies: the active codes of ISO 4217 that have a minor unit, with their English names. The table belongs to this
 * repository and is not the runtime's locale data, so that an update of the runtime cannot move a decimal point. Codes
 * in which no account can be held are left out (precious metals, XDR, XSU, XUA, bond units, XTS, XXX).
 */

const NAMES = {
  AED: 'UAE Dirham',
  AFN: 'Afghani',
  ALL: 'Lek',
  AMD: 'Armenian Dram',
  AOA: 'Kwanza',
  ARS: 'Argentine Peso',
  AUD: 'Australian Dollar',
  AWG: 'Aruban Florin',
  AZN: 'Azerbaijan Manat',
  BAM: 'Convertible Mark',
  BBD: 'Barbados Dollar',
  BDT: 'Taka',
  BGN: 'Bulgarian Lev',
  BHD: 'Bahraini Dinar',
  BIF: 'Burundi Franc',
  BMD: 'Bermudian Dollar',
  BND: 'Brunei Dollar',
  BOB: 'Boliviano',
  BOV: 'Mvdol',
  BRL: 'Brazilian Real',
  BSD: 'Bahamian Dollar',
  BTN: 'Ngultrum',
  BWP: 'Pula',
  BYN: 'Belarusian Ruble',
  BZD: 'Belize Dollar',
  CAD: 'Canadian Dollar',
  CDF: 'Congolese Franc',
  CHE: 'WIR Euro',
  CHF: 'Swiss Franc',
  CHW: 'WIR Franc',
  CLF: 'Unidad de Fomento',
  CLP: 'Chilean Peso',
  CNY: 'Yuan Renminbi',
  COP: 'Colombian Peso',
  COU: 'Unidad de Valor Real',
  CRC: 'Costa Rican Colon',
  CUP: 'Cuban Peso',
  CVE: 'Cabo Verde Escudo',
  CZK: 'Czech Koruna',
  DJF: 'Djibouti Franc',
  DKK: 'Danish Krone',
  DOP: 'Dominican Peso',
  DZD: 'Algerian Dinar',
  EGP: 'Egyptian Pound',
  ERN: 'Nakfa',
  ETB: 'Ethiopian Birr',
  EUR: 'Euro',
  FJD: 'Fiji Dollar',
  FKP: 'Falkland Islands Pound',
  GBP: 'Pound Sterling',
  GEL: 'Lari',
  GHS: 'Ghana Cedi',
  GIP: 'Gibraltar Pound',
  GMD: 'Dalasi',
  GNF: 'Guinean Franc',
  GTQ: 'Quetzal',
  GYD: 'Guyana Dollar',
  HKD: 'Hong Kong Dollar',
  HNL: 'Lempira',
  HTG: 'Gourde',
  HUF: 'Forint',
  IDR: 'Rupiah',
  ILS: 'New Israeli Sheqel',
  INR: 'Indian Rupee',
  IQD: 'Iraqi Dinar',
  IRR: 'Iranian Rial',
  ISK: 'Iceland Krona',
  JMD: 'Jamaican Dollar',
  JOD: 'Jordanian Dinar',
  JPY: 'Yen',
  KES: 'Kenyan Shilling',
  KGS: 'Som',
  KHR: 'Riel',
  KMF: 'Comorian Franc',
  KPW: 'North Korean Won',
  KRW: 'Won',
  KWD: 'Kuwaiti Dinar',
  KYD: 'Cayman Islands Dollar',
  KZT: 'Tenge',
  LAK: 'Lao Kip',
  LBP: 'Lebanese Pound',
  LKR: 'Sri Lanka Rupee',
  LRD: 'Liberian Dollar',
  LSL: 'Loti',
  LYD: 'Libyan Dinar',
  MAD: 'Moroccan Dirham',
  MDL: 'Moldovan Leu',
  MGA: 'Malagasy Ariary',
  MKD: 'Denar',
  MMK: 'Kyat',
  MNT: 'Tugrik',
  MOP: 'Pataca',
  MRU: 'Ouguiya',
  MUR: 'Mauritius Rupee',
  MVR: 'Rufiyaa',
  MWK: 'Malawi Kwacha',
  MXN: 'Mexican Peso',
  MXV: 'Mexican Unidad de Inversion',
  MYR: 'Malaysian Ringgit',
  MZN: 'Mozambique Metical',
  NAD: 'Namibia Dollar',
  NGN: 'Naira',
  NIO: 'Cordoba Oro',
  NOK: 'Norwegian Krone',
  NPR: 'Nepalese Rupee',
  NZD: 'New Zealand Dollar',
  OMR: 'Rial Omani',
  PAB: 'Balboa',
  PEN: 'Sol',
  PGK: 'Kina',
  PHP: 'Philippine Peso',
  PKR: 'Pakistan Rupee',
  PLN: 'Zloty',
  PYG: 'Guarani',
  QAR: 'Qatari Rial',
  RON: 'Romanian Leu',
  RSD: 'Serbian Dinar',
  RUB: 'Russian Ruble',
  RWF: 'Rwanda Franc',
  SAR: 'Saudi Riyal',
  SBD: 'Solomon Islands Dollar',
  SCR: 'Seychelles Rupee',
  SDG: 'Sudanese Pound',
  SEK: 'Swedish Krona',
  SGD: 'Singapore Dollar',
  SHP: 'Saint Helena Pound',
  SLE: 'Leone',
  SOS: 'Somali Shilling',
  SRD: 'Surinam Dollar',
  SSP: 'South Sudanese Pound',
  STN: 'Dobra',
  SVC: 'El Salvador Colon',
  SYP: 'Syrian Pound',
  SZL: 'Lilangeni',
  THB: 'Baht',
  TJS: 'Somoni',
  TMT: 'Turkmenistan New Manat',
  TND: 'Tunisian Dinar',
  TOP: 'Pa’anga',
  TRY: 'Turkish Lira',
  TTD: 'Trinidad and Tobago Dollar',
  TWD: 'New Taiwan Dollar',
  TZS: 'Tanzanian Shilling',
  UAH: 'Hryvnia',
  UGX: 'Uganda Shilling',
  USD: 'US Dollar',
  USN: 'US Dollar (Next day)',
  UYI: 'Uruguay Peso en Unidades Indexadas',
  UYU: 'Peso Uruguayo',
  UYW: 'Unidad Previsional',
  UZS: 'Uzbekistan Sum',
  VED: 'Bolívar Digital',
  VES: 'Bolívar Soberano',
  VND: 'Dong',
  VUV: 'Vatu',
  WST: 'Tala',
  XAD: 'Arab Accounting Dinar',
  XAF: 'CFA Franc BEAC',
  XCD: 'East Caribbean Dollar',
  XCG: 'Caribbean Guilder',
  XOF: 'CFA Franc BCEAO',
  XPF: 'CFP Franc',
  YER: 'Yemeni Rial',
  ZAR: 'Rand',
  ZMW: 'Zambian Kwacha',
  ZWG: 'Zimbabwe Gold',
} as const

/** A code of ISO 4217 that this platform knows. */
export type CurrencyCode = keyof typeof NAMES

// Most currencies have two decimals; these are the exceptions.
const EXPONENTS: { readonly [code in CurrencyCode]?: number } = {
  BIF: 0,
  CLP: 0,
  DJF: 0,
  GNF: 0,
  ISK: 0,
  JPY: 0,
  KMF: 0,
  KRW: 0,
  PYG: 0,
  RWF: 0,
  UGX: 0,
  UYI: 0,
  VND: 0,
  VUV: 0,
  XAF: 0,
  XOF: 0,
  XPF: 0,
  BHD: 3,
  IQD: 3,
  JOD: 3,
  KWD: 3,
  LYD: 3,
  OMR: 3,
  TND: 3,
  CLF: 4,
  UYW: 4,
}

/** The properties of one currency. */
export interface Currency {
  readonly code: CurrencyCode
  readonly name: string
  /** Decimals of the minor unit: 2 means that 100 minor units make one major unit. */
  readonly exponent: number
}

const TABLE: ReadonlyMap<string, Currency> = new Map(
  (Object.keys(NAMES) as CurrencyCode[]).map((code) => [
    code,
    { code, name: NAMES[code], exponent: EXPONENTS[code] ?? 2 },
  ]),
)

/** Every currency, in the order of the codes. */
export const CURRENCIES: readonly Currency[] = [...TABLE.values()]

/**
 * Currencies that old rows may carry but new rows may not use, with the day on which each ended and its successor.
 * Bulgaria joined the euro on 1 January 2026; rows from before that day convert at the fixed rate of 1.95583 lev for
 * one euro.
 */
export const WITHDRAWN_CURRENCIES: {
  readonly [code in CurrencyCode]?: { readonly since: string; readonly replacedBy: CurrencyCode }
} = {
  BGN: { since: '2026-01-01', replacedBy: 'EUR' },
}

/** Whether the text is a known code: three capital letters of ISO 4217. */
export function isCurrencyCode(text: string): text is CurrencyCode {
  return TABLE.has(text)
}

/** The decimals of a currency's minor unit, per ISO 4217. */
export function exponentOf(currency: CurrencyCode): number {
  return EXPONENTS[currency] ?? 2
}

/** The English name of a currency, per ISO 4217. */
export function currencyName(currency: CurrencyCode): string {
  return NAMES[currency]
}

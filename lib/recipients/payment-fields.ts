/**
 * The fields that payments to a recipient need or are held to, beside the length and characters of the reference: one
 * table, which the requirements operation shows and the creation of payments checks.
 */
import type { FieldError, FieldErrorCode } from '../base/problems.ts'
import type { BankField } from '../rails/bank-field.ts'
import type { CharacterSet, Rail, RailTerms } from '../rails/rails.ts'
import { CHARACTERS, CHARACTERS_IN_WORDS, railReference } from '../rails/reference.ts'
import { creditorReferenceValid, kidValid, luhnValid, qrReferenceValid } from './check-digits.ts'
import { PURPOSES, type PurposeRule } from './country-rules.ts'
import { bankingCountry, isQrIban } from './iban.ts'
import { CATEGORY_PURPOSE_CODES, PURPOSE_CODES, PURPOSE_CODES_DATE } from './purpose-codes.ts'

/** Checks of a payment's fields beyond their form. */
export type PaymentCheckName = 'qr_iban' | 'mod97_rf' | 'luhn' | 'kid' | 'purpose_code'

/** The account that is paid. */
export interface PaidAccount {
  /** ISO 3166 alpha-2. */
  readonly bankCountry: string
  readonly iban: string | null
  readonly fields: ReadonlySet<BankField>
}

/** The fields of a payment that have rules here. */
export interface CheckedPayment {
  readonly reference: string
  readonly purposeCode?: string | null
  readonly endToEndId?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
}

/** The rule for one field of payments. */
export interface PaymentFieldRule {
  /** JSON Pointer into the body. */
  readonly name: '/purposeCode' | '/reference' | '/endToEndId' | `/metadata/${string}`
  readonly label: string
  readonly required: boolean
  readonly requiredWhen?: string
  readonly minLength: number
  readonly maxLength: number
  readonly pattern: string
  readonly example: string
  readonly description: string
  readonly checks: readonly PaymentCheckName[]
  /** The accounts that have the rule; absent: all of the market. */
  readonly accounts?: (account: PaidAccount) => boolean
  /** The field is free text: a value that does not match the pattern is not held to the rule. */
  readonly freeText?: true
  /** Converts the value to the form that the pattern describes; absent: as it was sent. */
  readonly normal?: (text: string) => string
  /** The fault of a value that does not match the pattern. */
  readonly wrongForm: {
    readonly code: FieldErrorCode
    readonly message: string
    readonly params?: Readonly<Record<string, string>>
  }
  /** Returns the fault of a value that matches the pattern; null when it has none. */
  readonly check?: (value: string) => { readonly code: FieldErrorCode; readonly message: string } | null
}

// ── Purpose codes
// ─────────────────────────────────────────────────────────────────────────────────────────────────────

const purposeRule = (country: string, purpose: PurposeRule): PaymentFieldRule => ({
  name: '/purposeCode',
  label: 'Purpose code',
  required: true,
  minLength: 1,
  maxLength: purpose.maxLength,
  pattern: purpose.pattern,
  example: purpose.example,
  description: purpose.description,
  checks: [],
  wrongForm: {
    code: 'invalid_format',
    message: `Payments to ${country} need a purpose code. ${purpose.description}`,
  },
})

const COUNTRY_PURPOSES: ReadonlyMap<string, PaymentFieldRule> = new Map(
  Object.entries(PURPOSES).map(([country, purpose]) => [country, purposeRule(country, purpose)]),
)

/** For countries whose central bank has no codes of its own. */
const ISO_PURPOSE: PaymentFieldRule = {
  name: '/purposeCode',
  label: 'Purpose code',
  required: false,
  minLength: 4,
  maxLength: 4,
  pattern: '^[A-Z][A-Z0-9]{3}$',
  example: 'SUPP',
  description: `From the external code lists of ISO 20022 (purpose, or category purpose), as of ${PURPOSE_CODES_DATE}.`,
  checks: ['purpose_code'],
  wrongForm: { code: 'invalid_format', message: 'Must be four capital letters, a purpose code of ISO 20022.' },
  check: (code) =>
    PURPOSE_CODES.has(code) || CATEGORY_PURPOSE_CODES.has(code)
      ? null
      : {
          code: 'invalid_value',
          message: `Is not in the list of purpose codes of ISO 20022 of ${PURPOSE_CODES_DATE}.`,
        },
}

// ── Structured references
// ─────────────────────────────────────────────────────────────────────────────────────────────

/** A reference with check digits, and where it is known as such. */
interface StructuredReference {
  readonly rails: ReadonlySet<Rail> | 'all'
  readonly countries?: ReadonlySet<string>
  readonly rule: PaymentFieldRule
}

const compact = (text: string): string => text.replaceAll(' ', '').toUpperCase()
const wrongDigits = (what: string) =>
  ({ code: 'invalid_checksum', message: `The check digits of the ${what} do not agree.` }) as const

const STRUCTURED_REFERENCES: readonly StructuredReference[] = [
  {
    rails: 'all',
    countries: new Set(['CH', 'LI']),
    rule: {
      name: '/reference',
      label: 'QR reference',
      required: false,
      requiredWhen: '/bank/iban is a QR-IBAN',
      minLength: 27,
      maxLength: 27,
      pattern: '^[0-9]{27}$',
      example: '210000000003139471430009017',
      description: 'Printed on the bill.',
      checks: ['qr_iban'],
      accounts: ({ iban }) => iban !== null && isQrIban(iban),
      normal: compact,
      wrongForm: {
        code: 'invalid_format',
        message: 'A QR-IBAN is paid with the QR reference of the bill, 27 digits.',
      },
      check: (reference) => (qrReferenceValid(reference) ? null : wrongDigits('QR reference')),
    },
  },
  {
    rails: new Set<Rail>(['sepa', 'sepa_instant', 'target2', 'ch_sic']),
    rule: {
      name: '/reference',
      label: 'Creditor reference',
      required: false,
      minLength: 5,
      maxLength: 25,
      pattern: '^RF[0-9]{2}[A-Z0-9]{1,21}$',
      example: 'RF18539007547034',
      description: 'ISO 11649: a reference of this form has the right check digits. Any other reference is free text.',
      checks: ['mod97_rf'],
      accounts: ({ iban }) => iban === null || !isQrIban(iban),
      freeText: true,
      // Written in one piece or in groups of four; a text that only begins with RF is no creditor reference.
      normal: (text) => (/^\w{4}( ?\w{4})*( ?\w{1,4})?$/.test(text) ? compact(text) : text),
      wrongForm: { code: 'invalid_format', message: 'Is not a creditor reference.' },
      check: (reference) => (creditorReferenceValid(reference) ? null : wrongDigits('creditor reference')),
    },
  },
  {
    rails: new Set<Rail>(['se_domestic']),
    rule: {
      name: '/reference',
      label: 'OCR number',
      required: false,
      minLength: 2,
      maxLength: 25,
      pattern: '^[0-9]{2,25}$',
      example: '1234567897',
      description: 'To a bankgiro, a reference of digits alone is an OCR number, with a check digit at its end.',
      checks: ['luhn'],
      accounts: ({ fields }) => fields.has('bankgiro'),
      freeText: true,
      wrongForm: { code: 'invalid_format', message: 'Is not an OCR number.' },
      check: (reference) => (luhnValid(reference) ? null : wrongDigits('OCR number')),
    },
  },
  {
    rails: new Set<Rail>(['no_domestic']),
    rule: {
      name: '/reference',
      label: 'KID',
      required: false,
      minLength: 2,
      maxLength: 25,
      pattern: '^[0-9]{1,24}[0-9-]$',
      example: '1234567897',
      description: 'A reference of digits alone is a KID, with a check digit (modulus 10 or 11) at its end.',
      checks: ['kid'],
      freeText: true,
      wrongForm: { code: 'invalid_format', message: 'Is not a KID.' },
      check: (reference) => (kidValid(reference) ? null : wrongDigits('KID')),
    },
  },
]

// ── Symbols of Czech payments
// ─────────────────────────────────────────────────────────────────────────────────────────

function symbolRule(key: string, label: string, min: number, example: string): PaymentFieldRule {
  return {
    name: `/metadata/${key}`,
    label,
    required: false,
    minLength: min,
    maxLength: 10,
    pattern: `^[0-9]{${min},10}$`,
    example,
    description: 'Sent with the payment.',
    checks: [],
    wrongForm: { code: 'invalid_format', message: `The ${label.toLowerCase()} has ${min} to 10 digits.` },
  }
}

const SYMBOLS: ReadonlyMap<Rail, readonly PaymentFieldRule[]> = new Map([
  [
    'cz_certis',
    [
      symbolRule('VS', 'Variable symbol', 1, '20260042'),
      symbolRule('KS', 'Constant symbol', 4, '0308'),
      symbolRule('SS', 'Specific symbol', 1, '1'),
    ],
  ],
])

// ── End-to-end ids
// ────────────────────────────────────────────────────────────────────────────────────────────────────

const END_TO_END_ID_MAX = 35

const END_TO_END_IDS: ReadonlyMap<CharacterSet, PaymentFieldRule> = new Map(
  (Object.keys(CHARACTERS) as CharacterSet[]).map((characters) => [
    characters,
    {
      name: '/endToEndId',
      label: 'End-to-end id',
      required: false,
      minLength: 1,
      maxLength: END_TO_END_ID_MAX,
      pattern: CHARACTERS[characters].source,
      example: 'INV-2026-42',
      description: 'The order number where it is left out.',
      checks: [],
      // Bacs prints capitals only, and the id is sent in capitals.
      ...(characters === 'bacs' ? { normal: (text: string) => railReference('bacs', text) } : {}),
      wrongForm: {
        code: 'invalid_characters',
        message: `An end-to-end id consists of ${CHARACTERS_IN_WORDS[characters]}.`,
        params: { characters },
      },
    },
  ]),
)

/** Returns the rules for payments by a rail to accounts in a country; some are for a part of the accounts only. */
export function paymentRulesOf(row: RailTerms, bankCountry: string): readonly PaymentFieldRule[] {
  const country = bankingCountry(bankCountry)
  return [
    COUNTRY_PURPOSES.get(bankCountry) ?? ISO_PURPOSE,
    ...STRUCTURED_REFERENCES.filter(
      ({ rails, countries }) =>
        (rails === 'all' || rails.has(row.rail)) && (countries === undefined || countries.has(country)),
    ).map(({ rule }) => rule),
    ...(SYMBOLS.get(row.rail) ?? []),
    END_TO_END_IDS.get(row.reference.characters) as PaymentFieldRule,
  ]
}

/** Every rule, for the version of the requirements. */
export const PAYMENT_RULES = [
  [...COUNTRY_PURPOSES],
  ISO_PURPOSE,
  STRUCTURED_REFERENCES,
  [...SYMBOLS],
  [...END_TO_END_IDS],
] as const

function valueOf(payment: CheckedPayment, name: PaymentFieldRule['name']): string | null {
  switch (name) {
    case '/reference':
      return payment.reference
    case '/purposeCode':
      return payment.purposeCode ?? null
    case '/endToEndId':
      return payment.endToEndId ?? null
    default:
      return payment.metadata?.[name.slice('/metadata/'.length)] ?? null
  }
}

function faultOf(rule: PaymentFieldRule, sent: string | null): FieldError | null {
  const { name, required, pattern, minLength, maxLength, normal, freeText, wrongForm, check } = rule
  if (sent === null) return required ? { field: name, code: 'required', message: wrongForm.message } : null
  const value = normal?.(sent) ?? sent
  if (value.length < minLength || value.length > maxLength || !new RegExp(pattern).test(value))
    return freeText === true ? null : { field: name, ...wrongForm }
  const fault = check?.(value) ?? null
  return fault === null ? null : { field: name, ...fault }
}

/** Returns the first fault of a payment's fields for an account and a rail; null when there is none. */
export function paymentFieldFault(account: PaidAccount, row: RailTerms, payment: CheckedPayment): FieldError | null {
  for (const rule of paymentRulesOf(row, account.bankCountry)) {
    if (rule.accounts?.(account) === false) continue
    const fault = faultOf(rule, valueOf(payment, rule.name))
    if (fault !== null) return fault
  }
  return null
}

/** Returns the first fault of metadata that a rail sends with its payments; null when there is none. */
export function metadataFault(rail: Rail | null, metadata: Readonly<Record<string, string>>): FieldError | null {
  for (const rule of rail === null ? [] : (SYMBOLS.get(rail) ?? [])) {
    const fault = faultOf(rule, valueOf({ reference: '', metadata }, rule.name))
    if (fault !== null) return fault
  }
  return null
}

/**
 * Validates recipients against the table of requirements, and makes their stored form. This file has no rule of its
 * own: every length, pattern, check and need is read from the table.
 */
import { CROSS_BORDER_RAIL } from '../rails/rails.ts'
import type { CurrencyCode } from '../base/currency.ts'
import type { FieldError, FieldErrorCode } from '../base/problems.ts'
import { CHECKS, SANDBOX_CODES, type BankMember, type BankValues, type CheckContext } from './bank-checks.ts'
import { LISTED_KINDS, type BankDirectory } from './bank-directory.ts'
import { bankingCountry, isCountry } from './iban.ts'
import { halfWidthName } from './kana.ts'
import { maskAccountNumber, maskIban } from './masking.ts'
import { addressNeeds } from './country-rules.ts'
import { currencyFault } from './requirements.ts'
import {
  bankFields,
  domesticIban,
  groupsOf,
  marketOf,
  pointerOf,
  reachableRails,
  type Market,
  type MemberRule,
} from './markets.ts'
import type { UkModulusTable } from './uk-modulus.ts'

/** An address as clients send it. */
export interface AddressInput {
  readonly line1: string
  readonly line2?: string | null
  readonly buildingNumber?: string | null
  readonly city: string
  readonly postalCode?: string | null
  readonly state?: string | null
  readonly country: string
}

/** Bank details as clients send them. */
export interface BankInput extends Readonly<Partial<Record<BankMember, string | null>>> {
  readonly bankCountry?: string | null
  readonly bankAddress?: AddressInput | null
}

/** The fields of a recipient that are validated. */
export interface RecipientInput {
  readonly name: string
  readonly type: 'business' | 'individual'
  readonly currency: string
  readonly address: AddressInput | null
  readonly bank: BankInput
  readonly purpose: string | null
}

/** An address as it is stored. */
export interface KeptAddress {
  readonly line1: string
  readonly line2: string | null
  readonly buildingNumber: string | null
  readonly city: string
  readonly postalCode: string | null
  readonly state: string | null
  readonly country: string
}

/** The stored form of a valid recipient. */
export interface CheckedRecipient {
  readonly bankCountry: string
  readonly bank: BankValues & { readonly bankAddress?: KeptAddress }
  readonly address: KeptAddress | null
  readonly maskedIdentifier: string
  /** The account in one spelling, the same for every way of writing it; with the currency it identifies duplicates. */
  readonly accountIdentity: string
}

export type Validation = { readonly errors: readonly FieldError[] } | { readonly recipient: CheckedRecipient }

/** The tables that validation uses. */
export interface ValidationDeps {
  readonly ukModulus: UkModulusTable
  /** Lists of bank codes; without a directory or a list of the country, only the form is checked. */
  readonly banks?: BankDirectory
  /** In the sandbox, test BICs and the account numbers of the sandbox bank are valid. */
  readonly sandbox: boolean
}

/** Members that identify the account, in the order in which one of them is chosen for display. */
const IDENTIFIERS = ['iban', 'accountNumber', 'clabe', 'bankgiro', 'fpsId'] as const satisfies readonly BankMember[]
/** Members that complete the identity of an account without an IBAN. */
const BESIDE = [
  'sortCode',
  'routingNumber',
  'bsb',
  'institutionNumber',
  'transitNumber',
  'bankCode',
  'branchCode',
  'clearingNumber',
  'ifsc',
] as const satisfies readonly BankMember[]
/** Members whose spaces, dashes and small letters are normalised. */
const CODES: ReadonlySet<BankMember> = new Set<BankMember>([...IDENTIFIERS, ...BESIDE, 'bic', 'intermediaryBic'])

function fault(field: string, code: FieldErrorCode, message: string, params?: FieldError['params']): FieldError {
  return params === undefined ? { field, code, message } : { field, code, message, params }
}

/** Validates a recipient whose members have the right types. */
export function validateRecipient(deps: ValidationDeps, input: RecipientInput): Validation {
  const errors: FieldError[] = []
  const wrongCurrency = currencyFault(input.currency)
  if (wrongCurrency !== null) errors.push({ field: '/currency', ...wrongCurrency })
  const bankCountry = countryOf(input.bank, errors)
  for (const [path, address] of [
    ['/address', input.address],
    ['/bank/bankAddress', input.bank.bankAddress ?? null],
  ] as const) {
    if (address !== null) errors.push(...addressErrors(path, address))
  }
  if (wrongCurrency !== null || bankCountry === null) return { errors }
  const currency = input.currency as CurrencyCode
  const market = marketOf(currency, bankCountry)
  const sent = readMembers(input.bank, market, errors)
  // The checks need members of the right form.
  if (errors.length > 0) return { errors }
  const bank = completed(market, sent, errors)
  errors.push(...checkErrors({ ...deps, bank, bankCountry }, market, sent))
  errors.push(...listErrors(deps, currency, { bankCountry, bank }, errors))
  errors.push(...missingErrors({ currency, bankCountry, market, bank, hasAddress: input.address !== null }))
  if (market.nameChecks?.includes('kana') === true && halfWidthName(input.name) === null) {
    errors.push(
      fault('/name', 'invalid_characters', 'Must be in kana or Latin letters, which is what Japanese banks print.'),
    )
  }
  for (const { name, neededBy, pattern, description } of market.conditional ?? [])
    if (neededBy(bank) && !new RegExp(pattern).test(input.purpose ?? ''))
      errors.push(fault(name, 'required', description))
  if (errors.length > 0) return { errors }
  const bankAddress = input.bank.bankAddress ?? null
  return {
    recipient: {
      bankCountry,
      bank: bankAddress === null ? bank : { ...bank, bankAddress: keptAddress(bankAddress) },
      address: input.address === null ? null : keptAddress(input.address),
      maskedIdentifier: maskedIdentifierOf(bank),
      accountIdentity: accountIdentityOf(bankCountry, bank),
    },
  }
}

/** Returns the country of the bank: the one given, or that of the IBAN. */
function countryOf({ bankCountry, iban }: BankInput, errors: FieldError[]): string | null {
  const country = bankCountry ?? (typeof iban === 'string' ? compact(iban).slice(0, 2) : null)
  if (country === null) {
    errors.push(fault('/bank/bankCountry', 'required', 'Is required without an IBAN.'))
    return null
  }
  if (isCountry(country)) return country
  errors.push(
    typeof bankCountry === 'string'
      ? fault('/bank/bankCountry', 'invalid_value', 'Is no country of ISO 3166.')
      : fault('/bank/iban', 'invalid_format', 'Is not an IBAN.'),
  )
  return null
}

function compact(text: string): string {
  return text.replaceAll(/[\s-]/g, '').toUpperCase()
}

function normalForm(rule: MemberRule, text: string): string {
  if (rule.options !== undefined || !CODES.has(rule.member)) return text.trim()
  const plain = rule.dashes === true ? text.replaceAll(/\s/g, '').toUpperCase() : compact(text)
  return rule.padTo !== undefined && /^[0-9]+$/.test(plain) && plain.length >= rule.minLength
    ? plain.padStart(rule.padTo, '0')
    : plain
}

/**
 * Reads the members in their normal form; adds an error for each that does not belong to the market or has the wrong
 * form.
 */
function readMembers(bank: BankInput, market: Market, errors: FieldError[]): BankValues {
  const rules = new Map(market.members.map((rule) => [rule.member, rule]))
  const values: { [member in BankMember]?: string } = {}
  for (const [name, text] of Object.entries(bank) as [BankMember, string | null][]) {
    if (name === ('bankCountry' as string) || name === ('bankAddress' as string) || text === null || text === undefined)
      continue
    const field = `/bank/${name}`
    const rule = rules.get(name)
    if (rule === undefined) {
      errors.push(fault(field, 'not_applicable', 'Has no meaning for this currency and country.'))
      continue
    }
    const value = normalForm(rule, text)
    const wrong = formError(field, rule, value)
    if (wrong === null) values[name] = value
    else errors.push(wrong)
  }
  return values
}

function formError(
  field: string,
  { minLength, maxLength, pattern, options }: MemberRule,
  value: string,
): FieldError | null {
  if (options !== undefined)
    return options.some((option) => option.value === value)
      ? null
      : fault(field, 'invalid_value', 'Is not one of the allowed values.')
  const length = [...value].length
  if (length < minLength) return fault(field, 'too_short', `Must have at least ${minLength}.`, { min: minLength })
  if (length > maxLength) return fault(field, 'too_long', `Must have at most ${maxLength}.`, { max: maxLength })
  return pattern === null || new RegExp(pattern).test(value)
    ? null
    : fault(field, 'invalid_format', 'Does not have the expected format.')
}

/** Completes the bank details from the IBAN; members that contradict the IBAN are errors. */
function completed(market: Market, sent: BankValues, errors: FieldError[]): BankValues {
  const bank = market.complete?.(sent) ?? sent
  const derived = market.complete?.(sent.iban === undefined ? sent : { iban: sent.iban }) ?? {}
  for (const [name, value] of Object.entries(derived) as [BankMember, string][]) {
    if (sent[name] !== undefined && name !== 'iban' && sent.iban !== undefined && sent[name] !== value) {
      errors.push(fault(`/bank/${name}`, 'invalid_value', 'Differs from the IBAN.'))
    }
  }
  return bank
}

function checkErrors(context: CheckContext, market: Market, sent: BankValues): FieldError[] {
  const errors: FieldError[] = []
  const rules = new Map(market.members.map((rule) => [rule.member, rule]))
  for (const [name, value] of Object.entries(context.bank) as [BankMember, string][]) {
    for (const check of rules.get(name)?.checks ?? []) {
      const found = CHECKS[check](value, context)
      if (found === null) continue
      const member = found.member ?? name
      // A value that was read from another member is reported at that member.
      const field =
        sent[member] !== undefined
          ? member
          : (IDENTIFIERS.find((identifier) => sent[identifier] !== undefined) ?? member)
      errors.push(fault(`/bank/${field}`, found.code, found.message))
      break
    }
  }
  return errors
}

/**
 * Returns errors for codes that a complete list lacks, or whose bank no rail of the currency reaches. Fields with an
 * error already are skipped.
 */
function listErrors(
  { banks, sandbox }: ValidationDeps,
  currency: CurrencyCode,
  { bankCountry, bank }: { readonly bankCountry: string; readonly bank: BankValues },
  known: readonly FieldError[],
): FieldError[] {
  if (banks === undefined) return []
  const country = bankingCountry(bankCountry)
  return LISTED_KINDS.flatMap((kind) => {
    const code = bank[kind]
    const field = `/bank/${kind}`
    if (
      code === undefined ||
      !banks.has(country, kind) ||
      (sandbox && SANDBOX_CODES.has(code)) ||
      known.some((error) => error.field === field)
    )
      return []
    const found = banks.find(country, kind, code)
    if (found === null) return [fault(field, 'invalid_value', 'No bank has this code.')]
    const reached =
      found.rails === null || reachableRails(currency, bankCountry).some(({ rail }) => found.rails?.has(rail) === true)
    return reached ? [] : [fault(field, 'account_not_eligible', `${found.name} does not take payments in ${currency}.`)]
  })
}

interface Held {
  readonly currency: CurrencyCode
  readonly bankCountry: string
  readonly market: Market
  readonly bank: BankValues
  readonly hasAddress: boolean
}

/**
 * Returns a `required` error for each field that the nearest way of paying lacks; none when one way is complete. The
 * nearest way lacks the fewest fields; of several, it is one of the currency's own rails, and has the most fields.
 */
function missingErrors({ currency, bankCountry, market, bank, hasAddress }: Held): FieldError[] {
  const given = bankFields(currency, bankCountry, Object.keys(bank), hasAddress)
  const ways = reachableRails(currency, bankCountry).flatMap((row) =>
    groupsOf(row, { currency, country: bankCountry }, market).map((group) => ({
      isCrossBorder: row.rail === CROSS_BORDER_RAIL,
      had: group.filter((field) => given.has(field)).length,
      missing: group.filter((field) => !given.has(field)),
    })),
  )
  const nearest = ways.toSorted(
    (left, right) =>
      left.missing.length - right.missing.length ||
      Number(left.isCrossBorder) - Number(right.isCrossBorder) ||
      right.had - left.had,
  )[0]
  return (nearest?.missing ?? []).map((field) => fault(pointerOf(field), 'required', 'Is required.'))
}

function addressErrors(path: string, address: AddressInput): FieldError[] {
  if (!isCountry(address.country)) return [fault(`${path}/country`, 'invalid_value', 'Is no country of ISO 3166.')]
  return addressNeeds(address.country)
    .filter((member) => (address[member] ?? '') === '')
    .map((member) => fault(`${path}/${member}`, 'required', `Is required for addresses in ${address.country}.`))
}

function keptAddress({ line1, line2, buildingNumber, city, postalCode, state, country }: AddressInput): KeptAddress {
  const given = (text: string | null | undefined) => (text === undefined || text === '' ? null : text)
  return {
    line1,
    line2: given(line2),
    buildingNumber: given(buildingNumber),
    city,
    postalCode: given(postalCode),
    state: given(state),
    country,
  }
}

/** Returns the masked account number for lists. */
export function maskedIdentifierOf(bank: BankValues): string {
  if (bank.iban !== undefined) return maskIban(bank.iban)
  const identifier = IDENTIFIERS.find((member) => bank[member] !== undefined)
  if (identifier === undefined) throw new Error('Bank details without an identifier.')
  return maskAccountNumber(bank[identifier] as string)
}

/** Returns the account in one spelling, so that an IBAN and the number inside it are the same account. */
export function accountIdentityOf(bankCountry: string, bank: BankValues): string {
  const country = bankingCountry(bankCountry)
  if (country === 'GB' && bank.sortCode !== undefined && bank.accountNumber !== undefined) {
    return [country, bank.sortCode, bank.accountNumber, bank.secondaryReference ?? ''].join(':')
  }
  const iban = domesticIban(country, bank)
  if (iban !== null) return iban
  const account = IDENTIFIERS.map((member) => bank[member]).find((value) => value !== undefined) ?? ''
  const beside = BESIDE.map((member) => bank[member]).filter((value) => value !== undefined)
  // A national code names the bank already, so there a BIC makes no other account of it. The BIC of a head office may
  // be written with or without its branch `XXX`.
  const bic =
    bank.bic === undefined || beside.length > 0 ? [] : [bank.bic.endsWith('XXX') ? bank.bic.slice(0, 8) : bank.bic]
  return [country, ...bic, ...beside, account].join(':')
}

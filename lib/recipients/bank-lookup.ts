/**
 * Looks a bank up by an IBAN or by one of its codes: its parts, the rails that reach it, and the evidence that it
 * exists. Directories of all banks with their names are sold, not published; without a directory, name and BIC are
 * null.
 */
import type { FieldErrorCode } from '../base/problems.ts'
import { ON_PLATFORM_RAIL, RAILS, type Rail } from '../rails/rails.ts'
import { CHECKS, SANDBOX_CLABE_BANK, SANDBOX_CODES, type BankMember } from './bank-checks.ts'
import type { BankDirectory, DirectoryEntry, ListedKind } from './bank-directory.ts'
import { bankingCountry, ibanParts, isCountry } from './iban.ts'
import { MEXICAN_BANKS } from './mexican-banks.ts'
import { marketOf, type MemberRule } from './markets.ts'
import { ukSortCodeListed, type UkModulusTable } from './uk-modulus.ts'

/** The kind of a code: the bank detail that it fills. A CLABE begins with the code of its bank. */
export type BankCodeKind = 'iban' | 'bic' | 'clabe' | (typeof NATIONAL)[number]

/** Members that name a bank or a branch, not an account. */
const NATIONAL = [
  'sortCode',
  'routingNumber',
  'bsb',
  'institutionNumber',
  'ifsc',
  'bankCode',
  'clearingNumber',
  'branchCode',
] as const satisfies readonly BankMember[]

export interface BankFound {
  readonly country: string
  readonly kind: BankCodeKind
  /** The code in its normal form: no spaces, capitals. */
  readonly code: string
  /** The bank code inside; null where there is none, or where it is not known. */
  readonly bankCode: string | null
  readonly branchCode: string | null
  readonly bankName: string | null
  readonly bic: string | null
  /** The evidence: a published list that has the code, its own check digits, or only its form. */
  readonly vouchedBy: 'list' | 'check_digits' | 'form'
  /** `currency` is null where a rail carries any. */
  readonly rails: readonly { readonly rail: Rail; readonly currency: string | null }[]
}

export interface LookupFault {
  readonly parameter: 'iban' | 'country' | 'code'
  /** Null: the code is well formed, and no bank has it. */
  readonly code: FieldErrorCode | null
  readonly message: string
}

export type BankLookupResult = { readonly found: BankFound } | { readonly fault: LookupFault }

/** The tables that lookups use. */
export interface LookupDeps {
  readonly ukModulus: UkModulusTable
  /** Names of banks and lists of codes; absent without a directory. */
  readonly banks?: BankDirectory
  /** Whether the codes of the sandbox bank are valid. */
  readonly sandbox: boolean
}

const SANDBOX_BANK = { code: 'SBOX', name: 'Sandbox Bank' } as const
const BIC = /^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$/
/** Removes the spaces and dashes by which people group digits. */
const compact = (text: string): string => text.replaceAll(/[\s-]/g, '').toUpperCase()

const fault = (
  parameter: LookupFault['parameter'],
  code: FieldErrorCode | null,
  message: string,
): BankLookupResult => ({
  fault: { parameter, code, message },
})

/** Looks up the bank of an IBAN, which may be grouped. Its inner parts are checked as for a recipient. */
export function lookupIban({ ukModulus, banks, sandbox }: LookupDeps, text: string): BankLookupResult {
  const iban = compact(text)
  const country = iban.slice(0, 2)
  const context = { bank: {}, bankCountry: country, ukModulus, sandbox }
  const wrong = CHECKS.iban(iban, context)
  if (wrong !== null) return fault('iban', wrong.code, wrong.message)
  const { bankCode, branchCode } = ibanParts(iban)
  const british = country === 'GB' && branchCode !== null
  const impossible = british
    ? CHECKS.uk_modulus(branchCode, { ...context, bank: { accountNumber: iban.slice(-8) } })
    : null
  if (impossible !== null) return fault('iban', impossible.code, impossible.message)
  const listed = bankCode === null ? null : (banks?.find(country, 'iban', bankCode) ?? null)
  return {
    found: {
      country,
      kind: 'iban',
      code: iban,
      bankCode,
      branchCode,
      ...(listed ? named(listed) : sandboxBank(sandbox && bankCode === SANDBOX_BANK.code, country)),
      vouchedBy: listed !== null || (british && ukSortCodeListed(ukModulus, branchCode)) ? 'list' : 'check_digits',
      rails: railsOf(country, 'iban', listed),
    },
  }
}

/** Looks up the bank of a code in a country: a BIC, or the national code that the country's own rails use. */
export function lookupBank(
  { ukModulus, banks, sandbox }: LookupDeps,
  { country, code: text }: { readonly country: string; readonly code: string },
): BankLookupResult {
  if (!isCountry(country)) return fault('country', 'invalid_value', 'Is no country of ISO 3166.')
  const code = compact(text)
  const context = { bank: {}, bankCountry: country, ukModulus, sandbox }
  const rails = railsOf(country, null, null)
  if (BIC.test(code)) {
    const wrong = CHECKS.bic(code, context) ?? CHECKS.country_match(code, context)
    if (wrong !== null) return fault('code', wrong.code, wrong.message)
    const bankCode = code.slice(0, 4)
    const listed = banks?.find(bankingCountry(country), 'bic', code) ?? null
    const { bankName } =
      listed === null ? sandboxBank(sandbox && bankCode === SANDBOX_BANK.code, country) : named(listed)
    return {
      found: {
        country,
        kind: 'bic',
        code,
        bankCode,
        branchCode: code.length === 11 ? code.slice(8) : null,
        bankName,
        bic: code,
        vouchedBy: listed === null ? 'form' : 'list',
        rails: railsOf(country, null, listed),
      },
    }
  }
  const found = { country, code, bankCode: code, branchCode: null, bankName: null, bic: null, rails }
  if (country === 'MX' && /^[0-9]{3}$/.test(code)) {
    const ours = sandbox && code === SANDBOX_CLABE_BANK
    if (!ours && !MEXICAN_BANKS.has(code)) return fault('code', null, `No member of SPEI has the code ${code}.`)
    return { found: { ...found, kind: 'clabe', vouchedBy: 'list', bankName: ours ? SANDBOX_BANK.name : null } }
  }
  const rules = nationalRules(country)
  const rule = rules.find(({ pattern }) => pattern !== null && new RegExp(pattern).test(code))
  if (rule === undefined)
    return fault(
      'code',
      'invalid_format',
      `Is neither a BIC nor ${rules.length === 0 && country !== 'MX' ? 'anything else that names a bank there' : wordsFor(country, rules)}.`,
    )
  for (const check of rule.checks) {
    const wrong = CHECKS[check](code, context)
    if (wrong !== null) return fault('code', wrong.code, wrong.message)
  }
  const kind = rule.member as ListedKind & BankCodeKind
  const listed = banks?.find(bankingCountry(country), kind, code) ?? null
  if (listed !== null)
    return { found: { ...found, ...named(listed), kind, vouchedBy: 'list', rails: railsOf(country, null, listed) } }
  if (banks?.has(bankingCountry(country), kind) === true && !(sandbox && SANDBOX_CODES.has(code)))
    return fault('code', null, `No bank has the code ${code}.`)
  const hasWeights = kind === 'sortCode' && ukSortCodeListed(ukModulus, code)
  return {
    found: { ...found, kind, vouchedBy: hasWeights ? 'list' : rule.checks.includes('aba') ? 'check_digits' : 'form' },
  }
}

const named = ({ name, bic }: DirectoryEntry): Pick<BankFound, 'bankName' | 'bic'> => ({ bankName: name, bic })

function sandboxBank(isOurs: boolean, country: string): Pick<BankFound, 'bankName' | 'bic'> {
  return isOurs
    ? { bankName: SANDBOX_BANK.name, bic: `${SANDBOX_BANK.code}${bankingCountry(country)}2A` }
    : { bankName: null, bic: null }
}

/** Returns the rules of the national codes by which a country's own rails name banks. */
function nationalRules(country: string): MemberRule[] {
  const currencies = [...RAILS.values()].flatMap(({ currency, countries }) =>
    currency !== null && countries?.has(country) === true ? [currency] : [],
  )
  const rules = [...new Set(currencies)].flatMap((currency) => marketOf(currency, country).members)
  // A branch code names the bank only where there is no other national code.
  return NATIONAL.flatMap((name) => rules.find(({ member }) => member === name) ?? []).slice(0, 1)
}

function wordsFor(country: string, rules: readonly MemberRule[]): string {
  if (country === 'MX') return 'a bank code of three digits'
  return rules
    .map(({ label, example }) => `a ${/^[A-Z]{2}/.test(label) ? label : label.toLowerCase()} such as ${example}`)
    .join(', ')
}

/**
 * Returns the rails that reach a country's banks: with `member`, only rails for which it identifies the account; with
 * `listed`, only rails that reach that bank.
 */
function railsOf(country: string, member: 'iban' | null, listed: DirectoryEntry | null): BankFound['rails'] {
  return [...RAILS.values()]
    .filter(
      ({ rail, countries, withdrawnSince, needs }) =>
        rail !== ON_PLATFORM_RAIL &&
        withdrawnSince === null &&
        (countries === null || countries.has(country)) &&
        (member === null || needs.some((group) => group.includes(member))) &&
        (listed?.rails?.has(rail) ?? true),
    )
    .map(({ rail, currency }) => ({ rail, currency }))
}

/**
 * The sandbox bank's answer about a payee, chosen by the name and the end of the account, so that every outcome is
 * possible without a second call: a token `SBX:<CODE>` first, then a word, then the account's last four digits.
 */
import { isPayeeCode, type PayeeAnswer, type PayeeQuestion, type PayeeScheme } from '../recipients/verification.ts'
import { sandboxTokens, type CatalogueRule } from './triggers.ts'

const MATCHED_NAME = 'Sandbox Payee Ltd'
type Kind = 'close' | 'no' | 'none' | 'absent'

/** The code of each outcome in each scheme. */
const CODES: Readonly<Record<Kind, Readonly<Record<PayeeScheme, string>>>> = {
  close: { cop: 'MBAM', vop: 'CMTC' },
  no: { cop: 'ANNM', vop: 'NMTC' },
  none: { cop: 'ACNS', vop: 'NOAP' },
  absent: { cop: 'AC01', vop: 'AC01' },
}
const WORDS: Readonly<Record<string, Kind>> = { closematch: 'close', nomatch: 'no', unverifiable: 'none' }
const ENDINGS: Readonly<Record<string, Kind>> = { 9892: 'close', 9891: 'no', 9897: 'absent' }

/** Returns the answer of the sandbox bank. */
export function sandboxPayee({ scheme, name, iban, accountNumber }: PayeeQuestion): PayeeAnswer {
  const token = sandboxTokens(name).find(isPayeeCode)
  const word = name
    .toLowerCase()
    .split(/[^a-z]+/)
    .find((part) => Object.hasOwn(WORDS, part))
  const ending = (accountNumber ?? iban ?? '').slice(-4)
  const kind = word === undefined ? ENDINGS[ending] : WORDS[word]
  const code = token ?? (kind === undefined ? null : CODES[kind][scheme])
  if (code === null) return { code: scheme === 'vop' ? 'MTCH' : null, matchedName: null }
  return { code, matchedName: MATCHED_NAME }
}

/** Describes these rules, for the catalogue that integrators read. */
export function payeeRules(): readonly CatalogueRule[] {
  return [
    'no token: match',
    `SBX:MBAM or the word Closematch in the name, or an account that ends in 9892: close_match, matchedName "${MATCHED_NAME}"`,
    'SBX:BANM, SBX:PANM, SBX:BAMM or SBX:PAMM: close_match with that code',
    'SBX:ANNM or the word Nomatch, or an account that ends in 9891: no_match',
    'SBX:AC01, or an account that ends in 9897: no_match, AC01',
    'SBX:ACNS, SBX:OPTO, SBX:CASS, SBX:SCNS, SBX:IVCR, SBX:NOAP or the word Unverifiable: unavailable with that code',
    'currencies other than GBP and EUR: verification-unavailable',
    'SBX:APPROVE or SBX:REJECT in the name: the approval is decided 5 s after it opens',
  ].map((rule) => ({ topic: 'recipients', rule }))
}

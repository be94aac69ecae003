/** Finds orders that cannot be written: each check returns a fault, or null where there is none. */
import { ACCOUNT_NUMBER_MAX, NATIONAL_NUMBER, type Carriage, type TextCarriage } from './party-xml.ts'
import type { FileOrder, MessageAccount, MessageAgent, MessageParty, OrderFault } from './messages.ts'
import { REFERENCE_MAX } from './references.ts'
import { carriedText, carriesReference } from './texts.ts'

const IBAN = /^[A-Z]{2}[0-9]{2}[a-zA-Z0-9]{1,30}$/
const BIC = /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/
const COUNTRY = /^[A-Z]{2}$/
const CODE = /^[A-Za-z0-9]{1,4}$/

/** Returns the first fault of a list of checks; null where there is none. */
export const firstFault = (faults: readonly (OrderFault | null)[]): OrderFault | null =>
  faults.find((fault) => fault !== null) ?? null

/** Returns a fault unless the condition holds. */
export const unless = (holds: boolean, field: string, message: string): OrderFault | null =>
  holds ? null : { field, message }

/** Returns what cannot be written of a party. A name is required unless the party as a whole is absent. */
export function partyFault(
  field: string,
  party: MessageParty | null,
  { characters, nameMax }: Carriage,
): OrderFault | null {
  if (party === null) return null
  const { name, address, id } = party
  return firstFault([
    unless(
      name !== null && carriedText(name, characters, nameMax) !== '',
      `${field}.name`,
      'The name has no letter or digit that the scheme carries.',
    ),
    unless(address?.country == null || COUNTRY.test(address.country), `${field}.address.country`, 'No ISO 3166 code.'),
    unless(id === null || isReference(id.value), `${field}.id`, `One to ${REFERENCE_MAX} characters.`),
  ])
}

/** Returns what cannot be written of an account. */
export function accountFault(field: string, account: MessageAccount): OrderFault | null {
  return 'iban' in account
    ? unless(IBAN.test(account.iban), `${field}.iban`, 'Not the form of an IBAN.')
    : unless(
        account.number !== '' && account.number.length <= ACCOUNT_NUMBER_MAX,
        `${field}.number`,
        `One to ${ACCOUNT_NUMBER_MAX} characters.`,
      )
}

/** Returns what cannot be written of a bank. */
export function agentFault(field: string, agent: MessageAgent | null): OrderFault | null {
  if (agent === null) return null
  const { bic, clearing, country } = agent
  return firstFault([
    unless(bic === null || BIC.test(bic), `${field}.bic`, 'Not the form of a BIC.'),
    unless(
      clearing === null || isReference(clearing.member),
      `${field}.clearing`,
      `One to ${REFERENCE_MAX} characters.`,
    ),
    unless(
      clearing?.system == null || /^[A-Z0-9]{1,5}$/.test(clearing.system),
      `${field}.clearing`,
      'No clearing system.',
    ),
    unless(country === null || COUNTRY.test(country), `${field}.country`, 'No ISO 3166 code.'),
  ])
}

/** Returns a fault where a number is an account only together with its bank, and the bank is not named. */
export const bankFault = (field: string, account: MessageAccount, agent: MessageAgent | null): OrderFault | null =>
  unless(
    'iban' in account ||
      (account.scheme !== null && account.scheme !== NATIONAL_NUMBER) ||
      (agent !== null && (agent.bic ?? agent.clearing) !== null),
    field,
    'An account number needs the BIC or the clearing number of its bank.',
  )

/** Tells whether a text fits the references of ISO 20022. */
export const isReference = (text: string): boolean => text.trim() !== '' && text.length <= REFERENCE_MAX

/** Returns a fault unless the code is absent or has the form of a code of ISO 20022. */
export const codeFault = (field: string, code: string | null): OrderFault | null =>
  unless(code === null || CODE.test(code), field, 'One to four letters and digits.')

/** Returns what cannot be written of a purpose. */
export const purposeFault = (purpose: FileOrder['purpose']): OrderFault | null =>
  purpose === null
    ? null
    : 'code' in purpose
      ? codeFault('purpose', purpose.code)
      : unless(isReference(purpose.proprietary), 'purpose', 'One to 35 characters.')

/** Returns what a scheme cannot carry for the payee. */
export function remittanceFault(
  { unstructured, creditorReference }: FileOrder['remittance'],
  { characters, textMax, sepa }: TextCarriage,
): OrderFault | null {
  const text = unstructured.join(' ').trim()
  return firstFault([
    unless(
      creditorReference === null || (isReference(creditorReference) && carriesReference(creditorReference, characters)),
      'remittance.creditorReference',
      'One to 35 characters that the scheme carries.',
    ),
    unless(
      !sepa || creditorReference === null || text === '',
      'remittance',
      'SEPA carries either a text or a creditor reference.',
    ),
    unless(
      Array.from(carriedText(text, characters, Number.MAX_SAFE_INTEGER)).length <= textMax,
      'remittance.unstructured',
      `At most ${textMax} characters.`,
    ),
  ])
}

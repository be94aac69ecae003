/**
 * Writes parties, accounts and banks as ISO 20022 elements, and says what about them cannot be written. The elements
 * are in the order of the schemas; members that are absent are left out, because no element may be empty.
 */
import { xmlElement } from '../../base/xml.ts'
import type { CharacterSet } from '../../rails/rails.ts'
import type {
  MessageAccount,
  MessageAgent,
  MessageParty,
  MessageRemittance,
  PartyAddress,
  PaymentType,
} from './messages.ts'
import { REFERENCE_MAX } from './references.ts'
import { carriedText } from './texts.ts'

export const ACCOUNT_NUMBER_MAX = 34
const TEXT_MAX = 140
const LINE_MAX = 70
/** The scheme of a number that the banks of one country know. */
export const NATIONAL_NUMBER = 'BBAN'
/** ISO 20022's codes of schemes of account numbers; any other scheme is the bank's own word. */
const ACCOUNT_SCHEMES: ReadonlySet<string> = new Set(['AIIN', NATIONAL_NUMBER, 'CUID', 'UPIC'])
/** The form of ISO 20022's codes of schemes of party identifiers; any other scheme is the bank's own word. */
const PARTY_SCHEME = /^[A-Z]{4}$/
/** Stands for a bank of which nothing is known, where the schema wants one. */
const NO_AGENT = '<FinInstnId><Othr><Id>NOTPROVIDED</Id></Othr></FinInstnId>'

/** The parts of names that a scheme carries. */
export interface Carriage {
  readonly characters: CharacterSet
  readonly nameMax: number
}

/** The parts of names and of texts for the payee that a scheme carries; `sepa` is a scheme of the European Payments Council. */
export interface TextCarriage extends Carriage {
  readonly textMax: number
  readonly sepa: boolean
}

/** Writes an element around content; an empty string around none. */
export const around = (name: string, content: string): string => (content === '' ? '' : `<${name}>${content}</${name}>`)

const element = (name: string, text: string | null, characters: CharacterSet, max: number): string =>
  text === null ? '' : xmlElement(name, carriedText(text, characters, max), max)

/** Writes a code of ISO 20022's lists, or the bank's own word. */
export const codeXml = (name: string, code: { readonly code: string } | { readonly proprietary: string }): string =>
  around(
    name,
    'code' in code ? xmlElement('Cd', code.code, REFERENCE_MAX) : xmlElement('Prtry', code.proprietary, REFERENCE_MAX),
  )

/** Writes a party, under the name of its role. */
export function partyXml(role: string, party: MessageParty | null, { characters, nameMax }: Carriage): string {
  if (party === null) return ''
  const { name, address, id } = party
  return around(
    role,
    element('Nm', name, characters, Math.min(nameMax, TEXT_MAX)) +
      around('PstlAdr', address === null ? '' : addressXml(address, characters)) +
      (id === null ? '' : partyIdXml(id)),
  )
}

function addressXml(address: PartyAddress, characters: CharacterSet): string {
  const { line1, line2, buildingNumber, postalCode, city, state, country } = address
  return (
    element('StrtNm', line1, characters, LINE_MAX) +
    element('BldgNb', buildingNumber, characters, 16) +
    element('PstCd', postalCode, characters, 16) +
    element('TwnNm', city, characters, REFERENCE_MAX) +
    element('CtrySubDvsn', state, characters, REFERENCE_MAX) +
    xmlElement('Ctry', country, 2) +
    element('AdrLine', line2, characters, LINE_MAX)
  )
}

/** Writes an identifier of a party, with the code of its scheme. */
export const partyIdXml = ({ value, scheme, isPrivate }: NonNullable<MessageParty['id']>): string =>
  `<Id>${around(isPrivate ? 'PrvtId' : 'OrgId', otherXml(value, REFERENCE_MAX, scheme === null ? '' : codeXml('SchmeNm', PARTY_SCHEME.test(scheme) ? { code: scheme } : { proprietary: scheme })))}</Id>`

/** Writes an identifier that is neither an IBAN nor a BIC. */
export const otherXml = (id: string, max: number, schemeName: string): string =>
  `<Othr>${xmlElement('Id', id, max)}${schemeName}</Othr>`

/** Writes an account, under the name of its role. */
export function accountXml(role: string, account: MessageAccount): string {
  if ('iban' in account) return `<${role}><Id><IBAN>${account.iban}</IBAN></Id></${role}>`
  const { number, scheme, type } = account
  const name =
    scheme === null ? '' : codeXml('SchmeNm', ACCOUNT_SCHEMES.has(scheme) ? { code: scheme } : { proprietary: scheme })
  return `<${role}><Id>${otherXml(number, ACCOUNT_NUMBER_MAX, name)}</Id>${type === undefined ? '' : codeXml('Tp', { code: type })}</${role}>`
}

/** Writes a bank, under the name of its role. A bank that is required and unknown is `NOTPROVIDED`. */
export function agentXml(
  role: string,
  agent: MessageAgent | null,
  { characters, isRequired }: { readonly characters: CharacterSet; readonly isRequired: boolean },
): string {
  const { bic = null, clearing = null, name = null, country = null } = agent ?? {}
  const system = clearing === null || clearing.system === null ? '' : codeXml('ClrSysId', { code: clearing.system })
  const known =
    xmlElement('BICFI', bic, 11) +
    (clearing === null
      ? ''
      : `<ClrSysMmbId>${system}${xmlElement('MmbId', clearing.member, REFERENCE_MAX)}</ClrSysMmbId>`) +
    element('Nm', name, characters, TEXT_MAX) +
    around('PstlAdr', xmlElement('Ctry', country, 2))
  if (known !== '') return `<${role}><FinInstnId>${known}</FinInstnId></${role}>`
  return isRequired ? `<${role}>${NO_AGENT}</${role}>` : ''
}

/** Writes the codes of a rail or scheme. `sequence` is that of a direct debit. */
export function paymentTypeXml(
  { serviceLevel, localInstrument, categoryPurpose }: PaymentType,
  { sequence = '', purpose = null }: { readonly sequence?: string; readonly purpose?: string | null } = {},
): string {
  const category = purpose ?? categoryPurpose
  return around(
    'PmtTpInf',
    (serviceLevel === undefined ? '' : codeXml('SvcLvl', { code: serviceLevel })) +
      (localInstrument === undefined ? '' : codeXml('LclInstrm', localInstrument)) +
      around('SeqTp', sequence) +
      (category === undefined ? '' : codeXml('CtgyPurp', { code: category })),
  )
}

/** A reference of Swiss QR bills, which has no code in ISO 20022's list. */
const QR_REFERENCE = /^\d{27}$/

/** Writes what the payee is told. `textMax` is the length of the text that the scheme carries. */
export function remittanceXml(
  { unstructured, creditorReference }: MessageRemittance,
  { characters, textMax }: { readonly characters: CharacterSet; readonly textMax: number },
): string {
  const text = Array.from(carriedText(unstructured.join(' '), characters, textMax))
  let lines = ''
  for (let at = 0; at < text.length; at += TEXT_MAX)
    lines += xmlElement(
      'Ustrd',
      text
        .slice(at, at + TEXT_MAX)
        .join('')
        .trim(),
      TEXT_MAX,
    )
  if (creditorReference === null) return around('RmtInf', lines)
  const isQr = QR_REFERENCE.test(creditorReference)
  const type = isQr ? { proprietary: 'QRR' } : { code: 'SCOR' }
  const issuer = creditorReference.startsWith('RF') ? '<Issr>ISO</Issr>' : ''
  return `<RmtInf>${lines}<Strd><CdtrRefInf><Tp>${codeXml('CdOrPrtry', type)}${issuer}</Tp>${xmlElement('Ref', creditorReference, REFERENCE_MAX)}</CdtrRefInf></Strd></RmtInf>`
}

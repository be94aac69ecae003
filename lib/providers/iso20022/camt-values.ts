/** Reads the values of account reports from their elements, in the form of version 8 and of the versions before it. */
import { isCurrencyCode, type CurrencyCode } from '../../base/currency.ts'
import { BankFileError } from './bank-file-error.ts'
import type { MessageElement } from './element.ts'
import type { MessageAccount, MessageAgent, MessageParty, PartyAddress } from './messages.ts'
import { uuidAmong } from './references.ts'
import type {
  BankTransactionCode,
  ReportCharge,
  ReportDirection,
  ReportReferences,
  ReportReturn,
  ReportTransaction,
} from './reports.ts'

export const DIRECTIONS: readonly ReportDirection[] = ['CRDT', 'DBIT']

/** An amount with its sign: positive for a credit of the account. */
export const withSign = (amount: bigint, direction: ReportDirection): bigint =>
  direction === 'CRDT' ? amount : -amount

/** Returns a currency. @throws BankFileError for a text that is none */
export function currencyOf(element: MessageElement): CurrencyCode {
  const text = element.ownText ?? ''
  if (isCurrencyCode(text)) return text
  throw new BankFileError('invalid_value', `"${text.slice(0, 10)}" is no currency.`, element)
}

/** Returns the account in an element (`Acct`, `CdtrAcct`); null where it names none. */
export function accountIn(element: MessageElement | null): MessageAccount | null {
  if (element === null) return null
  const iban = element.text('Id/IBAN')
  if (iban !== null) return { iban }
  const number = element.text('Id/Othr/Id')
  return number === null ? null : { number, scheme: element.text('Id/Othr/SchmeNm/Cd', 'Id/Othr/SchmeNm/Prtry') }
}

/** Returns the bank in an element (`CdtrAgt`, `Svcr`); null where it names none. */
export function agentIn(element: MessageElement | null): MessageAgent | null {
  const bank = element?.get('FinInstnId') ?? null
  if (bank === null) return null
  const member = bank.text('ClrSysMmbId/MmbId')
  const agent: MessageAgent = {
    bic: bank.text('BICFI', 'BIC'),
    clearing:
      member === null ? null : { system: bank.text('ClrSysMmbId/ClrSysId/Cd', 'ClrSysMmbId/ClrSysId/Prtry'), member },
    name: bank.text('Nm'),
    country: bank.text('PstlAdr/Ctry'),
  }
  return Object.values(agent).every((value) => value === null) ? null : agent
}

/** Returns the party in an element (`Cdtr`): a person or organisation, or a bank in its place; null where there is none. */
function partyIn(element: MessageElement | null): MessageParty | null {
  if (element === null) return null
  const bank = agentIn(element.get('Agt'))
  if (bank !== null) return { name: bank.name ?? bank.bic, address: null, id: null }
  const party = element.get('Pty') ?? element
  const address = party.get('PstlAdr')
  const name = party.text('Nm')
  const found: MessageParty = { name, address: address === null ? null : addressIn(address), id: idIn(party) }
  return name === null && found.address === null && found.id === null ? null : found
}

function addressIn(element: MessageElement): PartyAddress {
  const lines = element.all('AdrLine').flatMap(({ ownText }) => ownText ?? [])
  const street = element.text('StrtNm')
  const rest = street === null ? lines.slice(1) : lines
  return {
    line1: street ?? lines[0] ?? null,
    line2: rest.length === 0 ? null : rest.join(', '),
    buildingNumber: element.text('BldgNb'),
    city: element.text('TwnNm'),
    postalCode: element.text('PstCd'),
    state: element.text('CtrySubDvsn'),
    country: element.text('Ctry'),
  }
}

function idIn(party: MessageElement): MessageParty['id'] {
  for (const kind of ['OrgId', 'PrvtId']) {
    const other = party.get(`Id/${kind}/Othr`)
    const value = other?.text('Id') ?? null
    if (other != null && value !== null)
      return { value, scheme: other.text('SchmeNm/Cd', 'SchmeNm/Prtry'), isPrivate: kind === 'PrvtId' }
  }
  return null
}

/** Returns the codes in an element (`BkTxCd`). */
export const codeIn = (element: MessageElement | null): BankTransactionCode => ({
  domain: element?.text('Domn/Cd') ?? null,
  family: element?.text('Domn/Fmly/Cd') ?? null,
  subFamily: element?.text('Domn/Fmly/SubFmlyCd') ?? null,
  proprietary: element?.text('Prtry/Cd') ?? null,
})

/** Returns the charges of an entry or a transaction. Before version 4 each one is an element `Chrgs` of its own. */
export function chargesIn(elements: readonly MessageElement[]): ReportCharge[] {
  const records = elements.flatMap((element) => {
    const own = element.all('Rcrd')
    return own.length > 0 || element.get('Amt') === null ? own : [element]
  })
  return records.map((record) => {
    const amount = record.amount('Amt')
    if (amount === null) throw new BankFileError('missing_element', 'A charge has no Amt.', record)
    return {
      ...amount,
      direction: record.get('CdtDbtInd') === null ? 'DBIT' : record.oneOf('CdtDbtInd', DIRECTIONS),
      isIncluded: record.isTrue('ChrgInclInd'),
      code: record.text('Tp/Cd', 'Tp/Prtry/Id', 'Tp/Prtry'),
    }
  })
}

function referencesIn(element: MessageElement): ReportReferences {
  const refs = element.get('Refs')
  const text = (name: string): string | null => refs?.text(name) ?? null
  return {
    messageId: text('MsgId'),
    blockId: text('PmtInfId'),
    instructionId: text('InstrId'),
    endToEndId: text('EndToEndId'),
    uetr: text('UETR'),
    transactionId: text('TxId'),
    mandateId: text('MndtId'),
    clearingRef: text('ClrSysRef'),
    bankRef: text('AcctSvcrRef'),
    others: ['AcctOwnrTxId', 'Prtry/Ref'].flatMap((path) =>
      (refs?.all(path) ?? []).flatMap(({ ownText }) => ownText ?? []),
    ),
  }
}

function returnIn(element: MessageElement | null): ReportReturn | null {
  if (element === null) return null
  const code = element.text('Rsn/Cd')
  const original = element.get('OrgnlBkTxCd')
  return {
    reason: {
      code: code ?? element.text('Rsn/Prtry'),
      isProprietary: code === null && element.text('Rsn/Prtry') !== null,
      texts: element.all('AddtlInf').flatMap(({ ownText }) => ownText ?? []),
    },
    originalCode: original === null ? null : codeIn(original),
  }
}

/** The facts of an entry that its transactions fall back on. */
interface Around {
  readonly currency: CurrencyCode
  readonly direction: ReportDirection
}

/** Returns a transaction (`TxDtls`). Its amount is null where it has none in the currency of the account. */
export function transactionIn(element: MessageElement, around: Around): ReportTransaction {
  const references = referencesIn(element)
  const own = element.amount('Amt') ?? element.amount('AmtDtls/TxAmt/Amt')
  const isOnAccount = own !== null && own.currency === around.currency
  const instructed = element.amount('AmtDtls/InstdAmt/Amt') ?? (isOnAccount ? null : own)
  const code = element.get('BkTxCd')
  const at = (name: string): MessageElement | null => element.get(`RltdPties/${name}`)
  return {
    references,
    reference: uuidAmong([references.instructionId, references.endToEndId, references.blockId, ...references.others]),
    amount: isOnAccount ? own.amount : null,
    currency: around.currency,
    direction: element.get('CdtDbtInd') === null ? around.direction : element.oneOf('CdtDbtInd', DIRECTIONS),
    instructed,
    code: code === null ? null : codeIn(code),
    charges: chargesIn(element.all('Chrgs')),
    debtor: partyIn(at('Dbtr')),
    debtorAccount: accountIn(at('DbtrAcct')),
    debtorAgent: agentIn(element.get('RltdAgts/DbtrAgt')),
    ultimateDebtor: partyIn(at('UltmtDbtr')),
    creditor: partyIn(at('Cdtr')),
    creditorAccount: accountIn(at('CdtrAcct')),
    creditorAgent: agentIn(element.get('RltdAgts/CdtrAgt')),
    ultimateCreditor: partyIn(at('UltmtCdtr')),
    purpose: element.text('Purp/Cd', 'Purp/Prtry'),
    remittance: {
      unstructured: element.all('RmtInf/Ustrd').flatMap(({ ownText }) => ownText ?? []),
      creditorReference: element.all('RmtInf/Strd/CdtrRefInf/Ref')[0]?.ownText ?? null,
    },
    returned: returnIn(element.get('RtrInf')),
    text: element.text('AddtlTxInf'),
  }
}

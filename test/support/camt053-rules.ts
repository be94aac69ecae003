/**
 * The part of the schema of camt.053.001.08 that statements use, as data: for each element its children in their order, how
 * often each may come, and what its text may be. A reader of XML that knows elements, attributes and text is enough for it.
 */

/** Children in order, with the fewest and the most of each. */
interface Composite { readonly kind: 'sequence'; readonly children: readonly (readonly [name: string, min: number, max: number, type: string])[] }
interface Choice { readonly kind: 'choice'; readonly children: readonly (readonly [name: string, type: string])[] }
interface Simple { readonly kind: 'text'; readonly pattern: RegExp; readonly attribute?: string }
type Rule = Composite | Choice | Simple

const MANY = Number.POSITIVE_INFINITY
const text = (min: number, max: number): Simple => ({ kind: 'text', pattern: new RegExp(`^[^]{${min},${max}}$`, 'u') })
const pattern = (source: RegExp): Simple => ({ kind: 'text', pattern: source })
const sequence = (...children: Composite['children']): Composite => ({ kind: 'sequence', children })
const choice = (...children: Choice['children']): Choice => ({ kind: 'choice', children })

const RULES: Readonly<Record<string, Rule>> = {
  Document: sequence(['BkToCstmrStmt', 1, 1, 'BkToCstmrStmt']),
  BkToCstmrStmt: sequence(['GrpHdr', 1, 1, 'GrpHdr'], ['Stmt', 1, MANY, 'Stmt']),
  GrpHdr: sequence(['MsgId', 1, 1, 'Max35'], ['CreDtTm', 1, 1, 'DateTime'], ['MsgPgntn', 0, 1, 'Pagination']),
  Pagination: sequence(['PgNb', 1, 1, 'Max5Numeric'], ['LastPgInd', 1, 1, 'Boolean']),
  Stmt: sequence(
    ['Id', 1, 1, 'Max35'], ['ElctrncSeqNb', 0, 1, 'Number'], ['LglSeqNb', 0, 1, 'Number'], ['CreDtTm', 0, 1, 'DateTime'], ['FrToDt', 0, 1, 'Period'], ['Acct', 1, 1, 'Account'],
    ['Bal', 1, MANY, 'Balance'], ['TxsSummry', 0, 1, 'Summary'], ['Ntry', 0, MANY, 'Entry'], ['AddtlStmtInf', 0, 1, 'Max500'],
  ),
  Period: sequence(['FrDtTm', 1, 1, 'DateTime'], ['ToDtTm', 1, 1, 'DateTime']),
  Account: sequence(['Id', 1, 1, 'AccountId'], ['Ccy', 0, 1, 'Currency'], ['Nm', 0, 1, 'Max70'], ['Ownr', 0, 1, 'Party'], ['Svcr', 0, 1, 'Agent']),
  AccountId: choice(['IBAN', 'IBAN'], ['Othr', 'OtherId']),
  OtherId: sequence(['Id', 1, 1, 'Max34']),
  Party: sequence(['Nm', 0, 1, 'Max140'], ['PstlAdr', 0, 1, 'Address']),
  Address: sequence(['AdrLine', 0, 7, 'Max70']),
  Agent: sequence(['FinInstnId', 1, 1, 'Institution']),
  Institution: sequence(['BICFI', 0, 1, 'BIC'], ['Nm', 0, 1, 'Max140']),
  Balance: sequence(['Tp', 1, 1, 'BalanceType'], ['Amt', 1, 1, 'Amount'], ['CdtDbtInd', 1, 1, 'Direction'], ['Dt', 1, 1, 'DateOrTime']),
  BalanceType: sequence(['CdOrPrtry', 1, 1, 'BalanceCode']),
  BalanceCode: choice(['Cd', 'BalanceWord']),
  DateOrTime: choice(['Dt', 'Date'], ['DtTm', 'DateTime']),
  Summary: sequence(['TtlNtries', 0, 1, 'Totals'], ['TtlCdtNtries', 0, 1, 'Sums'], ['TtlDbtNtries', 0, 1, 'Sums']),
  Totals: sequence(['NbOfNtries', 0, 1, 'Max15Numeric'], ['Sum', 0, 1, 'Decimal'], ['TtlNetNtry', 0, 1, 'Net']),
  Net: sequence(['Amt', 1, 1, 'Decimal'], ['CdtDbtInd', 1, 1, 'Direction']),
  Sums: sequence(['NbOfNtries', 0, 1, 'Max15Numeric'], ['Sum', 0, 1, 'Decimal']),
  Entry: sequence(
    ['NtryRef', 0, 1, 'Max35'], ['Amt', 1, 1, 'Amount'], ['CdtDbtInd', 1, 1, 'Direction'], ['RvslInd', 0, 1, 'Boolean'], ['Sts', 1, 1, 'EntryStatus'], ['BookgDt', 0, 1, 'DateOrTime'],
    ['ValDt', 0, 1, 'DateOrTime'], ['AcctSvcrRef', 0, 1, 'Max35'], ['BkTxCd', 1, 1, 'TransactionCode'], ['NtryDtls', 0, MANY, 'EntryDetails'], ['AddtlNtryInf', 0, 1, 'Max500'],
  ),
  EntryStatus: choice(['Cd', 'StatusWord']),
  TransactionCode: sequence(['Domn', 0, 1, 'Domain'], ['Prtry', 0, 1, 'Proprietary']),
  Domain: sequence(['Cd', 1, 1, 'Code4'], ['Fmly', 1, 1, 'Family']),
  Family: sequence(['Cd', 1, 1, 'Code4'], ['SubFmlyCd', 1, 1, 'Code4']),
  Proprietary: sequence(['Cd', 1, 1, 'Max35'], ['Issr', 0, 1, 'Max35']),
  EntryDetails: sequence(['TxDtls', 0, MANY, 'Transaction']),
  Transaction: sequence(['Refs', 0, 1, 'References'], ['Amt', 0, 1, 'Amount'], ['CdtDbtInd', 0, 1, 'Direction'], ['RltdPties', 0, 1, 'Parties'], ['RmtInf', 0, 1, 'Remittance']),
  References: sequence(['AcctSvcrRef', 0, 1, 'Max35'], ['EndToEndId', 0, 1, 'Max35']),
  Parties: sequence(['Dbtr', 0, 1, 'PartyChoice'], ['Cdtr', 0, 1, 'PartyChoice']),
  PartyChoice: choice(['Pty', 'Party'], ['Agt', 'Agent']),
  Remittance: sequence(['Ustrd', 0, MANY, 'Max140']),
  Max34: text(1, 34), Max35: text(1, 35), Max70: text(1, 70), Max140: text(1, 140), Max500: text(1, 500),
  Max5Numeric: pattern(/^[0-9]{1,5}$/), Max15Numeric: pattern(/^[0-9]{1,15}$/), Number: pattern(/^[0-9]{1,18}$/), Boolean: pattern(/^(true|false)$/),
  Date: pattern(/^\d{4}-\d\d-\d\d$/), DateTime: pattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/), Currency: pattern(/^[A-Z]{3}$/), Code4: pattern(/^[A-Z]{4}$/),
  IBAN: pattern(/^[A-Z]{2}[0-9]{2}[a-zA-Z0-9]{1,30}$/), BIC: pattern(/^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/),
  Direction: pattern(/^(CRDT|DBIT)$/), BalanceWord: pattern(/^(OPBD|CLBD|CLAV|FWAV|INFO|ITAV|ITBD|OPAV|PRCD|XPCD)$/), StatusWord: pattern(/^(BOOK|PDNG|INFO|FUTR)$/),
  Decimal: pattern(/^(?=(?:\D*\d){1,18}\D*$)\d+(\.\d{1,17})?$/), Amount: { kind: 'text', pattern: /^(?=(?:\D*\d){1,18}\D*$)\d+(\.\d{1,5})?$/, attribute: 'Ccy' },
}

interface Element { readonly name: string; readonly attributes: Readonly<Record<string, string>>; readonly children: Element[]; text: string }

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }

/** Elements, attributes and text; anything else is no XML that a statement may have. @throws Error with where it breaks */
function parse(xml: string): Element {
  const top: Element = { name: '', attributes: {}, children: [], text: '' }
  const open = [top]
  const tokens = /<\?xml[^>]*\?>|<(\/?)([A-Za-z0-9]+)((?: [A-Za-z]+="[^"<]*")*)>|([^<]+)/gy
  let at = 0
  for (;;) {
    tokens.lastIndex = at
    const token = tokens.exec(xml)
    if (token === null) break
    at = tokens.lastIndex
    const [, closes, name, attributes, plain] = token
    const inner = open.at(-1)!
    if (plain !== undefined) {
      if (/&(?!(amp|lt|gt|quot);)/.test(plain)) throw new Error(`an ampersand in ${plain}`)
      inner.text += plain.replace(/&(\w+);/g, (_, entity: string) => ENTITIES[entity] as string)
    } else if (name !== undefined && closes === '/') {
      if (inner.name !== name) throw new Error(`</${name}> closes <${inner.name}>`)
      open.pop()
    } else if (name !== undefined) {
      const element: Element = { name, attributes: Object.fromEntries(Array.from((attributes ?? '').matchAll(/ ([A-Za-z]+)="([^"]*)"/g), ([, key, value]) => [key, value])), children: [], text: '' }
      inner.children.push(element)
      open.push(element)
    }
  }
  if (at !== xml.length) throw new Error(`no XML at ${xml.slice(at, at + 40)}`)
  if (open.length !== 1 || top.children.length !== 1) throw new Error('not one element')
  return top.children[0]!
}

function check(element: Element, type: string, path: string, broken: string[]): void {
  const rule = RULES[type]
  if (rule === undefined) throw new Error(`There is no rule ${type}.`)
  const here = `${path}/${element.name}`
  if (rule.kind === 'text') {
    if (element.children.length > 0) broken.push(`${here} has elements`)
    if (!rule.pattern.test(element.text)) broken.push(`${here} says ${element.text}`)
    const allowed = rule.attribute === undefined ? [] : [rule.attribute]
    if (Object.keys(element.attributes).join() !== allowed.join()) broken.push(`${here} has the attributes ${Object.keys(element.attributes).join()}`)
    return
  }
  if (element.text.trim() !== '') broken.push(`${here} has text`)
  if (rule.kind === 'choice') {
    const [only] = element.children
    const found = rule.children.find(([name]) => name === only?.name)
    if (element.children.length !== 1 || found === undefined) broken.push(`${here} is one of ${rule.children.map(([name]) => name).join()}`)
    else check(only!, found[1], here, broken)
    return
  }
  let at = 0
  for (const [name, min, max, childType] of rule.children) {
    let count = 0
    for (; element.children[at]?.name === name; at++, count++) check(element.children[at]!, childType, here, broken)
    if (count < min || count > max) broken.push(`${here} has ${count} ${name}`)
  }
  if (at < element.children.length) broken.push(`${here} has ${element.children[at]!.name} where it may not be`)
}

/** What in a document is against the schema; nothing when it fits. @throws Error when it is no XML */
export function camt053Errors(xml: string): string[] {
  const document = parse(xml)
  const broken: string[] = []
  if (document.attributes['xmlns'] !== 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08') broken.push('another namespace')
  check(document, document.name === 'Document' ? 'Document' : '', '', broken)
  return broken
}

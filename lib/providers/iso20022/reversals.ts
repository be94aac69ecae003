/**
 * Writes files of reversals as pain.007.001.09, the customer payment reversal of ISO 20022: the creditor sends back
 * collections of one file that was settled. Each reversal repeats the collection's mandate and parties, because banks of
 * the European schemes take no reversal by references alone. The elements are in the order of the schema.
 */
import { timestamp } from '../../base/clock.ts'
import { formatMajor } from '../../base/money.ts'
import { xmlElement, xmlText } from '../../base/xml.ts'
import { DecimalSum } from './amounts.ts'
import { collectionFault } from './direct-debits.ts'
import { codeFault, firstFault, isReference, unless } from './faults.ts'
import type { FileCollection, FileHead, OrderFault, OrdersOf } from './messages.ts'
import { FILE_ORDERS_MAX, headFault, MESSAGE_ID_MAX, OrderFileError } from './order-file.ts'
import {
  accountXml,
  agentXml,
  around,
  codeXml,
  otherXml,
  partyXml,
  paymentTypeXml,
  remittanceXml,
} from './party-xml.ts'
import { DEBIT_TERMS, debitTypeOf, SCHEME_BEARER, SEQUENCE_CODES } from './payment-types.ts'
import { instructionIdOf, REFERENCE_MAX } from './references.ts'
import { carriedText } from './texts.ts'

const NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:pain.007.001.09'
const INITIATOR = { characters: 'latin', nameMax: 140 } as const
const PIECE = 64 * 1024

/** The file whose collections are reversed. */
export interface ReversedFile {
  readonly messageId: string
  /** The message and its version (`pain.008.001.08`). */
  readonly messageName: string
}

/** The reversal of one collection, as a whole. */
export interface FileReversal {
  readonly collection: FileCollection
  /** The block (`PmtInfId`) of the collection in its file. Neighbouring reversals of one block are written as one. */
  readonly blockId: string
  /** A code of ISO 20022's list of reversal reasons: `MS02`, `AM05`, `DUPL`. */
  readonly reason: string
}

/** The number and the sum of the reversals, in major units as the file says it. */
export interface ReversalPlan {
  readonly count: number
  readonly controlSum: string
}

/** Returns why a reversal cannot be written; null where it can. */
export const reversalFault = ({ collection, blockId, reason }: FileReversal): OrderFault | null =>
  firstFault([
    collectionFault(collection),
    unless(isReference(blockId), 'blockId', 'One to 35 characters.'),
    codeFault('reason', reason),
  ])

/** Checks reversals and computes their sums. @throws OrderFileError for one that cannot be written, none, or too many */
export async function planReversals(
  head: FileHead,
  original: ReversedFile,
  reversals: OrdersOf<FileReversal>,
): Promise<ReversalPlan> {
  const fault = firstFault([
    headFault(head),
    unless(isReference(original.messageId), 'original.messageId', 'One to 35 characters.'),
    unless(isReference(original.messageName), 'original.messageName', 'One to 35 characters.'),
  ])
  if (fault !== null) throw new OrderFileError(null, fault)
  const sum = new DecimalSum()
  let count = 0
  for await (const reversal of reversals()) {
    const own = reversalFault(reversal)
    if (own !== null) throw new OrderFileError(reversal.collection.reference, own)
    sum.add(reversal.collection.amount, reversal.collection.currency)
    count += 1
    if (count > FILE_ORDERS_MAX) wrong(`A file has at most ${FILE_ORDERS_MAX} reversals.`)
  }
  if (count === 0) wrong('A file has at least one reversal.')
  return { count, controlSum: sum.toString() }
}

/**
 * Writes a file as UTF-8, piece by piece. The reversals are those of the plan, in the same order.
 *
 * @throws OrderFileError when they are not; the pieces before it are then void
 */
export async function* writeReversals(
  head: FileHead,
  original: ReversedFile,
  { plan, reversals }: { readonly plan: ReversalPlan; readonly reversals: OrdersOf<FileReversal> },
): AsyncGenerator<Uint8Array> {
  const { messageId, createdAt, initiator } = head
  let text =
    `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="${NAMESPACE}"><CstmrPmtRvsl>\n` +
    `<GrpHdr><MsgId>${xmlText(messageId, MESSAGE_ID_MAX)}</MsgId><CreDtTm>${timestamp(createdAt)}</CreDtTm>` +
    `<NbOfTxs>${plan.count}</NbOfTxs><CtrlSum>${plan.controlSum}</CtrlSum>${partyXml('InitgPty', initiator, INITIATOR)}</GrpHdr>\n` +
    `<OrgnlGrpInf>${xmlElement('OrgnlMsgId', original.messageId, REFERENCE_MAX)}${xmlElement('OrgnlMsgNmId', original.messageName, REFERENCE_MAX)}</OrgnlGrpInf>\n`
  const sum = new DecimalSum()
  let count = 0
  let blocks = 0
  let block: string | null = null
  for await (const reversal of reversals()) {
    if (reversal.blockId !== block) {
      if (block !== null) text += '</OrgnlPmtInfAndRvsl>\n'
      block = reversal.blockId
      blocks += 1
      text += `<OrgnlPmtInfAndRvsl><RvslPmtInfId>${xmlText(`${messageId}-${blocks}`, REFERENCE_MAX)}</RvslPmtInfId>${xmlElement('OrgnlPmtInfId', block, REFERENCE_MAX)}\n`
    }
    text += reversalXml(reversal, head)
    sum.add(reversal.collection.amount, reversal.collection.currency)
    count += 1
    if (text.length >= PIECE) {
      yield Buffer.from(text)
      text = ''
    }
  }
  if (count !== plan.count || sum.toString() !== plan.controlSum) wrong('The reversals are not those of the plan.')
  yield Buffer.from(`${text}</OrgnlPmtInfAndRvsl>\n</CstmrPmtRvsl></Document>\n`)
}

function reversalXml({ collection, reason }: FileReversal, head: FileHead): string {
  const { reference, scheme, endToEndId, amount, currency } = collection
  const { characters, sepa } = DEBIT_TERMS[scheme]
  const instruction = instructionIdOf(reference)
  const carried = endToEndId === null ? '' : carriedText(endToEndId, characters, REFERENCE_MAX)
  const money = `Ccy="${currency}">${formatMajor(amount, currency)}`
  return (
    `<TxInf><RvslId>${instruction}</RvslId><OrgnlInstrId>${instruction}</OrgnlInstrId>` +
    xmlElement('OrgnlEndToEndId', carried === '' ? instruction : carried, REFERENCE_MAX) +
    `<OrgnlInstdAmt ${money}</OrgnlInstdAmt><RvsdInstdAmt ${money}</RvsdInstdAmt>` +
    around('ChrgBr', sepa ? SCHEME_BEARER : '') +
    `<RvslRsnInf>${codeXml('Rsn', { code: reason })}</RvslRsnInf>` +
    originalXml(collection, head) +
    '</TxInf>\n'
  )
}

/** Writes the facts of the collection. A party is a choice in this message, with an element of its own around it. */
function originalXml(collection: FileCollection, { paymentTypes }: FileHead): string {
  const { scheme, sequence, dueDate, creditorId, mandate, debtor, debtorAccount, debtorAgent } = collection
  const { creditor, creditorAccount, creditorAgent, ultimateCreditor, ultimateDebtor } = collection
  const terms = DEBIT_TERMS[scheme]
  const party = (role: string, one: FileCollection['ultimateDebtor']): string =>
    around(role, partyXml('Pty', one, terms))
  const schemeName = terms.sepa ? codeXml('SchmeNm', { proprietary: 'SEPA' }) : ''
  return (
    `<OrgnlTxRef><ReqdColltnDt>${dueDate}</ReqdColltnDt>` +
    `<CdtrSchmeId><Id><PrvtId>${otherXml(creditorId, REFERENCE_MAX, schemeName)}</PrvtId></Id></CdtrSchmeId>` +
    paymentTypeXml(debitTypeOf(scheme, paymentTypes), { sequence: SEQUENCE_CODES[sequence] }) +
    `<PmtMtd>DD</PmtMtd>` +
    `<MndtRltdInf>${xmlElement('MndtId', mandate.id, REFERENCE_MAX)}<DtOfSgntr>${mandate.signedOn}</DtOfSgntr></MndtRltdInf>` +
    remittanceXml(collection.remittance, terms) +
    party('UltmtDbtr', ultimateDebtor) +
    party('Dbtr', debtor) +
    accountXml('DbtrAcct', debtorAccount) +
    agentXml('DbtrAgt', debtorAgent, { ...terms, isRequired: true }) +
    agentXml('CdtrAgt', creditorAgent, { ...terms, isRequired: true }) +
    party('Cdtr', creditor) +
    accountXml('CdtrAcct', creditorAccount) +
    party('UltmtCdtr', ultimateCreditor) +
    '</OrgnlTxRef>'
  )
}

function wrong(message: string): never {
  throw new OrderFileError(null, { field: 'reversals', message })
}

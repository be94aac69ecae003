/**
 * Writes files of direct debits as pain.008.001.08, the customer direct debit initiation of ISO 20022. A block is the
 * collections of one scheme, sequence, due date, currency and creditor. The elements are in the order of the schema.
 */
import type { CurrencyCode } from '../../base/currency.ts'
import { xmlElement } from '../../base/xml.ts'
import { DecimalSum } from './amounts.ts'
import {
  accountFault,
  agentFault,
  bankFault,
  firstFault,
  isReference,
  partyFault,
  purposeFault,
  remittanceFault,
  unless,
} from './faults.ts'
import type {
  FileCollection,
  FileHead,
  FilePlan,
  MandateAmendment,
  MessageAccount,
  OrderFault,
  OrdersOf,
} from './messages.ts'
import {
  amountFault,
  amountXml,
  dayFault,
  FILE_ORDERS_MAX,
  headFault,
  OrderFileError,
  planOrders,
  writeOrders,
  type OrderMessage,
} from './order-file.ts'
import {
  accountXml,
  agentXml,
  around,
  codeXml,
  otherXml,
  partyXml,
  paymentTypeXml,
  remittanceXml,
  type TextCarriage,
} from './party-xml.ts'
import { DEBIT_TERMS, debitTypeOf, SCHEME_BEARER, SEQUENCE_CODES } from './payment-types.ts'
import { instructionIdOf, REFERENCE_MAX } from './references.ts'
import { carriedText, carriesReference } from './texts.ts'

/** A creditor identifier of SEPA: country, check digits, business code, national number. */
const SEPA_CREDITOR_ID = /^[A-Z]{2}[0-9]{2}[A-Za-z0-9+?/\-:().,']{3}[A-Za-z0-9+?/\-:().,']{1,28}$/
/** Stands for the former account of a debtor whose account is with another bank now. */
const OTHER_BANK: MessageAccount = { number: 'SMNDA', scheme: null }

const DIRECT_DEBITS: OrderMessage<FileCollection> = {
  namespace: 'urn:iso:std:iso:20022:tech:xsd:pain.008.001.08',
  root: 'CstmrDrctDbtInitn',
  faultOf: collectionFault,
  termsOf: ({ scheme, sequence, dueDate, currency, creditor, creditorAccount, creditorAgent, creditorId }) =>
    JSON.stringify([scheme, sequence, dueDate, currency, creditor, creditorAccount, creditorAgent, creditorId]),
  blockXml,
  orderXml: collectionXml,
}

/** Returns why a collection cannot be written; null where it can. */
export function collectionFault(collection: FileCollection): OrderFault | null {
  const { scheme, currency, creditorAccount, creditorId, debtorAccount, debtorAgent, mandate } = collection
  const terms = DEBIT_TERMS[scheme]
  const former = mandate.amendment
  return firstFault([
    amountFault(collection),
    unless(terms.currency === currency, 'currency', `${scheme} carries ${terms.currency} only.`),
    dayFault('dueDate', collection.dueDate),
    unless(collection.endToEndId === null || isReference(collection.endToEndId), 'endToEndId', 'One to 35 characters.'),
    purposeFault(collection.purpose),
    partyFault('creditor', collection.creditor, terms),
    accountFault('creditorAccount', creditorAccount),
    agentFault('creditorAgent', collection.creditorAgent),
    creditorIdFault('creditorId', creditorId, terms.sepa),
    partyFault('ultimateCreditor', collection.ultimateCreditor, terms),
    unless(
      isReference(mandate.id) && carriesReference(mandate.id, terms.characters),
      'mandate.id',
      'One to 35 characters that the scheme carries.',
    ),
    dayFault('mandate.signedOn', mandate.signedOn),
    former === null ? null : amendmentFault(former, terms),
    partyFault('debtor', collection.debtor, terms),
    accountFault('debtorAccount', debtorAccount),
    agentFault('debtorAgent', debtorAgent),
    partyFault('ultimateDebtor', collection.ultimateDebtor, terms),
    unless(
      !terms.sepa || ('iban' in debtorAccount && 'iban' in creditorAccount),
      'debtorAccount',
      `${scheme} knows accounts by their IBAN.`,
    ),
    bankFault('debtorAgent', debtorAccount, debtorAgent),
    remittanceFault(collection.remittance, terms),
  ])
}

function amendmentFault(
  { mandateId, creditorId, creditorName, debtorAccount }: MandateAmendment,
  terms: TextCarriage,
): OrderFault | null {
  const at = 'mandate.amendment'
  return firstFault([
    unless(
      [mandateId, creditorId, creditorName, debtorAccount].some((value) => value !== null),
      at,
      'An amendment names a former value.',
    ),
    unless(mandateId === null || isReference(mandateId), `${at}.mandateId`, 'One to 35 characters.'),
    creditorId === null ? null : creditorIdFault(`${at}.creditorId`, creditorId, terms.sepa),
    creditorName === null ? null : partyFault(`${at}.creditor`, { name: creditorName, address: null, id: null }, terms),
    debtorAccount === null || debtorAccount === 'other_bank'
      ? null
      : accountFault(`${at}.debtorAccount`, debtorAccount),
  ])
}

const creditorIdFault = (field: string, id: string, sepa: boolean): OrderFault | null =>
  unless(sepa ? SEPA_CREDITOR_ID.test(id) : isReference(id), field, 'Not the form of a creditor identifier.')

function blockXml(collection: FileCollection, { paymentTypes }: FileHead): { method: string; terms: string } {
  const { scheme, sequence, dueDate, creditor, creditorAccount, creditorAgent, creditorId } = collection
  const terms = DEBIT_TERMS[scheme]
  return {
    method: 'DD',
    terms:
      paymentTypeXml(debitTypeOf(scheme, paymentTypes), { sequence: SEQUENCE_CODES[sequence] }) +
      `<ReqdColltnDt>${dueDate}</ReqdColltnDt>` +
      partyXml('Cdtr', creditor, terms) +
      accountXml('CdtrAcct', creditorAccount) +
      agentXml('CdtrAgt', creditorAgent, { ...terms, isRequired: true }) +
      around('ChrgBr', terms.sepa ? SCHEME_BEARER : '') +
      `<CdtrSchmeId>${creditorIdXml(creditorId, terms.sepa)}</CdtrSchmeId>`,
  }
}

const creditorIdXml = (id: string, sepa: boolean): string =>
  `<Id><PrvtId>${otherXml(id, REFERENCE_MAX, sepa ? codeXml('SchmeNm', { proprietary: 'SEPA' }) : '')}</PrvtId></Id>`

function collectionXml(collection: FileCollection): string {
  const { reference, scheme, endToEndId, mandate, purpose } = collection
  const terms = DEBIT_TERMS[scheme]
  const instruction = instructionIdOf(reference)
  const endToEnd = endToEndId === null ? '' : carriedText(endToEndId, terms.characters, REFERENCE_MAX)
  return (
    `<DrctDbtTxInf><PmtId><InstrId>${instruction}</InstrId>${xmlElement('EndToEndId', endToEnd === '' ? instruction : endToEnd, REFERENCE_MAX)}</PmtId>` +
    amountXml(collection) +
    `<DrctDbtTx><MndtRltdInf>${xmlElement('MndtId', mandate.id, REFERENCE_MAX)}<DtOfSgntr>${mandate.signedOn}</DtOfSgntr>${amendmentXml(mandate.amendment, collection)}</MndtRltdInf></DrctDbtTx>` +
    partyXml('UltmtCdtr', collection.ultimateCreditor, terms) +
    agentXml('DbtrAgt', collection.debtorAgent, { ...terms, isRequired: true }) +
    partyXml('Dbtr', collection.debtor, terms) +
    accountXml('DbtrAcct', collection.debtorAccount) +
    partyXml('UltmtDbtr', collection.ultimateDebtor, terms) +
    (purpose === null ? '' : codeXml('Purp', purpose)) +
    remittanceXml(collection.remittance, terms) +
    '</DrctDbtTxInf>\n'
  )
}

/** Writes the former values of a mandate that has changed. */
function amendmentXml(amendment: MandateAmendment | null, { scheme }: FileCollection): string {
  if (amendment === null) return ''
  const { mandateId, creditorId, creditorName, debtorAccount } = amendment
  const { characters, nameMax, sepa } = DEBIT_TERMS[scheme]
  const name = creditorName === null ? '' : xmlElement('Nm', carriedText(creditorName, characters, nameMax), nameMax)
  return (
    '<AmdmntInd>true</AmdmntInd><AmdmntInfDtls>' +
    xmlElement('OrgnlMndtId', mandateId, REFERENCE_MAX) +
    around('OrgnlCdtrSchmeId', name + (creditorId === null ? '' : creditorIdXml(creditorId, sepa))) +
    (debtorAccount === null
      ? ''
      : accountXml('OrgnlDbtrAcct', debtorAccount === 'other_bank' ? OTHER_BANK : debtorAccount)) +
    '</AmdmntInfDtls>'
  )
}

/**
 * Checks the collections of a file and computes its blocks and sums.
 *
 * @throws OrderFileError for a collection that cannot be written, no collections, or more than FILE_ORDERS_MAX
 */
export const planDirectDebits = (head: FileHead, collections: OrdersOf<FileCollection>): Promise<FilePlan> =>
  planOrders(DIRECT_DEBITS, head, collections)

/** Returns the id of the block of a file that has one block. */
export const blockIdOf = (messageId: string): string => `${messageId}-1`

/**
 * Makes the plan of a file of one block from its sums, without its collections: they are checked while they are written.
 *
 * @throws OrderFileError for a head that cannot be written, or sums that no file can have
 */
export function planOfGroup(
  head: FileHead,
  group: { readonly count: number; readonly controlSum: bigint; readonly currency: CurrencyCode },
): FilePlan {
  const fault = headFault(head)
  if (fault !== null) throw new OrderFileError(null, fault)
  const { count, currency } = group
  if (count < 1 || count > FILE_ORDERS_MAX)
    throw new OrderFileError(null, { field: 'orders', message: `A file has 1 to ${FILE_ORDERS_MAX} orders.` })
  const sum = new DecimalSum()
  sum.add(group.controlSum, currency)
  const controlSum = sum.toString()
  return { head, count, controlSum, blocks: [{ id: blockIdOf(head.messageId), first: 0, count, controlSum }] }
}

/**
 * Writes a file as UTF-8, piece by piece. The collections are those of the plan, in the same order.
 *
 * @throws OrderFileError when they are not; the pieces before it are then void
 */
export const writeDirectDebits = (plan: FilePlan, collections: OrdersOf<FileCollection>): AsyncGenerator<Uint8Array> =>
  writeOrders(DIRECT_DEBITS, plan, collections)

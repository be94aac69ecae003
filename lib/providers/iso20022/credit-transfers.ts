/**
 * Writes files of credit transfers as pain.001.001.09, the customer credit transfer initiation of ISO 20022. A block is
 * the orders of one rail, day, account, currency and bearer of charges. The elements are in the order of the schema.
 */
import { xmlElement } from '../../base/xml.ts'
import { RAILS, type Rail } from '../../rails/rails.ts'
import type { FileHead, FileOrder, FilePlan, OrderFault, OrdersOf } from './messages.ts'
import { amountFault, amountXml, dayFault, planOrders, writeOrders, type OrderMessage } from './order-file.ts'
import {
  accountFault,
  agentFault,
  bankFault,
  codeFault,
  firstFault,
  isReference,
  partyFault,
  purposeFault,
  remittanceFault,
  unless,
} from './faults.ts'
import {
  accountXml,
  agentXml,
  around,
  codeXml,
  partyXml,
  paymentTypeXml,
  remittanceXml,
  type TextCarriage,
} from './party-xml.ts'
import { BEARER_CODES, paymentTypeOf, SCHEME_BEARER } from './payment-types.ts'
import { instructionIdOf, REFERENCE_MAX } from './references.ts'
import { carriedText } from './texts.ts'

/** The form of the UETR: a UUID of version 4. */
const UETR = /^[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$/

/** The fields that a rail carries. A rail without terms carries what SWIFT does. */
function carriageOf(rail: Rail): TextCarriage {
  const terms = RAILS.get(rail)
  return {
    characters: terms?.reference.characters ?? 'swift_x',
    textMax: terms?.reference.max ?? 140,
    nameMax: terms?.nameMax ?? 70,
    sepa: terms?.sepa ?? false,
  }
}

const CREDIT_TRANSFERS: OrderMessage<FileOrder> = {
  namespace: 'urn:iso:std:iso:20022:tech:xsd:pain.001.001.09',
  root: 'CstmrCdtTrfInitn',
  faultOf: orderFault,
  termsOf: ({ rail, executionDate, currency, chargeBearer, categoryPurpose, debtor, debtorAccount, debtorAgent }) =>
    JSON.stringify([rail, executionDate, currency, chargeBearer, categoryPurpose, debtor, debtorAccount, debtorAgent]),
  blockXml,
  orderXml,
}

/** Returns why an order cannot be written; null where it can. */
export function orderFault(order: FileOrder): OrderFault | null {
  const { rail, currency, creditorAccount, creditorAgent, remittance, purpose } = order
  const carriage = carriageOf(rail)
  const railCurrency = RAILS.get(rail)?.currency ?? null
  return firstFault([
    amountFault(order),
    unless(RAILS.has(rail) && rail !== 'internal', 'rail', 'No file carries this rail.'),
    unless(railCurrency === null || railCurrency === currency, 'currency', `${rail} carries ${railCurrency} only.`),
    dayFault('executionDate', order.executionDate),
    unless(order.endToEndId === null || isReference(order.endToEndId), 'endToEndId', 'One to 35 characters.'),
    unless(order.uetr === null || UETR.test(order.uetr), 'uetr', 'A UETR is a UUID of version 4 in small letters.'),
    purposeFault(purpose),
    codeFault('categoryPurpose', order.categoryPurpose),
    partyFault('debtor', order.debtor, carriage),
    accountFault('debtorAccount', order.debtorAccount),
    agentFault('debtorAgent', order.debtorAgent),
    partyFault('ultimateDebtor', order.ultimateDebtor, carriage),
    agentFault('intermediaryAgent', order.intermediaryAgent),
    partyFault('creditor', order.creditor, carriage),
    accountFault('creditorAccount', creditorAccount),
    agentFault('creditorAgent', creditorAgent),
    partyFault('ultimateCreditor', order.ultimateCreditor, carriage),
    unless(
      !carriage.sepa || ('iban' in creditorAccount && 'iban' in order.debtorAccount),
      'creditorAccount',
      `${rail} knows accounts by their IBAN.`,
    ),
    bankFault('creditorAgent', creditorAccount, creditorAgent),
    remittanceFault(remittance, carriage),
  ])
}

function blockXml(order: FileOrder, { paymentTypes }: FileHead): { method: string; terms: string } {
  const { rail, executionDate, debtor, debtorAccount, debtorAgent, chargeBearer, categoryPurpose } = order
  const carriage = carriageOf(rail)
  const bearer = carriage.sepa ? SCHEME_BEARER : chargeBearer === null ? '' : BEARER_CODES[chargeBearer]
  return {
    method: 'TRF',
    terms:
      paymentTypeXml(paymentTypeOf(rail, paymentTypes), { purpose: categoryPurpose }) +
      `<ReqdExctnDt><Dt>${executionDate}</Dt></ReqdExctnDt>` +
      partyXml('Dbtr', debtor, carriage) +
      accountXml('DbtrAcct', debtorAccount) +
      agentXml('DbtrAgt', debtorAgent, { ...carriage, isRequired: true }) +
      around('ChrgBr', bearer),
  }
}

function orderXml(order: FileOrder): string {
  const { reference, rail, endToEndId, uetr, creditorAccount, purpose } = order
  const carriage = carriageOf(rail)
  const { characters } = carriage
  const instruction = instructionIdOf(reference)
  const endToEnd = endToEndId === null ? '' : carriedText(endToEndId, characters, REFERENCE_MAX)
  return (
    `<CdtTrfTxInf><PmtId><InstrId>${instruction}</InstrId>${xmlElement('EndToEndId', endToEnd === '' ? instruction : endToEnd, REFERENCE_MAX)}${xmlElement('UETR', uetr, 36)}</PmtId>` +
    `<Amt>${amountXml(order)}</Amt>` +
    partyXml('UltmtDbtr', order.ultimateDebtor, carriage) +
    agentXml('IntrmyAgt1', order.intermediaryAgent, { characters, isRequired: false }) +
    agentXml('CdtrAgt', order.creditorAgent, { characters, isRequired: false }) +
    partyXml('Cdtr', order.creditor, carriage) +
    accountXml('CdtrAcct', creditorAccount) +
    partyXml('UltmtCdtr', order.ultimateCreditor, carriage) +
    (purpose === null ? '' : codeXml('Purp', purpose)) +
    remittanceXml(order.remittance, carriage) +
    '</CdtTrfTxInf>\n'
  )
}

/**
 * Checks the orders of a file and computes its blocks and sums.
 *
 * @throws OrderFileError for an order that cannot be written, no orders, or more than FILE_ORDERS_MAX
 */
export const planCreditTransfers = (head: FileHead, orders: OrdersOf<FileOrder>): Promise<FilePlan> =>
  planOrders(CREDIT_TRANSFERS, head, orders)

/**
 * Writes a file as UTF-8, piece by piece. The orders are those of the plan, in the same order.
 *
 * @throws OrderFileError when they are not; the pieces before it are then void
 */
export const writeCreditTransfers = (plan: FilePlan, orders: OrdersOf<FileOrder>): AsyncGenerator<Uint8Array> =>
  writeOrders(CREDIT_TRANSFERS, plan, orders)

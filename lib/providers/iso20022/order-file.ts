/**
 * Writes files of orders in two passes: the first one checks the orders and computes the blocks and their sums, which
 * stand in a file before its orders; the second one writes. Neither holds more than one order and a piece of the file
 * in memory, so the caller gives the orders twice, the same in the same order.
 *
 * Neighbouring orders with the same terms are one block (`PmtInf`); the caller sorts by the terms.
 */
import { timestamp } from '../../base/clock.ts'
import type { CurrencyCode } from '../../base/currency.ts'
import { isUuid } from '../../base/ids.ts'
import { formatMajor } from '../../base/money.ts'
import { xmlText } from '../../base/xml.ts'
import { AMOUNT_DIGITS_MAX, DecimalSum, hasAmountDigits } from './amounts.ts'
import type { FileBlock, FileHead, FilePlan, OrderFault, OrdersOf } from './messages.ts'
import { firstFault, isReference, unless } from './faults.ts'
import { around, partyXml } from './party-xml.ts'
import { carriesReference } from './texts.ts'

/** Orders of one file. */
export const FILE_ORDERS_MAX = 100_000
/** The block's number, up to FILE_ORDERS_MAX, and a hyphen stand behind the message id; 35 characters in all. */
export const MESSAGE_ID_MAX = 28
/** Characters that are gathered before they are given out as bytes. */
const PIECE = 64 * 1024
/** The longest name of a sender. */
const INITIATOR = { characters: 'latin', nameMax: 140 } as const

/** An order that cannot be written, or orders that are not those of the plan. */
export class OrderFileError extends Error {
  override readonly name = 'OrderFileError'
  /** Our reference of the order at fault; null where the file as a whole is at fault. */
  readonly reference: string | null
  readonly fault: OrderFault

  constructor(reference: string | null, fault: OrderFault) {
    super(`${reference === null ? 'The file' : `The order ${reference}`}: ${fault.field}: ${fault.message}`)
    this.reference = reference
    this.fault = fault
  }
}

/** The facts of every kind of order that the file needs. */
interface AnyOrder {
  readonly reference: string
  readonly currency: CurrencyCode
  readonly amount: bigint
}

/** A kind of message: how its blocks and orders are told apart and written. */
export interface OrderMessage<Order extends AnyOrder> {
  readonly namespace: string
  /** The element below the document. */
  readonly root: string
  readonly faultOf: (order: Order) => OrderFault | null
  /** The terms that the orders of a block have in common, as one text. */
  readonly termsOf: (order: Order) => string
  /** Writes a block between its sums and its orders, from its first order. */
  readonly blockXml: (order: Order, head: FileHead) => { readonly method: string; readonly terms: string }
  readonly orderXml: (order: Order) => string
}

/**
 * Computes the plan of a file.
 *
 * @throws OrderFileError for an order that cannot be written, an empty file, or too many orders
 */
export async function planOrders<Order extends AnyOrder>(
  message: OrderMessage<Order>,
  head: FileHead,
  orders: OrdersOf<Order>,
): Promise<FilePlan> {
  const fault = headFault(head)
  if (fault !== null) throw new OrderFileError(null, fault)
  const blocks: { id: string; first: number; count: number; sum: DecimalSum }[] = []
  const total = new DecimalSum()
  let count = 0
  let terms: string | null = null
  for await (const order of orders()) {
    const own = message.faultOf(order)
    if (own !== null) throw new OrderFileError(order.reference, own)
    const next = message.termsOf(order)
    if (next !== terms)
      blocks.push({ id: `${head.messageId}-${blocks.length + 1}`, first: count, count: 0, sum: new DecimalSum() })
    terms = next
    const block = blocks.at(-1)!
    block.count += 1
    block.sum.add(order.amount, order.currency)
    total.add(order.amount, order.currency)
    count += 1
    if (count > FILE_ORDERS_MAX) wrong('orders', `A file has at most ${FILE_ORDERS_MAX} orders.`)
  }
  if (count === 0) wrong('orders', 'A file has at least one order.')
  const controlSum = total.toString()
  if (!hasAmountDigits(controlSum)) wrong('controlSum', `The sum has more than ${AMOUNT_DIGITS_MAX} digits.`)
  return {
    head,
    count,
    controlSum,
    blocks: blocks.map(({ sum, ...block }): FileBlock => ({ ...block, controlSum: sum.toString() })),
  }
}

/**
 * Writes a file, piece by piece.
 *
 * @throws OrderFileError when the orders are not those of the plan; the pieces before it are then void
 */
export async function* writeOrders<Order extends AnyOrder>(
  message: OrderMessage<Order>,
  plan: FilePlan,
  orders: OrdersOf<Order>,
): AsyncGenerator<Uint8Array> {
  let text = headXml(message, plan)
  let written = 0
  let open: { readonly block: FileBlock; readonly terms: string; readonly sum: DecimalSum } | null = null
  let number = 0
  for await (const order of orders()) {
    const terms = message.termsOf(order)
    if (open !== null && written === open.block.first + open.block.count) {
      text += closed(open)
      open = null
    }
    if (open === null) {
      const block = plan.blocks[number] ?? wrong('orders', 'There are more orders than in the plan.')
      number += 1
      open = { block, terms, sum: new DecimalSum() }
      text += openBlockXml(message, order, plan, block)
    } else if (terms !== open.terms) wrong('orders', 'The orders are not those of the plan.')
    open.sum.add(order.amount, order.currency)
    text += message.orderXml(order)
    written += 1
    if (text.length >= PIECE) {
      yield Buffer.from(text)
      text = ''
    }
  }
  if (open === null || written !== plan.count) wrong('orders', 'There are fewer orders than in the plan.')
  yield Buffer.from(`${text}${closed(open)}</${message.root}></Document>\n`)
}

function closed({ block, sum }: { readonly block: FileBlock; readonly sum: DecimalSum }): string {
  if (sum.toString() !== block.controlSum) wrong('orders', 'The amounts are not those of the plan.')
  return '</PmtInf>\n'
}

function headXml<Order extends AnyOrder>({ namespace, root }: OrderMessage<Order>, plan: FilePlan): string {
  const { head, count, controlSum } = plan
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="${namespace}"><${root}>\n` +
    `<GrpHdr><MsgId>${xmlText(head.messageId, MESSAGE_ID_MAX)}</MsgId><CreDtTm>${timestamp(head.createdAt)}</CreDtTm>` +
    `<NbOfTxs>${count}</NbOfTxs><CtrlSum>${controlSum}</CtrlSum>${partyXml('InitgPty', head.initiator, INITIATOR)}</GrpHdr>\n`
  )
}

function openBlockXml<Order extends AnyOrder>(
  message: OrderMessage<Order>,
  order: Order,
  { head }: FilePlan,
  block: FileBlock,
): string {
  const { method, terms } = message.blockXml(order, head)
  const batch = head.batchBooking === null ? '' : around('BtchBookg', String(head.batchBooking))
  return (
    `<PmtInf><PmtInfId>${xmlText(block.id, 35)}</PmtInfId><PmtMtd>${method}</PmtMtd>${batch}` +
    `<NbOfTxs>${block.count}</NbOfTxs><CtrlSum>${block.controlSum}</CtrlSum>${terms}\n`
  )
}

/** Returns what cannot be written of the head of a file. */
export function headFault({ messageId, initiator }: FileHead): OrderFault | null {
  return firstFault([
    unless(
      messageId !== '' && messageId.length <= MESSAGE_ID_MAX && carriesReference(messageId, 'epc'),
      'messageId',
      `One to ${MESSAGE_ID_MAX} plain letters, digits and hyphens.`,
    ),
    unless((initiator.name ?? '').trim() !== '', 'initiator.name', 'The sender has no name.'),
    unless(initiator.id === null || isReference(initiator.id.value), 'initiator.id', 'One to 35 characters.'),
  ])
}

/** Writes the amount of an order. */
export const amountXml = ({ amount, currency }: AnyOrder): string =>
  `<InstdAmt Ccy="${currency}">${formatMajor(amount, currency)}</InstdAmt>`

/** Returns what cannot be written of the facts that every order has. */
export function amountFault({ reference, amount, currency }: AnyOrder): OrderFault | null {
  return firstFault([
    unless(isUuid(reference), 'reference', 'Our reference is a UUID.'),
    unless(amount > 0n, 'amount', 'An amount is above zero.'),
    unless(
      hasAmountDigits(formatMajor(amount, currency)),
      'amount',
      `An amount has at most ${AMOUNT_DIGITS_MAX} digits.`,
    ),
  ])
}

/** Returns a fault unless the text is a day of the calendar. */
export const dayFault = (field: string, day: string): OrderFault | null =>
  unless(
    /^\d{4}-\d{2}-\d{2}$/.test(day) && new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) === true,
    field,
    'No day of the calendar.',
  )

function wrong(field: string, message: string): never {
  throw new OrderFileError(null, { field, message })
}

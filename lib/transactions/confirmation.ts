/** The content of a transaction confirmation. */
import type { TransactionType } from '../ledger/postings.ts'
import {
  at,
  day,
  grouped,
  linesOf,
  moment,
  timesNote,
  type Confirmation,
  type ConfirmationParty,
} from '../documents/confirmation-page.ts'
import type { TransactionRecord } from './transaction.ts'

/** Tells whether a transaction is booked for good, so that it can be confirmed. */
export function isBooked({ status }: Pick<TransactionRecord, 'status'>): boolean {
  return status === 'completed' || status === 'returned'
}

/** Writes a type in words: Outgoing payment. */
function titled(type: TransactionType): string {
  const words = type.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Builds the confirmation of a booked transaction. */
export function transactionConfirmation(
  record: TransactionRecord,
  balanceName: string,
  { operatorName, customerName, account, timezone }: ConfirmationParty,
): Confirmation {
  const { exchange, card } = record
  const amountOf = (minor: bigint): string => grouped(minor, record.currency)
  return {
    issuer: operatorName,
    title: 'Transaction confirmation',
    headline: amountOf(record.amount),
    status: `${record.status === 'returned' ? 'Returned; booked' : 'Booked'} on ${day(at(record.bookedAt, timezone))}`,
    sections: [
      { title: 'Account', lines: linesOf(['Name', customerName], ['Account', account], ['Account name', balanceName]) },
      {
        title: record.direction === 'in' ? 'From' : 'To',
        lines: linesOf(['Name', record.counterpartyName], ['Account', record.counterpartyIdentifier]),
      },
      {
        title: 'Transaction',
        lines: linesOf(
          ['Type', titled(record.type)],
          ['Description', record.description],
          ['Order number', record.orderId],
          ['Reference', record.reference],
          [record.direction === 'in' ? 'Amount credited' : 'Amount debited', amountOf(record.amount)],
          ['Fee', record.fee === 0n ? null : amountOf(record.fee)],
          ['Tax in the fee', record.feeTax === 0n ? null : amountOf(record.feeTax)],
          ['Balance afterwards', record.runningBalance === null ? null : amountOf(record.runningBalance)],
        ),
      },
      ...(card === null
        ? []
        : [
            {
              title: 'Card',
              lines: linesOf(
                ['Merchant', card.merchant.name],
                ['Merchant category code', card.merchant.mcc],
                ['Country', card.merchant.country],
                ['Card', card.id],
                ['Original amount', card.original && grouped(card.original.amount, card.original.currency)],
                ['Rate', card.original && `${card.original.rate} ${record.currency} for 1 ${card.original.currency}`],
                ['Markup, in the fee', card.original && amountOf(card.markup)],
              ),
            },
          ]),
      ...(exchange === null || card !== null
        ? []
        : [
            {
              title: 'Exchange',
              lines: linesOf(
                ['Sold', grouped(exchange.sellAmount, exchange.sellCurrency)],
                ['Bought', grouped(exchange.buyAmount, exchange.buyCurrency)],
                ['Rate', exchange.rate],
              ),
            },
          ]),
      {
        title: 'Dates',
        lines: linesOf(
          ['Ordered', moment(at(record.createdAt, timezone))],
          ['Booked', moment(at(record.bookedAt, timezone))],
          ['Value date', day(record.valueDate)],
        ),
      },
    ].filter(({ lines }) => lines.length > 0),
    footer: `Issued electronically by ${operatorName}; valid without a signature. Transaction ${record.id}. ${timesNote(timezone)}`,
    createdAt: record.updatedAt,
  }
}

/**
 * Derives the id under which the confirmation is stored. A transaction may have the id of its payment, whose
 * confirmation is another document.
 */
export function confirmationId(id: string): string {
  return id.slice(0, -2) + (Number.parseInt(id.slice(-2), 16) ^ 0x80).toString(16).padStart(2, '0')
}

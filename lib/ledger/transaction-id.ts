/** Ids of transactions, derived from the objects that caused them. */

/** A part of a movement: the movement itself, the other side of a transfer or exchange, the return. */
export type TransactionPart = 'main' | 'other_side' | 'return'

export const MARKS: Readonly<Record<TransactionPart, number>> = { main: 0, other_side: 1, return: 2 }

/**
 * Computes the id of a transaction that is a part of a payment, transfer, incoming payment or exchange: the id of its
 * cause, with its last two digits XORed with the mark of the part. The database computes the same (`marked_id`).
 */
export function transactionId(causeId: string, part: TransactionPart = 'main'): string {
  return causeId.slice(0, -2) + (Number.parseInt(causeId.slice(-2), 16) ^ MARKS[part]).toString(16).padStart(2, '0')
}

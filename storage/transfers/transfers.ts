/**
 * Rows of transfers through the partner: orders, inquiries and moves. Statements only; rules are in lib/payments.
 *
 * Written by hand: the commit writes these rows, and a node leases many at once.
 */
import { timestamp } from '../../lib/base/clock.ts'
import type { MovedTransfer, TransferState } from '../../lib/transfers/transfer-state.ts'
import { pick } from '../db/columns.ts'
import type { Database } from '../db/database.ts'
import { expression, from, select } from '../db/select.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { Transfer } from './transfer-entity.ts'

/** An order or inquiry that is due. */
export interface DueTransfer {
  readonly id: string
  readonly operatorId: string
  readonly fromConnectionId: string
  readonly toConnectionId: string
  readonly currency: string
  readonly amount: bigint
  /** Whether the partner may have received the order. */
  readonly sent: boolean
  /** Whether the partner received the order and did not answer. */
  readonly isException: boolean
  readonly reference: string | null
  readonly attempts: number
}

const COLUMNS = from(Transfer, 't')

/** The partner's order; transfer_order has no entity. */
const ORDER = {
  fromConnectionId: expression<string>('o.from_connection_id'),
  toConnectionId: expression<string>('o.to_connection_id'),
}

const DUE = select({
  ...pick(COLUMNS, ['id', 'operatorId', 'currency', 'amount', 'reference']),
  ...ORDER,
  sent: expression<boolean>('due.sent_at is not null'),
  attempts: expression<number>('o.attempts'),
  isException: expression<boolean>(`t.status = 'exception'`),
})

const LOCKED = select({
  ...pick(COLUMNS, [
    'id',
    'customerId',
    'operatorId',
    'shard',
    'number',
    'status',
    'version',
    'fromBalanceId',
    'toBalanceId',
    'currency',
    'amount',
    'reference',
  ]),
  ...ORDER,
  holdId: expression<string>('o.hold_id'),
})

/**
 * Leases due transfers of these shards (null: all), the longest due first. The lease ends at `until`; then another node
 * may take transfers that are still due. From the lease on, the partner may have received the order.
 */
export async function takeDueTransfers(
  database: Database,
  {
    now,
    until,
    shards,
    max,
  }: { readonly now: number; readonly until: number; readonly shards: string | null; readonly max: number },
): Promise<readonly DueTransfer[]> {
  const rows = await database.query({
    name: 'take_due_transfers',
    values: [timestamp(now), timestamp(until), shards, max],
    text: `with due as materialized (
        select transfer_id, sent_at from transfer_order where due_at <= $1::timestamptz and ($3::smallint[] is null or shard = any($3))
        order by due_at limit $4 for update skip locked)
      update transfer_order o set due_at = $2, sent_at = coalesce(o.sent_at, $1), attempts = o.attempts + 1
      from due join transfer t on t.id = due.transfer_id where o.transfer_id = due.transfer_id
      returning ${DUE.sql}`,
  })
  return rows.map((row) => DUE.read(row))
}

/** Sets when the partner is asked next about an open transfer. A transfer that is over is left alone. */
export async function askTransferAt(database: Database, id: string, at: number): Promise<void> {
  await database.query({
    name: 'ask_transfer_at',
    text: 'update transfer_order set due_at = $2 where transfer_id = $1 and due_at is not null',
    values: [id, timestamp(at)],
  })
}

/** Locks a transfer through the partner until the transaction ends; null when it does not exist. */
export async function lockTransfer(client: TransactionClient, id: string): Promise<TransferState | null> {
  const {
    rows: [row],
  } = await client.query({
    name: 'lock_transfer',
    values: [id],
    text: `select ${LOCKED.named}
      from transfer t join transfer_order o on o.transfer_id = t.id where t.id = $1 for update of t`,
  })
  return row === undefined ? null : LOCKED.readNamed(row)
}

/** Writes the move of a locked transfer; the commit writes its postings and events. */
export async function writeTransfer(
  client: TransactionClient,
  id: string,
  { change, over, order }: Pick<MovedTransfer, 'change' | 'over' | 'order'>,
  now: number,
): Promise<void> {
  await client.query({
    name: 'move_transfer',
    text: 'update transfer set status = $2, version = $3, failure = $4, completed_at = $5, updated_at = $6 where id = $1',
    values: [
      id,
      change.status,
      change.version,
      change.failure === null ? null : JSON.stringify(change.failure),
      change.completedAt === null ? null : timestamp(change.completedAt),
      timestamp(now),
    ],
  })
  if (order !== undefined) {
    await client.query({
      name: 'transfer_is_held_otherwise',
      text: 'update transfer_order set hold_id = $2, due_at = $3, sent_at = null where transfer_id = $1',
      values: [id, order.holdId, order.dueAt === null ? null : timestamp(order.dueAt)],
    })
  } else if (over)
    await client.query({
      name: 'transfer_is_over',
      text: 'update transfer_order set due_at = null where transfer_id = $1',
      values: [id],
    })
}

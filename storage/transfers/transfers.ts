/** Rows of transfers through the partner: orders, inquiries and moves. Statements only; rules are in lib/payments. */
import { timestamp } from '../../lib/base/clock.ts'
import type { MovedTransfer, TransferState } from '../../lib/transfers/transfer-state.ts'
import type { Database } from '../db/database.ts'
import type { TransactionClient } from '../db/transaction.ts'

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
  const rows = await database.query<
    [string, string, string, string, string, boolean, number, string | null, boolean, string]
  >({
    name: 'take_due_transfers',
    values: [timestamp(now), timestamp(until), shards, max],
    text: `with due as materialized (
        select transfer_id, sent_at from transfer_order where due_at <= $1::timestamptz and ($3::smallint[] is null or shard = any($3))
        order by due_at limit $4 for update skip locked)
      update transfer_order o set due_at = $2, sent_at = coalesce(o.sent_at, $1), attempts = o.attempts + 1
      from due join transfer t on t.id = due.transfer_id where o.transfer_id = due.transfer_id
      returning o.transfer_id, o.from_connection_id, o.to_connection_id, t.currency, t.amount, due.sent_at is not null, o.attempts, t.reference, t.status = 'exception', t.operator_id`,
  })
  return rows.map(
    ([id, fromConnectionId, toConnectionId, currency, amount, sent, attempts, reference, isException, operatorId]) => ({
      id,
      operatorId,
      fromConnectionId,
      toConnectionId,
      currency,
      amount: BigInt(amount),
      sent,
      attempts,
      reference,
      isException,
    }),
  )
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
  } = await client.query<{
    id: string
    customer_id: string
    operator_id: string
    shard: number
    number: string
    status: TransferState['status']
    version: number
    from_balance_id: string
    to_balance_id: string
    currency: string
    amount: string
    reference: string | null
    hold_id: string
    from_connection_id: string
    to_connection_id: string
  }>({
    name: 'lock_transfer',
    values: [id],
    text: `select t.id, t.customer_id, t.operator_id, t.shard, t.number, t.status, t.version, t.from_balance_id, t.to_balance_id, t.currency, t.amount, t.reference,
        o.hold_id, o.from_connection_id, o.to_connection_id
      from transfer t join transfer_order o on o.transfer_id = t.id where t.id = $1 for update of t`,
  })
  return row === undefined
    ? null
    : {
        id: row.id,
        customerId: row.customer_id,
        operatorId: row.operator_id,
        shard: row.shard,
        number: row.number,
        status: row.status,
        version: row.version,
        fromBalanceId: row.from_balance_id,
        toBalanceId: row.to_balance_id,
        currency: row.currency,
        amount: BigInt(row.amount),
        reference: row.reference,
        holdId: row.hold_id,
        fromConnectionId: row.from_connection_id,
        toConnectionId: row.to_connection_id,
      }
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

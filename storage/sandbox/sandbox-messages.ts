/**
 * Messages of the sandbox bank about incoming credits and direct debits: rows of sandbox_message, sent until they are acknowledged.
 * Statements only.
 *
 * Written by hand: messages come in batches.
 */
import type { CreditMessageType, DebitMessageType } from '../../lib/providers/messages.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { plainArray, plainArrayOrNull, textArray } from '../db/array-literal.ts'
import type { Queries, TransactionClient } from '../db/transaction.ts'
import { expression, select } from '../db/select.ts'

/**
 * A message that announces a credit. `reference` is the bank's reference of the credit; `body` is the credit as text.
 */
export interface CreditAnnouncement {
  readonly id: string
  readonly shard: number
  readonly reference: string
  readonly body: string
}

/**
 * Inserts announcements that are due at `dueAt` (epoch milliseconds); an existing id is left as it is.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function insertCreditAnnouncements(
  database: Queries,
  announcements: readonly CreditAnnouncement[],
  dueAt: number,
): Promise<void> {
  await database.query({
    name: 'sandbox_deliver',
    text: `insert into sandbox_message (id, shard, type, reference, body, due_at)
        select u.id, u.shard, 'account.credited', u.reference, u.body, $5::timestamptz from unnest($1::uuid[], $2::smallint[], $3::uuid[], $4::text[]) u(id, shard, reference, body)
        on conflict (id) do nothing`,
    values: [
      plainArray(announcements.map(({ id }) => id)),
      plainArray(announcements.map(({ shard }) => shard)),
      plainArray(announcements.map(({ reference }) => reference)),
      textArray(announcements.map(({ body }) => body)),
      timestamp(dueAt),
    ],
  })
}

/**
 * Inserts one announcement, due at `dueAt` (epoch milliseconds), within a transaction. @throws what the driver throws
 */
export async function announceCredit(
  client: TransactionClient,
  { id, shard, reference, body }: CreditAnnouncement,
  dueAt: number,
): Promise<void> {
  await client.query({
    name: 'sandbox_announce',
    values: [id, shard, reference, body, timestamp(dueAt)],
    text: `insert into sandbox_message (id, shard, type, reference, body, due_at) values ($1, $2, 'account.credited', $3, $4, $5)`,
  })
}

/** As `announceCredit`, for a direct debit. @throws what the driver throws */
export async function announceDebit(
  client: TransactionClient,
  { id, shard, reference, body }: CreditAnnouncement,
  dueAt: number,
): Promise<void> {
  await client.query({
    name: 'sandbox_announce_debit',
    values: [id, shard, reference, body, timestamp(dueAt)],
    text: `insert into sandbox_message (id, shard, type, reference, body, due_at) values ($1, $2, 'debit.announced', $3, $4, $5)`,
  })
}

/**
 * Inserts the messages that credits were sent back, due at `dueAt` (epoch milliseconds); an existing id is left as it
 * is.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function insertReturnMessages(
  database: Queries,
  returns: readonly Omit<CreditAnnouncement, 'body'>[],
  dueAt: number,
): Promise<void> {
  await database.query({
    name: 'sandbox_give_back',
    text: `insert into sandbox_message (id, shard, type, reference, body, due_at)
        select u.id, u.shard, 'account.credit_returned', u.reference, '{}', $4::timestamptz from unnest($1::uuid[], $2::uuid[], $3::smallint[]) u(id, reference, shard)
        on conflict (id) do nothing`,
    values: [
      plainArray(returns.map(({ id }) => id)),
      plainArray(returns.map(({ reference }) => reference)),
      plainArray(returns.map(({ shard }) => shard)),
      timestamp(dueAt),
    ],
  })
}

type SandboxMessageType = CreditMessageType | Extract<DebitMessageType, 'debit.announced'>

/** A message that is not acknowledged yet. */
export interface SandboxMessage extends CreditAnnouncement {
  readonly type: SandboxMessageType
}

const MESSAGE = select({
  id: expression<string>('id'),
  shard: expression<number>('shard'),
  type: expression<SandboxMessageType>('type'),
  reference: expression<string>('reference'),
  body: expression<string>('body'),
})

/**
 * Reads the messages of these shards (null: all) that are due at `now` (epoch milliseconds) and not acknowledged, the
 * longest due first, `max` at most.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function dueSandboxMessages(
  database: Queries,
  { now, max, owned }: { readonly now: number; readonly max: number; readonly owned: readonly number[] | null },
): Promise<readonly SandboxMessage[]> {
  const rows = await database.query({
    name: 'sandbox_messages',
    text: `select ${MESSAGE.sql} from sandbox_message
          where due_at <= $1::timestamptz and acknowledged_at is null and ($3::smallint[] is null or shard = any($3)) order by due_at, id limit $2`,
    values: [timestamp(now), max, plainArrayOrNull(owned)],
  })
  return rows.map((row) => MESSAGE.read(row))
}

/**
 * Marks messages as acknowledged at `now` (epoch milliseconds): they are not sent again.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function acknowledgeSandboxMessages(
  database: Queries,
  ids: readonly string[],
  now: number,
): Promise<void> {
  await database.query({
    name: 'sandbox_heard',
    text: 'update sandbox_message set acknowledged_at = $2::timestamptz where id = any($1::uuid[])',
    values: [plainArray(ids), timestamp(now)],
  })
}

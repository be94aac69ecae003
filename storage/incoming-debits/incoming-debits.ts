/**
 * Incoming debits as rows, for decisions and for the answers to the bank. Rules are elsewhere.
 *
 * Written by hand: the commit writes these rows, in the floods of the bank's messages.
 */
import { timestamp } from '../../lib/base/clock.ts'
import type { IncomingDebitRecord } from '../../lib/incoming-debits/incoming-debit.ts'
import { plainArray, plainArrayOrNull } from '../db/array-literal.ts'
import { from, select } from '../db/select.ts'
import type { Queries, TransactionClient } from '../db/transaction.ts'
import { IncomingDebit } from './incoming-debit-entity.ts'

/** All columns of a row `d`. */
export const INCOMING_DEBIT = select(from(IncomingDebit, 'd'))

const fromRow = (row: readonly unknown[]): IncomingDebitRecord => INCOMING_DEBIT.read(row)

/** Reads debits by their ids; an id without a row is absent. @throws DatabaseUnavailable, and the driver's errors */
export async function findIncomingDebits(
  database: Queries,
  ids: readonly string[],
): Promise<ReadonlyMap<string, IncomingDebitRecord>> {
  const rows = await database.query({
    name: 'find_incoming_debits',
    values: [plainArray(ids)],
    text: `select ${INCOMING_DEBIT.sql} from incoming_debit d where d.id = any($1::uuid[])`,
  })
  return new Map(rows.map(fromRow).map((debit) => [debit.id, debit]))
}

/**
 * Locks a debit until the transaction ends, and its balance before it, as commits lock them; null when it does not
 * exist.
 */
export async function lockIncomingDebit(client: TransactionClient, id: string): Promise<IncomingDebitRecord | null> {
  await client.query({
    name: 'lock_balance_of_debit',
    values: [id],
    text: 'select from balance b where b.id = (select d.balance_id from incoming_debit d where d.id = $1) for update of b',
  })
  const { rows } = await client.query<object>({
    name: 'lock_incoming_debit',
    values: [id],
    text: `select ${INCOMING_DEBIT.named} from incoming_debit d where d.id = $1 for update of d`,
  })
  const [row] = rows
  return row === undefined ? null : INCOMING_DEBIT.readNamed(row)
}

/** Locks the debits of a mandate that wait for its confirmation, until the transaction ends. */
export async function lockUnconfirmed(
  client: TransactionClient,
  mandateId: string,
): Promise<readonly IncomingDebitRecord[]> {
  const { rows } = await client.query<object>({
    name: 'lock_unconfirmed_debits',
    values: [mandateId],
    text: `select ${INCOMING_DEBIT.named} from incoming_debit d where d.mandate_id = $1 and d.status = 'pending_confirmation' order by d.id for update of d`,
  })
  return rows.map((row) => INCOMING_DEBIT.readNamed(row))
}

/**
 * Selects the bank's messages that were taken before: by their own id, or, where they tell of a new debit, because the
 * debit exists.
 */
export async function knownDebits(
  database: Queries,
  messages: readonly { readonly id: string; readonly reference: string; readonly isNew: boolean }[],
): Promise<ReadonlySet<string>> {
  const rows = await database.query<[string]>({
    name: 'known_debits',
    values: [
      plainArray(messages.map(({ id }) => id)),
      plainArray(messages.map(({ reference }) => reference)),
      plainArray(messages.map(({ isNew }) => String(isNew))),
    ],
    text: `select u.id from unnest($1::uuid[], $2::uuid[], $3::boolean[]) u(id, reference, is_new)
      where exists (select from provider_event e where e.id = u.id) or u.is_new and exists (select from incoming_debit d where d.id = u.reference)`,
  })
  return new Set(rows.map(([id]) => id))
}

interface Due {
  /** Epoch milliseconds. */
  readonly now: number
  /** Shards; null for all. */
  readonly owned: readonly number[] | null
  readonly max: number
}

/** Reads debits that are due, the longest due first. */
export async function dueDebits(database: Queries, { now, owned, max }: Due): Promise<readonly IncomingDebitRecord[]> {
  const rows = await database.query({
    name: 'due_incoming_debits',
    values: [timestamp(now), max, plainArrayOrNull(owned)],
    text: `select ${INCOMING_DEBIT.sql} from incoming_debit d where d.due_at <= $1::timestamptz
      and ($3::smallint[] is null or d.shard = any($3)) order by d.due_at, d.id limit $2`,
  })
  return rows.map(fromRow)
}

/** Reads debits of which the bank is to be told, the longest due first. */
export async function dueAnswers(database: Queries, { now, owned, max }: Due): Promise<readonly IncomingDebitRecord[]> {
  const rows = await database.query({
    name: 'due_debit_answers',
    values: [timestamp(now), max, plainArrayOrNull(owned)],
    text: `select ${INCOMING_DEBIT.sql} from incoming_debit d where d.answer_due_at <= $1::timestamptz
      and ($3::smallint[] is null or d.shard = any($3)) order by d.answer_due_at, d.id limit $2`,
  })
  return rows.map(fromRow)
}

/**
 * Marks answers as taken by the bank (`againAt` null), or tells when they are due again. Only the answer changes, so the
 * version of the debit stays; an answer that has changed meanwhile stays due.
 */
export async function answersTold(
  database: Queries,
  answers: readonly Pick<IncomingDebitRecord, 'id' | 'version'>[],
  againAt: number | null,
): Promise<void> {
  if (answers.length === 0) return
  await database.query({
    name: 'debit_answers_told',
    values: [
      plainArray(answers.map(({ id }) => id)),
      plainArray(answers.map(({ version }) => version)),
      againAt === null ? null : timestamp(againAt),
    ],
    text: `update incoming_debit d set answer_due_at = $3::timestamptz from unnest($1::uuid[], $2::integer[]) u(id, version)
      where d.id = u.id and d.version = u.version`,
  })
}

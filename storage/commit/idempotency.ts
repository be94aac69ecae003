/**
 * Idempotency records of commands that one transaction decides: the lock of a key, the record of its answer, and the
 * savepoint to which the transaction goes back before it records a refusal (I5).
 *
 * Written by hand: every command with a key passes these rows, whose table is partitioned by day.
 */
import { timestamp } from '../../lib/base/clock.ts'
import type { ResourceRef } from '../../lib/base/resource-types.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { IDEMPOTENCY_RETENTION_MS } from './idempotency-section.ts'

/** Sets the savepoint before the work of a command. @throws what the driver throws */
export async function setCommandSavepoint(client: TransactionClient): Promise<void> {
  await client.query('savepoint command')
}

/** Undoes what was written since the savepoint of the command. @throws what the driver throws */
export async function rollBackToCommandSavepoint(client: TransactionClient): Promise<void> {
  await client.query('rollback to savepoint command')
}

/**
 * Locks a key until the transaction ends, without waiting. @returns false when another transaction has it. @throws what
 * the driver throws
 */
export async function tryLockIdempotencyKey(client: TransactionClient, id: string): Promise<boolean> {
  const { rows } = await client.query<{ free: boolean }>({
    name: 'idempotency_lock',
    text: 'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as free',
    values: [id],
  })
  return rows[0]?.free === true
}

/**
 * Returns whether a key has a record that is kept at `now` (epoch milliseconds): one younger than 24 hours. @throws
 * what the driver throws
 */
export async function hasIdempotencyRecord(client: TransactionClient, id: string, now: number): Promise<boolean> {
  const since = timestamp(now - IDEMPOTENCY_RETENTION_MS)
  const { rowCount } = await client.query({
    name: 'idempotency_taken',
    text: 'select from idempotency where id = $1 and day >= $2::date and created_at > $3::timestamptz limit 1',
    values: [id, since.slice(0, 10), since],
  })
  return rowCount !== 0
}

/** The answer that a key gets from now on. */
export interface IdempotencyAnswer {
  readonly id: string
  /** 128 bits in the text form of a UUID. */
  readonly fingerprint: string
  readonly status: number
  /** Null unless the command has made a resource. */
  readonly resource: ResourceRef | null
  readonly body: string
}

/** Records the answer of a key; `now` is epoch milliseconds. @throws what the driver throws */
export async function insertIdempotencyRecord(
  client: TransactionClient,
  { id, fingerprint, status, resource, body }: IdempotencyAnswer,
  now: number,
): Promise<void> {
  const at = timestamp(now)
  await client.query({
    name: 'remember_answer',
    values: [id, at.slice(0, 10), fingerprint, status, resource?.type ?? null, resource?.id ?? null, body, at],
    text: 'insert into idempotency (id, day, fingerprint, status, resource_type, resource_id, answer, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8)',
  })
}

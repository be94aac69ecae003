/**
 * Commands of one transaction under an optional Idempotency-Key: the answer is kept beside the effect, so the same key gets
 * the same bytes again, and nothing happens twice (I5).
 */
import { timestamp } from '../lib/clock.ts'
import { refuse } from '../lib/problems.ts'
import type { Database } from '../storage/database.ts'
import { inTransaction, type TransactionClient } from '../storage/transaction.ts'
import type { CommandAnswer, Idempotency, IdempotencyRecord } from './world.ts'

export interface RememberingWorld {
  readonly database: Database
  readonly clock: { now(): number }
  readonly findIdempotencyRecord: (id: string) => Promise<IdempotencyRecord | null>
}

/**
 * Does the work and answers with what it returns, or with what it returned the first time.
 *
 * @throws ProblemError `idempotency-key-in-use`, `idempotency-key-reused`, and what the work throws; that is not kept
 */
export async function answerOnce(world: RememberingWorld, idempotency: Idempotency | null, status: 200 | 201 | 202, work: (client: TransactionClient) => Promise<object>): Promise<CommandAnswer> {
  const { database, clock, findIdempotencyRecord } = world
  return await inTransaction(database, async (client) => {
    if (idempotency !== null) {
      const { rows } = await client.query<{ free: boolean }>({
        name: 'idempotency_lock', text: 'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as free', values: [idempotency.id],
      })
      if (rows[0]?.free !== true) refuse('idempotency-key-in-use', 'The first request with this key is still running.', { retryAfterSeconds: 1 })
      const record = await findIdempotencyRecord(idempotency.id)
      if (record !== null && record.fingerprint !== idempotency.fingerprint) {
        refuse('idempotency-key-reused', 'The Idempotency-Key was first used with other content.', { extra: { firstUsedAt: record.createdAt } })
      }
      if (record?.answer != null) return { ...record.answer, replayed: true }
    }
    const body = JSON.stringify(await work(client))
    if (idempotency !== null) {
      const at = timestamp(clock.now())
      await client.query({
        name: 'remember_answer', values: [idempotency.id, at.slice(0, 10), idempotency.fingerprint, status, body, at],
        text: 'insert into idempotency (id, day, fingerprint, status, answer, created_at) values ($1, $2, $3, $4, $5, $6)',
      })
    }
    return { status, body, contentType: 'application/json', replayed: false }
  })
}

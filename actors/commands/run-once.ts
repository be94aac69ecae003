/**
 * Commands of one transaction under an optional Idempotency-Key: the answer is kept beside the effect, so the same key gets
 * the same bytes again, and nothing happens twice (I5).
 */
import { ProblemError, refuse, type Problem } from '../../lib/base/problems.ts'
import { hasIdempotencyRecord, insertIdempotencyRecord, rollBackToCommandSavepoint, setCommandSavepoint, tryLockIdempotencyKey } from '../../storage/commit/idempotency.ts'
import type { Database } from '../../storage/db/database.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import { etagOf } from '../../lib/commands/etag.ts'
import { problemStatus } from '../../lib/base/problem-document.ts'
import type { Command, CommandAnswer, Idempotency, IdempotencyRecord, Versioned } from '../../lib/commands/command.ts'

export interface RunOnceDeps {
  readonly database: Database
  readonly clock: { now(): number }
  readonly findIdempotencyRecord: (id: string) => Promise<IdempotencyRecord | null>
}

/**
 * Does the work and answers with what it returns, or with what it returned the first time. A no is an answer as well: a problem
 * of 409 or 422 that the work throws is kept under its key, and nothing else that the work wrote.
 *
 * @throws ProblemError `idempotency-key-in-use`, `idempotency-key-reused` and others that are not kept, and what the work throws
 */
export async function runOnce(world: RunOnceDeps, idempotency: Idempotency | null, status: 200 | 201 | 202, work: (client: TransactionClient) => Promise<object>): Promise<CommandAnswer> {
  return await underKey(world, idempotency, async (client) => {
    const body = JSON.stringify(await work(client))
    await remember(world, client, idempotency, { status, body, resourceId: null })
    return { status, body, contentType: 'application/json', replayed: false }
  })
}

/** What a command has made or changed. */
export interface Done {
  readonly shown: Versioned<object>
  /** Of what was made: where it is from now on, and its id, by which a repeat finds its tag and place again. */
  readonly made?: { readonly id: string; readonly location: string }
}

/** The same for a command that makes something, or whose answer has a version. @throws the same */
export async function decideOnce(world: RunOnceDeps, { idempotency }: Pick<Command<unknown>, 'idempotency'>, status: 200 | 201 | 202, work: (client: TransactionClient) => Promise<Done>): Promise<CommandAnswer> {
  return await underKey(world, idempotency, async (client) => {
    const { shown, made } = await work(client)
    const body = JSON.stringify(shown.view)
    await remember(world, client, idempotency, { status, body, resourceId: made?.id ?? null })
    return { status, body, contentType: 'application/json', replayed: false, ...(made === undefined ? {} : { etag: etagOf(shown, body), location: made.location }) }
  })
}

/** Does the work, or keeps the no that it comes to; what it wrote until then is undone. */
async function keepRefusal(world: RunOnceDeps, client: TransactionClient, idempotency: Idempotency, work: (client: TransactionClient) => Promise<CommandAnswer>): Promise<CommandAnswer> {
  await setCommandSavepoint(client)
  try {
    return await work(client)
  } catch (error) {
    if (!(error instanceof ProblemError) || !isKept(error.problem)) throw error
    await rollBackToCommandSavepoint(client)
    const status = problemStatus(error.problem)
    const body = idempotency.problemText(error.problem)
    await remember(world, client, idempotency, { status, body, resourceId: null })
    return { status, body, contentType: 'application/problem+json', replayed: false }
  }
}

function isKept(problem: Problem): boolean {
  const status = problemStatus(problem)
  return status === 409 || status === 422
}

/**
 * The answer that the key has, or that of the work. Whoever has a connection waits for no second one, so what the key has is
 * read before the transaction begins; what has come since is read when it is over.
 */
async function underKey(world: RunOnceDeps, idempotency: Idempotency | null, work: (client: TransactionClient) => Promise<CommandAnswer>): Promise<CommandAnswer> {
  const { database, clock, findIdempotencyRecord } = world
  if (idempotency === null) return await inTransaction(database, work)
  for (;;) {
    const record = await findIdempotencyRecord(idempotency.id)
    if (record !== null && record.fingerprint !== idempotency.fingerprint) {
      refuse('idempotency-key-reused', 'The Idempotency-Key was first used with other content.', { extra: { firstUsedAt: record.createdAt } })
    }
    if (record?.answer != null) return { ...record.answer, replayed: true }
    const answer = await inTransaction(database, async (client) => (await takeKey(client, idempotency.id, clock.now()) ? await keepRefusal(world, client, idempotency, work) : null))
    if (answer !== null) return answer
  }
}

/** Makes others with this key wait, until the transaction ends. @returns false when the key has an answer by now */
async function takeKey(client: TransactionClient, id: string, now: number): Promise<boolean> {
  if (!await tryLockIdempotencyKey(client, id)) refuse('idempotency-key-in-use', 'The first request with this key is still running.', { retryAfterSeconds: 1 })
  return !await hasIdempotencyRecord(client, id, now)
}

async function remember({ clock }: RunOnceDeps, client: TransactionClient, idempotency: Idempotency | null, kept: { readonly status: number; readonly body: string; readonly resourceId: string | null }): Promise<void> {
  if (idempotency === null) return
  await insertIdempotencyRecord(client, { ...kept, id: idempotency.id, fingerprint: idempotency.fingerprint }, clock.now())
}

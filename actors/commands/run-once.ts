/**
 * Runs commands of one transaction under an optional Idempotency-Key. The answer is stored in the transaction of the
 * effect, so a request with the same key gets the same bytes again, and its effect happens once (I5).
 */
import { locationOf, type ResourceRef } from '../../lib/base/resource-types.ts'
import { ProblemError, refuse, type Problem } from '../../lib/base/problems.ts'
import {
  hasIdempotencyRecord,
  insertIdempotencyRecord,
  rollBackToCommandSavepoint,
  setCommandSavepoint,
  tryLockIdempotencyKey,
} from '../../storage/commit/idempotency.ts'
import type { Database } from '../../storage/db/database.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import { showing } from '../../lib/commands/answer.ts'
import { etagOf } from '../../lib/commands/etag.ts'
import { problemBody, problemStatus } from '../../lib/base/problem-document.ts'
import type { Command, CommandAnswer, Idempotency, IdempotencyRecord, Versioned } from '../../lib/commands/command.ts'

export interface RunOnceDeps {
  readonly database: Database
  readonly clock: { now(): number }
  readonly findIdempotencyRecord: (id: string) => Promise<IdempotencyRecord | null>
}

/**
 * Runs `work` and answers with the object it returns, or with the stored answer of the first request. A refusal is an
 * answer too: a problem of status 409 or 422 that the work throws is stored under the key, and all other writes of the
 * work are rolled back.
 *
 * @throws ProblemError `idempotency-key-in-use`, `idempotency-key-reused` and problems of other statuses, and what the
 *   work throws
 */
export async function runOnce<View extends object, const Status extends 200 | 201 | 202>(
  deps: RunOnceDeps,
  idempotency: Idempotency | null,
  status: Status,
  work: (client: TransactionClient) => Promise<View>,
): Promise<CommandAnswer<View, Status>> {
  return await underKey(deps, idempotency, async (client) => {
    const body = JSON.stringify(await work(client))
    await remember(deps, client, idempotency, { status, body, resource: null })
    return showing({ status, body, contentType: 'application/json', replayed: false })
  })
}

/** The object that a command has made or changed. */
export interface Done<View extends object> {
  readonly shown: Versioned<View>
  /** For a new object: what it is, by which a repeated request finds its ETag and Location again. */
  readonly made?: ResourceRef
}

/**
 * Runs a command like `runOnce`, for a command that makes an object or whose answer has a version.
 *
 * @throws what `runOnce` throws
 */
export async function decideOnce<View extends object, const Status extends 200 | 201 | 202>(
  deps: RunOnceDeps,
  { idempotency }: Pick<Command<unknown>, 'idempotency'>,
  status: Status,
  work: (client: TransactionClient) => Promise<Done<View>>,
): Promise<CommandAnswer<View, Status>> {
  return await underKey(deps, idempotency, async (client) => {
    const { shown, made } = await work(client)
    const body = JSON.stringify(shown.view)
    await remember(deps, client, idempotency, { status, body, resource: made ?? null })
    return showing({
      status,
      body,
      contentType: 'application/json',
      replayed: false,
      ...(made === undefined ? {} : { etag: etagOf(shown, body), location: locationOf(made) }),
    })
  })
}

/** Runs the work, or stores its refusal; the writes of refused work are rolled back. */
async function keepRefusal<View, Status extends number>(
  deps: RunOnceDeps,
  client: TransactionClient,
  idempotency: Idempotency,
  work: (client: TransactionClient) => Promise<CommandAnswer<View, Status>>,
): Promise<CommandAnswer<View, Status>> {
  await setCommandSavepoint(client)
  try {
    return await work(client)
  } catch (error) {
    if (!(error instanceof ProblemError) || !isKept(error.problem)) throw error
    await rollBackToCommandSavepoint(client)
    const status = problemStatus(error.problem)
    const body = problemBody(error.problem, idempotency.problemRequest)
    await remember(deps, client, idempotency, { status, body, resource: null })
    return showing({ status, body, contentType: 'application/problem+json', replayed: false })
  }
}

function isKept(problem: Problem): boolean {
  const status = problemStatus(problem)
  return status === 409 || status === 422
}

/**
 * Returns the stored answer of the key, or the answer of the work. A transaction must not wait for a second connection,
 * so the stored answer is read before the transaction begins, and read again after it when the key got an answer
 * meanwhile.
 */
async function underKey<View, Status extends number>(
  deps: RunOnceDeps,
  idempotency: Idempotency | null,
  work: (client: TransactionClient) => Promise<CommandAnswer<View, Status>>,
): Promise<CommandAnswer<View, Status>> {
  const { database, clock, findIdempotencyRecord } = deps
  if (idempotency === null) return await inTransaction(database, work)
  for (;;) {
    const record = await findIdempotencyRecord(idempotency.id)
    if (record !== null && record.fingerprint !== idempotency.fingerprint) {
      refuse('idempotency-key-reused', 'The Idempotency-Key was first used with other content.', {
        extra: { firstUsedAt: record.createdAt },
      })
    }
    if (record?.answer != null) return showing({ ...record.answer, replayed: true })
    const answer = await inTransaction(database, async (client) =>
      (await takeKey(client, idempotency.id, clock.now())) ? await keepRefusal(deps, client, idempotency, work) : null,
    )
    if (answer !== null) return answer
  }
}

/**
 * Locks the key until the transaction ends.
 *
 * @returns false when the key has an answer by now
 * @throws ProblemError `idempotency-key-in-use` when another request holds the lock
 */
async function takeKey(client: TransactionClient, id: string, now: number): Promise<boolean> {
  if (!(await tryLockIdempotencyKey(client, id)))
    refuse('idempotency-key-in-use', 'The first request with this key is still running.', { retryAfterSeconds: 1 })
  return !(await hasIdempotencyRecord(client, id, now))
}

async function remember(
  { clock }: RunOnceDeps,
  client: TransactionClient,
  idempotency: Idempotency | null,
  kept: { readonly status: number; readonly body: string; readonly resource: ResourceRef | null },
): Promise<void> {
  if (idempotency === null) return
  await insertIdempotencyRecord(
    client,
    { ...kept, id: idempotency.id, fingerprint: idempotency.fingerprint },
    clock.now(),
  )
}

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

/** The records of keys: where answers are found, and the clock that dates them. */
export interface KeyDeps {
  readonly clock: { now(): number }
  readonly findIdempotencyRecord: (id: string) => Promise<IdempotencyRecord | null>
}

export interface RunOnceDeps extends KeyDeps {
  readonly database: Database
}

/** Stored bytes, or those of a refusal, in place of the answer of the work. */
type StoredBytes = CommandAnswer<never, never>

/** The transaction of a command, with its connection. */
interface CommandTransaction {
  readonly client: TransactionClient
}

/** Runs work in a transaction, which is rolled back when the work throws. */
export type Transactions<Transaction extends CommandTransaction> = <Result>(
  work: (transaction: Transaction) => Promise<Result>,
) => Promise<Result>

const onPool =
  ({ database }: Pick<RunOnceDeps, 'database'>): Transactions<CommandTransaction> =>
  (work) =>
    inTransaction(database, (client) => work({ client }))

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
  return await underKey(deps, onPool(deps), idempotency, async ({ client }) => {
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
  /**
   * For a changed object: the answer has its ETag. A repeat has the stored bytes without the tag, because the object may
   * have gone on since.
   */
  readonly tagged?: true
}

/**
 * A refusal, of status 409 or 422, whose cause the command has written: the transaction is committed, and the problem is
 * the answer.
 */
export interface CommittedRefusal {
  readonly refused: Problem
}

/**
 * Runs a command like `runOnce`, for a command that makes an object or whose answer has a version.
 *
 * @throws what `runOnce` throws
 */
export async function decideOnce<View extends object, const Status extends 200 | 201 | 202>(
  deps: RunOnceDeps,
  command: Pick<Command<unknown>, 'idempotency'>,
  status: Status,
  work: (client: TransactionClient) => Promise<Done<View>>,
): Promise<CommandAnswer<View, Status>> {
  return await decideOnceIn(deps, onPool(deps), command, status, ({ client }) => work(client))
}

/**
 * Runs a command like `decideOnce`, in transactions that take turns of their own.
 *
 * @throws what `runOnce` throws
 */
export async function decideOnceIn<
  Transaction extends CommandTransaction,
  View extends object,
  const Status extends 200 | 201 | 202,
>(
  deps: KeyDeps,
  transactions: Transactions<Transaction>,
  { idempotency }: Pick<Command<unknown>, 'idempotency'>,
  status: Status,
  work: (transaction: Transaction) => Promise<Done<View> | CommittedRefusal>,
): Promise<CommandAnswer<View, Status>> {
  const answer = await underKey<Transaction, CommandAnswer<View, Status> | CommittedRefusal>(
    deps,
    transactions,
    idempotency,
    async (transaction) => {
      const { client } = transaction
      const outcome = await work(transaction)
      if ('refused' in outcome)
        return idempotency === null ? outcome : await rememberRefusal(deps, client, idempotency, outcome.refused)
      const { shown, made, tagged = made !== undefined } = outcome
      const body = JSON.stringify(shown.view)
      await remember(deps, client, idempotency, { status, body, resource: made ?? null })
      return showing({
        status,
        body,
        contentType: 'application/json',
        replayed: false,
        ...(tagged ? { etag: etagOf(shown, body) } : {}),
        ...(made === undefined ? {} : locationOf(made)),
      })
    },
  )
  if ('refused' in answer) throw new ProblemError(answer.refused)
  return answer
}

/**
 * Whether a key has an answer. A command checks the form of its request before `decideOnce` only where the key has none:
 * a key with an answer keeps it, or is refused for other content.
 */
export async function isRecorded(
  { findIdempotencyRecord }: KeyDeps,
  { idempotency }: Pick<Command<unknown>, 'idempotency'>,
): Promise<boolean> {
  return idempotency !== null && (await findIdempotencyRecord(idempotency.id)) !== null
}

/** Runs the work, or stores its refusal; the writes of refused work are rolled back. */
async function keepRefusal<Answer>(
  deps: KeyDeps,
  client: TransactionClient,
  idempotency: Idempotency,
  work: () => Promise<Answer>,
): Promise<Answer | StoredBytes> {
  await setCommandSavepoint(client)
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ProblemError) || !isKept(error.problem)) throw error
    await rollBackToCommandSavepoint(client)
    return await rememberRefusal(deps, client, idempotency, error.problem)
  }
}

/** Stores a refusal under its key, and answers with it. */
async function rememberRefusal(
  deps: KeyDeps,
  client: TransactionClient,
  idempotency: Idempotency,
  problem: Problem,
): Promise<StoredBytes> {
  const status = problemStatus(problem)
  const body = problemBody(problem, idempotency.problemRequest)
  await remember(deps, client, idempotency, { status, body, resource: null })
  return showing({ status, body, contentType: 'application/problem+json', replayed: false })
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
async function underKey<Transaction extends CommandTransaction, Answer>(
  deps: KeyDeps,
  transactions: Transactions<Transaction>,
  idempotency: Idempotency | null,
  work: (transaction: Transaction) => Promise<Answer>,
): Promise<Answer | StoredBytes> {
  const { clock, findIdempotencyRecord } = deps
  if (idempotency === null) return await transactions(work)
  for (;;) {
    const record = await findIdempotencyRecord(idempotency.id)
    if (record !== null && record.fingerprint !== idempotency.fingerprint) {
      refuse('idempotency-key-reused', 'The Idempotency-Key was first used with other content.', {
        extra: { firstUsedAt: record.createdAt },
      })
    }
    if (record?.answer != null) return showing({ ...record.answer, replayed: true })
    const answer = await transactions(async (transaction) =>
      (await takeKey(transaction.client, idempotency.id, clock.now()))
        ? await keepRefusal(deps, transaction.client, idempotency, () => work(transaction))
        : null,
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
  { clock }: KeyDeps,
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

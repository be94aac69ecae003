/** Creates a recipient for a request, at most once under an Idempotency-Key. */
import { ProblemError, refuse } from '../../lib/base/problems.ts'
import { CommitConflict, writeEffects } from '../../storage/sections/write-effects.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import { showing } from '../../lib/commands/answer.ts'
import { etagOf } from '../../lib/commands/etag.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { problemBody, problemStatus } from '../../lib/base/problem-document.ts'
import type { IdempotencyRow } from '../../lib/decisions/effects.ts'
import type { Recipient, RecipientCreate } from '../../lib/recipients/recipient-schema.ts'
import type { Command, CommandAnswer, Idempotency } from '../../lib/commands/command.ts'
import { makerOf, type RecipientDeps } from './change-recipient.ts'
import { checkedRecipient, checkPayee } from './check-recipient.ts'
import { writeNewRecipient, type MakingEnd } from './make-recipient.ts'

type Created = CommandAnswer<Recipient, 201>

/** Creates recipients for requests. On one node, a key has one request at a time. */
export class CreateRecipient {
  readonly #deps: RecipientDeps
  /** The idempotency keys of recipients that are being created on this node. */
  readonly #underWay = new Set<string>()

  constructor(deps: RecipientDeps) {
    this.#deps = deps
  }

  /**
   * Creates a recipient, or answers with the recorded outcome of the key. The answer is stored with the change.
   *
   * @throws ProblemError `validation-error`, `idempotency-key-in-use`, `idempotency-key-reused`; other refusals are
   *   answers
   */
  async create(by: Caller, command: Command<RecipientCreate>): Promise<Created> {
    const { idempotency } = command
    if (idempotency === null) return await create(this.#deps, by, command, remembering(this.#deps, command, null))
    if (this.#underWay.has(idempotency.id))
      refuse('idempotency-key-in-use', 'The first request with this key is still running.', { retryAfterSeconds: 1 })
    this.#underWay.add(idempotency.id)
    try {
      return await createOnce(this.#deps, by, command, idempotency)
    } finally {
      this.#underWay.delete(idempotency.id)
    }
  }
}

async function create(
  deps: RecipientDeps,
  by: Caller,
  { body }: Command<RecipientCreate>,
  remember: MakingEnd<Created>,
): Promise<Created> {
  const input = { ...body, address: body.address ?? null, purpose: body.purpose ?? null }
  const check = await checkPayee(deps, by.tenant.id, { ...body, ...checkedRecipient(deps, input) })
  return await writeNewRecipient(deps, makerOf(by), input, check?.verification ?? null, remember)
}

async function createOnce(
  deps: RecipientDeps,
  by: Caller,
  command: Command<RecipientCreate>,
  idempotency: Idempotency,
): Promise<Created> {
  const known = await recordedAnswer(deps, idempotency)
  if (known !== null) return known
  try {
    return await create(deps, by, command, remembering(deps, command, idempotency))
  } catch (error) {
    // Another node was first, or the body is invalid under a key that already has an answer.
    if (error instanceof CommitConflict || error instanceof ProblemError)
      return (await recordedAnswer(deps, idempotency)) ?? raise(error)
    throw error
  }
}

async function recordedAnswer(deps: RecipientDeps, idempotency: Idempotency): Promise<Created | null> {
  const record = await deps.findIdempotencyRecord(idempotency.id)
  if (record === null) return null
  if (record.fingerprint !== idempotency.fingerprint) {
    refuse('idempotency-key-reused', 'The Idempotency-Key was first used with other content.', {
      extra: { firstUsedAt: record.createdAt },
    })
  }
  return record.answer === null ? null : showing(record.answer)
}

/** Builds the answer of a command, and stores it under its key when it has one. */
function remembering(
  { problemBase }: Pick<RecipientDeps, 'problemBase'>,
  { requestId, instance }: Pick<Command<unknown>, 'requestId' | 'instance'>,
  key: Idempotency | null,
): MakingEnd<Created> {
  async function record(
    tx: ApprovalTx,
    kept: Pick<IdempotencyRow, 'status' | 'resourceType' | 'resourceId' | 'answer'>,
  ): Promise<void> {
    if (key !== null)
      await writeEffects(tx, { idempotency: { id: key.id, fingerprint: key.fingerprint, createdAt: tx.now, ...kept } })
  }
  return {
    async made(tx, made) {
      const body = JSON.stringify(made.view)
      await record(tx, { status: 201, resourceType: 'recipient', resourceId: made.view.id, answer: body })
      return showing({
        status: 201,
        body,
        contentType: 'application/json',
        etag: etagOf(made, body),
        location: `/v1/recipients/${made.view.id}`,
        replayed: false,
      })
    },
    async refused(tx, problem) {
      const body = problemBody(problem, { problemBase, instance, requestId })
      const status = problemStatus(problem)
      await record(tx, { status, resourceType: null, resourceId: null, answer: body })
      return showing({ status, body, contentType: 'application/problem+json', replayed: false })
    },
  }
}

function raise(error: unknown): never {
  throw error
}

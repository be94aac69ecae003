/** Changes and cancels a funds request, and reminds its payer. */
import { dateIn } from '../../lib/base/clock.ts'
import {
  expiryOf,
  fundsRequestAt,
  invalidTransition,
  isWaiting,
  reminderRefusal,
} from '../../lib/funds-requests/funds-request.ts'
import { patchedMetadata } from '../../lib/base/metadata.ts'
import { ProblemError, refuseField } from '../../lib/base/problems.ts'
import * as rows from '../../storage/funds-requests/funds-requests.ts'
import { through } from '../../storage/db/transaction.ts'
import { etagOf, refuseChanged, isCurrent } from '../../lib/commands/etag.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { decideOnce } from '../commands/run-once.ts'
import type { FundsRequest, FundsRequestUpdate } from '../../lib/funds-requests/funds-request-schema.ts'
import { fitsMetadata } from '../../lib/contract/primitives.ts'
import type { Command, CommandAnswer, Versioned } from '../../lib/commands/command.ts'
import { runChange } from '../commands/changes.ts'
import { fundsRequestView, keptView, withLink } from './funds-request-view.ts'
import {
  lockRequest,
  mailPayer,
  moveRequest,
  payeeNameOf,
  recordRequestChange,
  rereadRequest,
  state,
  type FundsRequestCommandDeps,
} from './funds-request-changes.ts'

/**
 * Changes the terms of a waiting request, and the metadata of any.
 *
 * @throws ProblemError `not-found`, `precondition-failed`, `invalid-transition`, `validation-error`
 */
export async function updateFundsRequest(
  deps: FundsRequestCommandDeps,
  by: Caller,
  id: string,
  body: FundsRequestUpdate,
  expected: number | bigint | null,
): Promise<Versioned<FundsRequest>> {
  return await runChange(deps, async (tx) => {
    const before = await lockRequest(tx, by, id)
    if (!isCurrent(before.version, expected))
      refuseChanged(etagOf(await fundsRequestView(through(tx.client), before, deps.links)))
    const { description = before.description, dueDate = before.dueDate, expiresAt, metadata } = body
    const terms = body.description !== undefined || body.dueDate !== undefined || expiresAt !== undefined
    const { status } = fundsRequestAt(before, tx.now)
    if (terms && !isWaiting(status)) throw new ProblemError(invalidTransition(status, 'update'))
    if (body.dueDate !== undefined && dueDate !== null && dueDate < dateIn(tx.now, 'UTC'))
      refuseField('/dueDate', 'in_past', 'Must not be in the past.')
    const expiry = expiresAt === undefined ? before : expiryOf(expiresAt, tx.now)
    if ('code' in expiry) refuseField('/expiresAt', expiry.code, expiry.message)
    const merged = metadata === undefined ? before.metadata : patchedMetadata(before.metadata, metadata)
    if (!fitsMetadata(merged)) refuseField('/metadata', 'too_large', 'Is too large.')
    const values = { description, dueDate, expiresAt: expiry.expiresAt, metadata: merged }
    const was = {
      description: before.description,
      dueDate: before.dueDate,
      expiresAt: before.expiresAt,
      metadata: before.metadata,
    }
    if (JSON.stringify(values) === JSON.stringify(was))
      return await fundsRequestView(through(tx.client), before, deps.links)
    await rows.updateFundsRequest(tx.client, id, { ...values, now: tx.now })
    const after = await rereadRequest(tx, id)
    await recordRequestChange(tx, auditCaller(by), 'updated', by.tenant.id, id, state(before), state(after))
    return await fundsRequestView(through(tx.client), after, deps.links)
  })
}

/** Cancels a waiting request. @throws ProblemError `not-found`, `invalid-transition` */
export async function cancelFundsRequest(
  deps: FundsRequestCommandDeps,
  by: Caller,
  id: string,
  command: Pick<Command<unknown>, 'idempotency' | 'requestId' | 'instance'>,
): Promise<CommandAnswer<FundsRequest, 200>> {
  const { ids, clock } = deps
  return withLink(
    deps.links,
    await decideOnce(deps, command, 200, async (client) => {
      const tx = { client, ids, now: clock.now() }
      return {
        shown: await keptView(
          deps.links,
          client,
          await moveRequest(auditCaller(by), tx, await lockRequest(tx, by, id), 'cancel', 'cancelled'),
        ),
      }
    }),
  )
}

/** Mails the link to the payer again. @throws ProblemError `not-found`, or when it is too early or too often */
export async function remindPayer(
  deps: FundsRequestCommandDeps,
  by: Caller,
  id: string,
): Promise<Versioned<FundsRequest>> {
  const record = await runChange(deps, async (tx) => {
    const before = await lockRequest(tx, by, id)
    const refused = reminderRefusal(fundsRequestAt(before, tx.now), tx.now)
    if (refused !== null) throw new ProblemError(refused)
    await rows.noteReminder(tx.client, id, tx.now)
    const after = await rereadRequest(tx, id)
    await recordRequestChange(
      tx,
      auditCaller(by),
      'reminded',
      by.tenant.id,
      id,
      { remindersSent: before.remindersSent },
      { remindersSent: after.remindersSent },
    )
    await mailPayer(tx, deps, after, await payeeNameOf(tx.client, by.tenant.id), true)
    return after
  })
  return await fundsRequestView(deps.database, record, deps.links)
}

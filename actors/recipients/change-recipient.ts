/** A change of a recipient: its transaction, its lock and its trail entry. */
import type { AuditAction } from '../../lib/base/audit-actions.ts'
import type { RecipientMaker, ReviewDeps } from './review-recipient.ts'
import type { PayeeDeps } from '../payments/verify-payee.ts'
import type { Approvals } from '../approvals/approvals.ts'
import type { RecipientReviews } from './recipient-reviews.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import type { ValidationDeps } from '../../lib/recipients/validation.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import type { Database } from '../../storage/db/database.ts'
import { writeAudit } from '../../storage/trail/trail.ts'
import type { RecipientRecord } from '../../storage/recipients/recipient-queries.ts'
import * as rows from '../../storage/recipients/recipients.ts'
import { lostRace } from '../../storage/db/sqlstates.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import { checkVersion } from '../../lib/commands/etag.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { IdempotencyRecord } from '../../lib/commands/command.ts'

/** Attempts of a change that loses races against other changes of the same recipient. */
export const ATTEMPTS_MAX = 5

/** The dependencies of commands on recipients. */
export interface RecipientDeps extends ValidationDeps, ReviewDeps, PayeeDeps {
  readonly database: Database
  readonly ids: IdSource
  readonly problemBase: string
  readonly onError: (error: unknown, what: string) => void
  readonly approvals: Pick<Approvals, 'cancel'>
  readonly reviews: Pick<RecipientReviews, 'decide'>
  /** Resolves when every node that caches the recipient has dropped it from its cache. */
  readonly forget: (recipientId: string) => Promise<void>
  readonly findIdempotencyRecord: (id: string) => Promise<IdempotencyRecord | null>
}

/** The part of a recipient that the trail keeps: enough to identify it, without an account number. */
function state({
  name,
  type,
  currency,
  maskedIdentifier,
  status,
  verification,
  externalId,
  nickname,
  email,
  defaultReference,
  purpose,
  metadata,
}: RecipientRecord['view']): object {
  return {
    name,
    type,
    currency,
    maskedIdentifier,
    status,
    verification: verification?.outcome ?? null,
    externalId,
    nickname,
    email,
    defaultReference,
    purpose,
    metadata,
  }
}

/**
 * Runs a change in one transaction, again when another transaction wins a race against it.
 *
 * @throws what the work throws, and the lost race after `ATTEMPTS_MAX` attempts
 */
export async function recipientTransaction<Result>(
  { database, ids, clock }: Pick<RecipientDeps, 'database' | 'ids' | 'clock'>,
  work: (tx: ApprovalTx) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(database, async (client) => work({ client, ids, now: clock.now() }))
    } catch (error) {
      if (attempt >= ATTEMPTS_MAX || !lostRace(error)) throw error
    }
  }
}

/**
 * Writes a change of a recipient into the trail of its customer; null stands for a recipient that does not exist then.
 */
export async function writeRecipientTrail(
  { client, ids, now }: ApprovalTx,
  { customerId, trail }: Pick<RecipientMaker, 'customerId' | 'trail'>,
  action: AuditAction<'recipient'>,
  id: string,
  { before, after }: { readonly before: RecipientRecord | null; readonly after: RecipientRecord | null },
): Promise<void> {
  await writeAudit(client, {
    ...trail,
    id: ids.next(),
    tenantId: customerId,
    at: now,
    action,
    object: { type: 'recipient', id },
    before: before === null ? null : state(before.view),
    after: after === null ? null : state(after.view),
  })
}

/** Returns the caller in the form that a review and the trail need. */
export const makerOf = (by: Caller): RecipientMaker => ({
  customerId: by.tenant.id,
  requester: requesterOf(by),
  trail: auditCaller(by),
})

const requesterOf = ({ principal }: Caller) => ({
  id: principal.id,
  name: principal.name,
  byKey: principal.kind === 'key',
})

/**
 * Locks a recipient of the caller's customer until the transaction ends.
 *
 * @throws ProblemError `not-found`; `precondition-failed` when it no longer has the `expected` version
 */
export async function lockRecipientOf(
  { client }: ApprovalTx,
  by: Caller,
  id: string,
  expected: number | bigint | null,
): Promise<RecipientRecord> {
  const found = await rows.lockRecipient(client, by.tenant.id, id)
  if (found === null) refuseNotFound()
  checkVersion(found, expected)
  return found
}

/** Reads a recipient of the caller's customer. @throws ProblemError `not-found` */
export async function readRecipient(deps: RecipientDeps, by: Caller, id: string): Promise<RecipientRecord> {
  return await recipientTransaction(deps, async (tx) => lockRecipientOf(tx, by, id, null))
}

/** Reads a recipient that the same transaction has written. */
export async function rereadRecipient(tx: ApprovalTx, customerId: string, id: string): Promise<RecipientRecord> {
  const found = await rows.lockRecipient(tx.client, customerId, id)
  if (found === null) throw new Error(`The recipient ${id} has vanished.`)
  return found
}

/** Compares two values as JSON; the order of members does not matter. */
export function same(left: unknown, right: unknown): boolean {
  return JSON.stringify(left, ordered) === JSON.stringify(right, ordered)
}

function ordered(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}

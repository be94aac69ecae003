/**
 * Approvals as rows: opened with their subject, decided under their lock.
 *
 * An approval is opened, decided or withdrawn in the transaction of its subject. The row, the decision, the events and
 * the change of the subject are all written there, or none is. Locks are taken in one order: approvals by id, then
 * balances, then payments. The right to decide is in approval-standing.ts.
 *
 * Written by hand: the commit of payments opens these rows, and a decision locks them in one order with balances.
 */
import type { StepUpMethod } from '../../lib/identity/step-up.ts'
import { storedPolicies, type StoredPolicies } from '../../lib/approvals/in-effect.ts'
import type { PolicyKind, TermsJson, TierJson } from '../../lib/approvals/policy.ts'
import {
  approvalEvent,
  opening,
  type ApprovalStatus,
  type OpenApproval,
  type SubjectSummary,
  type SubjectType,
  type TierSource,
} from '../../lib/approvals/opening.ts'
import type { ApprovalRecord, SubjectChange } from '../../lib/approvals/approval.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Effects } from '../../lib/decisions/effects.ts'
import { writeAudit, type AuditBy } from '../trail/trail.ts'
import { plainArrayOrNull } from '../db/array-literal.ts'
import type { Queries, TransactionClient } from '../db/transaction.ts'

/** An open transaction, with the ids and the time for new rows. */
export interface ApprovalTx {
  readonly client: TransactionClient
  readonly ids: IdSource
  /** Epoch milliseconds. */
  readonly now: number
}

/** The fields of an approval that its opener states; the others follow from the customer. */
export type OpenRequest = Omit<OpenApproval, 'id' | 'eventId' | 'operatorId' | 'shard'>

/**
 * Opens an approval with its `approval.requested`. The subject must not wait for another approval.
 *
 * @returns the approval's id and its rows, which the caller writes in this transaction
 */
export async function openApproval(
  tx: ApprovalTx,
  request: OpenRequest,
): Promise<{ readonly id: string; readonly effects: Effects }> {
  const {
    rows: [customer],
  } = await tx.client.query<{ operator_id: string; shard: number }>({
    name: 'approval_customer',
    text: 'select operator_id, shard from customer where id = $1',
    values: [request.customerId],
  })
  if (customer === undefined) throw new Error(`The customer ${request.customerId} does not exist.`)
  const id = tx.ids.next()
  const owner = { operatorId: customer.operator_id, shard: customer.shard }
  return { id, effects: opening({ ...request, ...owner, id, eventId: tx.ids.next() }, tx.now) }
}

/** Reads the stored policies of a customer. lib/approvals/in-effect.ts derives the policies in effect from them. */
export async function readStoredPolicies(
  client: Pick<TransactionClient, 'query'>,
  customerId: string,
): Promise<StoredPolicies> {
  const { rows } = await client.query<{ kind: PolicyKind; terms: TermsJson }>({
    name: 'read_stored_policies',
    text: 'select kind, terms from approval_policy where customer_id = $1',
    values: [customerId],
  })
  return storedPolicies(Object.fromEntries(rows.map(({ kind, terms }) => [kind, terms])))
}

// ── Rows
// ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

const ms = (column: string) => `(extract(epoch from a.${column}) * 1000)::float8 as ${column}_ms`

/** The columns of an approval `a`. */
export const APPROVAL_COLUMNS = `a.id, a.customer_id, a.operator_id, a.shard, a.subject_type, a.subject_id, a.subject, a.payload, a.kind, a.source, a.tier,
  a.required, a.received, a.requested_by, a.requested_by_name, a.requesters, a.round, a.subject_changes, a.status, a.version, a.sandbox_decision, a.converted, ${ms('expires_at')}, ${ms('wake_at')},
  ${ms('announced_at')}, ${ms('warned_at')}, ${ms('reminded_at')}, ${ms('created_at')}`

export interface ApprovalColumns {
  readonly id: string
  readonly customer_id: string
  readonly operator_id: string
  readonly shard: number
  readonly subject_type: SubjectType
  readonly subject_id: string
  readonly subject: string
  readonly payload: string | null
  readonly kind: PolicyKind | null
  readonly source: TierSource
  readonly tier: TierJson
  readonly required: number
  readonly received: number
  readonly requested_by: string
  readonly requested_by_name: string
  readonly requesters: readonly string[]
  readonly round: number
  readonly subject_changes: readonly SubjectChange[]
  readonly status: ApprovalStatus
  readonly version: number
  readonly sandbox_decision: 'approved' | 'rejected' | null
  readonly converted: boolean
  readonly expires_at_ms: number
  readonly wake_at_ms: number
  readonly announced_at_ms: number | null
  readonly warned_at_ms: number | null
  readonly reminded_at_ms: number | null
  readonly created_at_ms: number
}

export function approvalRecord(row: ApprovalColumns): ApprovalRecord {
  return {
    id: row.id,
    customerId: row.customer_id,
    operatorId: row.operator_id,
    shard: row.shard,
    subjectType: row.subject_type,
    subjectId: row.subject_id,
    subject: JSON.parse(row.subject) as SubjectSummary,
    payload: row.payload,
    kind: row.kind,
    source: row.source,
    tier: row.tier,
    required: row.required,
    received: row.received,
    requestedBy: row.requested_by,
    requestedByName: row.requested_by_name,
    requesters: row.requesters,
    round: row.round,
    subjectChanges: row.subject_changes,
    status: row.status,
    version: row.version,
    sandboxDecision: row.sandbox_decision,
    expiresAt: row.expires_at_ms,
    wakeAt: row.wake_at_ms,
    announcedAt: row.announced_at_ms,
    warnedAt: row.warned_at_ms,
    remindedAt: row.reminded_at_ms,
    createdAt: row.created_at_ms,
  }
}

/** Locks an approval until the transaction ends; null when it does not exist. */
export async function lockApproval(client: TransactionClient, id: string): Promise<ApprovalRecord | null> {
  const {
    rows: [row],
  } = await client.query<ApprovalColumns>({
    name: 'lock_approval',
    text: `select ${APPROVAL_COLUMNS} from approval a where a.id = $1 for update`,
    values: [id],
  })
  return row === undefined ? null : approvalRecord(row)
}

/** Reads how an approval ended; null while it is pending. */
export async function endingOf(
  client: Pick<TransactionClient, 'query'>,
  id: string,
): Promise<Pick<Ending, 'status' | 'reason'> | null> {
  const {
    rows: [row],
  } = await client.query<Pick<Ending, 'status' | 'reason'>>({
    name: 'approval_ending',
    text: `select status, reason from approval where id = $1 and status <> 'pending'`,
    values: [id],
  })
  return row ?? null
}

/** Locks the approval that a subject waits for until the transaction ends; null when the subject waits for none. */
export async function lockPendingApproval(
  client: TransactionClient,
  subjectId: string,
): Promise<ApprovalRecord | null> {
  const {
    rows: [row],
  } = await client.query<ApprovalColumns>({
    name: 'lock_pending_approval',
    text: `select ${APPROVAL_COLUMNS} from approval a where a.subject_id = $1 and a.status = 'pending' for update`,
    values: [subjectId],
  })
  return row === undefined ? null : approvalRecord(row)
}

/** Finds the pending approvals of payments to a recipient, in the order in which they are locked. */
export async function pendingPaymentApprovals(
  client: TransactionClient,
  customerId: string,
  recipientId: string,
): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>({
    name: 'pending_payment_approvals',
    text: `select a.id from approval a join payment p on p.id = a.subject_id
      where a.customer_id = $1 and a.status = 'pending' and a.subject_type = 'payment' and p.recipient_id = $2 order by a.id`,
    values: [customerId, recipientId],
  })
  return rows.map(({ id }) => id)
}

export interface NewDecision {
  readonly userId: string
  readonly userName: string
  readonly decision: 'approved' | 'rejected'
  readonly comment: string | null
  readonly stepUpMethod: StepUpMethod | null
}

/** Writes one approver's decision. */
export async function insertDecision(
  { client, ids, now }: ApprovalTx,
  approval: ApprovalRecord,
  decision: NewDecision,
): Promise<void> {
  await client.query({
    name: 'insert_approval_decision',
    text: `insert into approval_decision (id, approval_id, customer_id, user_id, user_name, decision, comment, step_up_method, decided_at, round)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    values: [
      ids.next(),
      approval.id,
      approval.customerId,
      decision.userId,
      decision.userName,
      decision.decision,
      decision.comment,
      decision.stepUpMethod,
      timestamp(now),
      approval.round,
    ],
  })
}

/** Records the number of approvals received; the approval stays pending. */
export async function noteReceived(
  { client }: ApprovalTx,
  approval: ApprovalRecord,
  received: number,
): Promise<ApprovalRecord> {
  await client.query({
    name: 'approval_received',
    text: 'update approval set received = $2, version = version + 1 where id = $1',
    values: [approval.id, received],
  })
  return { ...approval, received, version: approval.version + 1 }
}

/** The end of an approval. */
export interface Ending {
  readonly status: Exclude<ApprovalStatus, 'pending'>
  readonly received: number
  readonly reason: string | null
}

/**
 * Ends a locked approval and returns its `approval.decided` event, which the caller writes. The audit trail is written
 * here.
 */
export async function endApproval(
  tx: ApprovalTx,
  approval: ApprovalRecord,
  { status, received, reason }: Ending,
  by: AuditBy,
): Promise<Pick<Effects, 'events'>> {
  const { client, ids, now } = tx
  await client.query({
    name: 'end_approval',
    text: 'update approval set status = $2, received = $3, reason = $4, decided_at = $5, version = version + 1 where id = $1',
    values: [approval.id, status, received, reason, timestamp(now)],
  })
  await writeAudit(client, {
    ...by,
    id: ids.next(),
    tenantId: approval.customerId,
    at: now,
    action: `approval.${status}`,
    object: { type: 'approval', id: approval.id },
    before: { status: 'pending', received: approval.received },
    after: { status, received, reason, subjectType: approval.subjectType, subjectId: approval.subjectId },
  })
  return { events: [approvalEvent({ ...approval, eventId: ids.next(), status, previousStatus: 'pending' }, now)] }
}

/**
 * Withdraws the approval that a subject waits for, because this transaction changes, deletes or cancels the subject.
 * The caller writes the change of the subject.
 *
 * @returns the rows that the caller writes in this transaction; null when the subject waits for no approval
 */
export async function withdrawApproval(
  tx: ApprovalTx,
  subjectId: string,
  reason: string,
  by: AuditBy,
): Promise<Effects | null> {
  const approval = await lockPendingApproval(tx.client, subjectId)
  if (approval === null) return null
  return await endApproval(tx, approval, { status: 'cancelled', received: approval.received, reason }, by)
}

// ── Due approvals
// ─────────────────────────────────────────────────────────────────────────────────────────────────────

const DUE_APPROVALS = `select id, shard from approval where status = 'pending' and wake_at <= $1::timestamptz
  and ($2::smallint[] is null or shard = any($2)) order by wake_at limit $3`

/**
 * Reads the pending approvals of these shards (null: all) that are due at `now` (epoch milliseconds), the longest due
 * first, `max` at most, as ids.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function dueApprovals(
  database: Queries,
  { now, owned, max }: { readonly now: number; readonly owned: readonly number[] | null; readonly max: number },
): Promise<readonly string[]> {
  const rows = await database.query<[string, number]>({
    name: 'due_approvals',
    text: DUE_APPROVALS,
    values: [timestamp(now), plainArrayOrNull(owned), max],
  })
  return rows.map(([id]) => id)
}

/** Records the notices sent about a pending approval, and when the poller reads it next. */
export async function noteWake(
  client: TransactionClient,
  id: string,
  note: {
    readonly wakeAt: number
    readonly announcedAt: number | null
    readonly warnedAt: number | null
    readonly remindedAt: number | null
  },
): Promise<void> {
  const at = (time: number | null) => (time === null ? null : timestamp(time))
  await client.query({
    name: 'approval_wake',
    text: 'update approval set wake_at = $2, announced_at = $3, warned_at = $4, reminded_at = $5 where id = $1',
    values: [id, timestamp(note.wakeAt), at(note.announcedAt), at(note.warnedAt), at(note.remindedAt)],
  })
}

/**
 * Reads the user who made the last decision on an approval; null while there is none. @throws what the driver throws
 */
export async function lastDeciderOf(client: TransactionClient, approvalId: string): Promise<string | null> {
  const {
    rows: [last],
  } = await client.query<{ user_id: string }>({
    name: 'last_approval_decision',
    text: 'select user_id from approval_decision where approval_id = $1 order by id desc limit 1',
    values: [approvalId],
  })
  return last?.user_id ?? null
}

/**
 * Approvals as rows: opened with their subject, decided under their lock.
 *
 * An approval is opened, decided or withdrawn in the transaction of its subject. The row, the decision, the events and
 * the change of the subject are all written there, or none is. Locks are taken in one order: approvals by id, then
 * balances, then payments.
 */
import { storedPolicies, type StoredPolicies } from '../../lib/approvals/in-effect.ts'
import { APPROVER_ROLES, type PolicyKind, type TermsJson, type TierJson } from '../../lib/approvals/policy.ts'
import {
  approvalEvent,
  opening,
  type ApprovalStatus,
  type OpenApproval,
  type SubjectSummary,
  type SubjectType,
  type TierSource,
} from '../../lib/approvals/opening.ts'
import { SUBJECT_CHANGES_MAX, type ApprovalRecord, type SubjectChange } from '../../lib/approvals/approval.ts'
import { requestersOf, type GivenApproval } from '../../lib/approvals/requesters.ts'
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

// ── Right to decide ───────────────────────────────────────────────────────────────────────────────────────────────────

const named = (
  m: string,
) => `((a.tier->'approverRoles') ? ${m}.role or (a.tier->'approverUserIds') ? ${m}.user_id::text or exists (
  select from team_member tm where tm.membership_id = ${m}.id and (a.tier->'approverTeamIds') ? tm.team_id::text))`
const UNNAMED = `(jsonb_array_length(a.tier->'approverRoles') + jsonb_array_length(a.tier->'approverUserIds') + jsonb_array_length(a.tier->'approverTeamIds') = 0)`

/**
 * SQL condition on an approval `a` and a membership `m` of its customer: the tier names the member by role, team or
 * user.
 */
const inTier = (m: string) =>
  `(${m}.role in (${APPROVER_ROLES.map((role) => `'${role}'`).join(', ')}) and (${UNNAMED} or ${named(m)}))`
export const IN_TIER = inTier('m')
/**
 * SQL condition: the member did not request the approval. Requesters may decide only where the tier allows it, and
 * never on changes of policies. The requesters are all users and keys that shaped the terms, and the users who created
 * those keys.
 */
const notOwn = (m: string) => `(((a.tier->>'allowSelfApproval')::boolean and a.subject_type <> 'approval_policy_change')
  or (${m}.user_id <> a.requested_by and not a.requesters ? ${m}.user_id::text
    and not exists (select from api_key k where k.tenant_id = a.customer_id and k.created_by = ${m}.user_id and (k.id = a.requested_by or a.requesters ? k.id::text))))`
export const NOT_OWN = notOwn('m')
/** SQL condition: the member has decided since the approvals last started. */
export const HAS_DECIDED = `exists (select from approval_decision d where d.approval_id = a.id and d.round = a.round and d.user_id = m.user_id)`
/** SQL condition: the membership's user could give an approval now, had they not given one already. */
const stands = (m: string) => `(${m}.status = 'active' and ${inTier(m)} and ${notOwn(m)})`
/**
 * SQL condition: where teams must differ, another member of one of the user's teams has given an approval that counts.
 */
export const TEAM_USED = `((a.tier->>'distinctTeams')::boolean and exists (
  select from approval_decision d join membership dm on dm.user_id = d.user_id and dm.tenant_id = a.customer_id
    join team_member dt on dt.membership_id = dm.id join team_member mt on mt.team_id = dt.team_id and mt.membership_id = m.id
  where d.approval_id = a.id and d.round = a.round and d.decision = 'approved' and ${stands('dm')}))`
/** SQL condition that joins all of the above: the member may decide now. */
export const MAY_DECIDE = `(a.status = 'pending' and m.status = 'active' and ${IN_TIER} and ${NOT_OWN} and not ${HAS_DECIDED} and not ${TEAM_USED})`

/** A user's right to decide on an approval, by condition. */
export interface Standing {
  readonly inTier: boolean
  readonly notOwn: boolean
  readonly hasDecided: boolean
  readonly teamUsed: boolean
}

/**
 * Reads a user's right to decide on an approval; null when the user is not an active member of the approval's customer.
 */
export async function standingOf(
  client: TransactionClient,
  approvalId: string,
  userId: string,
): Promise<Standing | null> {
  const {
    rows: [row],
  } = await client.query<{ in_tier: boolean; not_own: boolean; has_decided: boolean; team_used: boolean }>({
    name: 'approval_standing',
    text: `select ${IN_TIER} as in_tier, ${NOT_OWN} as not_own, ${HAS_DECIDED} as has_decided, ${TEAM_USED} as team_used
      from approval a join membership m on m.tenant_id = a.customer_id and m.user_id = $2 and m.status = 'active' where a.id = $1`,
    values: [approvalId, userId],
  })
  return row === undefined
    ? null
    : { inTier: row.in_tier, notOwn: row.not_own, hasDecided: row.has_decided, teamUsed: row.team_used }
}

/**
 * Reads the approvals of the current round in the order in which they were given, and whether each approver could still
 * give it.
 */
export async function givenApprovals(client: TransactionClient, approvalId: string): Promise<readonly GivenApproval[]> {
  const { rows } = await client.query<{ id: string; stands: boolean; team_ids: string[] }>({
    name: 'given_approvals',
    text: `select d.id, d.step_up_method is null or coalesce(${stands('m')}, false) as stands,
        array(select tm.team_id::text from team_member tm where tm.membership_id = m.id) as team_ids
      from approval a join approval_decision d on d.approval_id = a.id and d.round = a.round and d.decision = 'approved'
        left join membership m on m.tenant_id = a.customer_id and m.user_id = d.user_id
      where a.id = $1 order by d.id`,
    values: [approvalId],
  })
  return rows.map(({ id, stands, team_ids: teamIds }) => ({ decisionId: id, stands, teamIds }))
}

/** Records which approvals of the current round count. */
export async function noteCounted(
  client: TransactionClient,
  approval: ApprovalRecord,
  decisionIds: readonly string[],
): Promise<void> {
  await client.query({
    name: 'approvals_counted',
    values: [approval.id, decisionIds, approval.round],
    text: `update approval_decision set counted = (id = any($2::uuid[])) where approval_id = $1 and round = $3 and decision = 'approved' and counted <> (id = any($2::uuid[]))`,
  })
}

/** Adds users or keys to the requesters of a locked approval, who are all that shaped its terms. */
export async function addRequesters(
  client: TransactionClient,
  approval: ApprovalRecord,
  ids: readonly string[],
): Promise<ApprovalRecord> {
  const requesters = requestersOf(approval.requesters, ids)
  if (requesters.length === approval.requesters.length) return approval
  await client.query({
    name: 'approval_requesters',
    text: 'update approval set requesters = $2 where id = $1',
    values: [approval.id, JSON.stringify(requesters)],
  })
  return { ...approval, requesters }
}

/**
 * Records a change of the subject of a locked approval. When the change restarts the approvals, earlier ones do not
 * count, and the users who may decide are notified again.
 */
export async function noteSubjectChange(
  { client, now }: Pick<ApprovalTx, 'client' | 'now'>,
  approval: ApprovalRecord,
  change: SubjectChange,
): Promise<void> {
  const changes = [...approval.subjectChanges, change].slice(-SUBJECT_CHANGES_MAX)
  await client.query({
    name: 'approval_subject_change',
    values: [approval.id, JSON.stringify(changes), change.restarted, timestamp(now)],
    text: `update approval set subject_changes = $2, version = version + 1, round = case when $3 then round + 1 else round end,
      received = case when $3 then 0 else received end, announced_at = case when $3 then null else announced_at end,
      wake_at = case when $3 then $4::timestamptz else wake_at end where id = $1`,
  })
  if (!change.restarted) return
  await client.query({
    name: 'approvals_void',
    text: 'update approval_decision set counted = false where approval_id = $1 and counted',
    values: [approval.id],
  })
}

/** Reads the users who may decide on an approval now, with their e-mail addresses. */
export async function approversOf(
  client: TransactionClient,
  approvalId: string,
): Promise<readonly { readonly userId: string; readonly email: string }[]> {
  const { rows } = await client.query<{ user_id: string; email: string }>({
    name: 'approval_approvers',
    text: `select m.user_id, u.email from approval a join membership m on m.tenant_id = a.customer_id join platform_user u on u.id = m.user_id
      where a.id = $1 and ${MAY_DECIDE} order by m.id`,
    values: [approvalId],
  })
  return rows.map(({ user_id: userId, email }) => ({ userId, email }))
}

// ── Rows ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

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
  readonly stepUpMethod: string | null
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

// ── Due approvals ─────────────────────────────────────────────────────────────────────────────────────────────────────

const DUE_APPROVALS = `select id, shard from approval where status = 'pending' and wake_at <= $1::timestamptz
  and ($2::smallint[] is null or shard = any($2)) order by wake_at limit $3`

/**
 * Reads the pending approvals of these shards (null: all) that are due at `now` (epoch milliseconds), the longest due first,
 * `max` at most, as ids.
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

/** Reads the user who made the last decision on an approval; null while there is none. @throws what the driver throws */
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

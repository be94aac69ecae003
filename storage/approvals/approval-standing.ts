/** The right to decide an approval: the tier, the requesters, and the decisions so far. */
import { APPROVER_ROLES } from '../../lib/approvals/policy.ts'
import { SUBJECT_CHANGES_MAX, type ApprovalRecord, type SubjectChange } from '../../lib/approvals/approval.ts'
import { requestersOf, type GivenApproval } from '../../lib/approvals/requesters.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { TransactionClient } from '../db/transaction.ts'
import type { ApprovalTx } from './approvals.ts'

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

/**
 * Compliance holds as rows: opened by the commit together with their subject, decided under their lock. Locks are taken
 * in one order: holds, then balances, then payments.
 *
 * Written by hand: the commit of payments opens these rows, and a decision locks them in one order with balances.
 */
import type {
  ComplianceDecision,
  ComplianceHoldKind,
  ComplianceHoldStatus,
  HeldSubject,
} from '../../lib/compliance/hold.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { plainArray, plainArrayOrNull } from '../db/array-literal.ts'
import type { Queries, TransactionClient } from '../db/transaction.ts'

/** The decision that the first of two staff members proposes. */
export interface HoldProposal {
  readonly decision: ComplianceDecision
  readonly reason: string
  readonly freezeFunds: boolean
  readonly by: string
  readonly byName: string
  /** RFC 3339. */
  readonly at: string
}

/** A hold with the fields that a decision needs. */
export interface ComplianceHoldRecord {
  readonly id: string
  readonly kind: ComplianceHoldKind
  readonly status: ComplianceHoldStatus
  readonly subjectType: HeldSubject
  readonly subjectId: string
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly sandboxDecision: ComplianceDecision | null
  readonly proposal: HoldProposal | null
}

/** Locks a hold until the transaction ends; null when it does not exist. */
export async function lockComplianceHold(client: TransactionClient, id: string): Promise<ComplianceHoldRecord | null> {
  const {
    rows: [row],
  } = await client.query<{
    id: string
    kind: ComplianceHoldKind
    status: ComplianceHoldStatus
    subject_type: HeldSubject
    subject_id: string
    customer_id: string
    operator_id: string
    shard: number
    sandbox_decision: ComplianceDecision | null
    proposal: string | null
  }>({
    name: 'lock_compliance_hold',
    values: [id],
    text: `select id, kind, status, subject_type, subject_id, customer_id, operator_id, shard, sandbox_decision, proposal from compliance_hold where id = $1 for update`,
  })
  return row === undefined
    ? null
    : {
        id: row.id,
        kind: row.kind,
        status: row.status,
        subjectType: row.subject_type,
        subjectId: row.subject_id,
        customerId: row.customer_id,
        operatorId: row.operator_id,
        shard: row.shard,
        sandboxDecision: row.sandbox_decision,
        proposal: row.proposal === null ? null : (JSON.parse(row.proposal) as HoldProposal),
      }
}

/**
 * Records the proposal of the first of two staff members, in place of an earlier one. The first to act becomes the
 * hold's assignee.
 */
export async function proposeDecision(client: TransactionClient, id: string, proposal: HoldProposal): Promise<void> {
  await client.query({
    name: 'propose_hold_decision',
    values: [id, JSON.stringify(proposal), proposal.by, proposal.at],
    text: 'update compliance_hold set proposal = $2, assignee = coalesce(assignee, $3), updated_at = $4, version = version + 1 where id = $1',
  })
}

/** Ends a hold. The caller changes the hold's subject. */
export async function decideComplianceHold(
  client: TransactionClient,
  id: string,
  end: {
    readonly decision: ComplianceDecision
    readonly reason: string
    readonly freezeFunds: boolean
    readonly by: { readonly id: string; readonly name: string }
    readonly now: number
  },
): Promise<void> {
  await client.query({
    name: 'decide_compliance_hold',
    values: [id, end.decision, end.reason, end.freezeFunds, end.by.id, end.by.name, timestamp(end.now)],
    text: `update compliance_hold set status = $2, reason = $3, freeze_funds = $4, decided_by = $5, decided_by_name = $6, decided_at = $7, updated_at = $7,
      assignee = coalesce(assignee, $5), version = version + 1 where id = $1`,
  })
}

/** Maximum number of notes of one hold; all of them are read with the hold. */
export const NOTES_MAX = 200

/** Adds a staff member's note to a locked hold; false when the hold has the maximum number of notes. */
export async function addComplianceNote(
  client: TransactionClient,
  note: {
    readonly id: string
    readonly holdId: string
    readonly author: { readonly id: string; readonly name: string }
    readonly text: string
    readonly now: number
  },
): Promise<boolean> {
  const { author, now } = note
  const { rowCount } = await client.query({
    name: 'add_compliance_note',
    values: [note.id, note.holdId, author.id, author.name, note.text, timestamp(now), NOTES_MAX],
    text: `insert into compliance_note (id, hold_id, author_id, author_name, text, created_at)
      select $1, $2, $3, $4, $5, $6 where (select count(*) from compliance_note where hold_id = $2) < $7`,
  })
  if (rowCount === 0) return false
  await client.query({
    name: 'touch_compliance_hold',
    values: [note.holdId, author.id, timestamp(now)],
    text: 'update compliance_hold set assignee = coalesce(assignee, $2), updated_at = $3, version = version + 1 where id = $1',
  })
  return true
}

const DUE_HOLDS = `select id from compliance_hold where status = 'open' and wake_at is not null and wake_at <= $1::timestamptz
  and ($2::smallint[] is null or shard = any($2)) order by wake_at limit $3`

/**
 * Reads the open holds of these shards (null: all) that the sandbox decides at `now` (epoch milliseconds), the longest
 * due first, `max` at most, as ids.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function dueComplianceHolds(
  database: Queries,
  { now, owned, max }: { readonly now: number; readonly owned: readonly number[] | null; readonly max: number },
): Promise<readonly string[]> {
  const rows = await database.query<[string]>({
    name: 'due_compliance_holds',
    text: DUE_HOLDS,
    values: [timestamp(now), plainArrayOrNull(owned), max],
  })
  return rows.map(([id]) => id)
}

/**
 * Reads which of these subjects staff have released from outbound screening, by id. @throws DatabaseUnavailable, and
 * what the driver throws
 */
export async function releasedSubjects(database: Queries, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await database.query<[string]>({
    name: 'gate_released',
    text: `select subject_id from compliance_hold where subject_id = any($1::uuid[]) and kind = 'outbound_screening' and status = 'released'`,
    values: [plainArray(ids)],
  })
  return new Set(rows.map(([id]) => id))
}

/**
 * The differences that a reconciliation left: their decisions, and the statuses of those decisions.
 *
 * Written by hand: a statement writes the items of a whole day.
 */
import type { SourceObject } from '../../lib/ledger/posting.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { BreakKind, BreakOutcome, BreakStatus } from '../../lib/reconciliation/item.ts'
import type { Direction } from '../../lib/reconciliation/statement.ts'
import type { Database } from '../db/database.ts'
import type { TransactionClient } from '../db/transaction.ts'
import type { TakenReconciliation } from './reconciliations.ts'

/** The object that corrections of a reconciliation name as their cause. */
export const BREAK_SOURCE = 'reconciliation_break' as const satisfies SourceObject

/** The outcome that the first of two staff members proposes. */
export interface BreakProposal {
  readonly outcome: BreakOutcome
  readonly evidence: string
  readonly by: string
  readonly byName: string
  /** RFC 3339. */
  readonly at: string
}

export interface ItemRecord {
  readonly id: string
  readonly operatorId: string
  readonly connectionId: string
  readonly currency: string
  readonly kind: BreakKind
  readonly status: BreakStatus
  readonly direction: Direction
  readonly reference: string | null
  readonly ourAmount: bigint | null
  readonly partnerAmount: bigint | null
  readonly bankRef: string | null
  readonly text: string | null
  readonly foundOn: string
  readonly proposal: BreakProposal | null
}

type ItemRow = Record<
  'id' | 'operator_id' | 'connection_id' | 'currency' | 'kind' | 'status' | 'direction' | 'found_on',
  string
> &
  Record<'reference' | 'our_amount' | 'partner_amount' | 'bank_ref' | 'text' | 'proposal', string | null>
const ITEM_COLUMNS =
  'id, operator_id, connection_id, currency, kind, status, direction, reference, our_amount, partner_amount, bank_ref, text, found_on::text, proposal'

function recordOf(row: ItemRow): ItemRecord {
  const amount = (text: string | null) => (text === null ? null : BigInt(text))
  return {
    id: row.id,
    operatorId: row.operator_id,
    connectionId: row.connection_id,
    currency: row.currency,
    kind: row.kind as BreakKind,
    status: row.status as BreakStatus,
    direction: row.direction as Direction,
    reference: row.reference,
    ourAmount: amount(row.our_amount),
    partnerAmount: amount(row.partner_amount),
    bankRef: row.bank_ref,
    text: row.text,
    foundOn: row.found_on,
    proposal: row.proposal === null ? null : (JSON.parse(row.proposal) as BreakProposal),
  }
}

/** Locks an item until the transaction ends; null when it does not exist. */
export async function lockItem(client: TransactionClient, id: string): Promise<ItemRecord | null> {
  const {
    rows: [row],
  } = await client.query<ItemRow>({
    name: 'lock_item',
    values: [id],
    text: `select ${ITEM_COLUMNS} from reconciliation_item where id = $1 for update`,
  })
  return row === undefined ? null : recordOf(row)
}

/** Finds breaks that only the partner's statement has, and that are not in suspense yet. */
export async function unbookedBreaks(
  database: Database,
  { connectionId, currency }: TakenReconciliation,
): Promise<readonly string[]> {
  const rows = await database.query<[string]>({
    name: 'unbooked_breaks',
    values: [connectionId, currency],
    text: `select id from reconciliation_item where connection_id = $1 and currency = $2 and cleared_on is null and status = 'open' and kind in ('missing_with_us', 'duplicate') order by id`,
  })
  return rows.map(([id]) => id)
}

/** Finds payments with an unknown outcome that the partner's statement shows as paid, with the partner's line. */
export async function exceptionsOnStatement(
  database: Database,
  { connectionId, currency }: TakenReconciliation,
): Promise<readonly { readonly paymentId: string; readonly shard: number; readonly itemId: string }[]> {
  const rows = await database.query<[string, number, string]>({
    name: 'exceptions_on_statement',
    values: [connectionId, currency],
    text: `select p.id, p.shard, i.id from reconciliation_item i join payment p on p.id = i.reference and p.connection_id = i.connection_id
      where i.connection_id = $1 and i.currency = $2 and i.cleared_on is null and i.kind = 'missing_with_us' and i.direction = 'DBIT' and p.status = 'exception' and p.amount = i.partner_amount`,
  })
  return rows.map(([paymentId, shard, itemId]) => ({ paymentId, shard, itemId }))
}

/** Marks a break as in suspense; `suspenseId` is the incoming payment it became, null for a debit from the account. */
export async function noteSuspense(
  client: TransactionClient,
  id: string,
  suspenseId: string | null,
  now: number,
): Promise<void> {
  await client.query({
    name: 'note_suspense',
    values: [id, suspenseId, timestamp(now)],
    text: `update reconciliation_item set status = 'in_suspense', suspense_id = $2, updated_at = $3, version = version + 1 where id = $1`,
  })
}

/** Whether an incoming payment of this id exists, of any customer. */
export async function incomingExists(client: TransactionClient, id: string): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'incoming_exists',
    values: [id],
    text: 'select from incoming_payment where id = $1',
  })
  return rowCount === 1
}

export async function proposeOutcome(client: TransactionClient, id: string, proposal: BreakProposal): Promise<void> {
  await client.query({
    name: 'propose_outcome',
    values: [id, JSON.stringify(proposal), proposal.at],
    text: 'update reconciliation_item set proposal = $2, updated_at = $3, version = version + 1 where id = $1',
  })
}

export async function noteOutcome(
  client: TransactionClient,
  id: string,
  {
    outcome,
    evidence,
    by,
    now,
  }: {
    readonly outcome: BreakOutcome
    readonly evidence: string
    readonly by: { readonly id: string; readonly name: string }
    readonly now: number
  },
): Promise<void> {
  await client.query({
    name: 'note_outcome',
    values: [id, outcome, evidence, by.id, by.name, timestamp(now)],
    text: `update reconciliation_item set status = 'resolved', outcome = $2, evidence = $3, resolved_by = $4, resolved_by_name = $5, resolved_at = $6, updated_at = $6, version = version + 1 where id = $1`,
  })
}

/** Counts the breaks of all operators that wait for staff. */
export async function countBreaks(database: Database): Promise<number> {
  const [row] = await database.query<[string]>({
    name: 'count_breaks',
    values: [],
    text: `select count(*) from reconciliation_item where status in ('open', 'in_suspense')`,
  })
  return Number(row?.[0] ?? 0)
}

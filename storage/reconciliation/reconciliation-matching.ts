/**
 * Matches the lines of a statement with the movements of the nostro account, in SQL over a whole day, so that a day of
 * a million lines never is in a process's memory.
 *
 * A line of the statement and a movement of the nostro account match when they have the same reference (a payment, a
 * credit, an exchange) and the same direction; where several do, they match in the order of their time.
 */
import { DAY_MS, timestamp } from '../../lib/base/clock.ts'
import type { TransactionClient } from '../db/transaction.ts'
import type { TakenReconciliation } from './reconciliations.ts'
import { BREAK_SOURCE } from './reconciliation-items.ts'

/** An item found today is a timing difference; after this many days it is a break. */
const TIMING_DAYS = 1

/** SQL of the movements of the nostro account within a time: the index by time narrows the scan to the day. */
const MOVEMENTS = (account: string, from: string, before: string): string => `
  select p.entry_id, p.ordinal, p.source_object, p.source_id, p.rule, p.amount, case when p.debit_account = ${account} then 'CRDT' else 'DBIT' end as direction, p.booked_at, p.description
  from posting p where p.booked_at >= ${from} and p.booked_at < ${before} and ${account} in (p.debit_account, p.credit_account)`

/** SQL condition: a movement is a correction. Corrections name the item they clear, and are not matched. */
const IS_CORRECTION = `(m.rule in ('L93', 'L97') or m.source_object = '${BREAK_SOURCE}')`

const MATCH = `with
  entered as materialized (${MOVEMENTS('$4::uuid', '$5::timestamptz', '$6::timestamptz')}),
  moved as materialized (
    select * from entered where source_object <> 'collection'
    union all
    -- The bank takes a return with its compensation as one amount, of which two entries tell.
    select min(entry_id::text)::uuid, min(ordinal), source_object, source_id, max(rule), sum(amount)::bigint, direction, booked_at, min(description)
    from entered where source_object = 'collection' group by source_object, source_id, direction, booked_at, case direction when 'CRDT' then entry_id end),
  waiting as materialized (select * from reconciliation_item where connection_id = $2 and currency = $3 and cleared_on is null for update),
  theirs as (
    select t.*, row_number() over (partition by reference, direction order by item_id is null, place) as nth from (
      select id as item_id, reference, direction, partner_amount as amount, bank_ref, text, 0 as place from waiting where kind in ('missing_with_us', 'duplicate') and status <> 'in_suspense'
      union all
      select null, coalesce(reference, uuidv7()), direction, amount, bank_ref, text, ordinal from bank_statement_entry where reconciliation_id = $1) t),
  ours as (
    select o.*, row_number() over (partition by reference, direction order by item_id is null, booked_at, entry_id, ordinal) as nth from (
      select id as item_id, reference, direction, our_amount as amount, source_object, entry_id, 0 as ordinal, '-infinity'::timestamptz as booked_at, text from waiting where kind = 'missing_with_partner'
      union all
      select null, source_id, direction, amount, source_object, entry_id, ordinal, booked_at, description from moved m where not ${IS_CORRECTION}) o),
  pairs as materialized (
    select coalesce(t.reference, o.reference) as reference, coalesce(t.direction, o.direction) as direction, t.amount as theirs, o.amount as ours, t.item_id as their_item, o.item_id as our_item,
      t.reference is not null as has_theirs, o.reference is not null as has_ours, t.bank_ref, coalesce(o.text, t.text) as text, o.source_object, o.entry_id, t.nth
    from theirs t full join ours o on o.reference = t.reference and o.direction = t.direction and o.nth = t.nth),
  cleared as (
    update reconciliation_item i set cleared_on = $7::date, status = case when i.status = 'resolved' then i.status else 'matched' end, updated_at = $8, version = version + 1
    from pairs p where p.has_theirs and p.has_ours and i.id in (p.their_item, p.our_item) returning i.id),
  made as (
    insert into reconciliation_item (id, operator_id, connection_id, currency, reconciliation_id, kind, status, direction, reference, our_amount, partner_amount, source_object, entry_id,
      bank_ref, text, found_on, created_at, updated_at)
    select uuidv7($8::timestamptz - now()), $9::uuid, $2, $3, $1, k.kind, case when k.kind in ('amount_differs', 'duplicate') then 'open' else 'timing' end, p.direction, p.reference, p.ours, p.theirs,
      p.source_object, p.entry_id, p.bank_ref, p.text, $7, $8, $8
    from pairs p cross join lateral (select case
      when p.has_theirs and p.has_ours then 'amount_differs' when p.has_ours then 'missing_with_partner'
      when p.nth > 1 or exists (select from bank_statement_entry e join reconciliation r on r.id = e.reconciliation_id
        where e.reference = p.reference and e.direction = p.direction and e.reconciliation_id <> $1 and r.connection_id = $2 and r.currency = $3 and r.day < $7) then 'duplicate'
      else 'missing_with_us' end as kind) k
    where case when p.has_theirs and p.has_ours then p.theirs <> p.ours else coalesce(p.their_item, p.our_item) is null end returning id),
  cash as (
    update cash_order o set from_booked_at = coalesce(o.from_booked_at, case when o.from_connection_id = $2 then $8::timestamptz end),
      to_booked_at = coalesce(o.to_booked_at, case when o.to_connection_id = $2 then $8::timestamptz end)
    from pairs p where p.has_theirs and p.has_ours and p.source_object in ('payment', 'cash_order') and o.id = p.reference
      and case when o.from_connection_id = $2 then o.from_booked_at else o.to_booked_at end is null),
  corrected as (
    update reconciliation_item i set cleared_on = $7, updated_at = $8, version = version + 1
    from moved m where ${IS_CORRECTION} and i.connection_id = $2 and i.currency = $3 and i.cleared_on is null
      and (i.suspense_id = m.source_id or (m.source_object = '${BREAK_SOURCE}' and i.id = m.source_id)) returning i.id)
  select (select count(*) from pairs where has_theirs and has_ours and theirs = ours) as matched,
    (select coalesce(sum(case direction when 'CRDT' then amount else -amount end), 0) from moved) as moved,
    (select count(*) from cleared) + (select count(*) from made) + (select count(*) from corrected) as touched`

/** The result of a match. Amounts are in minor units. */
export interface Matched {
  readonly matched: number
  /** The net movement of the nostro account within the day. */
  readonly moved: bigint
}

/** Compares a day, and writes the differences. The accounts of one connection are compared one after the other. */
export async function matchDay(
  client: TransactionClient,
  { id, operatorId, connectionId, currency, day }: TakenReconciliation,
  { nostro, now }: { readonly nostro: string; readonly now: number },
): Promise<Matched> {
  const from = Date.parse(`${day}T00:00:00Z`)
  const {
    rows: [row],
  } = await client.query<{ matched: string; moved: string }>({
    name: 'match_day',
    text: MATCH,
    values: [
      id,
      connectionId,
      currency,
      nostro,
      timestamp(from),
      timestamp(from + DAY_MS),
      day,
      timestamp(now),
      operatorId,
    ],
  })
  await client.query({
    name: 'age_items',
    values: [connectionId, currency, day, TIMING_DAYS, timestamp(now)],
    text: `update reconciliation_item set status = 'open', updated_at = $5, version = version + 1
      where connection_id = $1 and currency = $2 and status = 'timing' and cleared_on is null and found_on <= $3::date - $4::int`,
  })
  // A credit in suspense is explained once it is allocated to its owner, or returned.
  await client.query({
    name: 'explain_items',
    values: [connectionId, currency, timestamp(now)],
    text: `update reconciliation_item i set status = 'resolved', outcome = case p.status when 'returned' then 'returned' else 'allocated' end, resolved_by = p.decided_by, resolved_at = p.decided_at,
        evidence = p.decision_reason, updated_at = $3, version = i.version + 1
      from incoming_payment p where i.connection_id = $1 and i.currency = $2 and i.status = 'in_suspense' and p.id = i.suspense_id and p.status <> 'unallocated'`,
  })
  return { matched: Number(row!.matched), moved: BigInt(row!.moved) }
}

/**
 * Writes the bank's opening balance of an account's first day as an item, where the books begin with another amount: money
 * that was there before the service was. `difference` is the bank's amount less that of the books, minor units.
 */
export async function noteOpening(
  client: TransactionClient,
  { id, operatorId, connectionId, currency, day }: TakenReconciliation,
  { difference, now }: { readonly difference: bigint; readonly now: number },
): Promise<void> {
  await client.query({
    name: 'note_opening',
    values: [
      timestamp(now),
      operatorId,
      connectionId,
      currency,
      id,
      difference > 0n ? 'CRDT' : 'DBIT',
      difference > 0n ? difference : -difference,
      day,
    ],
    text: `insert into reconciliation_item (id, operator_id, connection_id, currency, reconciliation_id, kind, status, direction, reference, partner_amount, text, found_on, created_at, updated_at)
      values (uuidv7($1::timestamptz - now()), $2, $3, $4, $5, 'missing_with_us', 'timing', $6, uuidv7(), $7, 'Opening balance of the account', $8, $1, $1)`,
  })
}

/** Sums the nostro account of a connection up to an instant: a scan, made once for an account. */
export async function nostroBefore(client: TransactionClient, nostro: string, before: string): Promise<bigint> {
  const {
    rows: [row],
  } = await client.query<{ total: string }>({
    name: 'nostro_before',
    values: [nostro, `${before}T00:00:00Z`],
    text: `select coalesce(sum(case when debit_account = $1 then amount else -amount end), 0) as total from posting where $1 in (debit_account, credit_account) and booked_at < $2::timestamptz`,
  })
  return BigInt(row!.total)
}

/** Audit checks of the entries that the operator's treasury makes by hand. */
import { REVERSIBLE } from '../../lib/adjustments/adjustment.ts'
import type { Check } from './audit-check.ts'

/** SQL of the entries that posted adjustments name, with what was posted. */
const POSTED = `select j.id, j.kind, j.rule, j.amount, j.currency, j.entry_id as reverses, e.id as entry_id, p.ordinal, p.rule as posted_rule, p.amount as posted, p.currency as posted_currency,
    p.reversal_of, p.debit_account, p.credit_account
  from adjustment j cross join lateral unnest(j.entry_ids) e(id) left join posting p on p.entry_id = e.id where j.status = 'posted'`

export const ADJUSTMENT_CHECKS: readonly Check[] = [
  {
    name: 'adjustments',
    promise: 'an adjustment was asked for and decided by two people, and has entries when, and only when, it is posted',
    sql: `select id as adjustment_id, kind, status, requested_by, decided_by, entry_ids from adjustment
      where (status = 'pending_approval') <> (decided_by is null) or (decided_by is null) <> (decided_at is null) or decided_by = requested_by
        or (status = 'posted') <> (cardinality(entry_ids) > 0) or (status = 'posted' and amount is null)`,
  },
  {
    name: 'adjustments and their entries',
    promise: 'the entries of an adjustment exist, are of its rule and currency, and add up to its amount',
    sql: `select id as adjustment_id, kind, amount, coalesce(sum(posted), 0) as posted from (${POSTED}) l group by id, kind, amount
      having coalesce(sum(posted), 0) <> amount or bool_or(posted is null or posted_rule <> rule or posted_currency <> currency or reversal_of is distinct from reverses)`,
  },
  {
    name: 'entries by hand',
    promise: 'every entry of a rule that only people use was posted by an adjustment',
    sql: `select distinct p.entry_id, p.rule from posting p
      where p.rule = any($1::text[]) and not exists (select from adjustment j where j.status = 'posted' and p.entry_id = any(j.entry_ids))`,
    values: [REVERSIBLE],
  },
  {
    name: 'reversals by hand',
    promise: 'a reversal swaps the sides of each pair of its entry, and an entry is reversed once',
    sql: `select l.id as adjustment_id, l.entry_id, l.ordinal, o.entry_id as reversed from (${POSTED}) l
      left join posting o on o.entry_id = l.reverses and o.ordinal = l.ordinal and o.debit_account = l.credit_account and o.credit_account = l.debit_account and o.amount = l.posted
      where l.kind = 'reversal' and o.entry_id is null
      union all
      select (array_agg(id))[1], (array_agg(entry_id))[1], null, reverses from (${POSTED}) l where reverses is not null group by reverses having count(distinct entry_id) > 1`,
  },
]

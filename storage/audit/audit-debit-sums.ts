/** Audit checks of the sums of collections: by mandate, by customer, and of what came back. */
import type { Check } from './audit-check.ts'

/** SQL: entries with the keys of the accounts that they debit; a balance has none. */
const MONEY = 'posting p left join account d on d.id = p.debit_account'

/** SQL: the part of the R-transactions of a collection `c` that are returns after the settlement. */
const RETURNS = `from json_array_elements(c.r_transactions::json) r where r->>'amountMinor' is not null and r->>'type' not in ('reinstatement', 'reversal')`

export const DEBIT_SUM_CHECKS: readonly Check[] = [
  {
    name: 'sums of mandates',
    promise:
      'what the collections of a mandate have brought to balances, less what came back or was sent back, is what the ledger says, and no entry is of a collection that does not exist',
    sql: `select coalesce(c.mandate_id, p.mandate_id) as mandate_id, c.total, p.total as posted from (
        select mandate_id, sum(case when collected_at is null or status = 'reversed' then 0 else amount - least(amount, returned_amount) end) as total
        from collection group by 1) c
      full join (
        select m.mandate_id, sum(case p.rule when 'L51' then p.amount when 'L52' then case when d.key is null then -p.amount else 0 end
            when 'L54' then case when d.key is null then -p.amount else p.amount end else 0 end) as total
        from ${MONEY} left join collection m on m.id = p.source_id where p.source_object = 'collection' group by 1) p on p.mandate_id = c.mandate_id
      where coalesce(p.total, 0) <> coalesce(c.total, 0) or c.mandate_id is null`,
  },
  {
    name: 'exposure of customers',
    promise:
      'what a customer has out that can come back is the sum of its collections that wait, are in clearing or can be refunded',
    sql: `select coalesce(e.customer_id, c.customer_id) as customer_id, coalesce(e.currency, c.currency) as currency, e.amount, c.total from debit_exposure e
      full join (
        select customer_id, currency, sum(amount) as total from collection
        where status in ('pending', 'submitted', 'exception') or (status = 'collected' and exposed_until is not null) group by 1, 2) c
        on c.customer_id = e.customer_id and c.currency = e.currency
      where coalesce(e.amount, 0) <> coalesce(c.total, 0)`,
  },
  {
    name: 'what came back of collections',
    promise:
      'each return of a collection has its entry, of what the customer and the operator gave back, and its fee; each reversal has its entry',
    sql: `select c.id as collection_id, c.status, r.*, p.returns as entries, p.back, p.borne, p.fees as charged, p.reversals as reversal_entries from collection c
      cross join lateral (
        select count(*) as returns, coalesce(sum((r->>'amountMinor')::bigint), 0) as returned, coalesce(sum((r->>'feeMinor')::bigint), 0) as fees,
          (select count(*) from json_array_elements(c.r_transactions::json) v where v->>'type' = 'reversal') as reversals
        ${RETURNS}) r
      left join (
        select p.source_id, count(*) filter (where p.rule = 'L52' and d.key is null) as returns, coalesce(sum(p.amount) filter (where p.rule = 'L52' and d.key is null), 0) as back,
          coalesce(sum(p.amount) filter (where p.rule = 'L16'), 0) as borne, coalesce(sum(p.amount) filter (where p.rule = 'L53'), 0) as fees,
          count(*) filter (where p.rule = 'L54' and d.key is null) as reversals
        from ${MONEY} where p.source_object = 'collection' group by 1) p on p.source_id = c.id
      where r.returns <> coalesce(p.returns, 0) or r.returned <> coalesce(p.back, 0) + coalesce(p.borne, 0) or r.fees <> coalesce(p.fees, 0)
        or r.reversals <> coalesce(p.reversals, 0)`,
  },
]

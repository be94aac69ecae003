/** Audit checks of the cash that moves between two connections (L21). */
import type { Check } from './audit-check.ts'

/** Money that a bank takes in or pays out, with the connection of that bank: of customers, and of the operator itself. */
const SUBJECTS = `
  select 'payment' as object, id, customer_id, operator_id, currency, connection_id, paying_balance_id as balance_id from payment
  union all select 'incoming_payment', id, customer_id, operator_id, currency, connection_id, balance_id from incoming_payment
  union all select 'incoming_debit', id, customer_id, operator_id, currency, connection_id, balance_id from incoming_debit
  union all select 'collection', id, customer_id, operator_id, currency, connection_id, balance_id from collection
  union all select 'connection', k.id, k.operator_id, k.operator_id, c.currency, k.id, null from provider_connection k
    cross join (select distinct currency from cash_order where subject_object = 'connection') c`

/** The rules by which the money of a balance comes in at its bank, leaves there, or comes back. */
const CROSSING = `('L01', 'L04', 'L06', 'L13', 'L51', 'L52', 'L54', 'L60', 'L61', 'L80')`

/**
 * Clocks of two nodes may differ by this much, so whether money came just before a balance moved or just after it cannot
 * be told.
 */
const APART = `interval '5 seconds'`

export const CASH_CHECKS: readonly Check[] = [
  {
    name: 'cash between connections',
    promise:
      'each order of cash has its one entry (L21), from the one connection to the other, and belongs to money that crossed them; a payment by the rail internal moves its amount once',
    sql: `with subject as materialized (select s.* from (${SUBJECTS}) s where s.id in (select subject_id from cash_order))
      select coalesce(o.id, l.source_id) as cash_order_id, o.subject_object, o.subject_id, o.amount, o.from_connection_id, o.to_connection_id, l.amount as posted,
        l.paid_by, l.paid_to, i.connection_id as arrived_at
      from cash_order o
      full join (
        select l.source_object, l.source_id, l.occurrence, l.amount, l.currency, l.customer_id, c.connection_id as paid_by, d.connection_id as paid_to from posting l
        join account d on d.id = l.debit_account and d.key = 'nostro' join account c on c.id = l.credit_account and c.key = 'nostro'
        where l.source_object in ('payment', 'cash_order') and l.rule = 'L21') l on l.source_id = o.id
      left join subject s on s.object = o.subject_object and s.id = o.subject_id and s.currency = o.currency
      left join payment p on p.id = o.id left join incoming_payment i on i.id = marked_id(o.id, 1)
      where not coalesce(l.occurrence = 1 and l.amount = o.amount and l.currency = o.currency and l.customer_id = o.customer_id
        and o.from_connection_id <> o.to_connection_id and l.paid_by = o.from_connection_id and l.paid_to = o.to_connection_id
        and s.operator_id = o.operator_id and s.customer_id = o.customer_id and s.currency = o.currency
        and case when o.id = o.subject_id
          then l.source_object = 'payment' and p.rail = 'internal' and p.status = 'completed' and o.amount = p.amount and i.connection_id = o.to_connection_id
          else l.source_object = 'cash_order' and s.connection_id in (o.from_connection_id, o.to_connection_id) end, false)`,
  },
  {
    name: 'money and its cash',
    promise:
      'the cash of money that came in or left at another connection than that of its balance followed, at the time, to the one or the other, and no other cash did',
    sql: `with place as materialized (
        select balance_id, from_connection_id as connection_id,
          coalesce(lag(moved_at) over (partition by balance_id order by moved_at, id), '-infinity') as since, moved_at as until from connection_move
        union all
        select b.id, b.connection_id, coalesce(m.moved_at, '-infinity'), 'infinity'
        from balance b left join (select balance_id, max(moved_at) as moved_at from connection_move group by 1) m on m.balance_id = b.id),
      subject as materialized (
        select s.* from (${SUBJECTS}) s join balance b on b.id = s.balance_id
        where b.connection_id <> s.connection_id or b.id in (select balance_id from connection_move) or s.id in (select subject_id from cash_order where id <> subject_id)),
      owed as (
        select s.id, w.connection_id as home, sum(case when p.credit_account = s.balance_id then p.amount else -p.amount end) as amount
        from posting p join subject s on s.id = p.source_id join place w on w.balance_id = s.balance_id and p.booked_at >= w.since and p.booked_at < w.until
        where w.connection_id <> s.connection_id and p.ordinal = 0 and case when p.rule in ${CROSSING}
          then s.balance_id in (p.debit_account, p.credit_account) else p.rule = 'L11' and p.source_object = 'payment' end
        group by 1, 2),
      paid as (
        select s.id, case o.from_connection_id when s.connection_id then o.to_connection_id else o.from_connection_id end as home,
          sum(case o.from_connection_id when s.connection_id then o.amount else -o.amount end) as amount
        from cash_order o join subject s on s.id = o.subject_id where o.id <> o.subject_id group by 1, 2)
      select coalesce(owed.id, paid.id) as subject_id, coalesce(owed.home, paid.home) as connection_id, owed.amount as owed, paid.amount as paid
      from owed full join paid on paid.id = owed.id and paid.home = owed.home
      where coalesce(owed.amount, 0) <> coalesce(paid.amount, 0)
        and not exists (select from subject s join connection_move m on m.balance_id = s.balance_id
          join posting p on p.source_id = s.id and p.booked_at between m.moved_at - ${APART} and m.moved_at + ${APART} where s.id = coalesce(owed.id, paid.id))`,
  },
]

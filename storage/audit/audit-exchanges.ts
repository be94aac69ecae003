/** Audit checks of exchanges and transfers: their money, and the orders at the partner. */
import type { Check } from './audit-check.ts'

export const EXCHANGE_CHECKS: readonly Check[] = [
  {
    name: 'exchanges and their money',
    promise:
      'what an exchange has moved is what its status says, and clearing is zero, in each currency, once it has ended',
    sql: `select e.id as exchange_id, e.kind, e.status, e.sell_amount, e.buy_amount, p.booked, p.given_back, p.received, p.clearing_sold, p.clearing_bought from exchange e
      left join (
        select p.source_id, p.source_object,
          coalesce(sum(p.amount) filter (where c.key = 'fx_clearing' and p.rule in ('L30', 'L43', 'L81')), 0) as booked,
          coalesce(sum(p.amount) filter (where d.key = 'fx_clearing' and p.rule = 'L35'), 0) as given_back,
          coalesce(sum(p.amount) filter (where d.key = 'fx_clearing' and p.rule = 'L33'), 0) as received,
          coalesce(sum(case 'fx_clearing' when c.key then p.amount when d.key then -p.amount end) filter (where p.currency = x.sell_currency), 0) as clearing_sold,
          coalesce(sum(case 'fx_clearing' when c.key then p.amount when d.key then -p.amount end) filter (where p.currency = x.buy_currency), 0) as clearing_bought
        from posting p join exchange x on x.id = p.source_id left join account d on d.id = p.debit_account left join account c on c.id = p.credit_account
        where p.source_object = 'exchange' group by 1, 2) p on p.source_id = e.id
      where coalesce(p.booked, 0) <> case when e.kind in ('spot', 'drawdown') and e.status in ('processing', 'exception', 'completed', 'failed') then e.sell_amount else 0 end
        or coalesce(p.given_back, 0) <> case when e.kind in ('spot', 'drawdown') and e.status = 'failed' then e.sell_amount else 0 end
        or coalesce(p.received, 0) <> case when e.kind in ('spot', 'drawdown') and e.status = 'completed' then e.buy_amount else 0 end
        or coalesce(p.clearing_sold, 0) <> case when e.kind in ('spot', 'drawdown') and e.status in ('processing', 'exception') then e.sell_amount else 0 end
        or coalesce(p.clearing_bought, 0) <> 0`,
  },
  {
    name: 'exchanges and the partner',
    promise:
      "an exchange is the partner's to settle exactly while nobody knows its end, and a quote was used once, by what it says",
    sql: `select coalesce(e.id, o.exchange_id) as exchange_id, e.status from (select * from exchange where kind in ('spot', 'drawdown') and status in ('processing', 'exception')) e
      full join fx_order o on o.exchange_id = e.id where e.id is null or o.exchange_id is null
      union all
      select e.id, e.status from exchange e join quote q on q.id = e.quote_id
      where q.customer_id <> e.customer_id or q.kind <> e.kind or q.sell_currency <> e.sell_currency or q.buy_currency <> e.buy_currency
        or (e.approval_id is null and (q.sell_amount <> e.sell_amount or q.buy_amount <> e.buy_amount or q.rate <> e.rate))`,
  },
  {
    name: 'transfers',
    promise:
      'a completed transfer is posted exactly once by L20, from its one balance to its other; no other one is posted',
    // The primary key of postings prevents a second L20, unless it has another number; any other one is found as a row.
    sql: `select t.id as transfer_id, t.status, t.amount, p.entry_id, p.rule, p.occurrence, p.ordinal, p.amount as posted from transfer t
      left join posting p on p.source_id = t.id and p.source_object = 'transfer'
      where case when t.status = 'completed'
        then p.source_id is null or p.occurrence <> 1 or p.ordinal <> 0 or p.amount <> t.amount
          or not case p.rule when 'L20' then p.debit_account = t.from_balance_id
              and (p.credit_account = t.to_balance_id or exists (select from account a where a.id = p.credit_account and a.key = 'unallocated')) else p.rule = 'L21' end
        else p.source_id is not null end`,
  },
  {
    name: 'transfers by the partner',
    promise:
      'the amount is held until the partner has answered, then captured or released; the cash leg is posted exactly where two connections took part',
    sql: `select t.id as transfer_id, t.status, t.amount, h.status as hold_status, h.amount as held, o.due_at, p.l20, p.l21 from transfer t
      left join transfer_order o on o.transfer_id = t.id left join hold h on h.id = o.hold_id
      left join (select source_id, count(*) filter (where rule = 'L20') as l20, count(*) filter (where rule = 'L21') as l21
          from posting where source_object = 'transfer' group by source_id) p on p.source_id = t.id
      where not coalesce(case when o.transfer_id is null then t.status = 'completed' and p.l20 = 1 and p.l21 = 0
        else h.subject_id in (t.id, h.id) and h.balance_id = t.from_balance_id and h.amount = t.amount and case t.status
          when 'on_hold' then h.status = 'active' and h.subject_type = 'payment_review' and o.due_at is null
          when 'completed' then h.status = 'captured' and h.captured_amount = t.amount and o.due_at is null and p.l20 = 1
            and p.l21 = (o.from_connection_id <> o.to_connection_id)::int
          when 'failed' then h.status = 'released' and o.due_at is null and t.failure is not null
          else h.status = 'active' and o.due_at is not null end end, false)`,
  },
]

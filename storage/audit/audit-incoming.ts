/** Audit checks of incoming money: its postings, suspense, reconciliation, recalls and funds requests. */
import { EVENTS_KEPT_FROM, type Check } from './audit-check.ts'

export const INCOMING_CHECKS: readonly Check[] = [
  {
    name: 'incoming payments',
    promise:
      'what came in is where its status says, was credited at most once and told of once, and what goes back is what was taken back',
    sql: `select i.id as incoming_payment_id, i.status, i.suspense, i.amount, i.returned_amount, m.*, e.received, e.returned from incoming_payment i
      left join (
        select case when back.id is null and p.rule = 'L20' then marked_id(p.source_id, 1) else coalesce(back.id, p.source_id) end as source_id,
          min(credit_account::text) filter (where rule in ('L01', 'L04', 'L06') or (rule = 'L20' and back.id is null)) as credited_to,
          sum(p.amount) filter (where rule in ('L01', 'L03', 'L05', 'L20', 'L97') or back.id is not null) as arrived,
          sum(p.amount) filter (where rule in ('L01', 'L04', 'L06') or (rule = 'L20' and back.id is null)) as credited,
          coalesce(sum(case when rule in ('L03', 'L97') or back.id is not null then p.amount when rule in ('L04', 'L08') then -p.amount end), 0) as unallocated,
          coalesce(sum(case rule when 'L05' then p.amount when 'L06' then -p.amount when 'L07' then -p.amount end), 0) as under_review,
          sum(p.amount) filter (where rule in ('L07', 'L08', 'L80')) as sent_back, sum(p.amount) filter (where rule = 'L11') as settled,
          -- A collection brings money as often as it comes again.
          count(*) filter (where occurrence <> 1 and (back.id is null or p.source_object <> 'collection')) as repeated
        -- What came back to a closed balance was posted by the rule that brought it back.
        from posting p left join (select b.id, b.origin_id, a.id as account_id from incoming_payment b join account a on a.key = 'unallocated' where b.origin_id is not null) back
          on back.origin_id = p.source_id and back.account_id = p.credit_account
        where p.source_object in ('incoming_payment', 'incoming_suspense') or back.id is not null
          or (p.source_object = 'payment' and p.rule = 'L20' and p.credit_sequence is not null) group by 1) m on m.source_id = i.id
      left join (
        select object_id, count(*) filter (where type = 'incoming_payment.received') as received, count(*) filter (where type = 'incoming_payment.returned') as returned
        from outbox where object = 'incoming_payment' and not sandbox group by object_id) e on e.object_id = i.id
      where not coalesce(m.arrived = i.amount and m.repeated = 0
        and m.unallocated = case i.status when 'unallocated' then i.amount else 0 end and (i.status = 'unallocated') = (i.suspense is not null and i.suspense = 'open')
        and m.under_review = case i.status when 'under_review' then i.amount else 0 end
        and case when i.credited_at is null then m.credited is null and coalesce(e.received, 0) = 0
          else m.credited = i.amount and m.credited_to = i.balance_id::text and (coalesce(e.received, 0) = 1 or (e.received is null and i.credited_at < ${EVENTS_KEPT_FROM})) end
        and (i.status = 'received') = (i.credited_at is not null and i.returned_amount is null) and (i.status = 'returned') = (i.returned_amount is not null)
        and (coalesce(e.returned, 0) = case when i.status = 'returned' and i.credited_at is not null then 1 else 0 end or (e.returned is null and i.credited_at < ${EVENTS_KEPT_FROM}))
        and m.sent_back is not distinct from i.returned_amount and (i.returned_amount is null) = (i.return_state is null)
        and m.settled is not distinct from case when i.return_state = 'settled' then i.returned_amount end, false)`,
  },
  {
    name: 'money that waits',
    promise: 'what is unallocated or under review is the sum of the incoming payments that are, for each account',
    sql: `select a.id as account_id, a.key, a.currency, coalesce(t.total, 0) as posted, coalesce(w.total, 0) as waiting from account a
      left join (
        select id, sum(change) as total from (
          select credit_account as id, amount as change from posting where credit_sequence is null
          union all
          select debit_account, -amount from posting where debit_sequence is null) side group by id) t on t.id = a.id
      left join lateral (
        select sum(i.amount) as total from incoming_payment i where i.operator_id = a.operator_id and i.currency = a.currency
          and case a.key when 'unallocated' then i.status = 'unallocated' and i.connection_id = a.connection_id
            else i.status = 'under_review' and i.customer_id = a.customer_id end) w on true
      where a.key in ('unallocated', 'review_held') and coalesce(t.total, 0) <> coalesce(w.total, 0)`,
  },
  {
    name: 'suspense of statements',
    promise:
      "nostro_suspense is the debits that only a statement has and nobody has explained, and every credit of a statement is somebody's or waits",
    sql: `select a.id as account_id, a.currency, coalesce(t.total, 0) as posted, coalesce(i.total, 0) as unexplained from account a
      left join (
        select id, sum(change) as total from (
          select debit_account as id, amount as change from posting where rule = 'L93' union all select credit_account, -amount from posting where rule = 'L93') side group by id) t on t.id = a.id
      left join (
        select connection_id, currency, sum(partner_amount) as total from reconciliation_item where status = 'in_suspense' and direction = 'DBIT' group by 1, 2) i
        on i.connection_id = a.connection_id and i.currency = a.currency
      where a.key = 'nostro_suspense' and coalesce(t.total, 0) <> coalesce(i.total, 0)
      union all
      select i.id, i.currency, i.partner_amount, p.amount from reconciliation_item i left join incoming_payment p on p.id = i.suspense_id
      where i.suspense_id is not null and (p.id is null or p.amount <> i.partner_amount)`,
  },
  {
    name: 'reconciliations',
    promise:
      'the last reconciliation of an account ended with what its nostro account had then, and its statement with its lines',
    sql: `select r.id as reconciliation_id, r.nostro_closing, n.total as posted, r.partner_closing, r.partner_opening + e.total as lines from (
        select distinct on (connection_id, currency) * from reconciliation where status in ('matched', 'breaks') order by connection_id, currency, day desc) r
      left join account a on a.connection_id = r.connection_id and a.currency = r.currency and a.key = 'nostro'
      cross join lateral (select coalesce(sum(case when p.debit_account = a.id then p.amount else -p.amount end), 0) as total from posting p
        where a.id in (p.debit_account, p.credit_account) and p.booked_at < (r.day + 1)::timestamp at time zone 'UTC') n
      cross join lateral (select coalesce(sum(case direction when 'CRDT' then amount else -amount end), 0) as total from bank_statement_entry where reconciliation_id = r.id) e
      where n.total <> r.nostro_closing or r.partner_opening + e.total <> r.partner_closing`,
  },
  {
    name: 'recalls and their holds',
    promise: 'money is set aside for a recall exactly while it is pending, and what was set aside is what goes back',
    sql: `select coalesce(h.subject_id, i.id) as incoming_payment_id, i.recall::json->>'status' as recall, h.id as hold_id, h.status as hold_status, h.amount, i.returned_amount
      from (select * from hold where subject_type = 'recall') h
      full join (select * from incoming_payment where recall_hold_id is not null) i on i.recall_hold_id = h.id
      where not coalesce(h.subject_id = i.id and h.balance_id = i.balance_id and h.amount::text = i.recall::json->>'amount'
        and case i.recall::json->>'status' when 'requested' then h.status = 'active' when 'accepted' then h.status = 'captured' and h.captured_amount = i.returned_amount
          else h.status = 'released' end, false)`,
  },
  {
    name: 'funds requests',
    promise:
      'a funds request was paid the arrivals that name it, which are on its balance, its status says so, and its last event says its status',
    sql: `select r.id as funds_request_id, r.status, r.amount, r.paid_amount, p.paid, p.wrong, e.status as told from funds_request r
      left join (select f.funds_request_id as id, sum(f.amount) as paid, count(*) filter (where (i.amount, i.balance_id, i.currency, i.funds_request_id)
            is distinct from (f.amount, q.balance_id, q.currency, f.funds_request_id)) as wrong
          from funds_request_payment f left join incoming_payment i on i.id = f.incoming_payment_id left join funds_request q on q.id = f.funds_request_id group by 1) p on p.id = r.id
      left join lateral (select o.status from outbox o where o.object_id = r.id and o.type = 'funds_request.status_changed' and not o.sandbox
          order by o.created_at desc, o.id desc limit 1) e on true
      where r.paid_amount <> coalesce(p.paid, 0) or p.wrong > 0 or coalesce(e.status, case when r.created_at >= ${EVENTS_KEPT_FROM} then 'open' else r.status end) <> r.status
        or not case r.status when 'open' then r.paid_amount = 0 when 'partially_paid' then r.paid_amount between 1 and r.amount - 1
          when 'paid' then r.paid_amount >= r.amount when 'declined' then r.paid_amount = 0 else r.paid_amount < r.amount end`,
  },
]

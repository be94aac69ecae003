/** Audit checks of payments: their money, charges, holds, and what they wait for. */
import { RULE_IDS, RULES } from '../../lib/ledger/postings.ts'
import { EVENTS_KEPT_FROM, type Check } from './audit-check.ts'

/** Statuses of payments under way. A payment on hold waits for staff, not for the partner, so it is not among them. */
const OPEN_STATUSES = ['processing', 'exception']
const HELD_STATUSES = ['processing', 'exception', 'on_hold', 'pending_approval']
/** Statuses of payments that have moved no money. */
const UNSUBMITTED_STATUSES = ['draft', 'pending_approval', 'scheduled', 'rejected', 'cancelled']

/** The rules with a line for the tax within a fee, in any of their variants. */
const TAXED_RULES = RULE_IDS.filter((id) =>
  [RULES[id], ...Object.values(RULES[id].variants ?? {})].some(({ debit, credit }) =>
    [...debit, ...credit].some(({ account }) => account === 'fee_tax'),
  ),
)

export const PAYMENT_CHECKS: readonly Check[] = [
  {
    name: 'payments and their money',
    promise: 'what is held and posted for a payment is what its status says',
    sql: `select p.id as payment_id, p.status, p.sent_at is not null as sent, p.amount + p.fee as total, h.status as hold_status,
        h.amount as held, h.captured_amount as captured, m.l10, m.l11, m.l12, m.l13, p.returned_amount
      from payment p
      left join hold h on h.id = p.hold_id
      left join (
        -- Within the platform one entry is both: the money has left, and has arrived.
        select source_id, coalesce(sum(amount) filter (where rule in ('L10', 'L20')), 0) as l10,
          coalesce(sum(amount) filter (where rule = 'L11' or (rule = 'L20' and credit_sequence is not null)), 0) as l11, coalesce(sum(amount) filter (where rule = 'L12'), 0) as l12,
          -- What came back to a balance that was closed waits for its owner.
          coalesce(sum(amount) filter (where rule in ('L13', 'L03')), 0) as l13
        from posting where source_object = 'payment' group by source_id) m on m.source_id = p.id
      cross join lateral (select coalesce(m.l10, 0) as sent, coalesce(m.l11, 0) as settled, coalesce(m.l12, 0) as given_back,
        coalesce(m.l13, 0) as returned,
        coalesce(h.status, 'none') as hold, p.amount + p.fee as total) is_
      where not coalesce(case
        when p.status = any($1::text[]) then is_.sent = 0 and is_.settled = 0 and is_.given_back = 0
          and case when p.status = 'pending_approval' and p.hold_id is not null then is_.hold = 'active' and h.amount = is_.total else is_.hold <> 'active' end
        -- What it pays is being bought.
        when p.status = 'processing' and p.sent_at is null and p.hold_id is null
          then is_.sent = 0 and is_.settled = 0 and is_.given_back = 0 and exists (select from exchange x where x.payment_id = p.id and x.status in ('processing', 'exception'))
        when p.status = 'on_hold' or (p.status = 'processing' and p.sent_at is null)
          then is_.hold = 'active' and h.amount = is_.total and is_.sent = 0 and is_.settled = 0 and is_.given_back = 0
        when p.status in ('processing', 'exception')
          then is_.hold = 'captured' and h.captured_amount = is_.total and is_.sent = is_.total and is_.settled = 0 and is_.given_back = 0
        when p.status in ('completed', 'returned')
          then is_.hold = 'captured' and is_.sent = is_.total and is_.settled = p.amount and is_.given_back = 0
        when p.status = 'failed' and is_.sent = 0 then is_.hold in ('released', 'expired', 'none') and is_.settled = 0 and is_.given_back = 0
        when p.status = 'failed' then is_.hold = 'captured' and is_.sent = is_.total and is_.given_back = is_.total and is_.settled = 0
        else false end
        and (p.status = 'returned') = (p.returned_amount is not null) and is_.returned = coalesce(p.returned_amount, 0), false)`,
    values: [UNSUBMITTED_STATUSES],
  },
  {
    name: 'payments within the platform',
    promise:
      "a payment by the rail internal that is completed is posted once by L20, from its balance to its payee's, and is its payee's incoming payment; nothing else is",
    sql: `select p.id as payment_id, p.rail, p.status, l.entries, l.amount as posted, l.debit_account, l.credit_account, i.id as incoming_payment_id, i.balance_id, i.amount as arrived
      from payment p
      left join (select source_id, count(*) as entries, min(occurrence) as occurrence, sum(amount) as amount, min(debit_account::text) as debit_account, min(credit_account::text) as credit_account
          from posting where source_object = 'payment' and rule = 'L20' and credit_sequence is not null group by source_id) l on l.source_id = p.id
      left join incoming_payment i on i.id = marked_id(p.id, 1)
      where (p.rail = 'internal' or l.source_id is not null or i.id is not null) and not case
        when p.rail = 'internal' and p.status = 'completed' then coalesce(l.entries = 1 and l.occurrence = 1 and l.amount = p.amount and l.debit_account = p.paying_balance_id::text
          and l.credit_account = i.balance_id::text and i.balance_id::text = p.details::jsonb->>'payeeBalanceId' and i.amount = p.amount and i.currency = p.currency
          and i.origin_id = p.id and i.operator_id = p.operator_id and i.rail = 'internal', false)
        else l.source_id is null and i.id is null and (p.rail is distinct from 'internal' or (p.sent_at is null and p.status not in ('exception', 'returned'))) end`,
  },
  {
    name: 'payments and their exchanges',
    promise:
      'an exchange that is made for a payment buys what it pays, on the balance that pays it, and ends before the payment goes on',
    sql: `select x.id as exchange_id, x.status, p.id as payment_id, p.status as payment_status from exchange x left join payment p on p.id = x.payment_id
      where x.payment_id is not null and (p.id is null or p.customer_id <> x.customer_id or p.amount <> x.buy_amount or p.currency <> x.buy_currency
        or p.source_balance_id <> x.sell_balance_id or p.paying_balance_id is distinct from x.buy_balance_id
        or p.details::jsonb#>>'{conversion,exchangeId}' is distinct from x.id::text or (p.details::jsonb#>>'{conversion,sellMinor}')::bigint <> x.sell_amount
        or not case
          when x.status = 'pending_approval' then p.status = 'pending_approval'
          when x.status in ('processing', 'exception') then p.hold_id is null and p.sent_at is null and p.status in ('processing', 'cancelled')
          -- What was bought for a balance that takes no money any more waits for its owner, and pays nothing.
          when x.status = 'completed' then p.hold_id is not null or p.status = 'cancelled' or (p.status = 'failed' and exists (select from incoming_payment i where i.origin_id = x.id))
          else p.sent_at is null and p.status in ('failed', 'rejected', 'cancelled') end)`,
  },
  {
    name: 'payments and the balance that pays',
    promise:
      'a payment is paid by the balance that it was made from, or by the one that its exchange buys for, in its own currency, and no other',
    sql: `select p.id as payment_id, p.status, p.source_balance_id, p.paying_balance_id, x.buy_balance_id, b.currency from payment p
      left join exchange x on x.payment_id = p.id left join balance b on b.id = p.paying_balance_id
      where p.paying_balance_id is distinct from coalesce(x.buy_balance_id, p.source_balance_id) or b.customer_id is distinct from p.customer_id
        or (p.status <> 'draft' and b.currency <> p.currency)
      union all
      select p.id, p.status, p.source_balance_id, p.paying_balance_id, null, null from payment p join posting l on l.source_id = p.id
      where l.source_object = 'payment' and p.paying_balance_id not in (l.debit_account, l.credit_account) and (l.debit_sequence is not null or l.credit_sequence is not null)`,
  },
  {
    name: 'charges of payments',
    promise:
      'what was agreed on when a payment was submitted is charged when it is confirmed and returned, and nothing else',
    sql: `select p.id as payment_id, p.status, m.refunded, m.returning, m.taken, m.passed_on from payment p
      left join (
        select source_id, coalesce(sum(amount) filter (where rule = 'L14'), 0) as refunded, coalesce(sum(amount) filter (where rule = 'L15'), 0) as returning,
          coalesce(sum(amount) filter (where rule = 'L16'), 0) as taken, coalesce(sum(amount) filter (where rule = 'L17'), 0) as passed_on
        from posting where source_object = 'payment' and rule in ('L14', 'L15', 'L16', 'L17') group by source_id) m on m.source_id = p.id
      cross join lateral (select case when p.details like '%"charges":%' then p.details::jsonb->'charges' end as terms) c
      cross join lateral (select p.status = 'returned' as is_returned, p.status in ('completed', 'returned') as is_settled,
        coalesce((c.terms->'partner'->>'amountMinor')::bigint, 0) as partner, coalesce((c.terms->'partner'->>'passedOn')::boolean, false) as to_sender) is_
      where (m.source_id is not null or c.terms is not null) and (
        coalesce(m.refunded, 0) <> case when is_.is_returned and coalesce((c.terms->>'feeRefundable')::boolean, false) then p.fee else 0 end
        or coalesce(m.returning, 0) <> case when is_.is_returned then coalesce((c.terms->>'return')::bigint, 0) else 0 end
        or coalesce(m.taken, 0) <> case when is_.is_settled and not is_.to_sender then is_.partner else 0 end
        or coalesce(m.passed_on, 0) <> case when is_.is_settled and is_.to_sender then 2 * is_.partner else 0 end)`,
  },
  {
    name: 'tax in fees',
    promise:
      'each entry of a payment that takes its fee or gives it back posts the tax agreed at its submission, and no other entry posts tax',
    sql: `select p.id as payment_id, p.status, e.rule, e.posted, is_.agreed from payment p
      join (
        select l.source_id, l.rule, l.entry_id, coalesce(sum(l.amount) filter (where a.id is not null), 0) as posted from posting l
        left join account a on a.key = 'fee_tax' and a.id in (l.debit_account, l.credit_account)
        where l.source_object = 'payment' and (a.id is not null or l.rule = any($1::text[])) group by 1, 2, 3) e on e.source_id = p.id
      cross join lateral (select case when p.details like '%"feeTax":%' then coalesce((p.details::jsonb#>>'{charges,feeTax}')::bigint, 0) else 0 end as agreed) is_
      where e.posted <> case when e.rule = any($1::text[]) then is_.agreed else 0 end
      union all
      select null, null, l.rule, l.amount, 0 from posting l join account a on a.key = 'fee_tax' and a.id in (l.debit_account, l.credit_account)
      where l.rule <> all($1::text[])`,
    values: [TAXED_RULES],
  },
  {
    name: 'money in transit',
    promise:
      'out_transit nets to zero for every payment that has ended, and holds its amount while it is with the partner',
    sql: `select p.id as payment_id, p.status, p.amount, t.net from payment p
      left join (
        select source_id, sum(change) as net from (
          select p.source_id, p.credit_account as id, p.amount as change from posting p where p.source_object = 'payment' and p.credit_sequence is null
          union all
          select p.source_id, p.debit_account, -p.amount from posting p where p.source_object = 'payment' and p.debit_sequence is null) side
        join account a on a.id = side.id and a.key = 'out_transit' group by source_id) t on t.source_id = p.id
      where coalesce(t.net, 0) <> case when p.status = any($1::text[]) and p.sent_at is not null then p.amount else 0 end`,
    values: [OPEN_STATUSES],
  },
  {
    name: 'holds and their payment',
    promise:
      'every active hold for a payment belongs to an open one that knows it; that of a review names nothing but itself',
    sql: `select h.id as hold_id, h.balance_id, h.amount, h.subject_id as payment_id, p.status
      from hold h left join payment p on p.hold_id = h.id and p.paying_balance_id = h.balance_id
        and h.subject_id = case h.subject_type when 'payment_review' then h.id else p.id end
        and (h.subject_type = 'payment_review') = (p.status = 'on_hold')
      left join transfer_order o on h.subject_type = 'payment_review' and o.hold_id = h.id
      where h.status = 'active' and h.subject_type in ('payment', 'payment_review') and o.transfer_id is null
        and (p.id is null or p.status <> all($1::text[]))`,
    values: [HELD_STATUSES],
  },
  {
    name: 'compliance holds',
    promise:
      'a payment or transfer is on hold exactly while a compliance hold of it is open, and operators were told once of each end and beginning',
    sql: `select coalesce(h.id, p.id) as id, h.status, p.status as payment_status, e.opened, e.ended, e.status as told
      from compliance_hold h
      full join (select id, status from payment where status = 'on_hold' union all select id, status from transfer where status = 'on_hold') p
        on p.id = h.subject_id and h.status = 'open'
      left join (
        select object_id, count(*) filter (where type = 'compliance_hold.created') as opened, count(*) filter (where type <> 'compliance_hold.created') as ended,
          min(status) filter (where type <> 'compliance_hold.created') as status
        from outbox where object = 'compliance_hold' group by object_id) e on e.object_id = h.id
      where h.id is null or (h.subject_type in ('payment', 'transfer') and h.status = 'open' and p.id is null) or (h.created_at >= ${EVENTS_KEPT_FROM} and (e.opened is distinct from 1
        or e.ended is distinct from case h.status when 'open' then 0 else 1 end or (h.status <> 'open' and e.status is distinct from h.status)))`,
  },
  {
    name: 'exceptions',
    promise:
      'a payment, transfer or exchange has an open exception exactly while nobody knows what became of it, or it is on hold',
    sql: `select coalesce(x.subject_id, p.id) as subject_id, x.id as exception_id, x.kind, p.status
      from (select id, subject_id, kind from exception_case where status = 'open') x
      full join (select id, status from payment where status in ('exception', 'on_hold')
        union all select id, status from transfer where status in ('exception', 'on_hold')
        union all select id, status from exchange where status = 'exception') p on p.id = x.subject_id
      where x.id is null or p.id is null or (x.kind = 'compliance_hold') <> (p.status = 'on_hold')`,
  },
  {
    name: 'partner instructions',
    promise: 'a payment has an instruction exactly while the partner has still to answer for it',
    sql: `select coalesce(p.id, i.payment_id) as payment_id, p.status, i.payment_id is not null as instructed
      from (select id, status from payment p where status = any($1::text[])
        and not (p.status = 'processing' and p.hold_id is null and exists (select from exchange x where x.payment_id = p.id and x.status in ('processing', 'exception')))) open
      full join partner_instruction i on i.payment_id = open.id
      left join payment p on p.id = coalesce(open.id, i.payment_id)
      where open.id is null or i.payment_id is null`,
    values: [OPEN_STATUSES],
  },
  {
    name: 'recalls',
    promise:
      'a recall is told of when it was asked for and when it was decided, once each; one that is open will be looked after',
    // Ids of events are drawn before their commands are decided, so the order of ids is not the order of decisions.
    sql: `select p.id as payment_id, p.status, p.recall::json->>'status' as recall, p.recall_due_at, e.statuses from payment p
      full join (
        select object_id, array_agg(status order by status <> 'requested', status) as statuses from outbox where type = 'payment.recall_updated' and not sandbox group by 1) e on e.object_id = p.id
      where (p.recall is not null or e.object_id is not null) and (
        p.recall is null or (p.recall::json->>'status' = 'requested') <> (p.recall_due_at is not null) or p.status not in ('completed', 'returned')
        or (p.recall::json->>'status' = 'accepted' and p.status <> 'returned')
        or ((p.recall::json->>'requestedAt')::timestamptz >= ${EVENTS_KEPT_FROM} and e.statuses is distinct from case p.recall::json->>'status' when 'requested' then array['requested'] else array['requested', p.recall::json->>'status'] end))`,
  },
]

/** Audit checks of incoming debits: their postings, their events and the mandates that they name. */
import { EVENTS_KEPT_FROM, type Check } from './audit-check.ts'

/** Money that came back to a closed balance is in suspense: its entry credits no balance. */
export const INCOMING_DEBIT_CHECKS: readonly Check[] = [
  {
    name: 'incoming debits',
    promise:
      'a debit that was taken left its balance once (L60), one that came back was credited once (L61), each of its amount, and no other debit moved money',
    sql: `select coalesce(d.id, p.source_id) as incoming_debit_id, d.status, d.amount, p.* from incoming_debit d
      full join (
        select source_id, count(*) filter (where rule = 'L60') as debits, sum(amount) filter (where rule = 'L60') as debited,
          min(debit_account::text) filter (where rule = 'L60') as debited_from, min(entry_id::text) filter (where rule = 'L60') as entry,
          count(*) filter (where rule = 'L61') as refunds, sum(amount) filter (where rule = 'L61') as refunded,
          min(credit_account::text) filter (where rule = 'L61' and credit_sequence is not null) as refunded_to,
          min(entry_id::text) filter (where rule = 'L61') as back_entry,
          count(*) filter (where rule = 'L61' and credit_sequence is null) as suspended, count(*) filter (where rule not in ('L60', 'L61')) as others
        from posting where source_object = 'incoming_debit' group by 1) p on p.source_id = d.id
      where not coalesce(
        case when d.status in ('debited', 'returned', 'refunded')
          then p.debits = 1 and p.debited = d.amount and p.debited_from = d.balance_id::text and p.entry = d.entry_id::text and d.debited_at is not null and p.others = 0
          else p.source_id is null and d.entry_id is null and d.debited_at is null end
        and case when d.status in ('returned', 'refunded')
          then p.refunds = 1 and p.refunded = d.amount and p.back_entry = d.back_entry_id::text
            and (p.refunded_to = d.balance_id::text or p.suspended = 1 and exists (select from incoming_payment i where i.origin_id = d.id and i.amount = d.amount))
          else coalesce(p.refunds, 0) = 0 and d.back_entry_id is null end
        and (d.status in ('announced', 'pending_confirmation')) = (d.due_at is not null)
        and (d.status in ('refused', 'returned', 'refunded')) = (d.ended_at is not null)
        and (d.status = 'refused') = (d.refusal is not null), false)`,
  },
  {
    name: 'sums of incoming debits',
    promise:
      'what the debits of a balance have taken from it, less what came back, is what its entries by L60 and L61 say',
    sql: `select coalesce(d.balance_id, p.balance_id) as balance_id, d.total, p.total as posted from (
        select balance_id, sum(case when status = 'debited' then amount else 0 end) as total from incoming_debit group by 1) d
      full join (
        select b.balance_id, sum(case p.rule when 'L60' then p.amount else -p.amount end) as total from posting p join incoming_debit b on b.id = p.source_id
        where p.source_object = 'incoming_debit' group by 1) p on p.balance_id = d.balance_id
      where coalesce(d.total, 0) <> coalesce(p.total, 0)`,
  },
  {
    name: 'events of incoming debits',
    promise: 'a debit was told of once when it arrived, and the last event about it says its status',
    sql: `select d.id as incoming_debit_id, d.status, e.received, e.last from incoming_debit d
      left join (select object_id, count(*) filter (where type = 'incoming_debit.received') as received, (array_agg(status order by created_at desc, id desc))[1] as last
        from outbox where object = 'incoming_debit' and not sandbox group by 1) e on e.object_id = d.id
      where d.received_at >= ${EVENTS_KEPT_FROM} and not coalesce(e.received = 1 and e.last = d.status, false)`,
  },
  {
    name: 'mandates of incoming debits',
    promise:
      'a debit that was taken names a mandate of its balance, and the mandate has the due date of one of its debits',
    sql: `select d.id as id, d.status, d.mandate_id from incoming_debit d left join payer_mandate m on m.id = d.mandate_id
      where (d.debited_at is not null or d.status in ('announced', 'pending_confirmation'))
        and not coalesce(m.balance_id = d.balance_id and m.scheme = d.scheme and (d.debited_at is null or m.last_due_date is not null), false)
      union all
      select m.id, m.status, null from payer_mandate m
      where m.last_due_date is not null and not exists (select from incoming_debit d where d.mandate_id = m.id and d.due_date = m.last_due_date and d.debited_at is not null)`,
  },
]

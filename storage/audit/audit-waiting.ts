/** Audit checks of payments that wait for a day, a decision or a review. */
import { EVENTS_KEPT_FROM, type Check } from './audit-check.ts'

export const WAITING_CHECKS: readonly Check[] = [
  {
    name: 'scheduled payments',
    promise: 'a payment is scheduled exactly while its day is waited for',
    sql: `select coalesce(p.id, d.payment_id) as payment_id, p.status, d.due_at from payment_due d
      full join (select id, status from payment where status = 'scheduled') p on p.id = d.payment_id
      where p.id is null or d.payment_id is null`,
  },
  {
    name: 'approvals',
    promise:
      'a payment waits for an approval exactly while that is pending, and what was decided is what people have said',
    sql: `select a.id as approval_id, a.status, a.required, a.received, d.approved, d.rejected, a.subject_type, p.status as payment_status
      from approval a
      left join (
        select approval_id, count(*) filter (where decision = 'approved' and counted) as approved, count(*) filter (where decision = 'rejected') as rejected
        from approval_decision group by approval_id) d on d.approval_id = a.id
      left join payment p on a.subject_type = 'payment' and p.id = a.subject_id
      where a.received <> coalesce(d.approved, 0)
        or (a.status = 'approved') <> (a.received = a.required) or (a.status = 'rejected') <> (coalesce(d.rejected, 0) > 0)
        or (a.subject_type = 'payment' and (p.id is null or (a.status = 'pending') <> (p.status = 'pending_approval')
          -- A payment whose money could not be bought any more is rejected though everybody has approved it.
          or ((a.status = 'approved') <> (p.approved_at is not null) and not (a.status = 'approved' and p.status = 'rejected' and p.details like '%"conversion":%'))))
      union all
      select null, null, null, null, null, null, 'payment', p.status from payment p
      where p.status = 'pending_approval' and not exists (select from approval a where a.subject_id = p.id and a.status = 'pending')
        and (p.created_via <> 'bulk' or not p.details::jsonb ? 'sharesApproval')`,
  },
  {
    name: 'approvals and their events',
    promise: 'an approval was asked for with one event, and has ended with one of its status',
    sql: `select a.id as approval_id, a.status, e.requested, e.decided, e.status as told from approval a
      left join (
        select object_id, count(*) filter (where type = 'approval.requested') as requested, count(*) filter (where type = 'approval.decided') as decided,
          min(status) filter (where type = 'approval.decided') as status
        from outbox where object = 'approval' group by object_id) e on e.object_id = a.id
      where a.created_at >= ${EVENTS_KEPT_FROM} and (e.requested is distinct from 1 or e.decided is distinct from case a.status when 'pending' then 0 else 1 end
        or (a.status <> 'pending' and e.status is distinct from a.status))`,
  },
  {
    name: 'recipients and their reviews',
    promise: "a recipient waits exactly while its customer's people or its operator's are asked about it",
    sql: `select r.id as recipient_id, r.status, r.approval->>'status' as review, coalesce(w.asked, 0) as asked from recipient r
      left join (
        select id, count(*) as asked from (
          select subject_id as id from approval where subject_type = 'recipient' and status = 'pending'
          union all select recipient_id from recipient_review where status = 'pending') a group by id) w on w.id = r.id
      where (r.status = 'pending_approval') <> (coalesce(w.asked, 0) = 1) or coalesce(w.asked, 0) > 1
        or (r.status = 'pending_approval') <> coalesce(r.approval->>'status' = 'pending', false)`,
  },
  {
    name: 'scheduled payments',
    promise:
      'an occurrence that was made is one payment of its schedule, one that was not is none, and a schedule has counted them',
    sql: `select s.id as scheduled_payment_id, o.number, o.status, o.payment_id, p.id as found, s.occurrences_begun, s.occurrences_created, c.begun, c.created
      from scheduled_occurrence o
      full join (select id, scheduled_payment_id from payment where scheduled_payment_id is not null) p on p.id = o.payment_id
      left join scheduled_payment s on s.id = coalesce(o.scheduled_payment_id, p.scheduled_payment_id)
      left join (select scheduled_payment_id, count(*) as begun, count(*) filter (where status = 'created') as created from scheduled_occurrence group by 1) c
        on c.scheduled_payment_id = s.id
      where s.id is null or o.payment_id is null or (o.status <> 'due' and (p.id is not null) <> (o.status = 'created'))
        or o.scheduled_payment_id <> coalesce(p.scheduled_payment_id, o.scheduled_payment_id)
        or s.occurrences_begun <> c.begun or s.occurrences_created <> c.created`,
  },
]

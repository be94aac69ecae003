/** Audit checks of mandates and collections: their money, their counts and the holds of reserves. */
import { EVENTS_KEPT_FROM, type Check } from './audit-check.ts'

export const DIRECT_DEBIT_CHECKS: readonly Check[] = [
  {
    name: 'collections and their money',
    promise:
      'what a collection has brought less what came back is what its status says, for the customer and at the bank, nothing stays in clearing, and money that its creditor sent back left when the bank had confirmed it',
    sql: `select c.id as collection_id, c.mandate_id, c.file_id, c.status, c.amount, c.returned_amount, p.brought, p.credited, p.taken, p.back, p.clearing, p.reversed, p.sent_back from collection c
      left join (
        select p.source_id,
          coalesce(sum(p.amount) filter (where p.rule = 'L50'), 0) as brought,
          coalesce(sum(p.amount) filter (where p.rule = 'L51'), 0) as credited,
          coalesce(sum(p.amount) filter (where p.rule = 'L52' and d.key = 'dd_clearing'), 0) as back,
          coalesce(sum(p.amount) filter (where p.rule = 'L52' and d.key is null), 0) as taken,
          coalesce(sum(case when d.key is null then p.amount else -p.amount end) filter (where p.rule = 'L54'), 0) as reversed,
          coalesce(sum(p.amount) filter (where p.rule = 'L11'), 0) as sent_back,
          coalesce(sum(case 'dd_clearing' when k.key then p.amount when d.key then -p.amount end), 0) as clearing
        from posting p left join account d on d.id = p.debit_account left join account k on k.id = p.credit_account
        where p.source_object = 'collection' group by 1) p on p.source_id = c.id
      where coalesce(p.clearing, 0) <> 0 or coalesce(p.brought, 0) <> coalesce(p.credited, 0) or coalesce(p.taken, 0) <> coalesce(p.back, 0)
        or coalesce(p.brought, 0) - coalesce(p.back, 0) <> case
          when c.collected_at is null then 0
          else c.amount - least(c.amount, c.returned_amount) end
        or coalesce(p.reversed, 0) <> case when c.status = 'reversed' then (c.reversal::jsonb->>'amountMinor')::bigint else 0 end
        or coalesce(p.sent_back, 0) <> case when c.reversal_status = 'confirmed' then (c.reversal::jsonb->>'amountMinor')::bigint else 0 end`,
  },
  {
    name: 'mandates and their collections',
    promise:
      'a mandate counts its collections that wait, are in clearing and were presented, and one that has ended has none that wait',
    sql: `select m.id as mandate_id, m.status, m.pending_count, m.submitted_count, m.presented_count, c.pending, c.submitted, c.presented from mandate m
      left join (
        select mandate_id, count(*) filter (where status = 'pending') as pending, count(*) filter (where status in ('submitted', 'exception')) as submitted,
          count(*) filter (where status not in ('cancelled', 'failed')) as presented
        from collection group by 1) c on c.mandate_id = m.id
      where m.pending_count <> coalesce(c.pending, 0) or m.submitted_count <> coalesce(c.submitted, 0) or m.presented_count <> coalesce(c.presented, 0)
        or (m.pending_count > 0 and m.status in ('failed', 'cancelled', 'expired', 'consumed'))
        or (m.direction = 'pay' and c.mandate_id is not null)`,
  },
  {
    name: 'collections and their mandates',
    promise: 'a collection has a mandate of its customer, scheme and currency',
    sql: `select c.id as collection_id, c.mandate_id from collection c left join mandate m on m.id = c.mandate_id
      where m.id is null or m.customer_id <> c.customer_id or m.scheme <> c.scheme or m.currency <> c.currency`,
  },
  {
    name: 'updates of direct debits',
    promise:
      'the updates of a mandate or a collection follow from each other, the last has its status, and each change of a status has one event',
    sql: `select o.id as object_id, o.status, u.last_status, u.changes, u.broken, e.events from (
        select id, status, created_at from mandate union all select id, status, created_at from collection) o
      left join (
        select object_id, (array_agg(status order by version desc))[1] as last_status, count(*) filter (where status is distinct from previous_status) as changes,
          count(*) filter (where previous_status is distinct from before) as broken
        from (select *, lag(status) over (partition by object_id order by version) as before from status_update) s group by 1) u on u.object_id = o.id
      left join (
        select object_id, count(*) as events from outbox where type in ('mandate.status_changed', 'collection.status_changed') and not sandbox group by 1) e on e.object_id = o.id
      where u.last_status is distinct from o.status or u.broken <> 0
        or (o.created_at >= ${EVENTS_KEPT_FROM} and coalesce(e.events, 0) <> u.changes)`,
  },
  {
    name: 'reserves of collections',
    promise: 'a hold for a reserve is active exactly while its collection names it, and is of the collected amount',
    sql: `select coalesce(c.id, h.subject_id) as collection_id, h.id as hold_id, h.status, h.amount from collection c
      full join (select * from hold where subject_type = 'collection_reserve') h on h.id = c.reserve_hold_id
      where (c.id is not null and c.reserve_hold_id is not null and (h.id is null or h.status <> 'active' or h.amount <> c.amount or h.subject_id <> c.id or h.balance_id <> c.balance_id))
        or (c.id is null and h.status = 'active')`,
  },
  {
    name: 'files of direct debits',
    promise:
      'the count, the control sum and the hash of a file that is written are those of its lines and of its bytes',
    sql: `select f.id as file_id, f.line_count, f.control_sum, l.lines, l.amount from collection_file f
      left join (select file_id, count(*) as lines, sum(amount) as amount from collection_file_line group by 1) l on l.file_id = f.id
      left join stored_file s on s.id = f.stored_file_id
      where f.status <> 'gathering' and (f.line_count <> coalesce(l.lines, 0) or f.control_sum <> coalesce(l.amount, 0)
        or f.line_count = 0 or s.expires_at is not null or f.sha256 is distinct from encode(s.sha256, 'hex'))`,
  },
  {
    name: 'collections and their files',
    promise:
      'a collection is a line of the file that it names, with its amount, and of no other file but those of its earlier presentations',
    sql: `select coalesce(c.id, l.object_id) as collection_id, c.file_id, c.status, l.files from (
        select l.object_id, count(*) as files, array_agg(l.file_id) as file_ids, bool_and(l.amount = c.amount and f.connection_id = c.connection_id
          and f.scheme = c.scheme and f.currency = c.currency and (f.id is distinct from c.file_id or f.settlement_date = c.due_date and f.sequence_type = c.sequence_type)) as fits
        from collection_file_line l left join collection c on c.id = l.object_id left join collection_file f on f.id = l.file_id
        where l.instruction is null group by 1) l
      full join (select c.*, json_array_length(c.attempts::json) as presentations, f.status as file_status from collection c left join collection_file f on f.id = c.file_id) c on c.id = l.object_id
      where (c.id is null and l.object_id is not null) or (c.file_id is not null and c.file_status is null) or l.fits is false or (l.object_id is not null and l.fits is null)
        or (c.file_id is not null and c.file_status <> 'gathering' and c.status <> 'failed' and not c.file_id = any(coalesce(l.file_ids, '{}')))
        or l.files > c.presentations`,
  },
  {
    name: 'amendments of mandates',
    promise: 'an amendment of a mandate is told by one collection, and by none while the mandate waits to tell it',
    sql: `select c.mandate_id, c.amendment, count(*) as told from collection c join mandate m on m.id = c.mandate_id
      where c.amendment is not null group by 1, 2, m.pending_amendment having count(*) > 1 or m.pending_amendment = c.amendment`,
  },
]

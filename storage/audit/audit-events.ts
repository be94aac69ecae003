/**
 * Audit checks of status updates and events: each change has its update and its events, and none is without its change.
 */
import { EVENTS_KEPT_FROM, type Check } from './audit-check.ts'

export const EVENT_CHECKS: readonly Check[] = [
  {
    name: 'status updates',
    promise:
      'a payment, transfer or exchange has one update for each of its versions, each following from the one before; the last is its status',
    sql: `select coalesce(o.id, u.object_id) as object_id, min(o.status) as status, min(o.version) as version, count(u.object_id) as updates,
        min(u.version) as first, max(u.version) as last, min(u.status) filter (where u.version = o.version) as last_status,
        count(*) filter (where u.previous_status is distinct from u.before) as broken
      from (select id, status, version from payment union all select id, status, version from transfer
        union all select id, status, version from exchange) o
      full join (select *, lag(status) over (partition by object_id order by version) as before from status_update
        -- Mandates and collections have versions without an update (audit-direct-debits.ts).
        where not exists (select from mandate m where m.id = object_id) and not exists (select from collection c where c.id = object_id)) u on u.object_id = o.id
      group by 1
      having min(o.version) is null or count(u.object_id) <> min(o.version) or min(u.version) <> 1 or max(u.version) <> min(o.version)
        or min(u.status) filter (where u.version = o.version) <> min(o.status)
        or count(*) filter (where u.previous_status is distinct from u.before) > 0`,
  },
  {
    name: 'events',
    promise:
      'every change of a status has exactly one event of each type it announces, and no event is without its change',
    sql: `with changed as (select * from status_update where at >= ${EVENTS_KEPT_FROM}),
      expected as (
        select u.object_id, u.status, type, count(*) as times from changed u join payment p on p.id = u.object_id
        cross join lateral (
          select 'payment.created' as type where u.status <> 'draft' and (u.version = 1 or u.previous_status = 'draft')
          union all
          select 'payment.status_changed' where u.version > 1 and u.previous_status is distinct from u.status and u.previous_status <> 'draft'
          union all
          select 'payment.' || u.status where u.status in ('completed', 'failed', 'returned') and u.previous_status is distinct from u.status) announced
        group by 1, 2, 3
        union all
        select u.object_id, u.status, 'transfer.completed', count(*) from changed u join transfer t on t.id = u.object_id
        where u.status = 'completed' and u.previous_status is distinct from u.status group by 1, 2
        union all
        select u.object_id, u.status, 'transfer.status_changed', count(*) from changed u join transfer t on t.id = u.object_id
        where u.version > 1 and u.previous_status is distinct from u.status group by 1, 2
        union all
        select u.object_id, u.status, 'exchange.status_changed', count(*) from changed u join exchange e on e.id = u.object_id
        where u.previous_status is distinct from u.status group by 1, 2
        union all
        select u.object_id, u.status, 'exchange.completed', count(*) from changed u join exchange e on e.id = u.object_id
        where u.status = 'completed' and u.previous_status is distinct from u.status group by 1, 2),
      sent as (
        select object_id, status, type, count(*) as times from outbox where object in ('payment', 'transfer', 'exchange') and type <> 'payment.recall_updated' and not sandbox
          and created_at >= ${EVENTS_KEPT_FROM} group by 1, 2, 3)
      select coalesce(e.object_id, s.object_id) as object_id, coalesce(e.type, s.type) as type, coalesce(e.status, s.status) as status,
        coalesce(e.times, 0) as changes, coalesce(s.times, 0) as events
      from expected e full join sent s on s.object_id = e.object_id and s.type = e.type and s.status = e.status
      where e.times is distinct from s.times`,
  },
]

/** Audit checks of cards: the holds, the lines, the messages and the events of their transactions. */
import { EVENTS_KEPT_FROM, type Check } from './audit-check.ts'

export const CARD_CHECKS: readonly Check[] = [
  {
    name: 'card holds',
    promise:
      'what a card transaction reserves is the one active hold of its balance, never above what is left of the authorisation, and no other hold is of a card',
    sql: `select coalesce(t.id, h.subject_id) as card_transaction_id, t.held, h.total, h.holds from card_transaction t
      full join (
        select subject_id, sum(amount) as total, count(*) as holds, min(id::text) as hold_id, min(balance_id::text) as balance_id
        from hold where subject_type = 'card_authorisation' and status = 'active' group by 1) h on h.subject_id = t.id
      where not coalesce(
        case when t.held > 0 then h.total = t.held and h.holds = 1 and h.hold_id = t.hold_id::text and h.balance_id = t.balance_id::text
          else h.subject_id is null end
        and t.held <= greatest(t.authorised - t.reversed - t.cleared, 0), false)`,
  },
  {
    name: 'card money',
    promise:
      'what a card transaction has paid is what its lines say: cleared, less refunded, disputed and recovered; and its fees are those of its messages',
    sql: `select coalesce(t.id, p.source_id) as card_transaction_id, t.cleared - t.refunded - t.disputed - t.recovered as paid, p.booked, e.fee, p.fee as booked_fee
      from card_transaction t
      full join (
        select source_id,
          sum(case when ordinal > 0 then 0 when rule = 'L71' or debit_sequence is not null then amount else -amount end) as booked,
          sum(amount) filter (where ordinal > 0) as fee, count(*) filter (where rule not in ('L71', 'L73')) as others
        from posting where source_object = 'card_transaction' group by 1) p on p.source_id = t.id
      left join (select transaction_id, sum(fee) as fee from card_event group by 1) e on e.transaction_id = t.id
      where not coalesce(
        t.cleared - t.refunded - t.disputed - t.recovered = coalesce(p.booked, 0)
        and e.fee = coalesce(p.fee, 0) and coalesce(p.others, 0) = 0, false)`,
  },
  {
    name: 'card events',
    promise:
      'every card transaction told of its creation and of each message after it, and the last event has its status',
    sql: `select t.id as card_transaction_id, t.status, t.version, e.created, e.changes, e.last from card_transaction t
      left join (
        select object_id, count(*) filter (where type = 'card_transaction.created') as created, count(*) as changes,
          (array_agg(status order by created_at desc, id desc))[1] as last
        from outbox where object = 'card_transaction' and not sandbox group by 1) e on e.object_id = t.id
      where t.created_at >= (${EVENTS_KEPT_FROM})
        and (e.created is distinct from 1 or e.changes <> t.version or e.last is distinct from t.status)`,
  },
]

/**
 * Audit checks of bulk payments: their counts are the counts of their rows, and what they have made is what their rows
 * ask for.
 */
import { BULK_FORMATS } from '../../lib/bulk-payments/formats.ts'

/** SQL: the formats whose rows become these. */
const formatsOf = (kind: 'mandates' | 'collections' | 'payments'): string =>
  Object.entries(BULK_FORMATS)
    .flatMap(([name, { makes }]) => (makes === kind ? [`'${name}'`] : []))
    .join(', ')

export const BULK_PAYMENT_CHECKS = [
  {
    name: 'bulk payments and their rows',
    promise:
      'the counts of a bulk payment that was checked are those of its rows; one that is being submitted will be looked at; without a run no row is under way',
    sql: `select b.id as bulk_payment_id, b.status, b.total, b.valid, b.invalid, b.submitting, b.submitted, b.failed, r.* from bulk_payment b
      cross join lateral (
        select count(*) as rows, count(*) filter (where r.status = 'valid') as rows_valid, count(*) filter (where r.status = 'invalid') as rows_invalid,
          count(*) filter (where r.status = 'submitting') as rows_submitting, count(*) filter (where r.status = 'submitted') as rows_submitted, count(*) filter (where r.status = 'failed') as rows_failed
        from bulk_payment_row r where r.bulk_payment_id = b.id) r
      where (b.status = 'ready' or b.submitted_at is not null) and not coalesce(
        b.total = r.rows and b.valid = r.rows_valid and b.invalid = r.rows_invalid and b.submitting = r.rows_submitting and b.submitted = r.rows_submitted and b.failed = r.rows_failed
        and (b.status = 'submitting' or b.submitting = 0) and (b.status <> 'submitting' or (b.due_at is not null and b.job_id is not null))
        and (b.status in ('ready', 'submitting') or b.valid = 0) and (b.status <> 'submitted' or b.failed = 0), false)`,
  },
  {
    name: 'rows and their payments',
    promise:
      'a row that was submitted has its payment, for its amount and its balance, and each payment of a bulk payment has its row; rows that failed have none',
    sql: `select r.bulk_payment_id, r.row_number, r.status, r.payment_id from bulk_payment_row r join bulk_payment f on f.id = r.bulk_payment_id left join payment p on p.id = r.payment_id
      where (r.status = 'submitted' and f.format in (${formatsOf('payments')}) and not coalesce(p.created_via = 'bulk' and p.customer_id = f.customer_id and p.amount = r.amount
          and p.currency = r.currency and p.recipient_id = r.recipient_id and p.source_balance_id = r.source_balance_id and p.details::jsonb->'bulk'->>'bulkRowId' = r.id::text, false))
        or (r.status in ('valid', 'invalid', 'failed') and r.payment_id is not null)
      union all
      select null, null, p.status, p.id from payment p where p.created_via = 'bulk' and not exists (
        select from bulk_payment_row r where r.payment_id = p.id and r.status in ('submitting', 'submitted') and r.id::text = p.details::jsonb->'bulk'->>'bulkRowId'
          and r.bulk_payment_id::text = p.details::jsonb->'bulk'->>'bulkPaymentId')`,
  },
  {
    name: 'rows and their direct debits',
    promise:
      'a row of a file of mandates or collections that was submitted has its mandate or its collection, of its amount and its balance, and each that a file has made has its row',
    sql: `select r.bulk_payment_id, r.row_number, r.status, r.payment_id from bulk_payment_row r join bulk_payment f on f.id = r.bulk_payment_id
        left join mandate m on m.id = r.payment_id left join collection c on c.id = r.payment_id
      where r.status = 'submitted' and (
        (f.format in (${formatsOf('mandates')}) and not coalesce(m.created_via = 'bulk' and m.customer_id = f.customer_id, false))
        or (f.format in (${formatsOf('collections')}) and not coalesce(c.created_via = 'bulk' and c.customer_id = f.customer_id and c.amount = r.amount and c.currency = r.currency
          and c.external_id is not distinct from r.external_id, false)))
      union all
      select null, null, o.status, o.id from (
          select id, status, created_via from mandate union all select id, status, created_via from collection) o
        where o.created_via = 'bulk' and not exists (select from bulk_payment_row r join bulk_payment f on f.id = r.bulk_payment_id
          where r.payment_id = o.id and r.status in ('submitting', 'submitted')
            and f.format in (${formatsOf('mandates')}, ${formatsOf('collections')}))`,
  },
  {
    name: 'payments that share an approval',
    promise:
      'a payment waits for the approval of its file only while that is pending, or while the payments are following its end',
    sql: `select p.id as payment_id, a.id as approval_id, a.status from payment p join bulk_payment_row r on r.payment_id = p.id join bulk_payment b on b.id = r.bulk_payment_id
        left join approval a on a.id::text = p.details::jsonb->>'approvalId'
      where p.created_via = 'bulk' and p.status = 'pending_approval' and p.details::jsonb ? 'sharesApproval'
        and not coalesce(a.id = b.approval_id and (a.status = 'pending' or (b.due_at is not null and r.row_number > b.decided_rows)), false)`,
  },
] as const

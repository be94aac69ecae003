/**
 * Audit checks of bulk payments: their counts are the counts of their rows, and their payments are the payments of
 * their rows.
 */

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
    sql: `select r.bulk_payment_id, r.row_number, r.status, r.payment_id from bulk_payment_row r left join payment p on p.id = r.payment_id
      where (r.status = 'submitted' and not coalesce(p.created_via = 'bulk' and p.customer_id = (select customer_id from bulk_payment b where b.id = r.bulk_payment_id) and p.amount = r.amount
          and p.currency = r.currency and p.recipient_id = r.recipient_id and p.source_balance_id = r.source_balance_id and p.details::jsonb->'bulk'->>'bulkRowId' = r.id::text, false))
        or (r.status in ('valid', 'invalid', 'failed') and r.payment_id is not null)
      union all
      select null, null, p.status, p.id from payment p where p.created_via = 'bulk' and not exists (
        select from bulk_payment_row r where r.payment_id = p.id and r.status in ('submitting', 'submitted') and r.id::text = p.details::jsonb->'bulk'->>'bulkRowId'
          and r.bulk_payment_id::text = p.details::jsonb->'bulk'->>'bulkPaymentId')`,
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

/**
 * Audit checks of transactions: transactions and journals agree. Causes whose events have not been followed yet are
 * left out; a read of transactions supplies them.
 */

/** SQL of each line of a balance, with the transaction that it belongs to. */
const LINES = `
  select transaction_of_line(p.rule, l.side, p.source_id, p.entry_id, p.ordinal) as transaction_id, p.source_id, p.rule, p.entry_id, p.currency, l.balance_id, l.sequence,
    case l.side when 'debit' then -p.amount else p.amount end as change
  from posting p cross join lateral (values ('debit', p.debit_account, p.debit_sequence), ('credit', p.credit_account, p.credit_sequence)) l(side, balance_id, sequence)
  where l.sequence is not null`

const BEHIND =
  'select o.object_id from outbox o where o.written_in >= (select least(f.position, p.position) from transaction_following f, pending_transaction_following p)'
const COMPLETE = 'not exists (select from transaction_backfill)'

export const TRANSACTION_CHECKS = [
  {
    name: 'transactions of lines',
    promise: 'every line of a balance belongs to exactly one transaction of its balance and currency',
    sql: `select l.balance_id, l.sequence, l.rule, l.source_id, l.transaction_id, t.balance_id as transaction_balance
      from (${LINES}) l left join account_transaction t on t.id = l.transaction_id
      where (t.id is null or t.balance_id <> l.balance_id or t.currency <> l.currency) and ${COMPLETE} and l.source_id not in (${BEHIND})`,
  },
  {
    name: 'amounts of transactions',
    promise:
      'the lines of a transaction come to its amount and fee when it is booked, and to nothing when nothing came of it',
    // The part of a payment that a deposit covered does not leave the balance again. Credits for a closed balance are
    // in suspense and have no line.
    sql: `select t.id, t.type, t.status, t.amount, t.fee, coalesce(l.total, 0) as lines
      from account_transaction t left join (select transaction_id, sum(change) as total from (${LINES}) l group by transaction_id) l on l.transaction_id = t.id
      left join exchange x on x.id = t.id
      left join (select origin_id, sum(amount) as amount from incoming_payment where origin_id is not null group by 1) s on s.origin_id = t.source_id
      cross join lateral (select case t.direction when 'in' then t.amount else -(t.amount + t.fee) + coalesce(x.deposit_used, 0) end as whole) w
      where ${COMPLETE} and t.source_id not in (${BEHIND}) and case
        when t.status in ('completed', 'returned') then coalesce(l.total, 0) <> w.whole - case when t.type in ('exchange_in', 'transfer_in') then coalesce(s.amount, 0) else 0 end
        when t.status in ('failed', 'cancelled') then coalesce(l.total, 0) <> case t.direction when 'out' then -coalesce(s.amount, 0) else 0 end
        else coalesce(l.total, 0) not in (0, w.whole) end`,
  },
  {
    name: 'transaction counts',
    promise: 'a transaction counts its annotations and attachments',
    sql: `select t.id, t.annotation_count, t.attachment_count, a.annotations, d.attachments from account_transaction t
      left join (select transaction_id, count(*) as annotations from annotation group by 1) a on a.transaction_id = t.id
      left join (select transaction_id, count(*) as attachments from document where transaction_id is not null group by 1) d on d.transaction_id = t.id
      where t.annotation_count <> coalesce(a.annotations, 0) or t.attachment_count <> coalesce(d.attachments, 0)`,
  },
  {
    name: 'files of documents',
    promise: 'every document and attachment has its file, whole and for good',
    sql: `select d.id, d.file_id, f.size_bytes, p.bytes from document d left join stored_file f on f.id = d.file_id and f.expires_at is null
      left join (select file_id, sum(length(bytes)) as bytes from stored_file_piece group by file_id) p on p.file_id = d.file_id
      where f.size_bytes is distinct from d.size_bytes or f.sha256 is distinct from d.sha256 or coalesce(p.bytes, 0) <> d.size_bytes`,
  },
] as const

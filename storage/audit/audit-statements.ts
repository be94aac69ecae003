/**
 * Audit checks of statements: they agree with the journal, follow on one another, and their files are the files that
 * were written.
 */

/**
 * Files up to this size are hashed; of a larger file, which would have to be in memory whole, only the size is checked.
 */
const HASHED_BYTES_MAX = 64 * 2 ** 20

/** SQL of a balance after one of its lines; zero before its first. */
const after = (
  sequence: string,
): string => `coalesce((select debit_balance from posting where debit_account = s.balance_id and debit_sequence = ${sequence}),
  (select credit_balance from posting where credit_account = s.balance_id and credit_sequence = ${sequence}), 0)`

export const STATEMENT_CHECKS = [
  {
    name: 'statements',
    promise: 'a statement adds up to the lines that it is of, and begins and ends with what its balance was then',
    sql: `select s.id, s.balance_id, s.kind, s.sequence_number, s.opening, s.closing, s.credits, s.debits, l.credits as line_credits, l.debits as line_debits
      from statement s cross join lateral (
        select coalesce(sum(amount) filter (where not debit), 0) as credits, coalesce(sum(amount) filter (where debit), 0) as debits,
          count(*) filter (where not debit) as credit_count, count(*) filter (where debit) as debit_count
        from (select true as debit, amount from posting where debit_account = s.balance_id and debit_sequence between s.first_sequence and s.last_sequence
          union all select false, amount from posting where credit_account = s.balance_id and credit_sequence between s.first_sequence and s.last_sequence) line) l
      where (s.credits, s.debits, s.credit_count, s.debit_count) is distinct from (l.credits, l.debits, l.credit_count, l.debit_count)
        or s.opening + l.credits - l.debits <> s.closing or s.opening <> ${after('s.first_sequence - 1')} or s.closing <> ${after('s.last_sequence')}`,
  },
  {
    name: 'statements in a row',
    promise: 'a month begins with the line after the last one of the month before, and with what that closed with',
    sql: `select s.id, s.balance_id, s.sequence_number, s.period_from, s.first_sequence, s.opening, s.number_before, s.last_before, s.closing_before
      from (select s.*, lag(s.sequence_number) over months as number_before, lag(s.last_sequence) over months as last_before, lag(s.closing) over months as closing_before,
          lag(s.period_to) over months as to_before
        from statement s where s.kind = 'monthly' window months as (partition by s.balance_id order by s.sequence_number)) s
      where s.sequence_number <> coalesce(s.number_before, 0) + 1
        or (s.number_before is not null and (s.first_sequence <> s.last_before + 1 or s.opening <> s.closing_before or s.period_from <= s.to_before))`,
  },
  {
    name: 'files of statements',
    promise: 'a statement that is ready has its files, and their bytes are those that were written',
    sql: `select s.id, s.status, f.format, f.file_id, k.size_bytes, p.bytes from statement s left join statement_file f on f.statement_id = s.id
      left join stored_file k on k.id = f.file_id and k.expires_at is null
      left join lateral (select sum(length(p.bytes)) as bytes from stored_file_piece p where p.file_id = f.file_id) p on true
      where (s.status = 'ready') <> (f.file_id is not null)
        or (f.file_id is not null and (k.id is null or coalesce(p.bytes, 0) <> k.size_bytes
          or (k.size_bytes <= ${HASHED_BYTES_MAX} and k.sha256 <> sha256((select coalesce(string_agg(p.bytes, ''::bytea order by p.nth), ''::bytea) from stored_file_piece p where p.file_id = f.file_id)))))`,
  },
] as const

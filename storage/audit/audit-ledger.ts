/** Audit checks of the ledger: balances, postings, and the commands that were recorded. */
import { CHART, type AccountClass } from '../../lib/ledger/chart.ts'
import { mayOverdraw, RULE_IDS } from '../../lib/ledger/postings.ts'
import { ACCOUNTS, LINES, type Check } from './audit-check.ts'

/** Rules by which a balance may fall below zero, in at least one of their variants. */
const OVERDRAWING = RULE_IDS.filter((id) => mayOverdraw(id) || mayOverdraw(id, 'reversed'))

const keysOf = (...classes: readonly AccountClass[]): string[] =>
  CHART.filter((account) => classes.includes(account.class)).map(({ key }) => key)

export const LEDGER_CHECKS: readonly Check[] = [
  {
    name: 'balance totals',
    promise: 'posted is the credits of a balance less its debits',
    sql: `select b.id as balance_id, b.posted, coalesce(l.total, 0) as journal
      from balance b full join (select balance_id, sum(change) as total from (${LINES}) l group by balance_id) l on l.balance_id = b.id
      where b.posted is distinct from coalesce(l.total, 0)`,
  },
  {
    name: 'sequences',
    promise: 'the lines of a balance are numbered 1 to n without a gap, and n is its sequence',
    sql: `select b.id as balance_id, b.sequence, l.lines, l.first, l.last
      from balance b left join (
        select balance_id, count(*) as lines, count(distinct sequence) as numbers, min(sequence) as first, max(sequence) as last
        from (${LINES}) l group by balance_id) l on l.balance_id = b.id
      where b.sequence <> coalesce(l.lines, 0) or l.lines <> l.numbers or (l.lines > 0 and (l.first <> 1 or l.last <> l.lines))`,
  },
  {
    name: 'running balances',
    promise: 'each line continues from the one before it, and the last is what is posted',
    sql: `select balance_id, sequence, entry_id, before, change, running, posted from (
        select l.*, b.posted, coalesce(lag(running) over by_sequence, 0) as before, lead(l.sequence) over by_sequence as next
        from (${LINES}) l join balance b on b.id = l.balance_id window by_sequence as (partition by balance_id order by l.sequence)) l
      where running <> before + change or (next is null and running <> posted)`,
  },
  {
    name: 'held amounts',
    promise: 'held is the sum of the active holds of a balance',
    sql: `select b.id as balance_id, b.held, coalesce(h.total, 0) as holds
      from balance b full join (select balance_id, sum(amount) as total from hold where status = 'active' group by balance_id) h on h.balance_id = b.id
      where b.held is distinct from coalesce(h.total, 0)`,
  },
  {
    name: 'funds',
    promise: 'nothing is available below zero, nor was any line, except by rules that may overdraw',
    sql: `select b.id as balance_id, null::bigint as sequence, b.posted - b.held as available, null::text as rule from balance b
      where b.posted - b.held < 0 and not exists (
        select from posting p where p.debit_account = b.id and p.debit_sequence is not null and p.rule = any($1::text[]))
      union all
      select debit_account, debit_sequence, debit_balance, rule from posting
      where debit_balance < 0 and debit_sequence is not null and rule <> all($1::text[])`,
    values: [OVERDRAWING],
  },
  {
    name: 'postings',
    promise:
      'a posting moves a positive amount between two accounts of its currency that exist; balances number their lines',
    sql: `select p.entry_id, p.ordinal, p.rule, p.currency, p.amount, d.currency as debit_currency, c.currency as credit_currency,
        d.is_balance as debit_is_balance, p.debit_sequence, c.is_balance as credit_is_balance, p.credit_sequence
      from posting p left join (${ACCOUNTS}) d on d.id = p.debit_account left join (${ACCOUNTS}) c on c.id = p.credit_account
      where d.id is null or c.id is null or d.currency <> p.currency or c.currency <> p.currency or p.amount <= 0
        or p.debit_account = p.credit_account or d.is_balance <> (p.debit_sequence is not null)
        or c.is_balance <> (p.credit_sequence is not null)`,
  },
  {
    name: 'accounting equation',
    promise: 'per operator and currency: assets = liabilities + equity + income - expenses',
    sql: `select operator_id, currency, sum(assets) as assets, sum(claims) as claims from (
        select a.operator_id, a.currency,
          sum(change) filter (where a.key = any($1::text[])) as assets,
          sum(-change) filter (where a.key = any($2::text[])) as claims
        from (
          select debit_account as id, sum(amount) as change from posting where debit_sequence is null group by 1
          union all
          select credit_account, -sum(amount) from posting where credit_sequence is null group by 1) internal
        join account a on a.id = internal.id group by a.operator_id, a.currency
        union all
        select operator_id, currency, 0, sum(posted) from balance group by operator_id, currency) sides
      group by operator_id, currency having coalesce(sum(assets), 0) <> coalesce(sum(claims), 0)`,
    // Expenses increase on the debit side as assets do, but count as negative on the other side of the equation.
    values: [keysOf('asset'), keysOf('liability', 'equity', 'income', 'expense')],
  },
  {
    name: 'entries',
    promise: 'the pairs of an entry are numbered from 0 without a gap and were booked together',
    sql: `select entry_id, count(*) as pairs, max(ordinal) as last from posting
      group by entry_id having max(ordinal) <> count(*) - 1 or count(distinct (source_id, rule, occurrence)) > 1`,
  },
  {
    name: 'postings and their source',
    promise:
      'every posting of a payment, transfer, exchange, incoming payment, incoming debit, collection, adjustment or move of a balance names one that exists, of its customer and currency',
    sql: `select p.entry_id, p.rule, p.source_object, p.source_id from posting p
      left join (
        select 'payment' as object, id, customer_id, currency from payment
        union all select 'transfer', id, customer_id, currency from transfer
        union all select 'exchange', id, customer_id, sell_currency from exchange
        union all select 'exchange', id, customer_id, buy_currency from exchange
        union all select 'incoming_payment', id, customer_id, currency from incoming_payment
        union all select 'incoming_debit', id, customer_id, currency from incoming_debit
        union all select 'collection', id, customer_id, currency from collection
        union all select 'incoming_suspense', id, operator_id, currency from incoming_payment where suspense is not null
        union all select 'connection_move', m.id, b.customer_id, m.currency from connection_move m join balance b on b.id = m.balance_id where m.amount <> 0
        union all select 'cash_order', id, customer_id, currency from cash_order where id <> subject_id
        union all select 'adjustment', id, coalesce(customer_id, operator_id), currency from adjustment where status = 'posted'
        union all select distinct 'period_close', q.source_id, j.operator_id, j.currency from adjustment j join posting q on q.entry_id = any(j.entry_ids)
          where j.kind = 'period_close' and j.status = 'posted' and q.source_object = 'period_close') s
        on s.object = p.source_object and s.id = p.source_id and (p.source_object <> 'exchange' or s.currency = p.currency)
      where p.source_object in ('payment', 'transfer', 'exchange', 'incoming_payment', 'incoming_debit', 'collection', 'incoming_suspense', 'connection_move', 'cash_order', 'adjustment', 'period_close')
        and (s.id is null or s.customer_id is distinct from p.customer_id or s.currency <> p.currency)`,
  },
  {
    name: 'moves of balances',
    promise:
      'a balance that has moved took its cash along: from the account of the old connection to that of the new one',
    sql: `select m.id as connection_move_id, m.balance_id, m.amount, p.amount as posted, p.rule from connection_move m
      left join posting p on p.source_object = 'connection_move' and p.source_id = m.id
      left join account d on d.id = p.debit_account left join account c on c.id = p.credit_account
      where m.amount <> 0 and not coalesce(p.rule = 'L96' and p.occurrence = 1 and p.amount = abs(m.amount) and d.key = 'nostro' and c.key = 'nostro'
        and d.connection_id = case when m.amount > 0 then m.to_connection_id else m.from_connection_id end
        and c.connection_id = case when m.amount > 0 then m.from_connection_id else m.to_connection_id end, false)`,
  },
  {
    name: 'balances and their accounts',
    promise:
      "a closed balance holds nothing, is nobody's default and has no account at a bank that money can come in by; a customer that is closed has no other balances",
    sql: `select b.id as balance_id, b.status, b.details_status, b.posted, b.held, b.is_default, d.open as open_accounts, c.status as customer
      from balance b join customer c on c.id = b.customer_id
      left join lateral (select count(*) filter (where d.status in ('pending', 'active', 'replaced', 'closing')) as open from account_details d where d.balance_id = b.id) d on true
      where (b.status = 'closed' and (b.held <> 0 or b.is_default or coalesce(d.open, 0) > 0 or b.closed_at is null))
        or (b.status <> 'closed' and (c.status = 'closed' or b.closed_at is not null))`,
  },
  {
    name: 'customers of balances',
    promise: 'a balance has the status of its customer, and the measure against it',
    sql: `select b.id as balance_id, b.customer_status, c.status, b.customer_measure, c.measure from balance b join customer c on c.id = b.customer_id
      where b.customer_status <> c.status or b.customer_measure is distinct from c.measure`,
  },
  {
    name: 'remembered commands',
    promise:
      'a command that was answered with 201 made what exists and is of the recorded type, and no other command made it',
    sql: `select i.id as idempotency_id, i.status, i.resource_type, i.resource_id, i.times from (
        select *, count(*) over (partition by resource_id) as times from idempotency where status = 201) i
      left join (select 'payment' as type, id from payment union all select 'transfer', id from transfer union all select 'recipient', id from recipient
        union all select 'funds_request', id from funds_request union all select 'scheduled_payment', id from scheduled_payment
        union all select 'exchange', id from exchange union all select 'quote', id from quote union all select 'mandate', id from mandate union all select 'collection', id from collection union all select 'staff_hold', id from staff_hold
        union all select 'adjustment', id from adjustment
        union all select 'payment_question', id from payment_question union all select 'payment_answer', id from payment_answer
        union all select 'balance', id from balance union all select 'customer', id from customer union all select case when purpose is null then 'attachment' else 'document' end, id from document) o on o.id = i.resource_id and o.type = i.resource_type
      -- A draft, a document or an attachment may have been deleted since, which its customer's trail says.
      where (o.id is null and not exists (select from audit_event a where a.object_id = i.resource_id and a.action in ('payment.deleted', 'document.deleted', 'attachment.deleted'))) or i.times > 1`,
  },
]

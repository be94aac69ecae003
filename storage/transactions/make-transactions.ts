/**
 * Makes the transactions of payments, transfers, exchanges and incoming payments from their rows, in one statement.
 *
 * Written by hand: one statement makes the transactions of a whole range of events.
 */
import { JOURNAL_TYPES } from '../../lib/ledger/journal-line.ts'
import { markedCause } from '../journal/journal-lines.ts'
import { plainArray, textArray } from '../db/array-literal.ts'
import type { TransactionClient } from '../db/transaction.ts'

/** The status of a payment as the customer sees it. A scheduled payment is pending money. */
const PAYMENT_STATUS = `case p.status when 'completed' then 'completed' when 'failed' then 'failed' when 'rejected' then 'failed' when 'cancelled' then 'cancelled'
    when 'returned' then 'returned' when 'on_hold' then 'on_hold' else 'pending' end`
const TRANSFER_STATUS = `case t.status when 'completed' then 'completed' when 'failed' then 'failed' when 'on_hold' then 'on_hold' else 'pending' end`
const EXCHANGE_STATUS = `case x.status when 'completed' then 'completed' when 'failed' then 'failed' when 'rejected' then 'failed' when 'cancelled' then 'cancelled'
    when 'expired' then 'cancelled' else 'pending' end`

/** SQL of a row in the order of the columns of `made`; absent fields are null, and absent tax is 0. */
const made = (row: Readonly<Record<string, string>>): string =>
  MADE.map((name) => `${row[name] ?? (name === 'fee_tax' ? '0::bigint' : 'null')} as ${name}`).join(', ')
const MADE = [
  'id',
  'customer_id',
  'balance_id',
  'type',
  'status',
  'direction',
  'currency',
  'amount',
  'fee',
  'fee_tax',
  'order_id',
  'description',
  'counterparty_name',
  'counterparty_identifier',
  'recipient_id',
  'reference',
  'rail',
  'source_object',
  'source_id',
  'source_version',
  'created_at',
  'updated_at',
] as const

const TRANSFER = {
  customer_id: 't.customer_id',
  status: TRANSFER_STATUS,
  currency: 't.currency',
  amount: 't.amount',
  fee: '0::bigint',
  order_id: 't.number',
  reference: 't.reference',
  source_object: `'transfer'`,
  source_id: 't.id',
  source_version: 't.version::bigint',
  created_at: 't.created_at',
  updated_at: 't.updated_at',
}
const EXCHANGE = {
  customer_id: 'x.customer_id',
  status: EXCHANGE_STATUS,
  order_id: 'x.number',
  reference: 'x.reference',
  source_object: `'exchange'`,
  source_id: 'x.id',
  source_version: 'x.version::bigint',
  created_at: 'x.created_at',
  updated_at: 'x.updated_at',
  description: `'Exchange ' || x.sell_currency || ' to ' || x.buy_currency`,
}

/** A clearing of a card transaction, or before the first one its authorisation or decline. */
const CARD = {
  customer_id: 'k.customer_id',
  balance_id: 'k.balance_id',
  type: `case when k.channel = 'atm' then 'card_withdrawal' else 'card_payment' end`,
  direction: `'out'`,
  currency: 'k.currency',
  description: `case when k.channel = 'atm' then 'Cash withdrawal, ' else 'Card payment, ' end || k.merchant_name`,
  counterparty_name: 'k.merchant_name',
  reference: 'k.ref',
  rail: `'card'`,
  source_object: `'card_transaction'`,
  source_id: 'k.id',
  source_version: 'k.version::bigint',
}

/**
 * The columns that a cause may change later. Users' additions to a transaction (its category and counts) are not among
 * them.
 */
const FOLLOWED = [
  'status',
  'amount',
  'fee',
  'fee_tax',
  'description',
  'counterparty_name',
  'counterparty_identifier',
  'recipient_id',
  'reference',
  'rail',
  'balance_id',
  'currency',
  'running_balance',
  'booked_at',
  'value_date',
  'source_version',
  'updated_at',
] as const

/** SQL that makes the transactions of causes `$1`; `$2` and `$3` are the marks of lines and their types. */
const MAKE = `
-- Of the events of a payment the first pass sees what all of them led to; its lines come with its versions.
with asked as materialized (
  select distinct a.id from unnest($1::uuid[]) a(id)
  where not exists (select from account_transaction t join payment p on p.id = t.id and p.version = t.source_version where t.id = a.id)),
-- A payment within the platform and what it is for its payee have one posting, so they are made together.
wanted as materialized (
  select id from asked
  union
  select i.id from asked w join incoming_payment i on i.id = marked_id(w.id, 1) and i.origin_id = w.id
  union
  select i.origin_id from asked w join incoming_payment i on i.id = w.id and i.id = marked_id(i.origin_id, 1)),
line as materialized (
  select transaction_of_line(p.rule, l.side, p.source_id, p.entry_id, p.ordinal) as id, p.source_object, p.source_id, p.rule, p.amount, p.currency, p.description,
    p.reference, p.counterparty, p.booked_at, p.value_date, p.ordinal, b.customer_id, l.side, l.balance_id, l.sequence, l.running, l.other
  from wanted w join posting p on p.source_id = w.id
  cross join lateral (values ('debit', p.debit_account, p.debit_sequence, p.debit_balance, p.credit_account),
    ('credit', p.credit_account, p.credit_sequence, p.credit_balance, p.debit_account)) l(side, balance_id, sequence, running, other)
  join balance b on b.id = l.balance_id
  where l.sequence is not null),
booked as (
  select id, min(booked_at) as booked_at, min(value_date) as value_date, (array_agg(running order by sequence desc))[1] as running_balance from line group by id),
caused as (
  select ${made({
    id: 'p.id',
    customer_id: 'p.customer_id',
    balance_id: 'p.paying_balance_id',
    type: `'outgoing_payment'`,
    status: PAYMENT_STATUS,
    direction: `'out'`,
    currency: 'p.currency',
    amount: 'p.amount',
    fee: 'p.fee',
    fee_tax: `coalesce((d.charges->>'feeTax')::bigint, 0)`,
    order_id: 'p.number',
    description: `'Payment to ' || r.name`,
    counterparty_name: 'r.name',
    counterparty_identifier: 'r."maskedIdentifier"',
    recipient_id: 'p.recipient_id',
    reference: 'd.reference',
    rail: 'p.rail',
    source_object: `'payment'`,
    source_id: 'p.id',
    source_version: 'p.version::bigint',
    created_at: 'p.created_at',
    updated_at: 'p.updated_at',
  })}
  from wanted w join payment p on p.id = w.id
  -- Each of these functions reads its JSON once; five operators would read it five times.
  cross join lateral json_to_record(p.details::json) d(reference text, charges json, recipient json)
  cross join lateral json_to_record(d.recipient) r(name text, "maskedIdentifier" text)
  -- A payment in another currency leaves the balance that its exchange has bought for.
  where p.status <> 'draft'
  union all
  select ${made({ ...TRANSFER, id: 't.id', balance_id: 't.from_balance_id', type: `'transfer_out'`, direction: `'out'`, description: `'Transfer to ' || b.name`, counterparty_name: 'b.name' })}
  from wanted w join transfer t on t.id = w.id join balance b on b.id = t.to_balance_id
  union all
  select ${made({ ...TRANSFER, id: 'marked_id(t.id, 1)', balance_id: 't.to_balance_id', type: `'transfer_in'`, direction: `'in'`, description: `'Transfer from ' || b.name`, counterparty_name: 'b.name' })}
  from wanted w join transfer t on t.id = w.id join balance b on b.id = t.from_balance_id
  union all
  select ${made({
    id: 'i.id',
    customer_id: 'i.customer_id',
    balance_id: 'i.balance_id',
    type: `'incoming_payment'`,
    status: `case when i.status = 'returned' then 'returned' else 'completed' end`,
    direction: `'in'`,
    currency: 'i.currency',
    amount: 'i.amount',
    fee: '0::bigint',
    description: `coalesce('Payment from ' || i.payer_name, 'Incoming payment')`,
    counterparty_name: 'i.payer_name',
    counterparty_identifier: 'i.payer_identifier',
    reference: 'i.reference',
    rail: 'i.rail',
    source_object: `'incoming_payment'`,
    source_id: 'i.id',
    source_version: 'i.version::bigint',
    created_at: 'i.credited_at',
    updated_at: 'greatest(i.updated_at, i.credited_at)',
  })}
  from wanted w join incoming_payment i on i.id = w.id where i.credited_at is not null
  union all
  select ${made({ ...EXCHANGE, id: 'x.id', balance_id: 'x.sell_balance_id', type: `'exchange_out'`, direction: `'out'`, currency: 'x.sell_currency', amount: 'x.sell_amount', fee: 'x.fee' })}
  from wanted w join exchange x on x.id = w.id where x.kind in ('spot', 'drawdown')
  union all
  select ${made({ ...EXCHANGE, id: 'marked_id(x.id, 1)', balance_id: 'x.buy_balance_id', type: `'exchange_in'`, direction: `'in'`, currency: 'x.buy_currency', amount: 'x.buy_amount', fee: '0::bigint' })}
  from wanted w join exchange x on x.id = w.id where x.kind in ('spot', 'drawdown')
  union all
  select ${made({
    ...CARD,
    id: 'l.id',
    status: `'completed'`,
    amount: 'sum(l.amount) filter (where l.ordinal = 0)::bigint',
    fee: 'coalesce(sum(l.amount) filter (where l.ordinal > 0), 0)::bigint',
    fee_tax: `coalesce(sum(l.amount) filter (where a.key = 'fee_tax'), 0)::bigint`,
    created_at: 'case when l.id = k.id then k.created_at else min(l.booked_at) end',
    updated_at: 'min(l.booked_at)',
  })}
  from line l join card_transaction k on k.id = l.source_id left join account a on a.id = l.other
  where l.rule = 'L71' group by l.id, k.id
  union all
  select ${made({
    ...CARD,
    id: 'k.id',
    status: `case when k.status = 'declined' then 'failed' when k.held > 0 then 'pending' else 'cancelled' end`,
    amount: `case when k.held > 0 then k.held when k.authorised > 0 then k.authorised
      else (select e.amount from card_event e where e.transaction_id = k.id order by e.at, e.id limit 1) end`,
    fee: '0::bigint',
    created_at: 'k.created_at',
    updated_at: 'k.updated_at',
  })}
  -- A refund without its purchase has none: its credit is its only transaction.
  from wanted w join card_transaction k on k.id = w.id where k.cleared = 0 and (k.authorised > 0 or k.status = 'declined')),
rest as (
  select ${made({
    id: 'l.id',
    customer_id: 'l.customer_id',
    balance_id: 'l.balance_id',
    type: 'max(m.type)',
    status: `'completed'`,
    direction: `case max(l.side) when 'debit' then 'out' else 'in' end`,
    currency: 'max(l.currency)',
    amount: 'sum(l.amount)::bigint',
    fee: '0::bigint',
    order_id: 'max(coalesce(p.number, t.number, x.number))',
    description: 'coalesce((array_agg(l.description order by l.sequence))[1], initcap(max(m.type)))',
    counterparty_name: 'max(l.counterparty)',
    recipient_id: `case when bool_or(l.rule = 'L13') then (array_agg(p.recipient_id))[1] end`,
    reference: 'max(l.reference)',
    rail: `case when bool_or(l.rule in ('L13', 'L20')) then max(p.rail) when max(l.source_object) = 'card_transaction' then 'card' end`,
    source_object: 'max(l.source_object)',
    source_id: 'l.source_id',
    source_version: '1::bigint',
    created_at: 'min(l.booked_at)',
    updated_at: 'min(l.booked_at)',
  })}
  from line l
  left join account a on a.id = l.other
  left join unnest($2::text[], $3::text[]) m(mark, type) on m.mark = l.rule || '/' || l.side || '/' || coalesce(a.key, 'cust') || ${markedCause('l')}
  left join payment p on p.id = l.source_id left join transfer t on t.id = l.source_id left join exchange x on x.id = l.source_id
  where not exists (select from caused c where c.id = l.id)
  group by l.id, l.customer_id, l.balance_id, l.source_id),
everything as (select * from caused union all select * from rest)
insert into account_transaction as t (${MADE.join(', ')}, running_balance, booked_at, value_date)
select ${MADE.map((name) => `e.${name}`).join(', ')},
  ${['running_balance', 'booked_at', 'value_date'].map((name) => `case when e.status in ('completed', 'returned') then b.${name} end`).join(', ')}
from everything e left join booked b on b.id = e.id
order by e.id
on conflict (id) do update set ${FOLLOWED.map((name) => `${name} = excluded.${name}`).join(', ')}, version = t.version + 1
where excluded.source_version >= t.source_version
  and (${FOLLOWED.map((name) => `t.${name}`).join(', ')}) is distinct from (${FOLLOWED.map((name) => `excluded.${name}`).join(', ')})`

/** Corrections are found by the mark of the corrected line: the same rule with debit and credit exchanged. */
const MARKS = new Map<string, string>()
for (const [mark, type] of JOURNAL_TYPES) {
  const [rule, side, ...rest] = mark.split('/') as [string, string, ...string[]]
  const reversed = [rule, side === 'debit' ? 'credit' : 'debit', ...rest].join('/')
  MARKS.set(mark, type)
  if (!JOURNAL_TYPES.has(reversed)) MARKS.set(reversed, type)
}
const MARK_NAMES = plainArray([...MARKS.keys()])
const MARK_TYPES = textArray([...MARKS.values()])

type Asking = Pick<TransactionClient, 'query'>

/** Makes or updates the transactions of these causes from their present state. @throws the driver's errors */
export async function makeTransactions(client: Asking, causes: readonly string[]): Promise<void> {
  if (causes.length === 0) return
  await client.query({ name: 'make_transactions', text: MAKE, values: [plainArray(causes), MARK_NAMES, MARK_TYPES] })
}

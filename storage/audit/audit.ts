/**
 * Audits the books: every promise of the ledger as a query for the rows that break it.
 *
 * The checks share one snapshot, so they can run beside a working service. They compute everything again from rows that
 * cannot change (postings, status updates, events) instead of trusting totals that were kept up to date.
 */
import type pg from 'pg'
import { CHART, type AccountClass } from '../../lib/ledger/chart.ts'
import { mayOverdraw, RULE_IDS } from '../../lib/ledger/postings.ts'
import { CHAIN_CHECKS, keptBlockCheck, type KeptBlock } from './audit-chain.ts'
import { BULK_PAYMENT_CHECKS } from './audit-bulk-payments.ts'
import { CONTRACT_CHECKS } from './audit-contracts.ts'
import { STATEMENT_CHECKS } from './audit-statements.ts'
import { TRANSACTION_CHECKS } from './audit-transactions.ts'

/** A row that disagrees, as the check describes it. */
export type AuditRow = Readonly<Record<string, unknown>>

export interface AuditCheck {
  readonly name: string
  /** The promise that holds for every row that is not listed. */
  readonly promise: string
  /** Number of rows that break the promise. */
  readonly disagreeing: number
  /** The first of the disagreeing rows. */
  readonly rows: readonly AuditRow[]
  readonly milliseconds: number
}

export interface AuditReport {
  readonly ok: boolean
  readonly checks: readonly AuditCheck[]
  readonly postings: number
  /** The newest block of the journal's chain, to be kept outside of the database; null while no line is chained. */
  readonly block: { readonly number: string; readonly hash: string } | null
  readonly milliseconds: number
}

/** Disagreeing rows that a check lists, at most. */
const LISTED_MAX = 20

/**
 * Memory for each node of a query plan. Sorting and hashing millions of rows in memory is several times faster than on
 * disk, and an audit is a single connection, run by hand, so it may use this much.
 */
const WORK_MEMORY = '256MB'

interface Check {
  readonly name: string
  readonly promise: string
  /** Returns the rows that disagree. Parameters from `$1` on are `values`. */
  readonly sql: string
  readonly values?: readonly unknown[]
}

/**
 * Audits the database behind a connection that has no open transaction. `kept` are blocks of the journal's chain that
 * were kept elsewhere.
 *
 * @throws the driver's errors. Disagreeing rows are in the report and throw nothing.
 */
export async function audit(
  client: Pick<pg.ClientBase, 'query'>,
  kept: readonly KeptBlock[] = [],
): Promise<AuditReport> {
  const begin = performance.now()
  await client.query('begin isolation level repeatable read read only')
  try {
    await client.query(`set local work_mem = '${WORK_MEMORY}'; set local jit = off; set local statement_timeout = 0`)
    const checks: AuditCheck[] = []
    for (const check of [
      ...CHECKS,
      ...CONTRACT_CHECKS,
      ...BULK_PAYMENT_CHECKS,
      ...TRANSACTION_CHECKS,
      ...STATEMENT_CHECKS,
      ...CHAIN_CHECKS,
      ...kept.map(keptBlockCheck),
    ])
      checks.push(await run(client, check))
    const {
      rows: [counted],
    } = await client.query<{ postings: string }>('select count(*) as postings from posting')
    const {
      rows: [block],
    } = await client.query<{ number: string; hash: string }>(
      "select number, encode(hash, 'hex') as hash from journal_block order by number desc limit 1",
    )
    return {
      ok: checks.every(({ disagreeing }) => disagreeing === 0),
      checks,
      postings: Number(counted!.postings),
      block: block ?? null,
      milliseconds: performance.now() - begin,
    }
  } finally {
    await client.query('rollback')
  }
}

async function run(
  client: Pick<pg.ClientBase, 'query'>,
  { name, promise, sql, values = [] }: Check,
): Promise<AuditCheck> {
  const begin = performance.now()
  const { rows } = await client.query<AuditRow & { disagreeing: string }>(
    `select *, count(*) over () as disagreeing from (${sql}) broken limit ${LISTED_MAX}`,
    [...values],
  )
  return {
    name,
    promise,
    disagreeing: Number(rows[0]?.disagreeing ?? 0),
    rows: rows.map(({ disagreeing: _, ...row }) => row),
    milliseconds: performance.now() - begin,
  }
}

// ── The checks ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** SQL of each posting as a line of each balance it touches. */
const LINES = `
  select debit_account as balance_id, debit_sequence as sequence, -amount as change, debit_balance as running, rule, entry_id
  from posting where debit_sequence is not null
  union all
  select credit_account, credit_sequence, amount, credit_balance, rule, entry_id
  from posting where credit_sequence is not null`

/** SQL of all accounts that postings can debit or credit: balances and internal accounts. */
const ACCOUNTS = `
  select id, currency, operator_id, 'cust' as key, true as is_balance from balance
  union all
  select id, currency, operator_id, key, false from account`

/** Events older than this were dropped with their partitions, so earlier changes are no longer proven by events. */
const EVENTS_KEPT_FROM = '(select kept_from from event_retention)'

/** Statuses of payments under way. A payment on hold waits for staff, not for the partner, so it is not among them. */
const OPEN_STATUSES = ['processing', 'exception']
const HELD_STATUSES = ['processing', 'exception', 'on_hold', 'pending_approval']
/** Statuses of payments that have moved no money. */
const UNSUBMITTED_STATUSES = ['draft', 'pending_approval', 'scheduled', 'rejected', 'cancelled']

/** Rules by which a balance may fall below zero, in at least one of their variants. */
const OVERDRAWING = RULE_IDS.filter((id) => mayOverdraw(id) || mayOverdraw(id, 'against_customer'))

const keysOf = (...classes: readonly AccountClass[]): string[] =>
  CHART.filter((account) => classes.includes(account.class)).map(({ key }) => key)

const CHECKS: readonly Check[] = [
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
    name: 'payments and their money',
    promise: 'what is held and posted for a payment is what its status says',
    sql: `select p.id as payment_id, p.status, p.sent_at is not null as sent, p.amount + p.fee as total, h.status as hold_status,
        h.amount as held, h.captured_amount as captured, m.l10, m.l11, m.l12, m.l13, p.returned_amount
      from payment p
      left join hold h on h.id = p.hold_id
      left join (
        -- Within the platform one entry is both: the money has left, and has arrived.
        select source_id, coalesce(sum(amount) filter (where rule in ('L10', 'L20')), 0) as l10,
          coalesce(sum(amount) filter (where rule = 'L11' or (rule = 'L20' and credit_sequence is not null)), 0) as l11, coalesce(sum(amount) filter (where rule = 'L12'), 0) as l12,
          -- What came back to a balance that was closed waits for its owner.
          coalesce(sum(amount) filter (where rule in ('L13', 'L03')), 0) as l13
        from posting where source_object = 'payment' group by source_id) m on m.source_id = p.id
      cross join lateral (select coalesce(m.l10, 0) as sent, coalesce(m.l11, 0) as settled, coalesce(m.l12, 0) as given_back,
        coalesce(m.l13, 0) as returned,
        coalesce(h.status, 'none') as hold, p.amount + p.fee as total) is_
      where not coalesce(case
        when p.status = any($1::text[]) then is_.sent = 0 and is_.settled = 0 and is_.given_back = 0
          and case when p.status = 'pending_approval' and p.hold_id is not null then is_.hold = 'active' and h.amount = is_.total else is_.hold <> 'active' end
        -- What it pays is being bought.
        when p.status = 'processing' and p.sent_at is null and p.hold_id is null
          then is_.sent = 0 and is_.settled = 0 and is_.given_back = 0 and exists (select from exchange x where x.payment_id = p.id and x.status in ('processing', 'exception'))
        when p.status = 'on_hold' or (p.status = 'processing' and p.sent_at is null)
          then is_.hold = 'active' and h.amount = is_.total and is_.sent = 0 and is_.settled = 0 and is_.given_back = 0
        when p.status in ('processing', 'exception')
          then is_.hold = 'captured' and h.captured_amount = is_.total and is_.sent = is_.total and is_.settled = 0 and is_.given_back = 0
        when p.status in ('completed', 'returned')
          then is_.hold = 'captured' and is_.sent = is_.total and is_.settled = p.amount and is_.given_back = 0
        when p.status = 'failed' and is_.sent = 0 then is_.hold in ('released', 'expired', 'none') and is_.settled = 0 and is_.given_back = 0
        when p.status = 'failed' then is_.hold = 'captured' and is_.sent = is_.total and is_.given_back = is_.total and is_.settled = 0
        else false end
        and (p.status = 'returned') = (p.returned_amount is not null) and is_.returned = coalesce(p.returned_amount, 0), false)`,
    values: [UNSUBMITTED_STATUSES],
  },
  {
    name: 'payments within the platform',
    promise:
      "a payment by the rail internal that is completed is posted once by L20, from its balance to its payee's, and is its payee's incoming payment; nothing else is",
    sql: `select p.id as payment_id, p.rail, p.status, l.entries, l.amount as posted, l.debit_account, l.credit_account, i.id as incoming_payment_id, i.balance_id, i.amount as arrived
      from payment p
      left join (select source_id, count(*) as entries, min(occurrence) as occurrence, sum(amount) as amount, min(debit_account::text) as debit_account, min(credit_account::text) as credit_account
          from posting where source_object = 'payment' and rule = 'L20' and credit_sequence is not null group by source_id) l on l.source_id = p.id
      left join incoming_payment i on i.id = marked_id(p.id, 1)
      where (p.rail = 'internal' or l.source_id is not null or i.id is not null) and not case
        when p.rail = 'internal' and p.status = 'completed' then coalesce(l.entries = 1 and l.occurrence = 1 and l.amount = p.amount and l.debit_account = p.paying_balance_id::text
          and l.credit_account = i.balance_id::text and i.balance_id::text = p.details::jsonb->>'payeeBalanceId' and i.amount = p.amount and i.currency = p.currency
          and i.origin_id = p.id and i.operator_id = p.operator_id and i.rail = 'internal', false)
        else l.source_id is null and i.id is null and (p.rail is distinct from 'internal' or (p.sent_at is null and p.status not in ('exception', 'returned'))) end`,
  },
  {
    name: 'payments and their exchanges',
    promise:
      'an exchange that is made for a payment buys what it pays, on the balance that pays it, and ends before the payment goes on',
    sql: `select x.id as exchange_id, x.status, p.id as payment_id, p.status as payment_status from exchange x left join payment p on p.id = x.payment_id
      where x.payment_id is not null and (p.id is null or p.customer_id <> x.customer_id or p.amount <> x.buy_amount or p.currency <> x.buy_currency
        or p.source_balance_id <> x.sell_balance_id or p.paying_balance_id is distinct from x.buy_balance_id
        or p.details::jsonb#>>'{conversion,exchangeId}' is distinct from x.id::text or (p.details::jsonb#>>'{conversion,sellMinor}')::bigint <> x.sell_amount
        or not case
          when x.status = 'pending_approval' then p.status = 'pending_approval'
          when x.status in ('processing', 'exception') then p.hold_id is null and p.sent_at is null and p.status in ('processing', 'cancelled')
          -- What was bought for a balance that takes no money any more waits for its owner, and pays nothing.
          when x.status = 'completed' then p.hold_id is not null or p.status = 'cancelled' or (p.status = 'failed' and exists (select from incoming_payment i where i.origin_id = x.id))
          else p.sent_at is null and p.status in ('failed', 'rejected', 'cancelled') end)`,
  },
  {
    name: 'payments and the balance that pays',
    promise:
      'a payment is paid by the balance that it was made from, or by the one that its exchange buys for, in its own currency, and no other',
    sql: `select p.id as payment_id, p.status, p.source_balance_id, p.paying_balance_id, x.buy_balance_id, b.currency from payment p
      left join exchange x on x.payment_id = p.id left join balance b on b.id = p.paying_balance_id
      where p.paying_balance_id is distinct from coalesce(x.buy_balance_id, p.source_balance_id) or b.customer_id is distinct from p.customer_id
        or (p.status <> 'draft' and b.currency <> p.currency)
      union all
      select p.id, p.status, p.source_balance_id, p.paying_balance_id, null, null from payment p join posting l on l.source_id = p.id
      where l.source_object = 'payment' and p.paying_balance_id not in (l.debit_account, l.credit_account) and (l.debit_sequence is not null or l.credit_sequence is not null)`,
  },
  {
    name: 'charges of payments',
    promise:
      'what was agreed on when a payment was submitted is charged when it is confirmed and returned, and nothing else',
    sql: `select p.id as payment_id, p.status, m.refunded, m.returning, m.taken, m.passed_on from payment p
      left join (
        select source_id, coalesce(sum(amount) filter (where rule = 'L14'), 0) as refunded, coalesce(sum(amount) filter (where rule = 'L15'), 0) as returning,
          coalesce(sum(amount) filter (where rule = 'L16'), 0) as taken, coalesce(sum(amount) filter (where rule = 'L17'), 0) as passed_on
        from posting where source_object = 'payment' and rule in ('L14', 'L15', 'L16', 'L17') group by source_id) m on m.source_id = p.id
      cross join lateral (select case when p.details like '%"charges":%' then p.details::jsonb->'charges' end as terms) c
      cross join lateral (select p.status = 'returned' as is_returned, p.status in ('completed', 'returned') as is_settled,
        coalesce((c.terms->'partner'->>'amountMinor')::bigint, 0) as partner, coalesce((c.terms->'partner'->>'passedOn')::boolean, false) as to_sender) is_
      where (m.source_id is not null or c.terms is not null) and (
        coalesce(m.refunded, 0) <> case when is_.is_returned and coalesce((c.terms->>'feeRefundable')::boolean, false) then p.fee else 0 end
        or coalesce(m.returning, 0) <> case when is_.is_returned then coalesce((c.terms->>'return')::bigint, 0) else 0 end
        or coalesce(m.taken, 0) <> case when is_.is_settled and not is_.to_sender then is_.partner else 0 end
        or coalesce(m.passed_on, 0) <> case when is_.is_settled and is_.to_sender then 2 * is_.partner else 0 end)`,
  },
  {
    name: 'money in transit',
    promise:
      'out_transit nets to zero for every payment that has ended, and holds its amount while it is with the partner',
    sql: `select p.id as payment_id, p.status, p.amount, t.net from payment p
      left join (
        select source_id, sum(change) as net from (
          select p.source_id, p.credit_account as id, p.amount as change from posting p where p.source_object = 'payment' and p.credit_sequence is null
          union all
          select p.source_id, p.debit_account, -p.amount from posting p where p.source_object = 'payment' and p.debit_sequence is null) side
        join account a on a.id = side.id and a.key = 'out_transit' group by source_id) t on t.source_id = p.id
      where coalesce(t.net, 0) <> case when p.status = any($1::text[]) and p.sent_at is not null then p.amount else 0 end`,
    values: [OPEN_STATUSES],
  },
  {
    name: 'postings and their source',
    promise:
      'every posting of a payment, transfer, exchange or incoming payment names one that exists, of its customer and currency',
    sql: `select p.entry_id, p.rule, p.source_object, p.source_id from posting p
      left join (
        select 'payment' as object, id, customer_id, currency from payment
        union all select 'transfer', id, customer_id, currency from transfer
        union all select 'exchange', id, customer_id, sell_currency from exchange
        union all select 'exchange', id, customer_id, buy_currency from exchange
        union all select 'incoming_payment', id, customer_id, currency from incoming_payment
        union all select 'incoming_suspense', id, operator_id, currency from incoming_payment where suspense is not null) s
        on s.object = p.source_object and s.id = p.source_id and (p.source_object <> 'exchange' or s.currency = p.currency)
      where p.source_object in ('payment', 'transfer', 'exchange', 'incoming_payment', 'incoming_suspense')
        and (s.id is null or s.customer_id is distinct from p.customer_id or s.currency <> p.currency)`,
  },
  {
    name: 'exchanges and their money',
    promise:
      'what an exchange has moved is what its status says, and clearing is zero, in each currency, once it has ended',
    sql: `select e.id as exchange_id, e.kind, e.status, e.sell_amount, e.buy_amount, p.booked, p.given_back, p.received, p.clearing_sold, p.clearing_bought from exchange e
      left join (
        select p.source_id, p.source_object,
          coalesce(sum(p.amount) filter (where c.key = 'fx_clearing' and p.rule in ('L30', 'L43', 'L81')), 0) as booked,
          coalesce(sum(p.amount) filter (where d.key = 'fx_clearing' and p.rule = 'L35'), 0) as given_back,
          coalesce(sum(p.amount) filter (where d.key = 'fx_clearing' and p.rule = 'L33'), 0) as received,
          coalesce(sum(case 'fx_clearing' when c.key then p.amount when d.key then -p.amount end) filter (where p.currency = x.sell_currency), 0) as clearing_sold,
          coalesce(sum(case 'fx_clearing' when c.key then p.amount when d.key then -p.amount end) filter (where p.currency = x.buy_currency), 0) as clearing_bought
        from posting p join exchange x on x.id = p.source_id left join account d on d.id = p.debit_account left join account c on c.id = p.credit_account
        where p.source_object = 'exchange' group by 1, 2) p on p.source_id = e.id
      where coalesce(p.booked, 0) <> case when e.kind in ('spot', 'drawdown') and e.status in ('processing', 'exception', 'completed', 'failed') then e.sell_amount else 0 end
        or coalesce(p.given_back, 0) <> case when e.kind in ('spot', 'drawdown') and e.status = 'failed' then e.sell_amount else 0 end
        or coalesce(p.received, 0) <> case when e.kind in ('spot', 'drawdown') and e.status = 'completed' then e.buy_amount else 0 end
        or coalesce(p.clearing_sold, 0) <> case when e.kind in ('spot', 'drawdown') and e.status in ('processing', 'exception') then e.sell_amount else 0 end
        or coalesce(p.clearing_bought, 0) <> 0`,
  },
  {
    name: 'exchanges and the partner',
    promise:
      "an exchange is the partner's to settle exactly while nobody knows its end, and a quote was used once, by what it says",
    sql: `select coalesce(e.id, o.exchange_id) as exchange_id, e.status from (select * from exchange where kind in ('spot', 'drawdown') and status in ('processing', 'exception')) e
      full join fx_order o on o.exchange_id = e.id where e.id is null or o.exchange_id is null
      union all
      select e.id, e.status from exchange e join quote q on q.id = e.quote_id
      where q.customer_id <> e.customer_id or q.kind <> e.kind or q.sell_currency <> e.sell_currency or q.buy_currency <> e.buy_currency
        or (e.approval_id is null and (q.sell_amount <> e.sell_amount or q.buy_amount <> e.buy_amount or q.rate <> e.rate))`,
  },
  {
    name: 'holds and their payment',
    promise:
      'every active hold for a payment belongs to an open one that knows it; that of a review names nothing but itself',
    sql: `select h.id as hold_id, h.balance_id, h.amount, h.subject_id as payment_id, p.status
      from hold h left join payment p on p.hold_id = h.id and p.paying_balance_id = h.balance_id
        and h.subject_id = case h.subject_type when 'payment_review' then h.id else p.id end
        and (h.subject_type = 'payment_review') = (p.status = 'on_hold')
      left join transfer_order o on h.subject_type = 'payment_review' and o.hold_id = h.id
      where h.status = 'active' and h.subject_type in ('payment', 'payment_review') and o.transfer_id is null
        and (p.id is null or p.status <> all($1::text[]))`,
    values: [HELD_STATUSES],
  },
  {
    name: 'compliance holds',
    promise:
      'a payment or transfer is on hold exactly while a compliance hold of it is open, and operators were told once of each end and beginning',
    sql: `select coalesce(h.id, p.id) as id, h.status, p.status as payment_status, e.opened, e.ended, e.status as told
      from compliance_hold h
      full join (select id, status from payment where status = 'on_hold' union all select id, status from transfer where status = 'on_hold') p
        on p.id = h.subject_id and h.status = 'open'
      left join (
        select object_id, count(*) filter (where type = 'compliance_hold.created') as opened, count(*) filter (where type <> 'compliance_hold.created') as ended,
          min(status) filter (where type <> 'compliance_hold.created') as status
        from outbox where object = 'compliance_hold' group by object_id) e on e.object_id = h.id
      where h.id is null or (h.subject_type in ('payment', 'transfer') and h.status = 'open' and p.id is null) or (h.created_at >= ${EVENTS_KEPT_FROM} and (e.opened is distinct from 1
        or e.ended is distinct from case h.status when 'open' then 0 else 1 end or (h.status <> 'open' and e.status is distinct from h.status)))`,
  },
  {
    name: 'exceptions',
    promise:
      'a payment, transfer or exchange has an open exception exactly while nobody knows what became of it, or it is on hold',
    sql: `select coalesce(x.subject_id, p.id) as subject_id, x.id as exception_id, x.kind, p.status
      from (select id, subject_id, kind from exception_case where status = 'open') x
      full join (select id, status from payment where status in ('exception', 'on_hold')
        union all select id, status from transfer where status in ('exception', 'on_hold')
        union all select id, status from exchange where status = 'exception') p on p.id = x.subject_id
      where x.id is null or p.id is null or (x.kind = 'compliance_hold') <> (p.status = 'on_hold')`,
  },
  {
    name: 'partner instructions',
    promise: 'a payment has an instruction exactly while the partner has still to answer for it',
    sql: `select coalesce(p.id, i.payment_id) as payment_id, p.status, i.payment_id is not null as instructed
      from (select id, status from payment p where status = any($1::text[])
        and not (p.status = 'processing' and p.hold_id is null and exists (select from exchange x where x.payment_id = p.id and x.status in ('processing', 'exception')))) open
      full join partner_instruction i on i.payment_id = open.id
      left join payment p on p.id = coalesce(open.id, i.payment_id)
      where open.id is null or i.payment_id is null`,
    values: [OPEN_STATUSES],
  },
  {
    name: 'transfers',
    promise:
      'a completed transfer is posted exactly once by L20, from its one balance to its other; no other one is posted',
    // The primary key of postings prevents a second L20, unless it has another number; any other one is found as a row.
    sql: `select t.id as transfer_id, t.status, t.amount, p.entry_id, p.rule, p.occurrence, p.ordinal, p.amount as posted from transfer t
      left join posting p on p.source_id = t.id and p.source_object = 'transfer'
      where case when t.status = 'completed'
        then p.source_id is null or p.occurrence <> 1 or p.ordinal <> 0 or p.amount <> t.amount
          or not case p.rule when 'L20' then p.debit_account = t.from_balance_id
              and (p.credit_account = t.to_balance_id or exists (select from account a where a.id = p.credit_account and a.key = 'unallocated')) else p.rule = 'L21' end
        else p.source_id is not null end`,
  },
  {
    name: 'transfers by the partner',
    promise:
      'the amount is held until the partner has answered, then captured or released; the cash leg is posted exactly where two connections took part',
    sql: `select t.id as transfer_id, t.status, t.amount, h.status as hold_status, h.amount as held, o.due_at, p.l20, p.l21 from transfer t
      left join transfer_order o on o.transfer_id = t.id left join hold h on h.id = o.hold_id
      left join (select source_id, count(*) filter (where rule = 'L20') as l20, count(*) filter (where rule = 'L21') as l21
          from posting where source_object = 'transfer' group by source_id) p on p.source_id = t.id
      where not coalesce(case when o.transfer_id is null then t.status = 'completed' and p.l20 = 1 and p.l21 = 0
        else h.subject_id in (t.id, h.id) and h.balance_id = t.from_balance_id and h.amount = t.amount and case t.status
          when 'on_hold' then h.status = 'active' and h.subject_type = 'payment_review' and o.due_at is null
          when 'completed' then h.status = 'captured' and h.captured_amount = t.amount and o.due_at is null and p.l20 = 1
            and p.l21 = (o.from_connection_id <> o.to_connection_id)::int
          when 'failed' then h.status = 'released' and o.due_at is null and t.failure is not null
          else h.status = 'active' and o.due_at is not null end end, false)`,
  },
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
    name: 'incoming payments',
    promise:
      'what came in is where its status says, was credited at most once and told of once, and what goes back is what was taken back',
    sql: `select i.id as incoming_payment_id, i.status, i.suspense, i.amount, i.returned_amount, m.*, e.received, e.returned from incoming_payment i
      left join (
        select case when back.id is null and p.rule = 'L20' then marked_id(p.source_id, 1) else coalesce(back.id, p.source_id) end as source_id,
          min(credit_account::text) filter (where rule in ('L01', 'L04', 'L06') or (rule = 'L20' and back.id is null)) as credited_to,
          sum(p.amount) filter (where rule in ('L01', 'L03', 'L05', 'L20', 'L97') or back.id is not null) as arrived,
          sum(p.amount) filter (where rule in ('L01', 'L04', 'L06') or (rule = 'L20' and back.id is null)) as credited,
          coalesce(sum(case when rule in ('L03', 'L97') or back.id is not null then p.amount when rule in ('L04', 'L08') then -p.amount end), 0) as unallocated,
          coalesce(sum(case rule when 'L05' then p.amount when 'L06' then -p.amount when 'L07' then -p.amount end), 0) as under_review,
          sum(p.amount) filter (where rule in ('L07', 'L08', 'L80')) as sent_back, sum(p.amount) filter (where rule = 'L11') as settled,
          count(*) filter (where occurrence <> 1) as repeated
        -- What came back to a closed balance was posted by the rule that brought it back.
        from posting p left join (select b.id, b.origin_id, a.id as account_id from incoming_payment b join account a on a.key = 'unallocated' where b.origin_id is not null) back
          on back.origin_id = p.source_id and back.account_id = p.credit_account
        where p.source_object in ('incoming_payment', 'incoming_suspense') or back.id is not null
          or (p.source_object = 'payment' and p.rule = 'L20' and p.credit_sequence is not null) group by 1) m on m.source_id = i.id
      left join (
        select object_id, count(*) filter (where type = 'incoming_payment.received') as received, count(*) filter (where type = 'incoming_payment.returned') as returned
        from outbox where object = 'incoming_payment' and not sandbox group by object_id) e on e.object_id = i.id
      where not coalesce(m.arrived = i.amount and m.repeated = 0
        and m.unallocated = case i.status when 'unallocated' then i.amount else 0 end and (i.status = 'unallocated') = (i.suspense is not null and i.suspense = 'open')
        and m.under_review = case i.status when 'under_review' then i.amount else 0 end
        and case when i.credited_at is null then m.credited is null and coalesce(e.received, 0) = 0
          else m.credited = i.amount and m.credited_to = i.balance_id::text and (coalesce(e.received, 0) = 1 or (e.received is null and i.credited_at < ${EVENTS_KEPT_FROM})) end
        and (i.status = 'received') = (i.credited_at is not null and i.returned_amount is null) and (i.status = 'returned') = (i.returned_amount is not null)
        and (coalesce(e.returned, 0) = case when i.status = 'returned' and i.credited_at is not null then 1 else 0 end or (e.returned is null and i.credited_at < ${EVENTS_KEPT_FROM}))
        and m.sent_back is not distinct from i.returned_amount and (i.returned_amount is null) = (i.return_state is null)
        and m.settled is not distinct from case when i.return_state = 'settled' then i.returned_amount end, false)`,
  },
  {
    name: 'money that waits',
    promise: 'what is unallocated or under review is the sum of the incoming payments that are, for each account',
    sql: `select a.id as account_id, a.key, a.currency, coalesce(t.total, 0) as posted, coalesce(w.total, 0) as waiting from account a
      left join (
        select id, sum(change) as total from (
          select credit_account as id, amount as change from posting where credit_sequence is null
          union all
          select debit_account, -amount from posting where debit_sequence is null) side group by id) t on t.id = a.id
      left join lateral (
        select sum(i.amount) as total from incoming_payment i where i.operator_id = a.operator_id and i.currency = a.currency
          and case a.key when 'unallocated' then i.status = 'unallocated' and i.connection_id = a.connection_id
            else i.status = 'under_review' and i.customer_id = a.customer_id end) w on true
      where a.key in ('unallocated', 'review_held') and coalesce(t.total, 0) <> coalesce(w.total, 0)`,
  },
  {
    name: 'suspense of statements',
    promise:
      "nostro_suspense is the debits that only a statement has and nobody has explained, and every credit of a statement is somebody's or waits",
    sql: `select a.id as account_id, a.currency, coalesce(t.total, 0) as posted, coalesce(i.total, 0) as unexplained from account a
      left join (
        select id, sum(change) as total from (
          select debit_account as id, amount as change from posting where rule = 'L93' union all select credit_account, -amount from posting where rule = 'L93') side group by id) t on t.id = a.id
      left join (
        select connection_id, currency, sum(partner_amount) as total from reconciliation_item where status = 'in_suspense' and direction = 'DBIT' group by 1, 2) i
        on i.connection_id = a.connection_id and i.currency = a.currency
      where a.key = 'nostro_suspense' and coalesce(t.total, 0) <> coalesce(i.total, 0)
      union all
      select i.id, i.currency, i.partner_amount, p.amount from reconciliation_item i left join incoming_payment p on p.id = i.suspense_id
      where i.suspense_id is not null and (p.id is null or p.amount <> i.partner_amount)`,
  },
  {
    name: 'reconciliations',
    promise:
      'the last reconciliation of an account ended with what its nostro account had then, and its statement with its lines',
    sql: `select r.id as reconciliation_id, r.nostro_closing, n.total as posted, r.partner_closing, r.partner_opening + e.total as lines from (
        select distinct on (connection_id, currency) * from reconciliation where status in ('matched', 'breaks') order by connection_id, currency, day desc) r
      left join account a on a.connection_id = r.connection_id and a.currency = r.currency and a.key = 'nostro'
      cross join lateral (select coalesce(sum(case when p.debit_account = a.id then p.amount else -p.amount end), 0) as total from posting p
        where a.id in (p.debit_account, p.credit_account) and p.booked_at < (r.day + 1)::timestamp at time zone 'UTC') n
      cross join lateral (select coalesce(sum(case direction when 'CRDT' then amount else -amount end), 0) as total from bank_statement_entry where reconciliation_id = r.id) e
      where n.total <> r.nostro_closing or r.partner_opening + e.total <> r.partner_closing`,
  },
  {
    name: 'recalls and their holds',
    promise: 'money is set aside for a recall exactly while it is pending, and what was set aside is what goes back',
    sql: `select coalesce(h.subject_id, i.id) as incoming_payment_id, i.recall::json->>'status' as recall, h.id as hold_id, h.status as hold_status, h.amount, i.returned_amount
      from (select * from hold where subject_type = 'recall') h
      full join (select * from incoming_payment where recall_hold_id is not null) i on i.recall_hold_id = h.id
      where not coalesce(h.subject_id = i.id and h.balance_id = i.balance_id and h.amount::text = i.recall::json->>'amount'
        and case i.recall::json->>'status' when 'requested' then h.status = 'active' when 'accepted' then h.status = 'captured' and h.captured_amount = i.returned_amount
          else h.status = 'released' end, false)`,
  },
  {
    name: 'status updates',
    promise:
      'a payment, transfer or exchange has one update for each of its versions, each following from the one before; the last is its status',
    sql: `select coalesce(o.id, u.object_id) as object_id, min(o.status) as status, min(o.version) as version, count(u.object_id) as updates,
        min(u.version) as first, max(u.version) as last, min(u.status) filter (where u.version = o.version) as last_status,
        count(*) filter (where u.previous_status is distinct from u.before) as broken
      from (select id, status, version from payment union all select id, status, version from transfer
        union all select id, status, version from exchange) o
      full join (select *, lag(status) over (partition by object_id order by version) as before from status_update) u on u.object_id = o.id
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
  {
    name: 'recalls',
    promise:
      'a recall is told of when it was asked for and when it was decided, once each; one that is open will be looked after',
    sql: `select p.id as payment_id, p.status, p.recall::json->>'status' as recall, p.recall_due_at, e.statuses from payment p
      full join (
        select object_id, array_agg(status order by id) as statuses from outbox where type = 'payment.recall_updated' and not sandbox group by 1) e on e.object_id = p.id
      where (p.recall is not null or e.object_id is not null) and (
        p.recall is null or (p.recall::json->>'status' = 'requested') <> (p.recall_due_at is not null) or p.status not in ('completed', 'returned')
        or (p.recall::json->>'status' = 'accepted' and p.status <> 'returned')
        or ((p.recall::json->>'requestedAt')::timestamptz >= ${EVENTS_KEPT_FROM} and e.statuses is distinct from case p.recall::json->>'status' when 'requested' then array['requested'] else array['requested', p.recall::json->>'status'] end))`,
  },
  {
    name: 'funds requests',
    promise:
      'a funds request was paid the arrivals that name it, which are on its balance, its status says so, and its last event says its status',
    sql: `select r.id as funds_request_id, r.status, r.amount, r.paid_amount, p.paid, p.wrong, e.status as told from funds_request r
      left join (select f.funds_request_id as id, sum(f.amount) as paid, count(*) filter (where (i.amount, i.balance_id, i.currency, i.funds_request_id)
            is distinct from (f.amount, q.balance_id, q.currency, f.funds_request_id)) as wrong
          from funds_request_payment f left join incoming_payment i on i.id = f.incoming_payment_id left join funds_request q on q.id = f.funds_request_id group by 1) p on p.id = r.id
      left join lateral (select o.status from outbox o where o.object_id = r.id and o.type = 'funds_request.status_changed' and not o.sandbox
          order by o.created_at desc, o.id desc limit 1) e on true
      where r.paid_amount <> coalesce(p.paid, 0) or p.wrong > 0 or coalesce(e.status, case when r.created_at >= ${EVENTS_KEPT_FROM} then 'open' else r.status end) <> r.status
        or not case r.status when 'open' then r.paid_amount = 0 when 'partially_paid' then r.paid_amount between 1 and r.amount - 1
          when 'paid' then r.paid_amount >= r.amount when 'declined' then r.paid_amount = 0 else r.paid_amount < r.amount end`,
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
    name: 'remembered commands',
    promise: 'a command that was answered with 201 made what exists, and no other command made it',
    sql: `select i.id as idempotency_id, i.status, i.resource_id, i.times from (
        select *, count(*) over (partition by resource_id) as times from idempotency where status = 201) i
      left join (select id from payment union all select id from transfer union all select id from recipient
        union all select id from funds_request union all select id from scheduled_payment
        union all select id from exchange union all select id from quote) o on o.id = i.resource_id
      -- A draft may have been deleted since, which its customer's trail says.
      where (o.id is null and not exists (select from audit_event a where a.object_id = i.resource_id and a.action = 'payment.deleted')) or i.times > 1`,
  },
]

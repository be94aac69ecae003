/** Fees from the postings of their accounts, and volumes from payments and incoming payments, summed in Postgres. */
import { timestamp } from '../../lib/base/clock.ts'
import type { RuleId } from '../../lib/ledger/postings.ts'
import { instantsOf, type FeeSum, type ReportQuestion, type VolumeSum } from '../../lib/reports/report.ts'
import type { Database } from '../db/database.ts'
import { inSnapshot } from '../db/snapshot.ts'

/** The income of an account, less the amounts that were given back. */
const earned = (key: string): string =>
  `sum(case when c.key = '${key}' then p.amount else 0 end - case when d.key = '${key}' then p.amount else 0 end)`

/** The sweep of a period (L95) earns nothing: it moves what was earned to equity. */
const FEES = `select p.customer_id, k.legal_name, p.rule, p.currency, count(distinct p.entry_id), ${earned('inc_fee')}, ${earned('fee_tax')}
  from posting p left join account d on d.id = p.debit_account left join account c on c.id = p.credit_account left join customer k on k.id = p.customer_id
  where p.booked_at >= $2::timestamptz and p.booked_at < $3::timestamptz and p.rule <> 'L95'
    and (d.key in ('inc_fee', 'fee_tax') or c.key in ('inc_fee', 'fee_tax')) and $1 in (d.operator_id, c.operator_id)
    and ($4::text is null or p.currency = $4) and ($5::uuid is null or p.customer_id = $5)
  group by 1, 2, 3, 4 order by 2, 1, 3, 4`

/** Reads the fees of a period. @throws DatabaseUnavailable */
export async function* feeSums(
  snapshots: Database,
  operatorId: string,
  question: ReportQuestion,
): AsyncGenerator<FeeSum[]> {
  const { from, before } = instantsOf(question)
  yield* inSnapshot(snapshots, async function* (client) {
    await client.query('set local statement_timeout = 0')
    const { rows } = await client.query<[string, string | null, RuleId, string, string, string, string]>({
      name: 'report_fees',
      rowMode: 'array',
      text: FEES,
      values: [operatorId, timestamp(from), timestamp(before), question.currency, question.customerId],
    })
    yield rows.map(([customerId, customer, rule, currency, entries, net, tax]) => ({
      customerId,
      customer,
      rule,
      currency,
      entries: Number(entries),
      net: BigInt(net),
      tax: BigInt(tax),
    }))
  })
}

/** A draft is nothing yet. The fee of a payment is in the currency of the balance that it was charged to. */
const VOLUMES = `select s.*, k.legal_name from (
    select 'out' as direction, p.rail, p.currency, p.customer_id, p.details::json->'recipient'->>'bankCountry' as country, p.status, count(*) as count, sum(p.amount) as amount,
      sum(p.fee) filter (where b.currency = p.currency) as fees
    from payment p join balance b on b.id = p.paying_balance_id
    where p.operator_id = $1 and p.created_at >= $2::timestamptz and p.created_at < $3::timestamptz and p.status <> 'draft'
      and ($4::text is null or p.currency = $4) and ($5::uuid is null or p.customer_id = $5) and ($6::uuid is null or p.connection_id = $6)
    group by 1, 2, 3, 4, 5, 6
    union all
    select 'in', i.rail, i.currency, i.customer_id, i.payer_country, i.status, count(*), sum(i.amount), 0
    from incoming_payment i
    where i.operator_id = $1 and i.received_at >= $2::timestamptz and i.received_at < $3::timestamptz
      and ($4::text is null or i.currency = $4) and ($5::uuid is null or i.customer_id = $5) and ($6::uuid is null or i.connection_id = $6)
    group by 1, 2, 3, 4, 5, 6) s
  left join customer k on k.id = s.customer_id order by 1, 2, 3, k.legal_name, 4, 5, 6`

/** Reads the volumes of a period: payments by the time of their creation, incoming payments by that of their arrival. */
export async function* volumeSums(
  snapshots: Database,
  operatorId: string,
  question: ReportQuestion,
): AsyncGenerator<VolumeSum[]> {
  const { from, before } = instantsOf(question)
  yield* inSnapshot(snapshots, async function* (client) {
    await client.query('set local statement_timeout = 0')
    const { rows } = await client.query<
      [
        'out' | 'in',
        string | null,
        string,
        string | null,
        string | null,
        string,
        string,
        string,
        string | null,
        string | null,
      ]
    >({
      name: 'report_volumes',
      rowMode: 'array',
      text: VOLUMES,
      values: [
        operatorId,
        timestamp(from),
        timestamp(before),
        question.currency,
        question.customerId,
        question.connectionId,
      ],
    })
    yield rows.map(([direction, rail, currency, customerId, country, status, count, amount, fees, customer]) => ({
      direction,
      rail,
      currency,
      customerId,
      customer,
      country,
      status,
      count: Number(count),
      amount: BigInt(amount),
      fees: fees === null ? null : BigInt(fees),
    }))
  })
}

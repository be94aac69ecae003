/** The returns of customers by scheme, and the standing that follows from them. Statements only. */
import { timestamp } from '../../lib/base/clock.ts'
import type { ReturnCounts, ReturnVerdict } from '../../lib/direct-debits/return-rates.ts'
import type { MandateScheme } from '../../lib/rails/debit-schemes.ts'
import type { Database } from '../db/database.ts'
import type { TransactionClient } from '../db/transaction.ts'

/** Counts the collections of a customer in a scheme that were submitted since a moment, and those that came back. */
export async function countReturns(
  client: Pick<TransactionClient, 'query'>,
  {
    customerId,
    scheme,
    since,
  }: { readonly customerId: string; readonly scheme: MandateScheme; readonly since: number },
): Promise<ReturnCounts> {
  const { rows } = await client.query<{ code: string | null; count: number }>({
    name: 'count_returns',
    // A collection that failed or came back keeps its reason; one that is presented again counts once more by its new end.
    text: `select case when status in ('returned', 'failed') then coalesce(status_reason, '') end as code, count(*)::int as count
      from collection where customer_id = $1 and scheme = $2 and submitted_at >= $3 group by 1`,
    values: [customerId, scheme, timestamp(since)],
  })
  return {
    presented: rows.reduce((sum, { count }) => sum + count, 0),
    returned: Object.fromEntries(rows.flatMap(({ code, count }) => (code === null ? [] : [[code, count]]))),
  }
}

/** Locks the standing of a customer in a scheme and reads its level; `fine` where there is none. */
export async function lockStanding(
  client: Pick<TransactionClient, 'query'>,
  { customerId, scheme }: { readonly customerId: string; readonly scheme: MandateScheme },
): Promise<ReturnVerdict['level']> {
  const { rows } = await client.query<{ level: ReturnVerdict['level'] }>({
    name: 'lock_return_standing',
    text: 'select level from return_standing where customer_id = $1 and scheme = $2 for update',
    values: [customerId, scheme],
  })
  return rows[0]?.level ?? 'fine'
}

/** Writes the standing of a customer in a scheme. */
export async function writeStanding(
  client: Pick<TransactionClient, 'query'>,
  {
    customerId,
    operatorId,
    scheme,
    verdict: { level, limit, bps },
    now,
  }: {
    readonly customerId: string
    readonly operatorId: string
    readonly scheme: MandateScheme
    readonly verdict: ReturnVerdict
    readonly now: number
  },
): Promise<void> {
  await client.query({
    name: 'write_return_standing',
    text: `insert into return_standing (customer_id, scheme, operator_id, level, rate_group, rate_bps, judged_at)
      values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (customer_id, scheme) do update set level = excluded.level, rate_group = excluded.rate_group,
        rate_bps = excluded.rate_bps, judged_at = excluded.judged_at`,
    values: [customerId, scheme, operatorId, level, limit?.group ?? null, bps, timestamp(now)],
  })
}

/** Finds the standings that are not fine: they are judged again each day, because old returns count no longer. */
export async function standingsToJudge(
  database: Pick<Database, 'query'>,
): Promise<readonly { readonly customerId: string; readonly operatorId: string; readonly scheme: MandateScheme }[]> {
  const rows = await database.query<[string, string, MandateScheme]>({
    name: 'standings_to_judge',
    text: `select customer_id, operator_id, scheme from return_standing where level <> 'fine' order by 1, 3`,
    values: [],
  })
  return rows.map(([customerId, operatorId, scheme]) => ({ customerId, operatorId, scheme }))
}

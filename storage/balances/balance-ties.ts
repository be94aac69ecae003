/**
 * Finds open business that keeps balances and customers from closing: all that is not over and may still move money.
 * Statements only.
 */
import type { TransactionClient } from '../db/transaction.ts'

/**
 * Counts, for the balance `$1` of the customer `$2` with the shard `$3`: payments that wait for their day, for the
 * partner or for staff, transfers that the partner moves, and exchanges. A payment ties the balance that pays it,
 * because a return would credit that balance. Until the currency for a payment is bought, its exchange ties both
 * balances. Payments that wait for approval hold money and are counted by their hold, so they are not counted here.
 * A mandate ties its balance until it is over, and so does a collection that may still bring money, or whose money the
 * bank may yet refuse to send back.
 */
const OF_BALANCE = `select (
    (select count(*) from partner_instruction i join payment p on p.id = i.payment_id where i.shard = $3 and p.customer_id = $2 and p.paying_balance_id = $1)
    + (select count(*) from payment_due d join payment p on p.id = d.payment_id where d.shard = $3 and p.customer_id = $2 and p.paying_balance_id = $1)
    + (select count(*) from exception_case e join payment p on p.id = e.subject_id where e.customer_id = $2 and e.status = 'open' and p.paying_balance_id = $1)
    + (select count(*) from transfer_order o join transfer t on t.id = o.transfer_id
        where o.shard = $3 and o.due_at is not null and t.customer_id = $2 and $1 in (t.from_balance_id, t.to_balance_id))
    + (select count(*) from exchange x where x.customer_id = $2 and $1 in (x.sell_balance_id, x.buy_balance_id)
        and x.status not in ('completed', 'failed', 'rejected', 'cancelled', 'expired', 'closed_out'))
    + (select count(*) from mandate m where m.balance_id = $1 and m.customer_id = $2 and m.status in ('pending', 'submitted', 'active', 'suspended'))
    + (select count(*) from collection n where n.customer_id = $2 and n.balance_id = $1 and (n.status in ('pending', 'submitted', 'exception') or (n.status = 'reversed' and n.reversal_status = 'pending'))))::int as count`

const SUB_BALANCES = `select count(*)::int as count from balance where parent_balance_id = $1 and status <> 'closed'`

/** Counts payments, transfers, exchanges, mandates and collections of a balance that are not over. */
export async function underWayOf(
  client: Pick<TransactionClient, 'query'>,
  { id, customerId, shard }: { readonly id: string; readonly customerId: string; readonly shard: number },
): Promise<number> {
  const { rows } = await client.query<{ count: number }>({
    name: 'balance_under_way',
    text: OF_BALANCE,
    values: [id, customerId, shard],
  })
  return rows[0]!.count
}

/** Counts sub-balances of a balance that are not closed. */
export async function openSubBalances(client: Pick<TransactionClient, 'query'>, id: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>({
    name: 'open_sub_balances',
    text: SUB_BALANCES,
    values: [id],
  })
  return rows[0]!.count
}

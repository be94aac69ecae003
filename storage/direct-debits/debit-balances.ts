/** Reads the balances that mandates name. */
import type { ProviderId } from '../../lib/providers/provider.ts'
import type { Database } from '../db/database.ts'
import { expression, select } from '../db/select.ts'

const BALANCE = select({
  operatorId: expression<string>('b.operator_id'),
  connectionId: expression<string>('b.connection_id'),
  currency: expression<string>('b.currency'),
  status: expression<string>('b.status'),
  provider: expression<ProviderId>('k.provider'),
  customerName: expression<string>('c.legal_name'),
  /** The operator's identifier as a creditor, as the settlement account of the currency tells it. */
  creditorId: expression<string | null>(`(select s->>'creditorId'
    from jsonb_array_elements(case jsonb_typeof(k.settings->'settlementAccounts') when 'array' then k.settings->'settlementAccounts' else '[]' end) s
    where s->>'currency' = b.currency)`),
})

/** A balance of a customer that a mandate may name. */
export type DebitBalance = ReturnType<typeof BALANCE.read>

/** Reads a balance of a customer; null when the customer has no such balance. @throws the driver's errors */
export async function debitBalance(
  database: Pick<Database, 'query'>,
  customerId: string,
  balanceId: string,
): Promise<DebitBalance | null> {
  const [row] = await database.query({
    name: 'debit_balance',
    text: `select ${BALANCE.sql} from balance b join provider_connection k on k.id = b.connection_id
      join customer c on c.id = b.customer_id where b.id = $1 and b.customer_id = $2`,
    values: [balanceId, customerId],
  })
  return row === undefined ? null : BALANCE.read(row)
}

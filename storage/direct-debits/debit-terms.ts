/** The facts about a customer and its balance on which mandates and collections rest. */
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
  config: expression<{ readonly directDebitCreditorId?: string } | null>('k.config'),
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

const TERMS = select({
  noticeDays: expression<number>(
    `coalesce((s.value->>'preNotificationDays')::integer, o.collection_pre_notification_days)`,
  ),
  reserveDays: expression<number>('o.collection_reserve_days'),
})

/** An operator's terms for the collections of a customer. */
export type DebitTerms = ReturnType<typeof TERMS.read>

/** Reads the terms of a customer: its own days of notice, or else its operator's. @throws Error for no such customer */
export async function debitTerms(database: Pick<Database, 'query'>, customerId: string): Promise<DebitTerms> {
  const [row] = await database.query({
    name: 'debit_terms',
    text: `select ${TERMS.sql} from customer c join operator o on o.id = c.operator_id
      left join setting s on s.owner_id = c.id and s.name = 'preferences' where c.id = $1`,
    values: [customerId],
  })
  if (row === undefined) throw new Error(`The customer ${customerId} does not exist.`)
  return TERMS.read(row)
}

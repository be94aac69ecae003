/** Single facts about a customer: its operator, its shard, its name. Statements only. */
import type { Queries, TransactionClient } from '../db/transaction.ts'

/**
 * Reads the operator of a customer, by id; null when there is no such customer. @throws DatabaseUnavailable, and what
 * the driver throws
 */
export async function operatorOfCustomer(database: Queries, customerId: string): Promise<string | null> {
  const [row] = await database.query<[string]>({
    name: 'operator_of',
    text: 'select operator_id from customer where id = $1',
    values: [customerId],
  })
  return row?.[0] ?? null
}

/** Returns whether a customer belongs to an operator. @throws DatabaseUnavailable, and what the driver throws */
export async function belongsToOperator(database: Queries, customerId: string, operatorId: string): Promise<boolean> {
  const rows = await database.query({
    name: 'customer_of_operator',
    text: 'select 1 from customer where id = $1 and operator_id = $2',
    values: [customerId, operatorId],
  })
  return rows.length === 1
}

/**
 * Reads the operator and the shard of a customer, within a transaction; null when there is no such customer. @throws
 * what the driver throws
 */
export async function homeOfCustomer(
  client: TransactionClient,
  customerId: string,
): Promise<{ readonly operatorId: string; readonly shard: number } | null> {
  const {
    rows: [row],
  } = await client.query<{ operator_id: string; shard: number }>({
    name: 'customer_home',
    text: 'select operator_id, shard from customer where id = $1',
    values: [customerId],
  })
  return row === undefined ? null : { operatorId: row.operator_id, shard: row.shard }
}

/**
 * Reads the legal name of a customer, within a transaction; null when there is no such customer. @throws what the
 * driver throws
 */
export async function nameOfCustomer(client: TransactionClient, customerId: string): Promise<string | null> {
  const {
    rows: [row],
  } = await client.query<{ legal_name: string }>({
    name: 'payee_name',
    text: 'select legal_name from customer where id = $1',
    values: [customerId],
  })
  return row?.legal_name ?? null
}

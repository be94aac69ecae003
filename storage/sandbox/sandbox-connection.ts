/** The partner account that a simulated object uses, with the fields that simulations need. */
import type { Database } from '../db/database.ts'

export interface ConnectionRow {
  readonly id: string
  readonly provider: string
  readonly environment: 'sandbox' | 'production'
}

/** Finds a connection by its id, or the connection of a customer's first balance; null when there is none. */
export async function findConnection(
  database: Pick<Database, 'query'>,
  by: { readonly connectionId: string } | { readonly customerId: string },
): Promise<ConnectionRow | null> {
  const [row] = await database.query<[string, string, ConnectionRow['environment']]>(
    'connectionId' in by
      ? {
          name: 'connection_by_id',
          text: 'select id, provider, environment from provider_connection where id = $1',
          values: [by.connectionId],
        }
      : {
          name: 'connection_of_customer',
          values: [by.customerId],
          text: `select k.id, k.provider, k.environment from balance b join provider_connection k on k.id = b.connection_id where b.customer_id = $1 order by b.id limit 1`,
        },
  )
  return row === undefined ? null : { id: row[0], provider: row[1], environment: row[2] }
}

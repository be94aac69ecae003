/** Connections to banking partners, read one at a time. */
import type { TransactionClient } from '../db/transaction.ts'

/**
 * Reads the provider of a connection, within a transaction; null when there is no such connection. @throws what the
 * driver throws
 */
export async function providerOfConnection(client: TransactionClient, connectionId: string): Promise<string | null> {
  const {
    rows: [row],
  } = await client.query<{ provider: string }>({
    name: 'provider_of',
    text: 'select provider from provider_connection where id = $1',
    values: [connectionId],
  })
  return row?.provider ?? null
}

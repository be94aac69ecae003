/** Connections to banking partners, read one at a time. */
import { entitiesOfEveryTenant } from '../db/entities.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { ProviderConnection } from './provider-connection-entity.ts'

/**
 * Reads the provider of a connection, within a transaction; null when there is no such connection.
 *
 * @throws what the driver throws
 */
export async function providerOfConnection(client: TransactionClient, connectionId: string): Promise<string | null> {
  const rows = entitiesOfEveryTenant(client, 'the connection of a balance that was checked')
  return (await rows.findOne(ProviderConnection, { id: connectionId }))?.provider ?? null
}

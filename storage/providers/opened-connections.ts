/** Connections to banking partners as their adapters open them. */
import type { ProviderEnvironment } from '../../lib/providers/provider.ts'
import { expression, select } from '../db/select.ts'
import type { Queries } from '../db/transaction.ts'

/** A connection. Its credentials and the secret of its webhooks are sealed. */
export interface ConnectionToOpen {
  readonly id: string
  readonly operatorId: string
  readonly provider: string
  readonly environment: ProviderEnvironment
  readonly settings: unknown
  readonly credentials: Uint8Array | null
  readonly webhookSecret: Uint8Array | null
}

const CONNECTION = select({
  id: expression<string>('k.id'),
  operatorId: expression<string>('k.operator_id'),
  provider: expression<string>('k.provider'),
  environment: expression<ProviderEnvironment>('k.environment'),
  settings: expression<unknown>('k.settings'),
  credentials: expression<Uint8Array | null>('k.credentials'),
  webhookSecret: expression<Uint8Array | null>('k.webhook_secret'),
})

/**
 * Reads a connection that is not retired; null when there is none.
 *
 * @throws DatabaseUnavailable and the driver's errors
 */
export async function connectionToOpen(database: Queries, id: string): Promise<ConnectionToOpen | null> {
  const [row] = await database.query({
    name: 'connection_to_open',
    text: `select ${CONNECTION.sql} from provider_connection k where k.id = $1::uuid and k.status <> 'retired'`,
    values: [id],
  })
  return row === undefined ? null : CONNECTION.read(row)
}

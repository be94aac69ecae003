/** The dependencies of the use cases of connections. */
import type { ProviderConnectionRecord } from '../../../lib/providers/connection.ts'
import type { Node } from '../../runtime/node.ts'
import type { OpenConnection, ProbeAnswer } from '../adapters/adapter.ts'
import type { ConnectionHealth } from './connection-health.ts'

/** A connection to be probed, with its credentials in the open. */
export interface ProbedConnection extends OpenConnection {
  readonly provider: ProviderConnectionRecord['provider']
}

export interface ConnectionDeps
  extends Pick<Node, 'clock' | 'config' | 'database' | 'ids' | 'onError' | 'origin' | 'sandbox' | 'secrets'> {
  readonly health: ConnectionHealth
  /** Opens a connection for one probe. Never throws for the partner's faults. */
  readonly probe: (connection: ProbedConnection) => Promise<ProbeAnswer>
  /** Has this node open a connection anew when it is needed next; other nodes hear of the change from Postgres. */
  readonly changed: (connectionId: string) => void
}

/** The banking partners of a node: its open connections, the ports to them, and the record of their calls. */
import type { CallOutcome } from '../../lib/providers/health.ts'
import { removeOldProviderCalls } from '../../storage/providers/provider-calls.ts'
import type { Background, Node } from '../runtime/node.ts'
import type { Task } from '../runtime/tasks.ts'
import { createFiles, sendFileTask } from './files/files-service.ts'
import { CallLog } from './io/call-log.ts'
import { OpenConnections, type Adapters } from './open-connections.ts'
import { createPartners } from './partners.ts'

/** The NOTIFY channel for changes of connections: the payload is the connection's id. */
const CONNECTION_CHANGED = 'provider_connection'

export interface PartnerServiceParts {
  readonly adapters: Adapters
  /** Learns how each call of a connection has ended. */
  readonly health: { record(connectionId: string, outcome: CallOutcome): void }
}

export type PartnerService = ReturnType<typeof createPartnerService>

/** Creates the service. */
export function createPartnerService(node: Node, { adapters, health }: PartnerServiceParts) {
  const { listener, database, clock, config } = node
  const calls = new CallLog(node)
  const connections = new OpenConnections({
    ...node,
    adapters,
    files: createFiles(node),
    health,
    targets: { policy: config.webhookTargets, networks: config.providerNetworks },
    record: calls.record,
  })
  listener.subscribe(CONNECTION_CHANGED, {
    onMessage: (id) => connections.changed(id),
    onGap: () => connections.allChanged(),
  })
  const background: readonly Background[] = [
    {
      name: 'connections to providers',
      start: () => undefined,
      async stop() {
        await connections.close()
        await calls.flush()
      },
    },
  ]
  const tasks: readonly Task[] = [
    sendFileTask(node, connections),
    {
      name: 'providers.remove_calls',
      cron: '23 3 * * *',
      async run() {
        while ((await removeOldProviderCalls(database, clock.now())) > 0);
      },
    },
  ]
  return {
    ...createPartners({ ...node, adapters, connections, health }),
    connections,
    background,
    tasks,
  }
}

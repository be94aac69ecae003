/** Files that are exchanged with banks: the ways out that adapters get, and the task that sends what was gathered. */
import { connectionOfFile } from '../../../storage/providers/provider-files.ts'
import type { Node } from '../../runtime/node.ts'
import type { Task } from '../../runtime/tasks.ts'
import { createResolve } from '../../webhooks/sender.ts'
import type { AdapterConnection } from '../adapters/adapter.ts'
import type { PartnerFiles } from '../adapters/partner-files.ts'
import { createPartnerFiles } from './partner-files.ts'

/** Makes the ways out. */
export function createFiles(node: Node): PartnerFiles {
  const { config, database, ids, clock, workers } = node
  const { webhookTargets: policy, providerNetworks: networks, providerFilesRoot: root } = config
  return createPartnerFiles({
    database,
    ids,
    clock,
    root,
    readBankFile: workers.readBankFile,
    targets: { policy, networks, resolve: createResolve(policy) },
  })
}

/** The dependencies of the task: the connections that are open on this node. */
export interface OpenedConnections {
  open(id: string): Promise<{ readonly adapter: Pick<AdapterConnection, 'carryOut'> } | null>
}

/**
 * The task that sends a file: added by its row, so that it is begun when the file is due, and again after a failure. A
 * connection that is retired sends nothing more.
 */
export function sendFileTask(
  { database, clock }: Pick<Node, 'database' | 'clock'>,
  connections: OpenedConnections,
): Task {
  return {
    name: 'providers.send_file',
    workers: 'outward',
    async run(id) {
      const connectionId = await connectionOfFile(database, id)
      const opened = connectionId === null ? null : await connections.open(connectionId)
      await opened?.adapter.carryOut?.(id, clock.now())
    },
  }
}

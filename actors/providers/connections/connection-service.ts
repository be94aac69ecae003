/** Connections to banking partners: made, verified, put to work, drained and retired by staff; their health; their migration. */
import { timestamp } from '../../../lib/base/clock.ts'
import { refuseNotFound } from '../../../lib/base/problems.ts'
import type { Versioned } from '../../../lib/commands/command.ts'
import type { ListQuery, ListResult } from '../../../lib/contract/list.ts'
import type { Caller } from '../../../lib/identity/caller.ts'
import { descriptionOf } from '../../../lib/providers/connection-faults.ts'
import type {
  CashConfirmation,
  ConnectionMigrationView,
  ProviderConnectionCreate,
  providerConnectionList,
  ProviderConnectionUpdate,
  ProviderConnectionView,
  ProviderCredentials,
} from '../../../lib/providers/connection-schema.ts'
import { confirmCash } from './confirm-cash.ts'
import type { ProviderConnectionRecord } from '../../../lib/providers/connection.ts'
import { readDatabase } from '../../../storage/db/read-database.ts'
import type { TransactionClient } from '../../../storage/db/transaction.ts'
import { readCashToMove } from '../../../storage/providers/cash/cash-orders.ts'
import { listConnectionIds, readLive } from '../../../storage/providers/provider-connection-queries.ts'
import {
  providerOfConnection,
  readConnection,
  readConnections,
} from '../../../storage/providers/provider-connections.ts'
import type { DownloadReads } from '../../documents/downloads.ts'
import { createJobView } from '../../jobs/job-operations.ts'
import type { JobService } from '../../jobs/job-service.ts'
import { background, type Node } from '../../runtime/node.ts'
import { CashOrders } from '../cash/cash-orders.ts'
import { createConnection, setCredentials, setWebhookSecret, updateConnection } from './change-connection.ts'
import type { ConnectionDeps } from './connection-deps.ts'
import { ConnectionHealth } from './connection-health.ts'
import { connectionView } from './connection-view.ts'
import { migrateConnection } from './migrate-connection.ts'
import { migrationJob, type MigrationDeps } from './migration-job.ts'
import { activateConnection, deleteConnection, drainConnection, retireConnection } from './move-connection.ts'
import { checkHealth, probeTask, verifyConnection } from './probe-connection.ts'

type View = Versioned<ProviderConnectionView>
type Person = Caller<'person'>
type Expected = number | bigint | null

/** The parts of other nouns that connections need. */
export interface ConnectionServiceParts
  extends Pick<ConnectionDeps, 'probe' | 'changed'>,
    Pick<MigrationDeps, 'moveCash'> {
  readonly jobs: Pick<JobService, 'addKinds'>
  readonly downloads: { readonly reads: DownloadReads }
}

/** The reads, of the operator that is the tenant. */
export interface ConnectionReads {
  list(query: ListQuery<typeof providerConnectionList>): Promise<ListResult<ProviderConnectionView>>
  get(operatorId: string, id: string): Promise<View | null>
}

/** The writes. Every refusal is thrown as a problem. */
export interface ConnectionCommands {
  create(by: Person, body: ProviderConnectionCreate): Promise<View>
  update(by: Person, id: string, body: ProviderConnectionUpdate, expected: Expected): Promise<View>
  delete(by: Person, id: string, expected: Expected): Promise<void>
  setCredentials(by: Person, id: string, body: ProviderCredentials): Promise<void>
  setWebhookSecret(by: Person, id: string, secret: string): Promise<void>
  verify(by: Person, id: string): Promise<View>
  checkHealth(by: Person, id: string): Promise<View>
  activate(by: Person, id: string): Promise<View>
  drain(by: Person, id: string): Promise<View>
  retire(by: Person, id: string): Promise<View>
  confirmCash(by: Person, id: string, body: CashConfirmation): Promise<View>
  /** @param toConnectionId null: the active primary that there is */
  migrate(by: Person, id: string, toConnectionId: string | null): Promise<ConnectionMigrationView>
}

/** The channel that tells of balances on another connection (storage/providers/connection-moves.ts). */
const BALANCE_MOVED = 'balance_moved'

/** Creates the service. */
export function createConnectionService(
  node: Node,
  { probe, changed, moveCash, jobs, downloads }: ConnectionServiceParts,
) {
  const { database, listener, balances } = node
  const health = new ConnectionHealth(node)
  const deps: ConnectionDeps = { ...node, health, probe, changed }
  listener.subscribe(BALANCE_MOVED, {
    onMessage: (balanceId) => balances.forget(balanceId),
    onGap: () => balances.forgetAll(),
  })
  jobs.addKinds({ connection_migration: migrationJob({ ...node, moveCash, opensAccounts }) })
  const db = readDatabase(database)
  const jobView = createJobView({ ...node, downloads: downloads.reads })

  const show = async (records: readonly ProviderConnectionRecord[]): Promise<readonly View[]> => {
    const ids = records.map(({ id }) => id)
    const live = await readLive(database, ids)
    const cash = Map.groupBy(await readCashToMove(database, ids), ({ connectionId }) => connectionId)
    return records.map((record) =>
      connectionView(node.origin(), record, live.get(record.id)!, cash.get(record.id) ?? []),
    )
  }
  const view = async (record: ProviderConnectionRecord): Promise<View> => (await show([record]))[0]!

  const reads: ConnectionReads = {
    async list(query) {
      const { rows: ids, ...page } = await listConnectionIds(db, query)
      const shown = await show(await readConnections(database.pool, query.tenant.id, ids))
      return { ...page, rows: shown.map((each) => each.view) }
    },
    async get(operatorId, id) {
      const record = await readConnection(database.pool, operatorId, id)
      return record === null ? null : await view(record)
    },
  }
  const commands: ConnectionCommands = {
    create: async (by, body) => await view(await createConnection(deps, by, body)),
    update: async (by, id, body, expected) => await view(await updateConnection(deps, by, id, body, expected)),
    delete: (by, id, expected) => deleteConnection(deps, by, id, expected),
    setCredentials: (by, id, body) => setCredentials(deps, by, id, body),
    setWebhookSecret: (by, id, secret) => setWebhookSecret(deps, by, id, secret),
    verify: async (by, id) => await view(await verifyConnection(deps, by, id)),
    checkHealth: async (by, id) => await view(await checkHealth(deps, by, id)),
    activate: async (by, id) => await view(await activateConnection(deps, by, id)),
    drain: async (by, id) => await view(await drainConnection(deps, by, id)),
    retire: async (by, id) => await view(await retireConnection(deps, by, id)),
    confirmCash: async (by, id, body) => await view(await confirmCash(deps, by, id, body)),
    async migrate(by, id, toConnectionId) {
      const { migration, job } = await migrateConnection(deps, by, id, toConnectionId)
      return {
        connectionId: id,
        toConnectionId: migration.toConnectionId,
        status: job === null ? 'pending_approval' : 'approved',
        proposedBy: migration.proposedBy,
        proposedAt: timestamp(migration.proposedAt),
        job: job === null ? null : jobView(job).view,
      }
    },
  }
  return {
    reads,
    commands,
    health,
    tasks: [probeTask(deps)],
    background: [
      background('health of connections', health),
      ...(node.dispatch ? [background('cash between connections', new CashOrders({ ...node, moveCash }))] : []),
    ],
  }
}

/** Whether the provider of a connection opens accounts for balances. */
async function opensAccounts(client: TransactionClient, connectionId: string): Promise<boolean> {
  const provider = (await providerOfConnection(client, connectionId)) ?? refuseNotFound()
  const { virtualAccounts = false, realAccounts = false } = descriptionOf(provider)?.capabilities ?? {}
  return virtualAccounts || realAccounts
}

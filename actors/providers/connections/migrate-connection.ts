/**
 * Migrates the balances of a draining connection to the primary that follows it (L96). Two people ask for it; then a job
 * moves one balance after the other (migration-job.ts).
 */
import { refuse, refuseField, refuseTransition } from '../../../lib/base/problems.ts'
import { rolesWith } from '../../../lib/identity/capabilities.ts'
import type { Caller } from '../../../lib/identity/caller.ts'
import type { ConnectionMigration, ProviderConnectionRecord } from '../../../lib/providers/connection.ts'
import { shardOf } from '../../../lib/shards/shard.ts'
import { insertJob, lockJob, type JobRecord } from '../../../storage/jobs/jobs.ts'
import { peopleInRoles } from '../../../storage/notices/notices.ts'
import type { ChangeTransaction } from '../../commands/changes.ts'
import type { ConnectionDeps } from './connection-deps.ts'
import type { MigrationRequest } from './migration-job.ts'
import { applyChange, changeLocked } from './record-connection.ts'

/** The people who may agree to a migration. */
const MANAGERS = rolesWith('providers.manage')
/** The statuses of a job that is not over. */
const OPEN_JOBS: readonly string[] = ['queued', 'running']

/** A migration as it stands after a person has asked for it. */
export interface MigrationAsked {
  readonly connection: ProviderConnectionRecord
  readonly migration: ConnectionMigration
  /** Null while a second person has to agree. */
  readonly job: JobRecord | null
}

/**
 * Asks for the migration of a connection's balances. The first person's request is kept; the same request of another
 * person starts the job. While the job runs every request answers with it.
 *
 * @throws ProblemError `not-found`, `invalid-transition` unless the connection drains, `validation-error`
 */
export async function migrateConnection(
  deps: ConnectionDeps,
  by: Caller<'person'>,
  id: string,
  wantedId: string | null,
): Promise<MigrationAsked> {
  let job: JobRecord | null = null
  const connection = await changeLocked(deps, by, id, async (tx, { before, all }) => {
    if (before.status !== 'draining')
      refuseTransition(`The connection is ${before.status}.`, before.status, ['draining'])
    const to = targetOf(before, all, wantedId)
    const { migration } = before
    if (migration?.jobId != null) {
      job = await lockJob(tx.client, migration.jobId)
      if (job !== null && OPEN_JOBS.includes(job.status)) {
        if (migration.toConnectionId !== to.id)
          refuse('invalid-transition', 'A migration to another connection is under way.', {
            extra: { currentStatus: before.status, allowed: [], jobId: migration.jobId },
          })
        return before
      }
      job = null
    }
    const proposal = await standing(tx, before, to.id)
    if (proposal === null || proposal.proposedBy === by.session.userId)
      return await applyChange(tx, by, 'migration_proposed', before, {
        migration: proposal ?? {
          toConnectionId: to.id,
          proposedBy: by.session.userId,
          proposedByName: by.session.name,
          proposedAt: tx.now,
          jobId: null,
        },
      })
    job = await startMigration(tx, by, before, to.id)
    return await applyChange(tx, by, 'migration_approved', before, { migration: { ...proposal, jobId: job.id } })
  })
  return { connection, migration: connection.migration!, job }
}

/** The proposal to which a second person can agree; null for none. It is over when its person manages nothing any more. */
async function standing(
  { client }: ChangeTransaction,
  { migration, operatorId }: ProviderConnectionRecord,
  toConnectionId: string,
): Promise<ConnectionMigration | null> {
  if (migration === null || migration.jobId !== null || migration.toConnectionId !== toConnectionId) return null
  return (await peopleInRoles(client, operatorId, MANAGERS)).includes(migration.proposedBy) ? migration : null
}

/** The active primary that takes the balances: the customer's own, where the connection is for a customer. */
function targetOf(
  from: ProviderConnectionRecord,
  all: readonly ProviderConnectionRecord[],
  wantedId: string | null,
): ProviderConnectionRecord {
  const fits = all.filter(
    (each) =>
      each.status === 'active' &&
      each.role === 'primary' &&
      each.environment === from.environment &&
      (each.customerId === null || each.customerId === from.customerId),
  )
  const found =
    wantedId === null
      ? (fits.find(({ customerId }) => customerId === from.customerId) ?? fits[0])
      : fits.find((each) => each.id === wantedId)
  return found ?? refuseField('/toConnectionId', 'not_found', 'No active primary connection can take the balances.')
}

async function startMigration(
  { client, ids, now }: ChangeTransaction,
  { requestId, session }: Caller<'person'>,
  { id, operatorId }: ProviderConnectionRecord,
  toConnectionId: string,
): Promise<JobRecord> {
  const request: MigrationRequest = { fromConnectionId: id, toConnectionId }
  return await insertJob(client, {
    id: ids.next(),
    tenantId: operatorId,
    operatorId,
    customerId: null,
    shard: shardOf(operatorId),
    kind: 'connection_migration',
    request,
    fingerprint: null,
    subject: { object: 'provider_connection', id },
    requestedBy: session.userId,
    requestId,
    now,
  })
}

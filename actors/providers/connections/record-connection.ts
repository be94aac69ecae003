/** Writes changes of connections into the trail, and tells the operator of new statuses. */
import type { AuditVerb } from '../../../lib/base/audit-actions.ts'
import { ProblemError, refuseNotFound, type Problem } from '../../../lib/base/problems.ts'
import type { Caller } from '../../../lib/identity/caller.ts'
import type { ConnectionStatus, ProviderConnectionRecord } from '../../../lib/providers/connection.ts'
import {
  changeConnection,
  lockConnections,
  type ConnectionChange,
} from '../../../storage/providers/provider-connections.ts'
import { runChange, type ChangeTransaction } from '../../commands/changes.ts'
import type { ConnectionDeps } from './connection-deps.ts'
import { connectionFacts } from './connection-view.ts'
import { recordStatus, type RecordedConnection } from './record-status.ts'

export type ConnectionVerb = AuditVerb<'provider_connection'>

/** Writes a change into the trail, and tells the operator of a new status. */
export async function recordConnection(
  tx: ChangeTransaction,
  by: Caller<'person'>,
  verb: ConnectionVerb,
  before: ProviderConnectionRecord | null,
  after: ProviderConnectionRecord,
): Promise<void> {
  await recordStatus(
    tx,
    by,
    { kind: 'provider_connection', action: `provider_connection.${verb}` },
    before === null ? null : recorded(before),
    recorded(after),
  )
}

const recorded = (record: ProviderConnectionRecord): RecordedConnection => ({
  ...record,
  facts: connectionFacts(record),
})

/** Changes a locked connection, with its trail entry and event. @returns the connection as it is now */
export async function applyChange(
  tx: ChangeTransaction,
  by: Caller<'person'>,
  verb: ConnectionVerb,
  before: ProviderConnectionRecord,
  change: ConnectionChange,
): Promise<ProviderConnectionRecord> {
  const after = await changeConnection(tx.client, before, {
    ...change,
    updatedBy: by.session.userId,
    updatedAt: tx.now,
  })
  await recordConnection(tx, by, verb, before, after)
  return after
}

/** The connections of an operator as a change has locked them. */
export interface LockedConnections {
  readonly before: ProviderConnectionRecord
  readonly all: readonly ProviderConnectionRecord[]
}

/**
 * Runs a change of one of an operator's connections under the lock of all of them. Once it is committed, this node no
 * longer uses what it had open: a request that follows the answer meets the change.
 *
 * @throws ProblemError `not-found`, and what the change throws
 */
export async function changeLocked(
  deps: ConnectionDeps,
  by: Caller<'person'>,
  id: string,
  change: (tx: ChangeTransaction, locked: LockedConnections) => Promise<ProviderConnectionRecord>,
): Promise<ProviderConnectionRecord> {
  const { record, others } = await runChange(deps, async (tx) => {
    const all = await lockConnections(tx.client, by.tenant.id)
    const before = all.find((each) => each.id === id) ?? refuseNotFound()
    return { record: await change(tx, { before, all }), others: all }
  })
  for (const each of others) deps.changed(each.id)
  return record
}

/** Returns the status after a move. @throws ProblemError where the move was refused */
export function allowed(moved: ConnectionStatus | { readonly refused: Problem }): ConnectionStatus {
  if (typeof moved !== 'string') throw new ProblemError(moved.refused)
  return moved
}

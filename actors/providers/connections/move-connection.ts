/** Moves connections through their life: to work, to drain, to retire (Y3 to Y6). */
import { ProblemError } from '../../../lib/base/problems.ts'
import { checkVersion } from '../../../lib/commands/etag.ts'
import type { Caller } from '../../../lib/identity/caller.ts'
import { moveConnection, retirementProblem, type ProviderConnectionRecord } from '../../../lib/providers/connection.ts'
import { through } from '../../../storage/db/transaction.ts'
import { closeAccountsAt } from '../../../storage/providers/connection-moves.ts'
import { readTies } from '../../../storage/providers/provider-connection-queries.ts'
import type { ChangeTransaction } from '../../commands/changes.ts'
import { WITHOUT_SECRETS } from './change-connection.ts'
import type { ConnectionDeps } from './connection-deps.ts'
import { allowed, applyChange, changeLocked } from './record-connection.ts'

/** Two connections of which only one can be the active primary. */
const areRivals = (one: ProviderConnectionRecord, other: ProviderConnectionRecord): boolean =>
  one.role === 'primary' &&
  other.role === 'primary' &&
  one.environment === other.environment &&
  one.customerId === other.customerId

/**
 * Lets a verified connection take new work. The primary that did so before drains from then on.
 *
 * @throws ProblemError `not-found`, `invalid-transition`
 */
export async function activateConnection(
  deps: ConnectionDeps,
  by: Caller<'person'>,
  id: string,
): Promise<ProviderConnectionRecord> {
  return await changeLocked(deps, by, id, async (tx, { before, all }) => {
    const status = allowed(moveConnection(before.status, 'activate'))
    const rival = all.find((each) => each.status === 'active' && areRivals(before, each))
    if (rival !== undefined) await drain(tx, by, rival)
    return await applyChange(tx, by, 'activated', before, { status, activatedAt: tx.now })
  })
}

/**
 * Lets a connection finish its work and take no more.
 *
 * @throws ProblemError `not-found`, `invalid-transition`
 */
export async function drainConnection(
  deps: ConnectionDeps,
  by: Caller<'person'>,
  id: string,
): Promise<ProviderConnectionRecord> {
  return await changeLocked(deps, by, id, (tx, { before }) => drain(tx, by, before))
}

async function drain(
  tx: ChangeTransaction,
  by: Caller<'person'>,
  before: ProviderConnectionRecord,
): Promise<ProviderConnectionRecord> {
  const status = allowed(moveConnection(before.status, 'drain'))
  return await applyChange(tx, by, 'drained', before, { status, drainingAt: tx.now, migration: null })
}

/**
 * Retires a connection and destroys its secrets: a draining one when nothing is in flight and its balances have moved,
 * any other when it was never active and nothing names it. Accounts that its partner still keeps for balances are closed.
 *
 * @throws ProblemError `not-found`, `invalid-transition`
 */
export async function retireConnection(
  deps: ConnectionDeps,
  by: Caller<'person'>,
  id: string,
): Promise<ProviderConnectionRecord> {
  return await changeLocked(deps, by, id, async (tx, { before }) => {
    const status = allowed(moveConnection(before.status, 'retire'))
    await checkTies(tx, before)
    if (before.status === 'draining') await closeAccountsAt(tx.client, id, tx.now)
    return await applyChange(tx, by, 'retired', before, { ...WITHOUT_SECRETS, status, retiredAt: tx.now })
  })
}

/** @throws ProblemError `invalid-transition` with the reasons while something of a connection is left */
async function checkTies({ client }: ChangeTransaction, { id, status }: ProviderConnectionRecord): Promise<void> {
  const problem = retirementProblem(status, await readTies(through(client), id))
  if (problem !== null) throw new ProblemError(problem)
}

/**
 * Deletes a connection that was never active and that nothing names: it is retired, and its secrets are destroyed.
 *
 * @throws ProblemError `not-found`, `precondition-failed`, `invalid-transition`
 */
export async function deleteConnection(
  deps: ConnectionDeps,
  by: Caller<'person'>,
  id: string,
  expected: number | bigint | null,
): Promise<void> {
  await changeLocked(deps, by, id, async (tx, { before }) => {
    checkVersion(before, expected)
    const status = allowed(moveConnection(before.status, 'delete'))
    await checkTies(tx, before)
    return await applyChange(tx, by, 'deleted', before, { ...WITHOUT_SECRETS, status, retiredAt: tx.now })
  })
}

/**
 * Changes the role or the status of one of an operator's staff, and removes one.
 *
 *  * At least one active administrator remains. Changes of one operator's staff run one at a time (`lockMembers`), so
 *    two administrators who remove each other at once, on any two nodes, do not both succeed.
 *  * Nobody changes their own membership.
 *  * Whoever is suspended or removed is signed out: their sessions and open challenges end in the same transaction. A
 *    changed role needs no such end, because the rights of a person are read at every request.
 */
import { refuseNotFound, refuseTransition } from '../../lib/base/problems.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { checkVersion } from '../../lib/commands/etag.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { StaffMember, StaffUpdate } from '../../lib/staff/staff-schema.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import { closeChallenges, endSessions } from '../../storage/identity/identity-sessions.ts'
import { lockMembers } from '../../storage/identity/members.ts'
import * as rows from '../../storage/staff/staff.ts'
import { type ChangeTransaction, recordChange } from '../commands/changes.ts'
import { auditCaller } from '../commands/trail.ts'
import type { StaffDeps } from './staff-deps.ts'

/** The role of which one active person must remain. */
const ADMINISTRATOR = 'operator_admin'

/** Runs one change of the operator's staff at a time, under a lock. @throws what the work throws */
export async function changeOperatorStaff(
  { database, clock, ids }: StaffDeps,
  operatorId: string,
  work: (tx: ChangeTransaction) => Promise<void>,
): Promise<void> {
  await inTransaction(database, async (client) => {
    await lockMembers(client, operatorId)
    await work({ client, ids, now: clock.now() })
  })
}

/** Changes the role or the status. @throws ProblemError */
export async function updateStaff(
  deps: StaffDeps,
  by: Caller<'person'>,
  id: string,
  body: StaffUpdate,
  expected: number | bigint | null,
): Promise<Versioned<StaffMember>> {
  const operatorId = by.tenant.id
  await changeOperatorStaff(deps, operatorId, async (tx) => {
    const staff = await changeable(tx.client, by, id, expected)
    const { role = staff.role, status = staff.status } = body
    if (role !== ADMINISTRATOR || status !== 'active') await requireOtherAdministrator(tx.client, operatorId, staff)
    await rows.updateStaff(tx.client, operatorId, id, { role, status }, tx.now)
    if (status === 'suspended') await signOut(tx, staff)
    await recordChange(tx, auditCaller(by), operatorId, {
      action: 'membership.updated',
      object: { type: 'membership', id },
      before: { role: staff.role, status: staff.status, email: staff.email },
      after: { role, status },
    })
  })
  return (await deps.reads.getStaff(operatorId, id)) ?? refuseNotFound()
}

/** Removes one of the staff. @throws ProblemError */
export async function removeStaff(
  deps: StaffDeps,
  by: Caller<'person'>,
  id: string,
  expected: number | bigint | null,
): Promise<void> {
  const operatorId = by.tenant.id
  await changeOperatorStaff(deps, operatorId, async (tx) => {
    const staff = await changeable(tx.client, by, id, expected)
    await requireOtherAdministrator(tx.client, operatorId, staff)
    await rows.updateStaff(tx.client, operatorId, id, { role: staff.role, status: 'removed' }, tx.now)
    await signOut(tx, staff)
    await recordChange(tx, auditCaller(by), operatorId, {
      action: 'membership.removed',
      object: { type: 'membership', id },
      before: { role: staff.role, status: staff.status, email: staff.email },
      after: { status: 'removed' },
    })
  })
}

/** Reads whom the caller may change. @throws ProblemError otherwise */
async function changeable(
  client: TransactionClient,
  by: Caller<'person'>,
  id: string,
  expected: number | bigint | null,
): Promise<rows.StaffRecord> {
  const staff = (await rows.findStaff(client, by.tenant.id, id)) ?? refuseNotFound()
  checkVersion(staff, expected)
  if (staff.status === 'removed') refuseTransition('The person was removed.', 'removed', ['active', 'suspended'])
  if (staff.userId === by.session.userId)
    refuseTransition('You cannot change your own membership; ask another administrator.', 'own_membership', [])
  return staff
}

/** Checks that the operator keeps an active administrator without this person. @throws ProblemError otherwise */
async function requireOtherAdministrator(
  client: TransactionClient,
  operatorId: string,
  { id, role, status }: rows.StaffRecord,
): Promise<void> {
  if (role !== ADMINISTRATOR || status !== 'active') return
  if ((await rows.othersInRole(client, operatorId, ADMINISTRATOR, id)) === 0)
    refuseTransition('The last active administrator cannot be changed.', 'last_administrator', [])
}

async function signOut({ client, now }: ChangeTransaction, { userId }: rows.StaffRecord): Promise<void> {
  await endSessions(client, { userId, now })
  await closeChallenges(client, userId, now)
}

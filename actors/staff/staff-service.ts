/** The staff of operators. The rights of a person are read from the row at every request, so a change takes effect at once. */
import { readDatabase } from '../../storage/db/read-database.ts'
import { getStaff, getStaffInvitation, listStaff, listStaffInvitations } from '../../storage/staff/staff-queries.ts'
import type { Node } from '../runtime/node.ts'
import { removeStaff, updateStaff } from './change-staff.ts'
import { inviteStaff, renewInvitation, revokeInvitation } from './invite-staff.ts'
import type { StaffCommands, StaffReads } from './staff.ts'
import type { StaffDeps } from './staff-deps.ts'

export interface StaffService {
  readonly reads: StaffReads
  readonly commands: StaffCommands
}

/** Creates the service. */
export function createStaffService(
  node: Pick<Node, 'database' | 'clock' | 'ids' | 'secrets' | 'random' | 'origin'>,
): StaffService {
  const { database, clock } = node
  const db = readDatabase(database)
  const reads: StaffReads = {
    listStaff: (operatorId, query) => listStaff(db, operatorId, query),
    getStaff: (operatorId, id) => getStaff(db, operatorId, id),
    listInvitations: (operatorId, query) => listStaffInvitations(db, operatorId, query, clock.now()),
    getInvitation: (operatorId, id) => getStaffInvitation(db, operatorId, id, clock.now()),
  }
  const deps: StaffDeps = { ...node, reads }
  return {
    reads,
    commands: {
      updateStaff: (by, id, body, expected) => updateStaff(deps, by, id, body, expected),
      removeStaff: (by, id, expected) => removeStaff(deps, by, id, expected),
      inviteStaff: (by, body) => inviteStaff(deps, by, body),
      renewInvitation: (by, id, body, expected) => renewInvitation(deps, by, id, body, expected),
      revokeInvitation: (by, id, expected) => revokeInvitation(deps, by, id, expected),
    },
  }
}

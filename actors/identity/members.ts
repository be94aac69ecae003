/**
 * The reads and commands of a customer's members, teams and invitations. The rights of a person are read from the row
 * at every request, so a change takes effect at once on every node.
 */
import {
  getInvitation,
  getMember,
  getTeam,
  listInvitations,
  listMembers,
  listTeams,
} from '../../storage/identity/member-queries.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import type { IdentityDeps } from './identity-deps.ts'
import type { MemberCommands, MemberReads } from './identity.ts'
import { acceptInvitation, openInvitation } from './accept-invitation.ts'
import { removeMember, transferPrimaryOwner, updateMember } from './change-member.ts'
import { invite, resendInvitation, revokeInvitation } from './invite-member.ts'
import { createTeam, deleteTeam, updateTeam } from './teams.ts'

/** Creates the reads of members. */
export function createMemberReads(deps: Pick<IdentityDeps, 'database' | 'clock'>): MemberReads {
  const { database, clock } = deps
  const db = readDatabase(database)
  return {
    listMembers: (customerId, query) => listMembers(db, customerId, query),
    getMember: (customerId, id) => getMember(db, customerId, id),
    listTeams: (customerId, query) => listTeams(db, customerId, query),
    getTeam: (customerId, id) => getTeam(db, customerId, id),
    listInvitations: (customerId, query) => listInvitations(db, customerId, query, clock.now()),
    getInvitation: (customerId, id) => getInvitation(db, customerId, id, clock.now()),
    openInvitation: (token) => openInvitation(deps, token),
  }
}

/** Creates the commands of members, which answer with `reads`. */
export function createMemberCommands(identity: IdentityDeps, reads: MemberReads): MemberCommands {
  const deps = { ...identity, reads }
  return {
    updateMember: (by, id, body, expected) => updateMember(deps, by, id, body, expected),
    removeMember: (by, id, expected) => removeMember(deps, by, id, expected),
    transferPrimaryOwner: (by, membershipId) => transferPrimaryOwner(deps, by, membershipId),
    createTeam: (by, body) => createTeam(deps, by, body),
    updateTeam: (by, id, body, expected) => updateTeam(deps, by, id, body, expected),
    deleteTeam: (by, id, expected) => deleteTeam(deps, by, id, expected),
    invite: (by, body) => invite(deps, by, body),
    resendInvitation: (by, id) => resendInvitation(deps, by, id),
    revokeInvitation: (by, id) => revokeInvitation(deps, by, id),
    acceptInvitation: (token, body, from) => acceptInvitation(deps, token, body, from),
  }
}

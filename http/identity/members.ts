/** Members of a customer. */
import { refuseNotFound } from '../../lib/base/problems.ts'
import { created, empty, page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import {
  Invitation,
  InvitationCreate,
  invitationList,
  Member,
  memberList,
  MemberUpdate,
  PrimaryOwner,
  Team,
  TeamCreate,
  teamList,
  TeamUpdate,
} from '../../lib/identity/member-schema.ts'
import { PageOf } from '../../lib/contract/page.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

/** Returns the customer in the path, which must be the tenant. @throws ProblemError `not-found` for any other */
function own(tenant: Tenant | null, { customerId }: { readonly customerId: string }): string {
  if (tenant?.id !== customerId) refuseNotFound()
  return customerId
}

const shared = { tag: 'tenants', callers: 'session', scope: null, tenant: 'customer', idempotency: 'none' } as const
const managed = { ...shared, capability: 'members.manage' } as const
const read = { ...shared, capability: 'members.read' } as const
const stepUp = { action: 'membership.change' } as const

export const listMemberships = route({
  ...read,
  method: 'get',
  path: '/customers/{customerId}/memberships',
  operationId: 'listMemberships',
  summary: 'List the members',
  list: memberList,
  success: {
    status: 200,
    description: 'A page of members; removed members only with `filter[status]`.',
    schema: PageOf('MemberPage', Member),
    etag: true,
  },
  problems: [],
  handle: async ({ tenant, params, list }, { members }) =>
    page(list, await members.listMembers(own(tenant, params), list)),
})

export const getMembership = route({
  ...read,
  method: 'get',
  path: '/customers/{customerId}/memberships/{membershipId}',
  operationId: 'getMembership',
  summary: 'Read a member',
  success: { status: 200, description: 'The member.', schema: Member, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { members }) =>
    resource(await members.getMember(own(tenant, params), params.membershipId)),
})

export const updateMembership = route({
  ...managed,
  method: 'patch',
  path: '/customers/{customerId}/memberships/{membershipId}',
  operationId: 'updateMembership',
  summary: 'Change the role, the teams, the limits or the access of a member',
  description:
    'Only an owner can change an owner. A person cannot change their own membership, and at least one active ' +
    'owner remains.',
  stepUp,
  ifMatch: true,
  current: async ({ tenant, params }, { members }) => await members.getMember(own(tenant, params), params.membershipId),
  body: MemberUpdate,
  success: { status: 200, description: 'The member as they are now.', schema: Member, etag: true },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, body, expectedVersion }, { members }) =>
    resource(await members.updateMember(caller, params.membershipId, body, expectedVersion)),
})

export const removeMembership = route({
  ...managed,
  method: 'delete',
  path: '/customers/{customerId}/memberships/{membershipId}',
  operationId: 'removeMembership',
  summary: 'Remove a member',
  stepUp,
  ifMatch: true,
  current: async ({ tenant, params }, { members }) => await members.getMember(own(tenant, params), params.membershipId),
  success: { status: 204, description: 'The member has no access any more.' },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, expectedVersion }, { members }) => {
    await members.removeMember(caller, params.membershipId, expectedVersion)
    return empty()
  },
})

export const transferPrimaryOwner = route({
  ...shared,
  capability: 'owner',
  method: 'put',
  path: '/customers/{customerId}/primary-owner',
  operationId: 'transferPrimaryOwner',
  summary: 'Make another member the primary owner',
  description: 'For the primary owner. The other member becomes an owner.',
  stepUp,
  body: PrimaryOwner,
  success: { status: 200, description: 'The new primary owner.', schema: Member, etag: true },
  problems: [],
  handle: async ({ caller, params, body, tenant }, { members }) => {
    own(tenant, params)
    return resource(await members.transferPrimaryOwner(caller, body.membershipId))
  },
})

export const listTeams = route({
  ...managed,
  method: 'get',
  path: '/customers/{customerId}/teams',
  operationId: 'listTeams',
  summary: 'List the teams',
  list: teamList,
  success: { status: 200, description: 'A page of teams.', schema: PageOf('TeamPage', Team), etag: true },
  problems: [],
  handle: async ({ tenant, params, list }, { members }) =>
    page(list, await members.listTeams(own(tenant, params), list)),
})

export const createTeam = route({
  ...managed,
  method: 'post',
  path: '/customers/{customerId}/teams',
  operationId: 'createTeam',
  summary: 'Create a team',
  description: 'A person cannot add themselves to a team.',
  stepUp,
  body: TeamCreate,
  success: { status: 201, description: 'The team.', schema: Team, etag: true, location: true },
  problems: ['limit-reached', 'invalid-transition'],
  handle: async ({ caller, params, body, tenant }, { members }) => {
    const customerId = own(tenant, params)
    const team = await members.createTeam(caller, body)
    return created(team, `/v1/customers/${customerId}/teams/${team.view.id}`)
  },
})

export const getTeam = route({
  ...managed,
  method: 'get',
  path: '/customers/{customerId}/teams/{teamId}',
  operationId: 'getTeam',
  summary: 'Read a team',
  success: { status: 200, description: 'The team.', schema: Team, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { members }) =>
    resource(await members.getTeam(own(tenant, params), params.teamId)),
})

export const updateTeam = route({
  ...managed,
  method: 'patch',
  path: '/customers/{customerId}/teams/{teamId}',
  operationId: 'updateTeam',
  summary: 'Change the name or the members of a team',
  description:
    'A change of the members needs a step-up. A person cannot add themselves to a team; another owner or ' +
    'administrator must.',
  stepUp: { ...stepUp, byBody: true },
  ifMatch: true,
  current: async ({ tenant, params }, { members }) => await members.getTeam(own(tenant, params), params.teamId),
  body: TeamUpdate,
  success: { status: 200, description: 'The team as it is now.', schema: Team, etag: true },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, body, expectedVersion }, { members }) =>
    resource(await members.updateTeam(caller, params.teamId, body, expectedVersion)),
})

export const deleteTeam = route({
  ...managed,
  method: 'delete',
  path: '/customers/{customerId}/teams/{teamId}',
  operationId: 'deleteTeam',
  summary: 'Delete a team',
  description: 'Members of the team stay members of the customer. Policies that name the team lose these approvers.',
  ifMatch: true,
  current: async ({ tenant, params }, { members }) => await members.getTeam(own(tenant, params), params.teamId),
  success: { status: 204, description: 'The team is gone.' },
  problems: [],
  handle: async ({ caller, params, expectedVersion }, { members }) => {
    await members.deleteTeam(caller, params.teamId, expectedVersion)
    return empty()
  },
})

export const listInvitations = route({
  ...managed,
  method: 'get',
  path: '/customers/{customerId}/invitations',
  operationId: 'listInvitations',
  summary: 'List the invitations',
  list: invitationList,
  success: {
    status: 200,
    description: 'A page of invitations.',
    schema: PageOf('InvitationPage', Invitation),
    etag: true,
  },
  problems: [],
  handle: async ({ tenant, params, list }, { members }) =>
    page(list, await members.listInvitations(own(tenant, params), list)),
})

export const createInvitation = route({
  ...managed,
  method: 'post',
  path: '/customers/{customerId}/invitations',
  operationId: 'createInvitation',
  summary: 'Invite a person',
  description: 'The address must belong to an invitation domain. The link is mailed and works for seven days.',
  stepUp,
  body: InvitationCreate,
  success: {
    status: 201,
    description: 'The invitation, without its link.',
    schema: Invitation,
    etag: true,
    location: true,
  },
  problems: ['invitation_domains_required', 'domain_not_approved', 'limit-reached'],
  handle: async ({ caller, params, body, tenant }, { members }) => {
    const customerId = own(tenant, params)
    const invitation = await members.invite(caller, body)
    return created(invitation, `/v1/customers/${customerId}/invitations/${invitation.view.id}`)
  },
})

export const getCustomerInvitation = route({
  ...managed,
  method: 'get',
  path: '/customers/{customerId}/invitations/{invitationId}',
  operationId: 'getCustomerInvitation',
  summary: 'Read an invitation',
  success: { status: 200, description: 'The invitation, without its link.', schema: Invitation, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { members }) =>
    resource(await members.getInvitation(own(tenant, params), params.invitationId)),
})

export const revokeInvitation = route({
  ...managed,
  method: 'delete',
  path: '/customers/{customerId}/invitations/{invitationId}',
  operationId: 'revokeInvitation',
  summary: 'Revoke an invitation',
  stepUp,
  success: { status: 204, description: 'The link of the invitation no longer works.' },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, tenant }, { members }) => {
    own(tenant, params)
    await members.revokeInvitation(caller, params.invitationId)
    return empty()
  },
})

export const resendInvitation = route({
  ...managed,
  method: 'post',
  path: '/customers/{customerId}/invitations/{invitationId}/resend',
  operationId: 'resendInvitation',
  summary: 'Send an invitation again',
  description: 'Mails a new link that works for seven days; the previous link no longer works.',
  stepUp,
  success: { status: 200, description: 'The invitation.', schema: Invitation, etag: true },
  problems: ['invalid-transition', 'invitation_domains_required', 'domain_not_approved'],
  handle: async ({ caller, params, tenant }, { members }) => {
    own(tenant, params)
    return resource(await members.resendInvitation(caller, params.invitationId))
  },
})

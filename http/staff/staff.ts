/** The staff of the operator, and the invitations to join it. */
import { PageOf } from '../../lib/contract/page.ts'
import {
  StaffInvitation,
  StaffInvitationCreate,
  staffInvitationList,
  StaffInvitationUpdate,
  staffList,
  StaffMember,
  StaffUpdate,
} from '../../lib/staff/staff-schema.ts'
import { created, empty, page, resource } from '../route/answer.ts'
import { type CurrentContext, route } from '../route/route.ts'
import type { ReadServices } from '../route/services.ts'

const shared = {
  tag: 'tenants',
  callers: 'staff',
  capability: 'operator.manage',
  scope: null,
  tenant: 'operator',
  idempotency: 'none',
} as const
const changing = { ...shared, stepUp: { action: 'membership.change' } } as const

const STAFF = '/operator/staff/{staffId}'
const INVITATION = '/operator/staff-invitations/{invitationId}'

const currentStaff = async ({ tenant, params }: CurrentContext<typeof STAFF>, { staff }: ReadServices) =>
  tenant === null ? null : await staff.getStaff(tenant.id, params.staffId)
const currentInvitation = async ({ tenant, params }: CurrentContext<typeof INVITATION>, { staff }: ReadServices) =>
  tenant === null ? null : await staff.getInvitation(tenant.id, params.invitationId)

export const listStaff = route({
  ...shared,
  method: 'get',
  path: '/operator/staff',
  operationId: 'listStaff',
  summary: 'List the staff of the operator',
  list: staffList,
  success: {
    status: 200,
    description: 'A page of staff; removed people only with `filter[status]`.',
    schema: PageOf('StaffPage', StaffMember),
    etag: true,
  },
  problems: [],
  handle: async ({ tenant, list }, { staff }) => page(list, await staff.listStaff(tenant.id, list)),
})

export const getStaff = route({
  ...shared,
  method: 'get',
  path: STAFF,
  operationId: 'getStaff',
  summary: 'Read one of the staff',
  success: { status: 200, description: 'The person.', schema: StaffMember, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { staff }) => resource(await staff.getStaff(tenant.id, params.staffId)),
})

export const updateStaff = route({
  ...changing,
  method: 'patch',
  path: STAFF,
  operationId: 'updateStaff',
  summary: 'Change the role or the access of one of the staff',
  description:
    'A person cannot change their own membership, and at least one active administrator remains. Suspension ends the ' +
    "person's sessions; a role counts from the next request.",
  ifMatch: true,
  current: currentStaff,
  body: StaffUpdate,
  success: { status: 200, description: 'The person as they are now.', schema: StaffMember, etag: true },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, body, expectedVersion }, { staff }) =>
    resource(await staff.updateStaff(caller, params.staffId, body, expectedVersion)),
})

export const removeStaff = route({
  ...changing,
  method: 'delete',
  path: STAFF,
  operationId: 'removeStaff',
  summary: 'Remove one of the staff',
  description: "Ends the person's sessions and open challenges at once. At least one active administrator remains.",
  ifMatch: true,
  current: currentStaff,
  success: { status: 204, description: 'The person has no access any more.' },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, expectedVersion }, { staff }) => {
    await staff.removeStaff(caller, params.staffId, expectedVersion)
    return empty()
  },
})

export const listStaffInvitations = route({
  ...shared,
  method: 'get',
  path: '/operator/staff-invitations',
  operationId: 'listStaffInvitations',
  summary: 'List the invitations of staff',
  list: staffInvitationList,
  success: {
    status: 200,
    description: 'A page of invitations.',
    schema: PageOf('StaffInvitationPage', StaffInvitation),
    etag: true,
  },
  problems: [],
  handle: async ({ tenant, list }, { staff }) => page(list, await staff.listInvitations(tenant.id, list)),
})

export const createStaffInvitation = route({
  ...changing,
  method: 'post',
  path: '/operator/staff-invitations',
  operationId: 'createStaffInvitation',
  summary: 'Invite a person to the staff',
  description: 'The link is mailed and works for seven days. The person adds a second factor before anything else.',
  body: StaffInvitationCreate,
  success: {
    status: 201,
    description: 'The invitation, without its link.',
    schema: StaffInvitation,
    etag: true,
    location: true,
  },
  problems: ['limit-reached'],
  handle: async ({ caller, body }, { staff }) => {
    const invitation = await staff.inviteStaff(caller, body)
    return created(invitation, `/v1/operator/staff-invitations/${invitation.view.id}`)
  },
})

export const getStaffInvitation = route({
  ...shared,
  method: 'get',
  path: INVITATION,
  operationId: 'getStaffInvitation',
  summary: 'Read an invitation of staff',
  success: { status: 200, description: 'The invitation, without its link.', schema: StaffInvitation, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { staff }) => resource(await staff.getInvitation(tenant.id, params.invitationId)),
})

export const updateStaffInvitation = route({
  ...changing,
  method: 'patch',
  path: INVITATION,
  operationId: 'updateStaffInvitation',
  summary: 'Change an invitation of staff, or send it again',
  description:
    'Mails a new link that works for seven days, also without a change; the previous link no longer works. For ' +
    'invitations that are open or have expired.',
  ifMatch: true,
  current: currentInvitation,
  body: StaffInvitationUpdate,
  success: { status: 200, description: 'The invitation as it is now.', schema: StaffInvitation, etag: true },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, body, expectedVersion }, { staff }) =>
    resource(await staff.renewInvitation(caller, params.invitationId, body, expectedVersion)),
})

export const revokeStaffInvitation = route({
  ...changing,
  method: 'delete',
  path: INVITATION,
  operationId: 'revokeStaffInvitation',
  summary: 'Revoke an invitation of staff',
  ifMatch: 'when sent',
  current: currentInvitation,
  success: { status: 204, description: 'The link of the invitation no longer works.' },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, expectedVersion }, { staff }) => {
    await staff.revokeInvitation(caller, params.invitationId, expectedVersion)
    return empty()
  },
})

/** Invitations, read and accepted by link, without a credential. */
import { refuse } from '../../lib/base/problems.ts'
import { json } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { AcceptedInvitation, InvitationAccept, OpenInvitation } from '../../lib/identity/member-schema.ts'

const shared = {
  tag: 'tenants',
  callers: 'public',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  limits: ['login'],
} as const

export const getInvitation = route({
  ...shared,
  method: 'get',
  path: '/invitations/{token}',
  operationId: 'getInvitation',
  summary: 'Read the invitation of a link',
  success: { status: 200, description: 'The inviting customer or operator, and the role.', schema: OpenInvitation },
  problems: [],
  handle: async ({ params }, { members }) => {
    const found = await members.openInvitation(params.token)
    if (found === null) refuse('not-found', 'The link is unknown, was used or withdrawn, or has expired.')
    return json(200, found.view)
  },
})

export const acceptInvitation = route({
  ...shared,
  method: 'post',
  path: '/invitations/{token}/accept',
  operationId: 'acceptInvitation',
  summary: 'Accept the invitation of a link',
  description:
    'A person who already has an account sends its password; a new person sends a name and a new password of ' +
    'at least 12 characters. Staff of an operator then add a second factor before anything else.',
  body: InvitationAccept,
  success: {
    status: 200,
    description: 'The person is a member or staff now, and can sign in.',
    schema: AcceptedInvitation,
  },
  problems: ['unauthenticated'],
  handle: async ({ caller, params, body }, { members }) =>
    json(200, await members.acceptInvitation(params.token, body, caller)),
})

/** Funds requests as the payer sees them: by link, without a credential. */
import { refuse } from '../../lib/base/problems.ts'
import { json } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { PublicFundsRequest } from '../../lib/funds-requests/funds-request-schema.ts'

const shared = { tag: 'payments', callers: 'public', scope: null, tenant: 'none', idempotency: 'none' } as const

export const getPublicFundsRequest = route({
  ...shared,
  method: 'get',
  path: '/public/funds-requests/{token}',
  operationId: 'getPublicFundsRequest',
  summary: 'Read a funds request through its link',
  success: {
    status: 200,
    description: 'The payee, the amount, and the account to pay to.',
    schema: PublicFundsRequest,
  },
  problems: [],
  handle: async ({ params }, { fundsRequests }) => {
    const found = await fundsRequests.ofLink(params.token)
    if (found === null) refuse('not-found', 'The link is unknown.')
    return json(200, found.view)
  },
})

export const declinePublicFundsRequest = route({
  ...shared,
  method: 'post',
  path: '/public/funds-requests/{token}/decline',
  operationId: 'declinePublicFundsRequest',
  summary: 'Decline a funds request through its link',
  success: { status: 200, description: 'The declined funds request.', schema: PublicFundsRequest },
  problems: ['invalid-transition'],
  handle: async ({ caller, params }, { fundsRequests }) =>
    json(
      200,
      await fundsRequests.decline(params.token, { address: caller.source.address, requestId: caller.requestId }),
    ),
})

/** Password resets by e-mail. */
import { empty } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { PasswordResetComplete, PasswordResetRequest } from '../../lib/identity/user-schema.ts'

export const requestPasswordReset = route({
  method: 'post',
  path: '/password-resets',
  operationId: 'requestPasswordReset',
  tag: 'tenants',
  summary: 'Ask for a new password',
  description: 'The answer is the same whether or not anybody has the address.',
  callers: 'public',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  limits: ['login'],
  body: PasswordResetRequest,
  success: { status: 202, description: 'If somebody has the address, a mail with a link is on its way.' },
  problems: [],
  handle: ({ caller, body }, { identity, limitSignIn }) => {
    limitSignIn(body.email)
    identity.requestPasswordReset(body.email, caller)
    return empty(202)
  },
})

export const completePasswordReset = route({
  method: 'post',
  path: '/password-resets/{token}',
  operationId: 'completePasswordReset',
  tag: 'tenants',
  summary: 'Choose a new password with the link of a mail',
  description: 'A link is good once and for an hour. Ends every session of the person.',
  callers: 'public',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  limits: ['login'],
  body: PasswordResetComplete,
  success: { status: 204, description: 'The password is the new one.' },
  problems: [],
  handle: async ({ caller, params, body }, { identity }) => {
    await identity.completePasswordReset(params.token, body.password, caller)
    return empty()
  },
})

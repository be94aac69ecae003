/** Password resets by e-mail. */
import { empty } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { PasswordResetComplete, PasswordResetRequest } from '../../lib/identity/user-schema.ts'

export const requestPasswordReset = route({
  method: 'post',
  path: '/password-resets',
  operationId: 'requestPasswordReset',
  tag: 'tenants',
  summary: 'Request a link to reset a password',
  description: 'The answer is the same whether or not a person has the address.',
  callers: 'public',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  limits: ['login'],
  body: PasswordResetRequest,
  success: { status: 202, description: 'If a person has the address, a mail with a link is sent.' },
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
  summary: 'Reset a password with the link from a mail',
  description: 'A link works once, within an hour. Every session of the person ends.',
  callers: 'public',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  limits: ['login'],
  body: PasswordResetComplete,
  success: { status: 204, description: 'The password was changed.' },
  problems: [],
  handle: async ({ caller, params, body }, { identity }) => {
    await identity.completePasswordReset(params.token, body.password, caller)
    return empty()
  },
})

/** Impersonations: staff read a customer's data as its members see it. */
import {
  Impersonation,
  ImpersonationCreate,
  OpenedImpersonation,
} from '../../lib/impersonations/impersonation-schema.ts'
import { created, empty, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'

const CURRENT = '/impersonations/current'

const shared = {
  tag: 'tenants',
  callers: 'staff',
  capability: 'support.impersonate',
  scope: null,
  tenant: 'operator',
  idempotency: 'none',
} as const

export const startImpersonation = route({
  ...shared,
  method: 'post',
  path: '/impersonations',
  operationId: 'startImpersonation',
  summary: "Read a customer's data as its members see it",
  description:
    'The answer has the token of a session of its own, which ends after 30 minutes, 15 minutes without a request, or ' +
    'together with the session that opened it. With the customer as `X-Tenant-Id` it reads what the customer reads; ' +
    'every write is refused with `impersonation-restricted`. The audit trails of operator and customer name the person, ' +
    'the times, and every read.',
  answersCredential: true,
  body: ImpersonationCreate,
  success: {
    status: 201,
    description: 'The impersonation with its token.',
    schema: OpenedImpersonation,
    etag: true,
    location: true,
  },
  problems: [],
  handle: async ({ caller, body }, { impersonations }) => {
    const { opened, token } = await impersonations.startImpersonation(caller, body)
    return created(opened, `/v1${CURRENT}`, { token })
  },
})

export const getCurrentImpersonation = route({
  ...shared,
  method: 'get',
  path: CURRENT,
  operationId: 'getCurrentImpersonation',
  summary: 'Read the impersonation of the token that is sent',
  whileImpersonating: true,
  success: { status: 200, description: 'The impersonation.', schema: Impersonation, etag: true },
  problems: ['not-found'],
  handle: ({ caller }, { impersonations }) => resource(impersonations.currentImpersonation(caller.session)),
})

export const endImpersonation = route({
  ...shared,
  method: 'delete',
  path: CURRENT,
  operationId: 'endImpersonation',
  summary: 'End the impersonation of the token that is sent',
  whileImpersonating: true,
  success: { status: 204, description: 'The token no longer works.' },
  problems: ['not-found'],
  handle: async ({ caller }, { impersonations }) => {
    await impersonations.endImpersonation(caller)
    return empty()
  },
})

/** Operations of a person on their own account: profile, password and second factors. */
import { created, empty, json, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { FactorConfirm } from '../../lib/identity/step-up-schema.ts'
import {
  FactorCreate,
  MfaFactor,
  NewMfaFactor,
  PasswordChange,
  User,
  UserUpdate,
} from '../../lib/identity/user-schema.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import { PAGE_LIMIT_MAX, PageOf } from '../../lib/contract/page.ts'

/** What changes of a factor (its confirmation, its last use) is told apart by the hash of its tag. */
const FACTOR_VERSION = 1

export const getCurrentUser = route({
  method: 'get',
  path: '/users/me',
  operationId: 'getCurrentUser',
  tag: 'tenants',
  summary: 'Read your own profile',
  callers: 'session',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  success: { status: 200, description: 'The profile.', schema: User, etag: true },
  problems: [],
  handle: async ({ caller }, { identity }) => resource(await identity.getUser(caller.session.userId)),
})

export const updateCurrentUser = route({
  method: 'patch',
  path: '/users/me',
  operationId: 'updateCurrentUser',
  tag: 'tenants',
  summary: 'Change your own profile',
  callers: 'session',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  ifMatch: true,
  current: async ({ principal }, { identity }) => (principal === null ? null : await identity.getUser(principal.id)),
  body: UserUpdate,
  success: { status: 200, description: 'The profile as it is now.', schema: User, etag: true },
  problems: [],
  handle: async ({ caller, body, expectedVersion }, { identity }) =>
    resource(await identity.updateUser(caller, body, expectedVersion)),
})

export const changePassword = route({
  method: 'post',
  path: '/users/me/password',
  operationId: 'changePassword',
  tag: 'tenants',
  summary: 'Change your own password',
  description:
    'A password has 12 to 128 characters and is on no list of stolen passwords. Every other session of the ' +
    'person ends.',
  callers: 'session',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  limits: ['login'],
  body: PasswordChange,
  success: { status: 204, description: 'The password was changed.' },
  problems: [],
  handle: async ({ caller, body }, { identity }) => {
    await identity.changePassword(caller, body)
    return empty()
  },
})

export const listMfaFactors = route({
  method: 'get',
  path: '/users/me/mfa-factors',
  operationId: 'listMfaFactors',
  tag: 'tenants',
  summary: 'List your own second factors',
  callers: 'session',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  success: { status: 200, description: 'All factors, oldest first.', schema: PageOf('MfaFactorPage', MfaFactor) },
  problems: [],
  handle: async ({ caller }, { identity }) =>
    json(200, {
      data: await identity.listFactors(caller.session.userId),
      page: { nextCursor: null, prevCursor: null, limit: PAGE_LIMIT_MAX },
    }),
})

export const createMfaFactor = route({
  method: 'post',
  path: '/users/me/mfa-factors',
  operationId: 'createMfaFactor',
  tag: 'tenants',
  summary: 'Enrol a second factor',
  description:
    'The factor is active once one of its codes was verified. A person who already has a factor must prove it first.',
  callers: 'session',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  stepUp: { action: 'settings.change', unlessNoFactor: true },
  body: FactorCreate,
  success: {
    status: 201,
    description: 'The factor with its secret, which is shown only in this answer.',
    schema: NewMfaFactor,
    etag: true,
    location: true,
  },
  problems: ['limit-reached'],
  handle: async ({ caller, body }, { identity }) => {
    const { secret, otpauthUri, ...factor } = await identity.addFactor(caller, body)
    return created({ version: FACTOR_VERSION, view: factor }, `/v1/users/me/mfa-factors/${factor.id}`, {
      secret,
      otpauthUri,
    })
  },
})

export const getMfaFactor = route({
  method: 'get',
  path: '/users/me/mfa-factors/{factorId}',
  operationId: 'getMfaFactor',
  tag: 'tenants',
  summary: 'Read one of your own second factors',
  callers: 'session',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  success: { status: 200, description: 'The factor, without its secret.', schema: MfaFactor, etag: true },
  problems: [],
  handle: async ({ caller, params }, { identity }) => {
    const factors = await identity.listFactors(caller.session.userId)
    const factor = factors.find(({ id }) => id === params.factorId) ?? refuseNotFound()
    return resource({ version: FACTOR_VERSION, view: factor })
  },
})

export const verifyMfaFactor = route({
  method: 'post',
  path: '/users/me/mfa-factors/{factorId}/verify',
  operationId: 'verifyMfaFactor',
  tag: 'tenants',
  summary: 'Confirm a second factor with one of its codes',
  callers: 'session',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  stepUp: { action: 'settings.change', unlessNoFactor: true },
  body: FactorConfirm,
  success: { status: 200, description: 'The factor, now active.', schema: MfaFactor },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, body }, { identity }) =>
    json(200, await identity.confirmFactor(caller, params.factorId, body.code)),
})

export const deleteMfaFactor = route({
  method: 'delete',
  path: '/users/me/mfa-factors/{factorId}',
  operationId: 'deleteMfaFactor',
  tag: 'tenants',
  summary: 'Remove a second factor',
  description: 'The last active factor cannot be removed.',
  callers: 'session',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  stepUp: { action: 'settings.change' },
  success: { status: 204, description: 'The factor was removed.' },
  problems: ['invalid-transition'],
  handle: async ({ caller, params }, { identity }) => {
    await identity.removeFactor(caller, params.factorId)
    return empty()
  },
})

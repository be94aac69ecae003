/** Operations of a person on their own account: profile, password, second factors and recovery codes. */
import type { IdentityReads } from '../../actors/identity/identity.ts'
import { created, empty, json, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { FactorConfirm } from '../../lib/identity/step-up-schema.ts'
import {
  FactorCreate,
  FactorUpdate,
  MfaFactor,
  NewMfaFactor,
  NewRecoveryCodes,
  PasswordChange,
  RecoveryCodes,
  User,
  UserUpdate,
} from '../../lib/identity/user-schema.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import { PAGE_LIMIT_MAX, PageOf } from '../../lib/contract/page.ts'

/** The version of a factor that has just been added. */
const FACTOR_VERSION = 1
/** Recovery codes are replaced as a whole, and their number only falls; the hash of the tag tells them apart. */
const CODES_VERSION = 1

/** Finds one of a person's factors; null when they have no such factor. */
async function findFactor(identity: Pick<IdentityReads, 'listFactors'>, userId: string, factorId: string) {
  return (await identity.listFactors(userId)).find(({ view }) => view.id === factorId) ?? null
}

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
      data: (await identity.listFactors(caller.session.userId)).map(({ view }) => view),
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
    'The factor is active once it was verified: with a code of the app, or with the credential that the browser has ' +
    'made with `publicKey`, within five minutes and in the same session. A person who already has a factor must prove ' +
    'it first.',
  callers: 'session',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  stepUp: { action: 'settings.change', unlessNoFactor: true },
  body: FactorCreate,
  success: {
    status: 201,
    description: 'The factor with its secret or its options, which are shown only in this answer.',
    schema: NewMfaFactor,
    etag: true,
    location: true,
  },
  problems: ['limit-reached'],
  handle: async ({ caller, body }, { identity }) => {
    const { secret, otpauthUri, publicKey, ...factor } = await identity.addFactor(caller, body)
    return created({ version: FACTOR_VERSION, view: factor }, `/v1/users/me/mfa-factors/${factor.id}`, {
      secret,
      otpauthUri,
      publicKey,
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
  handle: async ({ caller, params }, { identity }) =>
    resource((await findFactor(identity, caller.session.userId, params.factorId)) ?? refuseNotFound()),
})

export const updateMfaFactor = route({
  method: 'patch',
  path: '/users/me/mfa-factors/{factorId}',
  operationId: 'updateMfaFactor',
  tag: 'tenants',
  summary: 'Rename one of your own second factors',
  callers: 'session',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  ifMatch: true,
  ifMatchesVersion: true,
  stepUp: { action: 'settings.change' },
  current: async ({ principal, params }, { identity }) =>
    principal === null ? null : await findFactor(identity, principal.id, params.factorId),
  body: FactorUpdate,
  success: { status: 200, description: 'The factor with its new name.', schema: MfaFactor, etag: true },
  problems: [],
  handle: async ({ caller, params, body, expectedVersion }, { identity }) =>
    resource(await identity.updateFactor(caller, params.factorId, body, expectedVersion)),
})

export const verifyMfaFactor = route({
  method: 'post',
  path: '/users/me/mfa-factors/{factorId}/verify',
  operationId: 'verifyMfaFactor',
  tag: 'tenants',
  summary: 'Confirm a second factor with one of its codes, or with its new credential',
  callers: 'session',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  stepUp: { action: 'settings.change', unlessNoFactor: true },
  body: FactorConfirm,
  success: { status: 200, description: 'The factor, now active.', schema: MfaFactor },
  problems: ['invalid-transition', 'challenge-locked'],
  handle: async ({ caller, params, body }, { identity }) =>
    json(200, await identity.confirmFactor(caller, params.factorId, body)),
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

export const getRecoveryCodes = route({
  method: 'get',
  path: '/users/me/recovery-codes',
  operationId: 'getRecoveryCodes',
  tag: 'tenants',
  summary: 'Read how many recovery codes you have left',
  callers: 'session',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  success: { status: 200, description: 'The number of codes, never the codes.', schema: RecoveryCodes, etag: true },
  problems: [],
  handle: async ({ caller }, { identity }) =>
    resource({ version: CODES_VERSION, view: await identity.getRecoveryCodes(caller.session.userId) }),
})

export const createRecoveryCodes = route({
  method: 'post',
  path: '/users/me/recovery-codes',
  operationId: 'createRecoveryCodes',
  tag: 'tenants',
  summary: 'Make recovery codes for the day when no authenticator is at hand',
  description:
    'Ten codes, each of which works once in place of a second factor, to sign in and for actions that move no money. ' +
    'Earlier codes no longer work. The person is told of every use.',
  callers: 'session',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  stepUp: { action: 'settings.change' },
  answersCredential: true,
  success: {
    status: 201,
    description: 'The codes, which are shown only in this answer.',
    schema: NewRecoveryCodes,
    etag: true,
    location: true,
  },
  problems: [],
  handle: async ({ caller }, { identity }) => {
    const { codes, ...view } = await identity.createRecoveryCodes(caller)
    return created({ version: CODES_VERSION, view }, '/v1/users/me/recovery-codes', { codes })
  },
})

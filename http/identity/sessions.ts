/** Signing in and out, and the sessions of a person. */
import { csrfToken, setSessionCookie } from '../../lib/identity/session.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { refuse } from '../../lib/base/problems.ts'
import { empty, json, page, resource } from '../route/answer.ts'
import type { OpenedSession as Opened } from '../../actors/identity/identity.ts'
import type { SessionIdentity } from '../../lib/identity/caller.ts'
import { route } from '../route/route.ts'
import type { Answer } from '../../lib/commands/answer.ts'
import { PageOf } from '../../lib/contract/page.ts'
import { CurrentSession, OpenedSession, Session, sessionList, SignIn } from '../../lib/identity/session-schema.ts'
import { MfaVerify } from '../../lib/identity/step-up-schema.ts'

/** The members of an opened session that are secrets, which its tag leaves out. */
const SECRETS = ['token', 'csrfToken'] as const

/** Answers with a session and its new token, in the body and as the browser's cookie. */
function opened<const Status extends 200 | 201>(
  status: Status,
  session: Opened,
): Answer<Opened & { readonly csrfToken: string }, Status> {
  return {
    ...resource({ version: 1, view: { ...session, csrfToken: csrfToken(session.token) }, untagged: SECRETS }, status),
    headers: ['Set-Cookie', setSessionCookie(session.token)],
  }
}

/**
 * Returns the session's token, for a read. A read is answered by the node that it reached, and the token is on that
 * node.
 */
function shownToken({ token }: SessionIdentity): string {
  if (token === null) throw new Error('A read was forwarded to another node.')
  return token
}

export const createSession = route({
  method: 'post',
  path: '/sessions',
  operationId: 'createSession',
  tag: 'tenants',
  summary: 'Sign in',
  description:
    'Takes an e-mail address and a password. When the person has a second factor, the session can do nothing ' +
    'until that factor is verified. Five failures lock an address for 15 minutes; every failure has the same ' +
    'answer.',
  callers: 'public',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  limits: ['login'],
  body: SignIn,
  success: {
    status: 201,
    description: 'The session. The token is in the body and, for browsers, in the cookie `__Host-session`.',
    schema: OpenedSession,
    etag: true,
    location: true,
  },
  problems: ['unauthenticated'],
  handle: async ({ caller, body }, { identity, limitSignIn }) => {
    limitSignIn(body.email)
    return { ...opened(201, await identity.signIn(body, caller)), location: '/v1/sessions/current' }
  },
})

export const verifySessionMfa = route({
  method: 'post',
  path: '/sessions/current/mfa',
  operationId: 'verifySessionMfa',
  tag: 'tenants',
  summary: 'Finish signing in with the second factor',
  description:
    'A code of the authenticator app, the assertion of an authenticator of WebAuthn for `mfa.publicKey`, or a recovery ' +
    'code, which works once.',
  callers: 'session',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  limits: ['login'],
  beforeMfa: true,
  body: MfaVerify,
  success: {
    status: 200,
    description: 'The active session with a new token; the previous token no longer works.',
    schema: OpenedSession,
    etag: true,
  },
  problems: ['challenge-locked', 'invalid-transition'],
  handle: async ({ caller, body }, { identity }) => opened(200, await identity.verifyMfa(caller, body)),
})

export const listSessions = route({
  method: 'get',
  path: '/sessions',
  operationId: 'listSessions',
  tag: 'tenants',
  summary: 'List your own sessions',
  callers: 'session',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  list: sessionList,
  success: { status: 200, description: 'A page of sessions.', schema: PageOf('SessionPage', Session), etag: true },
  problems: [],
  handle: async ({ caller: { session }, list }, { identity }) => {
    const found = await identity.listSessions(session.userId, list)
    return page(list, { ...found, rows: found.rows.map((row) => ({ ...row, current: row.id === session.id })) })
  },
})

export const getCurrentSession = route({
  method: 'get',
  path: '/sessions/current',
  operationId: 'getCurrentSession',
  tag: 'tenants',
  summary: 'Read the current session: the person, their memberships and their capabilities',
  callers: 'session',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  success: { status: 200, description: 'The session.', schema: CurrentSession },
  problems: [],
  handle: async ({ caller: { session, principal } }, { identity, operators }) =>
    json(200, {
      id: session.id,
      status: 'active',
      mfaMethod: session.mfaMethod,
      createdAt: timestamp(session.createdAt),
      expiresAt: timestamp(session.expiresAt),
      idleTimeoutSeconds: session.idleMs / 1000,
      csrfToken: csrfToken(shownToken(session)),
      user: { id: session.userId, email: session.email, name: session.name },
      memberships: session.memberships.map(({ id, tenantId, tenantName, level, role }) => ({
        id,
        tenantId,
        tenantName,
        level,
        role,
        capabilities: identity.capabilitiesOf(role),
      })),
      capabilities: [...principal.capabilities],
      flags: await operators.flagsOfTenants(session.memberships.map(({ tenantId }) => tenantId)),
    }),
})

export const deleteCurrentSession = route({
  method: 'delete',
  path: '/sessions/current',
  operationId: 'deleteCurrentSession',
  tag: 'tenants',
  summary: 'Sign out',
  callers: 'session',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  beforeMfa: true,
  success: { status: 204, description: 'The session has ended.' },
  problems: [],
  handle: async ({ caller }, { identity }) => {
    await identity.signOut(caller)
    return empty(204, ['Set-Cookie', setSessionCookie(null)])
  },
})

export const refreshSession = route({
  method: 'post',
  path: '/sessions/current/refresh',
  operationId: 'refreshSession',
  tag: 'tenants',
  summary: 'Rotate the token of a session and restart its idle time',
  description: 'The session still ends at its original time.',
  callers: 'session',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  success: {
    status: 200,
    description: 'The session with a new token; the previous token no longer works.',
    schema: OpenedSession,
    etag: true,
  },
  problems: [],
  handle: async ({ caller }, { identity }) => opened(200, await identity.refresh(caller)),
})

export const revokeSession = route({
  method: 'delete',
  path: '/sessions/{sessionId}',
  operationId: 'revokeSession',
  tag: 'tenants',
  summary: 'End one of your own sessions',
  callers: 'session',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  success: { status: 204, description: 'The session has ended.' },
  problems: [],
  handle: async ({ caller, params }, { identity }) => {
    if (!(await identity.revokeSession(caller, params.sessionId))) refuse('not-found', 'You have no such session.')
    return empty()
  },
})

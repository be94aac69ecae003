/** Sessions of people. */
import Type, { type Static } from 'typebox'
import { list } from '../contract/list.ts'
import { Nullable, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'
import { StepUpMethod } from './step-up-schema.ts'
import { WebAuthnRequestOptions } from './webauthn-schema.ts'

const SESSION_STATUSES = ['mfa_required', 'active', 'idle', 'expired', 'revoked'] as const
export const SessionStatus = Words('SessionStatus', SESSION_STATUSES)

/**
 * Bounds the input of the hash: a password has at most 128 characters, which can be up to 256 units of UTF-16. The
 * format keeps its spaces.
 */
export const Password = Type.String({
  format: 'password',
  minLength: 1,
  maxLength: 256,
  title: 'Password',
  description: 'The password, used exactly as it is sent.',
})

export const SignIn = Type.Object(
  {
    email: Type.String({ minLength: 1, maxLength: 254, pattern: '@', examples: ['owner@example.com'] }),
    password: Password,
    deviceName: Type.Optional(Nullable(Text(1, 80))),
    deviceId: Type.Optional(Nullable(Text(1, 80))),
  },
  { title: 'SignIn', additionalProperties: false },
)
export type SignIn = Static<typeof SignIn>

export const OpenedSession = Type.Object(
  {
    sessionId: Uuid,
    status: SessionStatus,
    mfa: Nullable(
      Type.Object(
        {
          methods: Type.Array(StepUpMethod),
          challengeId: Uuid,
          publicKey: Nullable(WebAuthnRequestOptions),
        },
        { title: 'SignInChallenge' },
      ),
      { description: 'The step that is still missing; null when the session is active.' },
    ),
    token: Type.String({
      description:
        'Send as `Authorization: Bearer`. Browsers have it in the cookie `__Host-session` and need not keep it.',
    }),
    csrfToken: Type.String({
      description: 'Send as `X-CSRF-Token` with every request that writes and uses the cookie.',
    }),
    expiresAt: Timestamp,
    idleTimeoutSeconds: Type.Integer(),
  },
  { title: 'OpenedSession' },
)

const MfaMethod = Nullable(StepUpMethod, {
  description: 'The second factor with which the person signed in; null: none.',
})

export const Session = Type.Object(
  {
    id: Uuid,
    status: SessionStatus,
    current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
    deviceName: Nullable(Type.String()),
    deviceId: Nullable(Type.String()),
    address: Type.String(),
    userAgent: Nullable(Type.String()),
    mfaMethod: MfaMethod,
    createdAt: Timestamp,
    lastSeenAt: Timestamp,
    expiresAt: Timestamp,
    endedAt: Nullable(Timestamp),
  },
  { title: 'Session' },
)
export type Session = Static<typeof Session>
/** A session as storage reads it; storage does not know which session makes the request. */
export type SessionRow = Omit<Session, 'current'>

export const sessionList = list({
  filters: {
    status: { kind: 'words', values: SESSION_STATUSES },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt', 'createdAt'],
})

export const MembershipView = Type.Object(
  {
    id: Uuid,
    tenantId: Uuid,
    tenantName: Type.String(),
    level: Words('TenantLevel', ['customer', 'operator']),
    role: Type.String({ description: 'A role of members or of staff.' }),
    capabilities: Type.Array(Type.String()),
  },
  { title: 'Membership' },
)

export const CurrentSession = Type.Object(
  {
    id: Uuid,
    status: SessionStatus,
    mfaMethod: MfaMethod,
    createdAt: Timestamp,
    expiresAt: Timestamp,
    idleTimeoutSeconds: Type.Integer(),
    csrfToken: Type.String(),
    user: Type.Object({ id: Uuid, email: Type.String(), name: Type.String() }, { title: 'SessionUser' }),
    memberships: Type.Array(MembershipView),
    capabilities: Type.Array(Type.String(), {
      description: 'The capabilities of all memberships together; each tenant allows only its own.',
    }),
    flags: Type.Record(Type.String(), Type.Boolean()),
  },
  { title: 'CurrentSession' },
)

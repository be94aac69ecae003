/**
 * Rows of sessions and of the challenges that belong to them. Statements only; rules are elsewhere.
 *
 * Written by hand: requests of people read and touch their session, which belongs to a person, not to a tenant.
 */
import type { StepUpAction, StepUpMethod } from '../../lib/identity/step-up.ts'
import type pg from 'pg'
import { DAY_MS, timestamp } from '../../lib/base/clock.ts'
import type { Database } from '../db/database.ts'
import type { Queries } from '../db/transaction.ts'

export interface NewSession {
  readonly id: string
  readonly userId: string
  readonly tokenSha256: string
  readonly status: 'mfa_required' | 'active'
  readonly deviceName: string | null
  readonly deviceId: string | null
  readonly address: string
  readonly userAgent: string | null
  readonly now: number
  readonly expiresAt: number
  /** For a session that reads a customer's data: the customer, and the session that opens it. */
  readonly impersonation?: { readonly customerId: string; readonly reason: string; readonly openedBy: string }
}

/** Retention of a user's ended sessions, milliseconds. */
const KEPT_MS = 30 * DAY_MS

/** Opens a session, and deletes the user's sessions that ended long ago. */
export async function insertSession(client: pg.ClientBase, session: NewSession): Promise<void> {
  await client.query({
    name: 'clear_sessions',
    text: 'delete from session where user_id = $1 and last_seen_at < $2',
    values: [session.userId, timestamp(session.now - KEPT_MS)],
  })
  await client.query({
    name: 'insert_session',
    text: `insert into session (id, user_id, token_sha256, status, device_name, device_id, address, user_agent, created_at, last_seen_at, expires_at,
        impersonated_customer_id, impersonation_reason, opened_by_session_id)
      values ($1, $2, decode($3, 'hex'), $4, $5, $6, $7, $8, $9, $9, $10, $11, $12, $13)`,
    values: [
      session.id,
      session.userId,
      session.tokenSha256,
      session.status,
      session.deviceName,
      session.deviceId,
      session.address,
      session.userAgent,
      timestamp(session.now),
      timestamp(session.expiresAt),
      session.impersonation?.customerId ?? null,
      session.impersonation?.reason ?? null,
      session.impersonation?.openedBy ?? null,
    ],
  })
}

/**
 * Sets the next token of a session and makes the session active. `from` is the token it must still have: when two
 * requests renew at once, one succeeds, and the other gets false. With `overlapMs` the previous token stays valid for
 * that long, and may be renewed itself meanwhile. `mfaMethod` is the second factor that the person has just proven to
 * sign in.
 */
export async function renewSession(
  client: pg.ClientBase,
  {
    id,
    from,
    to,
    now,
    overlapMs = 0,
    mfaMethod = null,
  }: {
    readonly id: string
    readonly from: string
    readonly to: string
    readonly now: number
    readonly overlapMs?: number
    readonly mfaMethod?: StepUpMethod | null
  },
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'renew_session',
    text: `update session set token_sha256 = decode($3, 'hex'), status = 'active', last_seen_at = $4, mfa_method = coalesce($7, mfa_method),
        previous_token_sha256 = case when $6::boolean then decode($2, 'hex') end, previous_until = case when $6::boolean then $5::timestamptz end
      where id = $1 and status <> 'revoked'
        and (token_sha256 = decode($2, 'hex') or ($6::boolean and previous_token_sha256 = decode($2, 'hex') and previous_until > $4::timestamptz))`,
    values: [id, from, to, timestamp(now), timestamp(now + overlapMs), overlapMs > 0, mfaMethod],
  })
  return rowCount === 1
}

/** Records the last use of a session. */
export async function touchSession(database: Database, id: string, now: number): Promise<void> {
  await database.query({
    name: 'touch_session',
    text: 'update session set last_seen_at = greatest(last_seen_at, $2) where id = $1',
    values: [id, timestamp(now)],
  })
}

/**
 * Ends sessions of a user: only the named one with those that it opened, or all except the named one.
 *
 * @returns how many ended now
 */
export async function endSessions(
  client: pg.ClientBase,
  {
    userId,
    only = null,
    except = null,
    now,
  }: { readonly userId: string; readonly only?: string | null; readonly except?: string | null; readonly now: number },
): Promise<number> {
  const { rowCount } = await client.query({
    name: 'end_sessions',
    text: `update session set status = 'revoked', ended_at = $4
      where user_id = $1 and status <> 'revoked' and ($2::uuid is null or id = $2 or opened_by_session_id = $2) and ($3::uuid is null or id <> $3)`,
    values: [userId, only, except, timestamp(now)],
  })
  return rowCount ?? 0
}

/** Closes the challenges of a user that still take an answer. */
export async function closeChallenges(client: pg.ClientBase, userId: string, now: number): Promise<void> {
  await client.query({
    name: 'close_challenges',
    text: 'update challenge set expires_at = $2 where user_id = $1 and verified_at is null and expires_at > $2::timestamptz',
    values: [userId, timestamp(now)],
  })
}

/** Whether a user has a session with this id, ended or not. */
export async function hasSession(client: pg.ClientBase, userId: string, id: string): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'has_session',
    text: 'select from session where user_id = $1 and id = $2',
    values: [userId, id],
  })
  return rowCount === 1
}

// ── Challenges
// ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The action of the challenge that finishes signing in. */
export const SIGN_IN = 'sign_in'

/** The action of the challenge with which an authenticator is registered; the factor is its subject. */
export const REGISTRATION = 'mfa_factor.register'

/** The purpose of a challenge: signing in, registering an authenticator, or the proof for a sensitive operation. */
export type ChallengeAction = typeof SIGN_IN | typeof REGISTRATION | StepUpAction

export interface NewChallenge {
  readonly id: string
  readonly sessionId: string
  readonly userId: string
  readonly tenantId: string | null
  readonly action: ChallengeAction
  readonly subject: { readonly type: string; readonly id: string } | null
  readonly now: number
  readonly expiresAt: number
}

/**
 * Retention of challenges. They are useless after minutes, but their counts of wrong codes are needed for a quarter of
 * an hour.
 */
const CHALLENGES_KEPT_MS = DAY_MS

export async function insertChallenge(client: pg.ClientBase, challenge: NewChallenge): Promise<void> {
  await client.query({
    name: 'clear_challenges',
    text: 'delete from challenge where user_id = $1 and created_at < $2',
    values: [challenge.userId, timestamp(challenge.now - CHALLENGES_KEPT_MS)],
  })
  await client.query({
    name: 'insert_challenge',
    text: `insert into challenge (id, session_id, user_id, tenant_id, action, subject_type, subject_id, created_at, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      challenge.id,
      challenge.sessionId,
      challenge.userId,
      challenge.tenantId,
      challenge.action,
      challenge.subject?.type ?? null,
      challenge.subject?.id ?? null,
      timestamp(challenge.now),
      timestamp(challenge.expiresAt),
    ],
  })
}

export interface ChallengeRecord {
  readonly action: ChallengeAction
  readonly tenantId: string | null
  readonly wrongCodes: number
  readonly expiresAt: number
  readonly verifiedAt: number | null
}

/**
 * Locks a challenge of a session, so that its codes are counted one by one; null when the session has no such
 * challenge.
 */
export async function lockChallenge(
  client: pg.ClientBase,
  sessionId: string,
  id: string,
): Promise<ChallengeRecord | null> {
  const {
    rows: [row],
  } = await client.query<{
    action: ChallengeAction
    tenant_id: string | null
    wrong_codes: number
    expires_ms: number
    verified_ms: number | null
  }>({
    name: 'lock_challenge',
    text: `select action, tenant_id, wrong_codes, (extract(epoch from expires_at) * 1000)::float8 as expires_ms,
        (extract(epoch from verified_at) * 1000)::float8 as verified_ms
      from challenge where id = $2 and session_id = $1 for update`,
    values: [sessionId, id],
  })
  if (row === undefined) return null
  return {
    action: row.action,
    tenantId: row.tenant_id,
    wrongCodes: row.wrong_codes,
    expiresAt: row.expires_ms,
    verifiedAt: row.verified_ms,
  }
}

export async function noteWrongCode(client: pg.ClientBase, id: string): Promise<void> {
  await client.query({
    name: 'wrong_code',
    text: 'update challenge set wrong_codes = wrong_codes + 1 where id = $1',
    values: [id],
  })
}

/** Counts wrong codes of a user in all challenges since a moment, so that new challenges give no extra guesses. */
export async function countWrongCodes(client: pg.ClientBase, userId: string, since: number): Promise<number> {
  const { rows } = await client.query<{ codes: number }>({
    name: 'count_wrong_codes',
    text: 'select coalesce(sum(wrong_codes), 0)::int as codes from challenge where user_id = $1 and created_at > $2',
    values: [userId, timestamp(since)],
  })
  return rows[0]!.codes
}

export async function noteVerified(
  client: pg.ClientBase,
  id: string,
  method: StepUpMethod,
  now: number,
): Promise<void> {
  await client.query({
    name: 'challenge_verified',
    text: 'update challenge set verified_at = $2, method = $3 where id = $1',
    values: [id, timestamp(now), method],
  })
}

/** Voids what a user has proven in all sessions; the challenges stay answered, and their wrong codes counted. */
export async function voidProofs(client: pg.ClientBase, userId: string): Promise<void> {
  await client.query({
    name: 'void_proofs',
    text: `update challenge set verified_at = 'epoch' where user_id = $1 and verified_at is not null`,
    values: [userId],
  })
}

/** Finds the open challenge with which a session registers an authenticator; null when there is none. */
export async function registrationChallenge(
  client: pg.ClientBase,
  sessionId: string,
  factorId: string,
): Promise<string | null> {
  const { rows } = await client.query<{ id: string }>({
    name: 'registration_challenge',
    text: `select id from challenge where session_id = $1 and action = '${REGISTRATION}' and subject_id = $2`,
    values: [sessionId, factorId],
  })
  return rows[0]?.id ?? null
}

const PROOF = `select method from challenge where session_id = $1 and action = $2 and verified_at > $3::timestamptz
    and tenant_id is not distinct from coalesce($4::uuid, tenant_id) and (subject_id = $5::uuid or (subject_id is null and not $6::boolean))
  order by verified_at desc limit 1`

/**
 * Reads the method of a session's newest proof for an action that is younger than `since` (epoch milliseconds); null
 * when there is no such proof.
 */
export async function proofMethod(
  database: Queries,
  question: {
    readonly sessionId: string
    readonly action: ChallengeAction
    readonly since: number
    readonly tenantId: string | null
    readonly subjectId: string | null
    readonly bound: boolean
  },
): Promise<StepUpMethod | null> {
  const { sessionId, action, since, tenantId, subjectId, bound } = question
  const [row] = await database.query<[StepUpMethod]>({
    name: 'proof_method',
    text: PROOF,
    values: [sessionId, action, timestamp(since), tenantId, subjectId, bound],
  })
  return row?.[0] ?? null
}

/** A step-up challenge as its session requested it. */
export interface RequestedChallenge {
  readonly id: string
  readonly action: StepUpAction
  readonly subject: { readonly type: string; readonly id: string } | null
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

/** Finds a step-up challenge that a session has requested for a tenant; null when it has requested no such challenge. */
export async function findStepUpChallenge(
  database: Queries,
  { id, sessionId, tenantId }: { readonly id: string; readonly sessionId: string; readonly tenantId: string },
): Promise<RequestedChallenge | null> {
  const [row] = await database.query<[StepUpAction, string | null, string, number]>({
    name: 'find_step_up_challenge',
    text: `select action, subject_type, subject_id, (extract(epoch from expires_at) * 1000)::float8
      from challenge where id = $1 and session_id = $2 and tenant_id = $3 and action <> '${SIGN_IN}'`,
    values: [id, sessionId, tenantId],
  })
  if (row === undefined) return null
  const [action, type, subjectId, expiresAt] = row
  return { id, action, subject: type === null ? null : { type, id: subjectId }, expiresAt }
}

/** Finds the open challenge with which a session finishes signing in. */
export async function signInChallenge(database: Database, sessionId: string): Promise<string | null> {
  const [row] = await database.query<[string]>({
    name: 'sign_in_challenge',
    text: `select id from challenge where session_id = $1 and action = '${SIGN_IN}' order by id desc limit 1`,
    values: [sessionId],
  })
  return row?.[0] ?? null
}

/** Adds, confirms, renames and removes second factors of a person, and makes their recovery codes. */
import { timestamp } from '../../lib/base/clock.ts'
import { type FieldError, refuse, refuseField, refuseTransition } from '../../lib/base/problems.ts'
import { isCurrent, etagOf, refuseChanged } from '../../lib/commands/etag.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { CHALLENGE_MS, STEP_UP_FRESH_MS } from '../../lib/identity/step-up.ts'
import { RECOVERY_CODES, readRecoveryCode, recoveryCodeHash, recoveryCodes } from '../../lib/identity/recovery-codes.ts'
import { confirmingAttestation, confirmingCode, type FactorConfirm } from '../../lib/identity/step-up-schema.ts'
import { totpSecret, totpUri } from '../../lib/identity/totp.ts'
import type {
  FactorCreate,
  FactorUpdate,
  MfaFactor,
  NewMfaFactor,
  NewRecoveryCodes,
  RecoveryCodes,
} from '../../lib/identity/user-schema.ts'
import { creationOptions, verifyAttestation } from '../../lib/identity/webauthn.ts'
import type { WebAuthnCreationOptions } from '../../lib/identity/webauthn-schema.ts'
import { sqlState, UNIQUE_VIOLATION } from '../../storage/db/sqlstates.ts'
import { type Queries, through } from '../../storage/db/transaction.ts'
import { lockProfile } from '../../storage/identity/identity-people.ts'
import {
  insertChallenge,
  noteVerified,
  noteWrongCode,
  proofMethod,
  REGISTRATION,
  registrationChallenge,
  voidProofs,
} from '../../storage/identity/identity-sessions.ts'
import {
  confirmCredential,
  deleteFactor,
  type FactorRecord,
  holdFactor,
  insertFactor,
  lockFactors,
  recoveredFactorWait,
  renameFactor,
} from '../../storage/identity/mfa-factors.ts'
import { countRecoveryCodes, replaceRecoveryCodes } from '../../storage/identity/recovery-codes.ts'
import { listFactors } from '../../storage/identity/user-queries.ts'
import { type ChangeTransaction, recordPersonalChange, runChange } from '../commands/changes.ts'
import { auditPerson } from '../commands/trail.ts'
import type { IdentityDeps } from './identity-deps.ts'
import { openChallenge } from './challenges.ts'
import { alertPerson } from './security-alerts.ts'
import { bodyFault, ceremonyOf, factorContext, takeCode } from './second-factor.ts'

/** The maximum number of factors of one person: a telephone, keys, spares, and some that were never confirmed. */
const FACTORS_MAX = 10
const NAMES = { totp: 'Authenticator app', webauthn: 'Security key' } as const

/** Adds a factor, which works once it is confirmed. The answer alone has its secret, or the options for the browser. */
export async function addFactor(
  deps: IdentityDeps,
  by: Caller<'self'>,
  { kind, name = NAMES[kind] }: FactorCreate,
): Promise<NewMfaFactor> {
  const { ids, random, secrets } = deps
  const { userId, email } = by.session
  const id = ids.next()
  const secret = kind === 'totp' ? totpSecret(random) : null
  return await runChange(deps, async (tx) => {
    const { client, now } = tx
    // Locks the profile, because locks on existing factors would not stop a parallel insert.
    await lockProfile(client, userId)
    const factors = await lockFactors(client, userId)
    if (factors.length >= FACTORS_MAX) {
      refuse('limit-reached', `A person may have at most ${FACTORS_MAX} second factors.`, {
        extra: { limit: FACTORS_MAX, resource: 'mfa_factor' },
      })
    }
    const sealed = secret === null ? null : secrets.seal(secret, factorContext(id))
    const waitsUntil = await waitOf(tx, by, factors)
    await insertFactor(client, { id, userId, kind, name, secret: sealed, waitsUntil, now })
    await recordPersonalChange(tx, auditPerson(by), {
      action: 'mfa_factor.created',
      object: { type: 'mfa_factor', id },
      before: null,
      after: { kind, name, status: 'pending' },
    })
    return {
      id,
      kind,
      name,
      status: 'pending',
      createdAt: timestamp(now),
      lastUsedAt: null,
      waitsUntil: waitsUntil === null ? null : timestamp(waitsUntil),
      secret,
      otpauthUri: secret === null ? null : totpUri(secret, email),
      publicKey: kind === 'webauthn' ? await beginRegistration(tx, deps, by, id, factors) : null,
    }
  })
}

/** Writes the challenge that a new authenticator has to sign. It is answered in the same session. */
async function beginRegistration(
  { client, now }: ChangeTransaction,
  deps: IdentityDeps,
  { session }: Caller<'self'>,
  factorId: string,
  factors: readonly FactorRecord[],
): Promise<WebAuthnCreationOptions> {
  const challengeId = deps.ids.next()
  await insertChallenge(client, {
    id: challengeId,
    sessionId: session.id,
    userId: session.userId,
    tenantId: null,
    action: REGISTRATION,
    subject: { type: 'mfa_factor', id: factorId },
    now,
    expiresAt: now + CHALLENGE_MS,
  })
  const known = factors.flatMap((factor) =>
    factor.kind === 'webauthn' && factor.credential !== null ? [factor.credential] : [],
  )
  return creationOptions(ceremonyOf(deps, challengeId), session, known)
}

/** Confirms a factor: with a code of the app, or with the credential that the authenticator has made. */
export async function confirmFactor(
  deps: IdentityDeps,
  by: Caller<'self'>,
  factorId: string,
  body: FactorConfirm,
): Promise<MfaFactor> {
  const { userId } = by.session
  const fault = await runChange(deps, async (tx) => {
    const factors = await lockFactors(tx.client, userId)
    const factor = ownFactor(factors, factorId)
    if (factor.status === 'active') refuseTransition('The second factor is confirmed already.', 'active', ['pending'])
    const found =
      factor.kind === 'totp'
        ? await confirmApp(tx, deps, by, factorId, confirmingCode(body))
        : await confirmAuthenticator(tx, deps, by, factorId, confirmingAttestation(body))
    if (found !== null) return found
    const waitsUntil = await waitOf(tx, by, factors)
    await holdFactor(tx.client, factorId, waitsUntil)
    await recordPersonalChange(tx, auditPerson(by), {
      action: 'mfa_factor.confirmed',
      object: { type: 'mfa_factor', id: factorId },
      before: { status: 'pending' },
      after: { status: 'active', waitsUntil: waitsUntil === null ? null : timestamp(waitsUntil) },
    })
    await alertOfChange(tx, deps, by, `The second factor "${factor.name}" was added`, factorId)
    return null
  }).catch((error: unknown): FieldError => {
    if (sqlState(error) !== UNIQUE_VIOLATION) throw error
    return bodyFault('attestation', { pointer: '/id', message: 'The credential is registered already.' })
  })
  if (fault !== null) refuseField(fault.field, fault.code, fault.message)
  return (await readFactor(deps.database, userId, factorId)).view
}

/**
 * Returns until when a new factor proves no more than a recovery code, epoch milliseconds: when it was added with one, it
 * waits for the time that the operators set, and as long as a factor does that waits already. Null: it does not wait.
 */
async function waitOf(
  { client, now }: ChangeTransaction,
  { session }: Caller<'self'>,
  factors: readonly FactorRecord[],
): Promise<number | null> {
  const proof = await proofMethod(through(client), {
    sessionId: session.id,
    action: 'settings.change',
    since: now - STEP_UP_FRESH_MS,
    tenantId: null,
    subjectId: null,
    bound: false,
  })
  const isRecovered = session.mfaMethod === 'recovery_code' || proof === 'recovery_code'
  const own = isRecovered ? now + (await recoveredFactorWait(client, session.userId)) : now
  const until = factors.reduce((latest, { waitsUntil }) => Math.max(latest, waitsUntil ?? 0), own)
  return until > now ? until : null
}

async function confirmApp(
  { client, now }: ChangeTransaction,
  deps: IdentityDeps,
  { session }: Caller<'self'>,
  factorId: string,
  code: string,
): Promise<FieldError | null> {
  if (await takeCode(client, deps, { userId: session.userId, code, now, pending: factorId, action: REGISTRATION }))
    return null
  return { field: '/code', code: 'invalid_value', message: 'The code is wrong.' }
}

async function confirmAuthenticator(
  tx: ChangeTransaction,
  deps: IdentityDeps,
  by: Caller<'self'>,
  factorId: string,
  attestation: ReturnType<typeof confirmingAttestation>,
): Promise<FieldError | null> {
  const { client, now } = tx
  const challengeId = await registrationChallenge(client, by.session.id, factorId)
  if (challengeId === null)
    refuseTransition('Another session began this registration. Add the factor again.', 'absent', ['pending'])
  const challenge = await openChallenge(tx, by, challengeId, (action) => action === REGISTRATION)
  if (challenge === 'locked') refuse('challenge-locked', 'Too many wrong answers. Add the factor again.')
  if (typeof challenge === 'string')
    refuseTransition('The registration has expired. Add the factor again.', challenge, ['pending'])
  const made = await verifyAttestation(attestation, ceremonyOf(deps, challengeId))
  if ('fault' in made) {
    await noteWrongCode(client, challengeId)
    return bodyFault('attestation', made.fault)
  }
  await noteVerified(client, challengeId, 'webauthn', now)
  await confirmCredential(client, factorId, made.credential)
  return null
}

/** Gives a factor another name. `expected` is the version that the person has seen; null accepts any. */
export async function updateFactor(
  deps: IdentityDeps,
  by: Caller<'self'>,
  factorId: string,
  { name }: FactorUpdate,
  expected: number | bigint | null,
): Promise<Versioned<MfaFactor>> {
  const { userId } = by.session
  return await runChange(deps, async (tx) => {
    const factor = ownFactor(await lockFactors(tx.client, userId), factorId)
    if (!isCurrent(factor.version, expected))
      refuseChanged(etagOf(await readFactor(through(tx.client), userId, factorId)))
    await renameFactor(tx.client, factorId, name)
    await recordPersonalChange(tx, auditPerson(by), {
      action: 'mfa_factor.updated',
      object: { type: 'mfa_factor', id: factorId },
      before: { name: factor.name },
      after: { name },
    })
    return await readFactor(through(tx.client), userId, factorId)
  })
}

/** Removes a factor, unless it is the last confirmed factor. */
export async function removeFactor(deps: IdentityDeps, by: Caller<'self'>, factorId: string): Promise<void> {
  const { userId } = by.session
  await runChange(deps, async (tx) => {
    const factors = await lockFactors(tx.client, userId)
    const factor = ownFactor(factors, factorId)
    if (factor.status === 'active' && factors.filter(({ status }) => status === 'active').length === 1) {
      refuseTransition('The last second factor cannot be removed; add another one first.', 'last_factor', [])
    }
    await deleteFactor(tx.client, factorId)
    // A proof that the factor has given would be the way to add another factor that does not wait.
    if (factor.waitsUntil !== null && factor.waitsUntil > tx.now) await voidProofs(tx.client, userId)
    await recordPersonalChange(tx, auditPerson(by), {
      action: 'mfa_factor.deleted',
      object: { type: 'mfa_factor', id: factorId },
      before: { kind: factor.kind, name: factor.name, status: factor.status },
      after: null,
    })
    if (factor.status === 'active')
      await alertOfChange(tx, deps, by, `The second factor "${factor.name}" was removed`, factorId)
  })
}

/** Reads how many codes a person has left. */
export async function getRecoveryCodes(database: Queries, userId: string): Promise<RecoveryCodes> {
  const { left, createdAt } = await countRecoveryCodes(database, userId)
  return { left, createdAt: createdAt === null ? null : timestamp(createdAt) }
}

/** Makes new codes, which replace the earlier ones. The answer alone has them. */
export async function createRecoveryCodes(deps: IdentityDeps, by: Caller<'self'>): Promise<NewRecoveryCodes> {
  const { random, secrets } = deps
  const { userId } = by.session
  const codes = recoveryCodes(random)
  const hashes = codes.map((code) => recoveryCodeHash(secrets, userId, readRecoveryCode(code) as string))
  return await runChange(deps, async (tx) => {
    const { client, now } = tx
    // Of two requests at once the later request replaces the codes of the earlier.
    await lockProfile(client, userId)
    await replaceRecoveryCodes(client, { userId, hashes, now })
    await recordPersonalChange(tx, auditPerson(by), {
      action: 'recovery_codes.created',
      object: { type: 'user', id: userId },
      before: null,
      after: { left: RECOVERY_CODES },
    })
    await alertOfChange(tx, deps, by, 'New recovery codes were made', null)
    return { left: RECOVERY_CODES, createdAt: timestamp(now), codes }
  })
}

/** Tells the person of a change of their factors, which a thief of the session would make first. */
async function alertOfChange(
  tx: ChangeTransaction,
  deps: IdentityDeps,
  by: Caller<'self'>,
  title: string,
  factorId: string | null,
): Promise<void> {
  const { source, session } = by
  await alertPerson(tx, deps, by, {
    title,
    text: `${title} from the address ${source.address}. If it was not you, end the session, change your password and look at your second factors.`,
    object: factorId === null ? { type: 'user', id: session.userId } : { type: 'mfa_factor', id: factorId },
  })
}

/** Finds one of the person's factors. @throws ProblemError `not-found` */
function ownFactor(factors: readonly FactorRecord[], factorId: string): FactorRecord {
  return factors.find(({ id }) => id === factorId) ?? refuse('not-found', 'No such second factor.')
}

/** Reads a factor that exists as it is shown. */
async function readFactor(database: Queries, userId: string, factorId: string): Promise<Versioned<MfaFactor>> {
  const found = (await listFactors(database, userId)).find(({ view }) => view.id === factorId)
  if (found === undefined) throw new Error(`The second factor ${factorId} has vanished.`)
  return found
}

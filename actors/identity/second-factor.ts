/**
 * Takes the proof of a second factor and uses it up: a code of an authenticator app, a recovery code, or the assertion
 * of an authenticator. Whether a challenge may be answered at all is decided in challenges.ts.
 */
import type { FieldError } from '../../lib/base/problems.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { recoveryCodeHash } from '../../lib/identity/recovery-codes.ts'
import type { SecondFactorAnswer } from '../../lib/identity/step-up-schema.ts'
import { takesRecovered } from '../../lib/identity/step-up.ts'
import { totpStep } from '../../lib/identity/totp.ts'
import { type Ceremony, verifyAssertion, webauthnChallenge, type WebAuthnFault } from '../../lib/identity/webauthn.ts'
import type { WebAuthnAssertion } from '../../lib/identity/webauthn-schema.ts'
import { through, type TransactionClient } from '../../storage/db/transaction.ts'
import type { ChallengeAction } from '../../storage/identity/identity-sessions.ts'
import { type FactorRecord, lockFactors, useCredential, useFactor } from '../../storage/identity/mfa-factors.ts'
import { countRecoveryCodes, useRecoveryCode } from '../../storage/identity/recovery-codes.ts'
import { recordPersonalChange, type ChangeTransaction } from '../commands/changes.ts'
import { auditPerson } from '../commands/trail.ts'
import type { IdentityDeps } from './identity-deps.ts'
import { alertPerson } from './security-alerts.ts'

const refused = (field: string, message: string): FieldError => ({ field, code: 'invalid_value', message })
const WRONG_CODE = refused('/code', 'The code is wrong.')

/** The fault of a member of a body that an authenticator has made. */
export const bodyFault = (member: string, { pointer, message }: WebAuthnFault): FieldError => ({
  field: `/${member}${pointer}`,
  code: 'invalid_value',
  message,
})

/** The context under which a factor's secret is sealed. */
export const factorContext = (factorId: string): string => `mfa_factor ${factorId}`

/** The ceremony of a challenge: every node computes the same. */
export function ceremonyOf(
  { secrets, relyingParty }: Pick<IdentityDeps, 'secrets' | 'relyingParty'>,
  challengeId: string,
): Ceremony {
  return { relyingParty: relyingParty(), challenge: webauthnChallenge(secrets, challengeId) }
}

/** The challenge that is answered. */
export interface AnsweredChallenge {
  readonly id: string
  readonly action: ChallengeAction
}

/** Takes the answer to a challenge. @returns what is wrong with it; null when it is taken */
export async function takeAnswer(
  tx: ChangeTransaction,
  deps: IdentityDeps,
  by: Caller<'self'>,
  challenge: AnsweredChallenge,
  answer: SecondFactorAnswer,
): Promise<FieldError | null> {
  const { userId } = by.session
  switch (answer.method) {
    case 'totp':
      return (await takeCode(tx.client, deps, { userId, code: answer.code, now: tx.now, action: challenge.action }))
        ? null
        : WRONG_CODE
    case 'recovery_code':
      return await takeRecoveryCode(tx, deps, by, answer.code)
    case 'webauthn':
      return await takeAssertion(tx, deps, by, challenge, answer.assertion)
  }
}

/** Whether a factor proves the action now: one that waits proves what a recovery code proves. */
const proves = ({ waitsUntil }: FactorRecord, action: string, now: number): boolean =>
  waitsUntil === null || now >= waitsUntil || takesRecovered(action)

/**
 * Checks a code against the factors of a person that prove the action, and uses it up. `pending` limits the check to that
 * unconfirmed factor.
 */
export async function takeCode(
  client: TransactionClient,
  { secrets, singleUse }: Pick<IdentityDeps, 'secrets' | 'singleUse'>,
  {
    userId,
    code,
    now,
    action,
    pending = null,
  }: {
    readonly userId: string
    readonly code: string
    readonly now: number
    readonly action: ChallengeAction
    readonly pending?: string | null
  },
): Promise<boolean> {
  for (const factor of await lockFactors(client, userId)) {
    if (factor.kind !== 'totp') continue
    if (pending === null ? factor.status !== 'active' : factor.id !== pending) continue
    if (!proves(factor, action, now)) continue
    const secret = secrets.open(factor.secret, factorContext(factor.id))
    if (secret === null) throw new Error(`The second factor ${factor.id} was sealed under another SECRETS_KEY.`)
    const step = totpStep(secret, code, now)
    if (step === null || (singleUse && step <= factor.lastStep)) continue
    await useFactor(client, factor.id, step, now)
    return true
  }
  return false
}

/** Uses a recovery code up and tells the person, because a finder of the codes may have used it. */
async function takeRecoveryCode(
  tx: ChangeTransaction,
  deps: IdentityDeps,
  by: Caller<'self'>,
  code: string,
): Promise<FieldError | null> {
  const { client, now } = tx
  const { userId } = by.session
  if (!(await useRecoveryCode(client, { userId, hash: recoveryCodeHash(deps.secrets, userId, code), now })))
    return WRONG_CODE
  const { left } = await countRecoveryCodes(through(client), userId)
  const object = { type: 'user', id: userId } as const
  await recordPersonalChange(tx, auditPerson(by), {
    action: 'recovery_code.used',
    object,
    before: { left: left + 1 },
    after: { left },
  })
  await alertPerson(tx, deps, by, {
    title: 'A recovery code was used',
    text:
      `A recovery code of your account was used from the address ${by.source.address}; ${left} are left. ` +
      'If it was not you, end the session, change your password and make new codes.',
    object,
  })
  return null
}

/**
 * Takes the assertion of an authenticator that the person has registered. A count of signatures that does not rise
 * means that two devices have the key: the assertion is refused, and the person is told.
 */
async function takeAssertion(
  tx: ChangeTransaction,
  deps: IdentityDeps,
  by: Caller<'self'>,
  { id: challengeId, action }: AnsweredChallenge,
  assertion: WebAuthnAssertion,
): Promise<FieldError | null> {
  const { userId } = by.session
  const factors = await lockFactors(tx.client, userId)
  for (const factor of factors) {
    if (factor.kind !== 'webauthn' || factor.credential?.id !== assertion.id) continue
    if (!proves(factor, action, tx.now)) continue
    const { id, name } = factor
    const checked = await verifyAssertion(assertion, ceremonyOf(deps, challengeId), factor.credential, userId)
    if ('fault' in checked) return bodyFault('assertion', checked.fault)
    if (!checked.isRegress) {
      await useCredential(tx.client, id, checked.signCount, tx.now)
      return null
    }
    const counts = { last: factor.credential.signCount, shown: checked.signCount }
    deps.log.warn({ factorId: id, userId, ...counts }, 'an authenticator may have been copied')
    const object = { type: 'mfa_factor', id } as const
    await recordPersonalChange(tx, auditPerson(by), {
      action: 'mfa_factor.copy_suspected',
      object,
      before: { signCount: counts.last },
      after: { signCount: counts.shown },
    })
    await alertPerson(tx, deps, by, {
      title: 'Your security key may have been copied',
      text:
        `"${name}" was used from the address ${by.source.address} with a count of signatures that had been passed ` +
        'already, so another device may have its key. The attempt was refused. Remove it and register another one.',
      object,
    })
    const fault = 'The count of signatures is not above the last one; the authenticator may have been copied.'
    return refused('/assertion/response/authenticatorData', fault)
  }
  return refused('/assertion/id', 'None of your second factors has this credential.')
}

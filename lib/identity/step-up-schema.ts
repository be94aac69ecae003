/** Second factors at sign-in and step-up before an action. */
import Type, { type Static } from 'typebox'
import { readRecoveryCode } from './recovery-codes.ts'
import { STEP_UP_ACTIONS, STEP_UP_METHODS } from './step-up.ts'
import { WebAuthnAssertion, WebAuthnAttestation, WebAuthnRequestOptions } from './webauthn-schema.ts'
import { refuseField } from '../base/problems.ts'
import { Money, Nullable, Timestamp, Uuid, Words } from '../contract/primitives.ts'

export const StepUpAction = Words('StepUpAction', STEP_UP_ACTIONS)
export const StepUpMethod = Words(
  'StepUpMethod',
  STEP_UP_METHODS,
  'A recovery code signs in and opens the settings; no action that moves money takes one. More methods may be added.',
)

export const ChallengeCreate = Type.Object(
  {
    action: StepUpAction,
    subject: Type.Optional(
      Nullable(
        Type.Object(
          {
            type: Type.String({ pattern: '^[a-z_]{1,40}$' }),
            id: Uuid,
          },
          { title: 'StepUpSubject', additionalProperties: false },
        ),
      ),
    ),
    method: Type.Optional(StepUpMethod),
  },
  { title: 'StepUpChallengeCreate', additionalProperties: false },
)
export type ChallengeCreate = Static<typeof ChallengeCreate>

export const StepUpChallenge = Type.Object(
  {
    challengeId: Uuid,
    action: StepUpAction,
    methods: Type.Array(StepUpMethod),
    preferredMethod: StepUpMethod,
    publicKey: Nullable(WebAuthnRequestOptions),
    display: Type.Object(
      {
        title: Type.String(),
        amount: Nullable(Money),
        counterparty: Nullable(Type.String()),
      },
      { title: 'StepUpDisplay', description: 'The text to show to the person before the answer.' },
    ),
    expiresAt: Timestamp,
  },
  { title: 'StepUpChallenge' },
)
export type StepUpChallenge = Static<typeof StepUpChallenge>

const TOTP_CODE = /^[0-9]{6}$/
const Code = Type.String({
  minLength: 1,
  maxLength: 40,
  description: 'Six digits of the authenticator app, or a recovery code.',
  examples: ['123456'],
})

const answer = {
  method: StepUpMethod,
  code: Type.Optional(Code),
  assertion: Type.Optional(WebAuthnAssertion),
}

export const ChallengeVerify = Type.Object(answer, {
  title: 'StepUpVerify',
  description: '`code` for `totp` and `recovery_code`, `assertion` for `webauthn`.',
  additionalProperties: false,
  examples: [{ method: 'totp', code: '123456' }],
})
export type ChallengeVerify = Static<typeof ChallengeVerify>

export const MfaVerify = Type.Object(
  { challengeId: Uuid, ...answer },
  {
    title: 'MfaVerify',
    description: '`code` for `totp` and `recovery_code`, `assertion` for `webauthn`.',
    additionalProperties: false,
    examples: [{ challengeId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f', method: 'totp', code: '123456' }],
  },
)

/** The answer to a challenge. A recovery code is as it was read. */
export type SecondFactorAnswer =
  | { readonly method: 'totp' | 'recovery_code'; readonly code: string }
  | { readonly method: 'webauthn'; readonly assertion: WebAuthnAssertion }

/** Reads the answer of a body. @throws ProblemError `validation-error` when it does not fit the method */
export function answerOf({ method, code, assertion }: ChallengeVerify): SecondFactorAnswer {
  if (method === 'webauthn') {
    if (code !== undefined) refuseField('/code', 'not_applicable', 'Is not for this method.')
    return { method, assertion: assertion ?? refuseField('/assertion', 'required', 'Is required.') }
  }
  if (assertion !== undefined) refuseField('/assertion', 'not_applicable', 'Is not for this method.')
  return { method, code: codeOf(method, code) }
}

function codeOf(method: 'totp' | 'recovery_code', code: string | undefined): string {
  if (code === undefined) refuseField('/code', 'required', 'Is required.')
  const read = method === 'recovery_code' ? readRecoveryCode(code) : TOTP_CODE.test(code) ? code : null
  return read ?? refuseField('/code', 'invalid_format', 'Does not have the expected format.')
}

export const FactorConfirm = Type.Object(
  { code: Type.Optional(Code), attestation: Type.Optional(WebAuthnAttestation) },
  {
    title: 'MfaFactorConfirm',
    description: '`code` for a factor of kind `totp`, `attestation` for one of kind `webauthn`.',
    additionalProperties: false,
    examples: [{ code: '123456' }],
  },
)
export type FactorConfirm = Static<typeof FactorConfirm>

/** Reads the confirmation of a factor of kind `totp`. @throws ProblemError `validation-error` */
export function confirmingCode({ code, attestation }: FactorConfirm): string {
  if (attestation !== undefined) refuseField('/attestation', 'not_applicable', 'The factor is an authenticator app.')
  return codeOf('totp', code)
}

/** Reads the confirmation of a factor of kind `webauthn`. @throws ProblemError `validation-error` */
export function confirmingAttestation({ code, attestation }: FactorConfirm): WebAuthnAttestation {
  if (code !== undefined) refuseField('/code', 'not_applicable', 'The factor is an authenticator without codes.')
  return attestation ?? refuseField('/attestation', 'required', 'Is required.')
}

const proof = {
  challengeId: Uuid,
  verifiedAt: Timestamp,
  validUntil: Timestamp,
}
export type StepUpProof = { readonly challengeId: string; readonly verifiedAt: string; readonly validUntil: string }

export const StepUpVerified = Type.Object(
  {
    ...proof,
    token: Type.String({ description: "The session's new token; the previous token works for another five minutes." }),
    csrfToken: Type.String(),
  },
  { title: 'StepUpVerified' },
)

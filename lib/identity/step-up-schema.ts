/** Second factors at sign-in and step-up before an action. */
import Type, { type Static } from 'typebox'
import { STEP_UP_ACTIONS } from './step-up.ts'
import { Money, Nullable, Timestamp, Uuid, Words } from '../contract/primitives.ts'

export const StepUpAction = Words('StepUpAction', STEP_UP_ACTIONS)
export const StepUpMethod = Words('StepUpMethod', ['totp'], 'More methods may be added.')

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

const Code = Type.String({
  pattern: '^[0-9]{6}$',
  description: 'Six digits of the authenticator app.',
  examples: ['123456'],
})

export const ChallengeVerify = Type.Object(
  {
    method: StepUpMethod,
    code: Code,
  },
  { title: 'StepUpVerify', additionalProperties: false },
)
export type ChallengeVerify = Static<typeof ChallengeVerify>

export const MfaVerify = Type.Object(
  {
    challengeId: Uuid,
    method: StepUpMethod,
    code: Code,
  },
  { title: 'MfaVerify', additionalProperties: false },
)

export const FactorConfirm = Type.Object({ code: Code }, { title: 'MfaFactorConfirm', additionalProperties: false })

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

/** Step-up challenges. */
import { csrfToken, setSessionCookie } from '../../lib/identity/session.ts'
import { ACTION_TITLES } from '../../lib/identity/step-up.ts'
import { refuse } from '../../lib/base/problems.ts'
import { created, json } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { ChallengeCreate, ChallengeVerify, StepUpChallenge, StepUpVerified } from '../../lib/identity/step-up-schema.ts'
import type { ReadServices } from '../route/services.ts'
import type { Principal, Tenant } from '../../lib/commands/caller.ts'

/** Builds the text that the person is shown: the action, and the payment, recipient or approval that it concerns. */
async function display(
  tenant: Tenant,
  principal: Principal,
  { action, subject }: ChallengeCreate,
  { payments, recipients, approvals }: Pick<ReadServices, 'payments' | 'recipients' | 'approvals'>,
): Promise<StepUpChallenge['display']> {
  const title = ACTION_TITLES[action]
  if (subject?.type === 'payment') {
    const payment = (await payments.getPayment(tenant, subject.id))?.view ?? refuseSubject()
    return { title, amount: payment.amount, counterparty: payment.recipient.name }
  }
  if (subject?.type === 'recipient') {
    const recipient = (await recipients.getRecipient(tenant, subject.id))?.view ?? refuseSubject()
    return { title, amount: null, counterparty: recipient.name }
  }
  if (subject?.type === 'approval') {
    const { subjectSummary } = (await approvals.getApproval(tenant, subject.id, principal))?.view ?? refuseSubject()
    return {
      title: `${title}: ${subjectSummary.title}`,
      amount: subjectSummary.amount,
      counterparty: subjectSummary.recipientName,
    }
  }
  return { title, amount: null, counterparty: null }
}

function refuseSubject(): never {
  const message = 'No such subject.'
  refuse('validation-error', message, { errors: [{ field: '/subject/id', code: 'not_found', message }] })
}

export const createStepUpChallenge = route({
  method: 'post',
  path: '/step-up/challenges',
  operationId: 'createStepUpChallenge',
  tag: 'tenants',
  summary: 'Create a step-up challenge for an action',
  description: 'When the challenge names a subject, its proof is valid for that subject only.',
  callers: 'session',
  scope: null,
  tenant: 'any',
  idempotency: 'none',
  body: ChallengeCreate,
  success: { status: 201, description: 'The challenge.', schema: StepUpChallenge, etag: true, location: true },
  problems: ['invalid-transition'],
  handle: async ({ caller, body }, { identity, payments, recipients, approvals }) => {
    const challenge = await identity.createChallenge(
      caller,
      body,
      await display(caller.tenant, caller.principal, body, { payments, recipients, approvals }),
    )
    return created({ version: 1, view: challenge }, `/v1/step-up/challenges/${challenge.challengeId}`)
  },
})

export const verifyStepUpChallenge = route({
  method: 'post',
  path: '/step-up/challenges/{challengeId}/verify',
  operationId: 'verifyStepUpChallenge',
  tag: 'tenants',
  summary: 'Answer a step-up challenge',
  description:
    'The proof is valid for five minutes. The session gets a new token; the previous token works as long as ' +
    'the proof is valid. Five wrong codes lock the challenge.',
  callers: 'session',
  scope: null,
  tenant: 'any',
  idempotency: 'none',
  body: ChallengeVerify,
  answersCredential: true,
  success: { status: 200, description: "The proof, and the session's new token.", schema: StepUpVerified },
  problems: ['challenge-locked', 'invalid-transition'],
  handle: async ({ caller, params, body }, { identity }) => {
    const { proof, token } = await identity.verifyChallenge(caller, params.challengeId, body)
    return {
      ...json(200, { ...proof, token, csrfToken: csrfToken(token) }),
      headers: ['Set-Cookie', setSessionCookie(token)],
    }
  },
})

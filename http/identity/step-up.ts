/** Step-up challenges. */
import { csrfToken, setSessionCookie } from '../../lib/identity/session.ts'
import { ACTION_TITLES, challengeJson } from '../../lib/identity/step-up.ts'
import { refuse, refuseNotFound } from '../../lib/base/problems.ts'
import { created, json, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { ChallengeCreate, ChallengeVerify, StepUpChallenge, StepUpVerified } from '../../lib/identity/step-up-schema.ts'
import type { ReadServices } from '../route/services.ts'
import type { Caller } from '../../lib/identity/caller.ts'

/** A challenge never changes: what becomes of it is known by the operation that it was for. */
const CHALLENGE_VERSION = 1

/**
 * Builds the text that the person is shown: the action, and the payment, recipient or approval that it concerns. Null
 * when the subject does not exist.
 */
async function display(
  { tenant, principal }: Caller<'person'>,
  { action, subject }: Pick<ChallengeCreate, 'action' | 'subject'>,
  { payments, recipients, approvals }: Pick<ReadServices, 'payments' | 'recipients' | 'approvals'>,
): Promise<StepUpChallenge['display'] | null> {
  const title = ACTION_TITLES[action]
  if (subject?.type === 'payment') {
    const payment = (await payments.getPayment(tenant, subject.id))?.view
    return payment === undefined ? null : { title, amount: payment.amount, counterparty: payment.recipient.name }
  }
  if (subject?.type === 'recipient') {
    const recipient = (await recipients.getRecipient(tenant, subject.id))?.view
    return recipient === undefined ? null : { title, amount: null, counterparty: recipient.name }
  }
  if (subject?.type === 'approval') {
    const subjectSummary = (await approvals.getApproval(tenant, subject.id, principal))?.view.subjectSummary
    if (subjectSummary === undefined) return null
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
  description:
    'When the challenge names a subject, its proof is valid for that subject only. `methods` are those of the person ' +
    'that the action takes, and `publicKey` the options for the browser where `webauthn` is among them.',
  callers: 'session',
  scope: null,
  tenant: 'any',
  idempotency: 'none',
  body: ChallengeCreate,
  success: { status: 201, description: 'The challenge.', schema: StepUpChallenge, etag: true, location: true },
  problems: ['invalid-transition'],
  handle: async ({ caller, body }, services) => {
    const shown = (await display(caller, body, services)) ?? refuseSubject()
    const challenge = await services.identity.createChallenge(caller, body, shown)
    return created({ version: CHALLENGE_VERSION, view: challenge }, `/v1/step-up/challenges/${challenge.challengeId}`)
  },
})

export const getStepUpChallenge = route({
  method: 'get',
  path: '/step-up/challenges/{challengeId}',
  operationId: 'getStepUpChallenge',
  tag: 'tenants',
  summary: 'Read a step-up challenge',
  description: 'For the session that has requested it. The answer is with the authenticator of the person alone.',
  callers: 'session',
  scope: null,
  tenant: 'any',
  idempotency: 'none',
  success: { status: 200, description: 'The challenge.', schema: StepUpChallenge, etag: true },
  problems: [],
  handle: async ({ caller, params }, services) => {
    const { session, tenant } = caller
    const asked = await services.identity.findChallenge(session, tenant.id, params.challengeId)
    const shown = asked === null ? null : await display(caller, asked, services)
    if (asked === null || shown === null) refuseNotFound()
    return resource({ version: CHALLENGE_VERSION, view: challengeJson(asked, asked, shown) })
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
    'the proof is valid. Five wrong answers lock the challenge.',
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

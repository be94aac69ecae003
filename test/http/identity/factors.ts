/** Second factors of people, for tests: authenticators that are registered, and challenges that are answered. */
import type { StepUpChallenge } from '../../../lib/identity/step-up-schema.ts'
import type { MfaFactor, NewMfaFactor } from '../../../lib/identity/user-schema.ts'
import type { WebAuthnRequestOptions } from '../../../lib/identity/webauthn-schema.ts'
import { Authenticator, type Deviation } from '../../support/authenticator.ts'
import type { Reply } from '../../support/client.ts'
import type { Opened, Person } from '../../support/person.ts'
import type { World } from '../../support/world.ts'

/** The origin of the service's pages in a browser on this machine. */
export const originOf = (world: World): string => `http://localhost:${new URL(world.service.url).port}`

/** The answer to signing in with a password, when a browser may prove itself. */
export interface HalfOpened extends Opened {
  readonly mfa: {
    readonly methods: readonly string[]
    readonly challengeId: string
    readonly publicKey: WebAuthnRequestOptions
  }
}

/** Adds a factor for a new authenticator. The person has proven themselves for `settings.change`. */
export async function addAuthenticator(person: Person, name?: string): Promise<NewMfaFactor> {
  return (await person.post<NewMfaFactor>('/users/me/mfa-factors', { kind: 'webauthn', name })).body
}

/** Registers a new authenticator of a person, with the step-up that it takes. */
export async function register(
  world: World,
  person: Person,
  options: { readonly counts?: boolean; readonly name?: string } = {},
): Promise<{ readonly id: string; readonly authenticator: Authenticator }> {
  await person.stepUp('settings.change')
  const { id, publicKey } = await addAuthenticator(person, options.name)
  const authenticator = new Authenticator({ origin: originOf(world), ...options })
  const attestation = authenticator.create(publicKey!)
  const confirmed = await person.post<MfaFactor>(`/users/me/mfa-factors/${id}/verify`, { attestation })
  if (confirmed.status !== 200) throw new Error(confirmed.text)
  return { id, authenticator }
}

/** Asks for a step-up challenge. */
export async function challengeFor(person: Person, body: object): Promise<StepUpChallenge> {
  return (await person.post<StepUpChallenge>('/step-up/challenges', body)).body
}

/** Answers a step-up challenge. */
export const answerStepUp = (person: Person, challengeId: string, body: object): Promise<Reply<Opened>> =>
  person.post<Opened>(`/step-up/challenges/${challengeId}/verify`, body)

/** Asks for a challenge and answers it with an authenticator, right or wrong. */
export async function prove(
  person: Person,
  authenticator: Authenticator,
  body: object,
  wrong: Deviation = {},
): Promise<Reply<Opened>> {
  const { challengeId, publicKey } = await challengeFor(person, body)
  return await answerStepUp(person, challengeId, {
    method: 'webauthn',
    assertion: authenticator.get(publicKey!, wrong),
  })
}

/** Answers the challenge of a session that needs its second factor. */
export const finishSignIn = (person: Person, { token, mfa }: Opened, body: object): Promise<Reply<Opened>> =>
  person.send<Opened>('POST', '/sessions/current/mfa', { challengeId: mfa?.challengeId, ...body }, {}, token)

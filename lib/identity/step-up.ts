/**
 * Step-up: before a sensitive operation, a person proves their identity again. The proof is for one action of one
 * session for one tenant; where the challenge names a subject, only for that subject.
 */
import { MINUTE_MS, timestamp } from '../base/clock.ts'

export const STEP_UP_ACTIONS = [
  'api_key.create',
  'api_key.revoke',
  'recipient.create',
  'recipient.update',
  'payment.above_threshold',
  'statement.full_export',
  'integrator_webhook.change',
  'approval.decide',
  'membership.change',
  'settings.change',
  'provider_connection.change',
  'card.manage',
  'exchange.above_threshold',
] as const
export type StepUpAction = (typeof STEP_UP_ACTIONS)[number]

/** The methods with which a person proves themselves, the preferred ones first. */
export const STEP_UP_METHODS = ['webauthn', 'totp', 'recovery_code'] as const
export type StepUpMethod = (typeof STEP_UP_METHODS)[number]

/**
 * The actions that a recovery code proves. It is a text on paper: it brings a person back in, to add a factor, and
 * proves no consent to a payment. Nor does it make an API key, a member or a connection, with which money would move
 * without another proof; it does take a key away.
 */
const RECOVERABLE_ACTIONS: ReadonlySet<string> = new Set<StepUpAction | 'sign_in'>([
  'sign_in',
  'settings.change',
  'api_key.revoke',
])

/** Whether an action takes what came of a recovery code: the code, or a factor that still waits because of one. */
export const takesRecovered = (action: string): boolean => RECOVERABLE_ACTIONS.has(action)

/** The factors with which a person can prove themselves for an action now. */
export interface UsableFactors {
  readonly totp: boolean
  /** The credentials of authenticators; ids in base64url. */
  readonly credentials: readonly { readonly id: string; readonly transports: readonly string[] }[]
  /** The number of recovery codes that were not used. */
  readonly recoveryCodes: number
}

/** Returns the methods that a challenge for an action takes from a person with these factors, the preferred first. */
export function methodsFor(action: string, { totp, credentials, recoveryCodes }: UsableFactors): StepUpMethod[] {
  const usable: Readonly<Record<StepUpMethod, boolean>> = {
    webauthn: credentials.length > 0,
    totp,
    recovery_code: recoveryCodes > 0 && RECOVERABLE_ACTIONS.has(action),
  }
  return STEP_UP_METHODS.filter((method) => usable[method])
}

/** Time to answer a challenge. */
export const CHALLENGE_MS = 5 * MINUTE_MS
/** Validity of a proof. */
export const STEP_UP_FRESH_MS = 5 * MINUTE_MS
/**
 * The session's previous token stays valid for this time beside its new one: as long as the proof, so that concurrent
 * requests and a second window do not sign the person out. A thief of the previous token gains no more than these
 * minutes.
 */
export const STEP_UP_OVERLAP_MS = STEP_UP_FRESH_MS

/** Wrong codes of one challenge; this one locks it. */
export const WRONG_CODES_MAX = 5

/**
 * Wrong codes of one person over all challenges within the window; beyond that, no challenge takes a code until the
 * window has passed.
 */
export const WRONG_CODES_PER_PERSON_MAX = 15
export const WRONG_CODES_WINDOW_MS = 15 * MINUTE_MS

/** The titles of actions, shown to the person before they confirm. */
export const ACTION_TITLES: Readonly<Record<StepUpAction, string>> = {
  'api_key.create': 'Create or rotate an API key',
  'api_key.revoke': 'Revoke an API key',
  'recipient.create': 'Add a recipient',
  'recipient.update': 'Change a recipient',
  'payment.above_threshold': 'Send a payment',
  'statement.full_export': 'Export full statements',
  'integrator_webhook.change': 'Change a webhook endpoint',
  'approval.decide': 'Decide an approval',
  'membership.change': 'Change who has access',
  'settings.change': 'Change settings',
  'provider_connection.change': 'Change a banking partner connection',
  'card.manage': 'Manage a card',
  'exchange.above_threshold': 'Exchange currencies',
}

/** The methods that a challenge takes, and the options for the browser where WebAuthn is among them. */
export interface Offer<PublicKey> {
  readonly methods: readonly StepUpMethod[]
  readonly publicKey: PublicKey | null
}

/** Builds the challenge as the API shows it. `preferred`: the method that the person chose. */
export function challengeJson<Display, PublicKey>(
  { id, action, expiresAt }: { readonly id: string; readonly action: StepUpAction; readonly expiresAt: number },
  { methods, publicKey }: Offer<PublicKey>,
  display: Display,
  preferred: StepUpMethod | undefined = methods[0],
) {
  // A person who has no factor gets no challenge, and the last factor cannot be removed.
  if (preferred === undefined) throw new Error(`Nothing answers the challenge ${id}.`)
  return {
    challengeId: id,
    action,
    methods: [...methods],
    preferredMethod: preferred,
    publicKey,
    display,
    expiresAt: timestamp(expiresAt),
  }
}

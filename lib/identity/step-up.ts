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

/** Builds the challenge as the API shows it. Its code is known to the person's authenticator alone. */
export function challengeJson<Display>(
  { id, action, expiresAt }: { readonly id: string; readonly action: StepUpAction; readonly expiresAt: number },
  display: Display,
) {
  return {
    challengeId: id,
    action,
    methods: ['totp' as const],
    preferredMethod: 'totp' as const,
    display,
    expiresAt: timestamp(expiresAt),
  }
}

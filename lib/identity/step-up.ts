/**
 * Step-up: before an action that matters, a person proves again that it is them. The proof is for one action, of one
 * session, for one tenant; where the challenge names a subject, for that subject alone.
 */

export const STEP_UP_ACTIONS = [
  'api_key.create', 'api_key.revoke', 'recipient.create', 'recipient.update', 'payment.above_threshold', 'statement.full_export',
  'integrator_webhook.change', 'approval.decide', 'membership.change', 'settings.change', 'provider_connection.change', 'card.manage',
  'exchange.above_threshold',
] as const
export type StepUpAction = (typeof STEP_UP_ACTIONS)[number]

/** How long a challenge waits for its code. */
export const CHALLENGE_MS = 5 * 60_000
/** How long a proof is good for. */
export const STEP_UP_FRESH_MS = 5 * 60_000
/**
 * How long the session's token of before stays good beside its new one: as long as the proof, so that requests under way and
 * a second window do not sign the person out. Whoever has stolen it gains no more than those minutes.
 */
export const STEP_UP_OVERLAP_MS = STEP_UP_FRESH_MS

/** Wrong codes that a challenge survives; the last of them locks it. */
export const WRONG_CODES_MAX = 5

/** Wrong codes of a person over all challenges within the window; more, and no challenge takes a code until it has passed. */
export const WRONG_CODES_PER_PERSON_MAX = 15
export const WRONG_CODES_WINDOW_MS = 15 * 60_000

/** What the person is told they are about to do. */
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

/** Requires the step-up proof that only some bodies need, once the handler knows the change that the body requests. */
import { STEP_UP_FRESH_MS, type StepUpAction } from '../../lib/identity/step-up.ts'
import { refuse } from '../../lib/base/problems.ts'
import type { Queries } from '../../storage/db/transaction.ts'
import { proofMethod } from '../../storage/identity/identity-sessions.ts'
import type { Caller } from '../../lib/identity/caller.ts'

/**
 * Refuses a request whose session has no step-up proof for the action from the last five minutes. A route that calls
 * this declares `stepUp` with `byBody`.
 *
 * @throws ProblemError `step-up-required`, which names the action
 */
export async function requireProof(
  { database, clock }: { readonly database: Queries; readonly clock: { now(): number } },
  { session, tenant }: Pick<Caller<'person'>, 'session' | 'tenant'>,
  action: StepUpAction,
): Promise<void> {
  const method = await proofMethod(database, {
    sessionId: session.id,
    tenantId: tenant.id,
    action,
    subjectId: null,
    bound: false,
    since: clock.now() - STEP_UP_FRESH_MS,
  })
  if (method !== null) return
  refuse('step-up-required', 'Prove yourself for this action first, then send the same request again.', {
    extra: { action, challengeUrl: '/v1/step-up/challenges' },
  })
}

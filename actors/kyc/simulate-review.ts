/** The simulation of a review: the sandbox's provider reports it at once. */
import { refuse, refuseField } from '../../lib/base/problems.ts'
import type { CommandAnswer, Idempotency } from '../../lib/commands/command.ts'
import type { SimulationResult } from '../../lib/contract/simulation.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { KycReview } from '../../lib/kyc/messages.ts'
import type { SimKyc } from '../../lib/kyc/sdk-token-schema.ts'
import type { KybCaseStatus } from '../../lib/onboarding/case-words.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import { listApplicants, writeApplicant } from '../../storage/kyc/kyc-applicants.ts'
import { activeKycConnection, kycConnectionTo } from '../../storage/kyc/kyc-connections.ts'
import { endKycEvent } from '../../storage/kyc/kyc-events.ts'
import { hasPerson } from '../../storage/kyc/reviewed-persons.ts'
import { dropReview } from '../../storage/sandbox/sandbox-kyc-reviews.ts'
import { runOnce } from '../commands/run-once.ts'
import { lockedCase } from '../onboarding/move-case.ts'
import { reportReview } from '../sandbox/sandbox-kyc.ts'
import { newApplicant } from './ask-reviews.ts'
import type { KycDeps } from './kyc-deps.ts'
import { announceMove, type KycEventsDeps } from './kyc-events.ts'
import { takeMessage, type TakenMessage } from './take-message.ts'

/** The statuses in which a provider may report a review. */
const REVIEWABLE: readonly KybCaseStatus[] = ['submitted', 'in_review', 'info_requested', 'approved']

/**
 * Lets the sandbox's provider report a review, in place of the one that it has planned for the applicant.
 *
 * @throws ProblemError `validation-error`, `simulation-not-possible`, `not-found`, and what `runOnce` throws
 */
export async function simulateReview(
  deps: KycDeps & Pick<KycEventsDeps, 'announce'>,
  by: Caller,
  body: SimKyc,
  idempotency: Idempotency | null,
): Promise<CommandAnswer<SimulationResult, 202>> {
  const { ids, clock } = deps
  const customerId = by.tenant.id
  let moved: TakenMessage['moved'] = null
  const answer = await runOnce(deps, idempotency, 202, async (client) => {
    const tx = { client, ids, now: clock.now() }
    const { record } = await lockedCase(client, customerId)
    const personId = body.personId?.toLowerCase() ?? null
    if (personId !== null && !(await hasPerson(client, customerId, personId)))
      refuseField('/personId', 'not_found', 'No such person in the case.')
    if (!REVIEWABLE.includes(record.status))
      refuse('simulation-not-possible', `The case is ${record.status}.`, {
        extra: { currentStatus: record.status, connectionProvider: record.provider },
      })
    const connectionId = await sandboxConnection(client, record.operatorId, record.status)
    const applicant =
      (await listApplicants(client, customerId)).find(
        (each) => each.personId === personId && each.connectionId === connectionId,
      ) ?? newApplicant(record, personId, connectionId)
    await writeApplicant(client, applicant)
    await dropReview(client, applicant.subjectId)
    const review = reviewOf(body)
    // It happens after all that the provider has told before, though another node's clock is ahead.
    const at = Math.max(tx.now, applicant.askedAt ?? 0, applicant.heardAt ?? 0)
    const { id, message } = await reportReview({ ...tx, now: at }, applicant, review)
    const taken = await takeMessage(tx, connectionId, message, at)
    await endKycEvent(client, id, taken.end)
    moved = taken.moved
    return {
      simulationId: ids.next(),
      kind: 'kyc',
      status: 'applied',
      provider: 'kyc',
      providerEventIds: [id],
      providerReference: message.applicantId,
      details: { caseId: record.id, reviewAnswer: review.answer },
    } satisfies SimulationResult
  })
  await announceMove(deps, moved)
  return answer
}

/** Finds the connection to the sandbox's provider. @throws ProblemError `simulation-not-possible` for any other */
async function sandboxConnection(
  client: TransactionClient,
  operatorId: string,
  currentStatus: KybCaseStatus,
): Promise<string> {
  const active = await activeKycConnection(client, operatorId)
  const sandbox = active?.provider === 'sandbox' ? active : await kycConnectionTo(client, operatorId, 'sandbox')
  if (sandbox === null || (active !== null && active.provider !== 'sandbox'))
    refuse('simulation-not-possible', 'Only the provider of the sandbox can be simulated.', {
      extra: { currentStatus, connectionProvider: active?.provider ?? 'manual' },
    })
  return sandbox.id
}

function reviewOf({ outcome, rejectLabels = [], moderationComment = null }: SimKyc): KycReview {
  if (outcome === 'approved')
    return { answer: 'green', rejectType: null, rejectLabels: [], moderationComment: null, screening: [] }
  const rejectType = outcome === 'retry' ? 'retry' : 'final'
  return { answer: 'red', rejectType, rejectLabels, moderationComment, screening: [] }
}

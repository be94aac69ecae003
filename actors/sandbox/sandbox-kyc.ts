/** The KYC provider of the sandbox: it reports the review of an applicant when its time has come, as others report theirs. */
import type { Clock } from '../../lib/base/clock.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Applicant } from '../../lib/kyc/applicant.ts'
import type { KycReview } from '../../lib/kyc/messages.ts'
import { readReport, sandboxReport } from '../../lib/kyc/sandbox/sandbox-webhooks.ts'
import { planKycReview } from '../../lib/sandbox/kyc.ts'
import type { Database } from '../../storage/db/database.ts'
import { keepKycEvent } from '../../storage/kyc/kyc-events.ts'
import { planReview, takeReview } from '../../storage/sandbox/sandbox-kyc-reviews.ts'
import { runChange, type ChangeTransaction } from '../commands/changes.ts'
import type { Task } from '../runtime/tasks.ts'

/** The provider's id of an applicant. */
const applicantIdOf = ({ subjectId }: Pick<Applicant, 'subjectId'>): string => `sbx-${subjectId}`

/** Begins the review of an applicant, in place of one that is under way. @returns the applicant with its id there */
export async function planSandboxReview(
  { client, now }: ChangeTransaction,
  applicant: Applicant,
  name: string,
): Promise<Applicant> {
  const { afterMs, review } = planKycReview(name)
  const applicantId = applicantIdOf(applicant)
  const { subjectId, connectionId, operatorId } = applicant
  await planReview(client, { subjectId, connectionId, operatorId, applicantId, review, dueAt: now + afterMs })
  return { ...applicant, applicantId }
}

/** Writes the report of a review into the inbox of its connection. @returns the id of the event, and its message */
export async function reportReview(
  { client, ids, now }: ChangeTransaction,
  { subjectId, connectionId, operatorId }: Pick<Applicant, 'subjectId' | 'connectionId' | 'operatorId'>,
  review: KycReview,
) {
  const id = ids.next()
  const applicantId = applicantIdOf({ subjectId })
  const body = sandboxReport({ eventId: `evt_${id}`, occurredAt: timestamp(now), subjectId, applicantId, review })
  const message = readReport(body)
  await keepKycEvent(client, {
    id,
    connectionId,
    operatorId,
    providerEventId: message.eventId,
    type: message.type,
    body: Buffer.from(body),
    occurredAt: now,
    receivedAt: now,
  })
  return { id, message }
}

/** The task that reports reviews whose time has come. */
export function sandboxKycTask(deps: {
  readonly database: Database
  readonly ids: IdSource
  readonly clock: Clock
}): Task {
  return {
    name: 'sandbox.kyc',
    async run(subjectId) {
      await runChange(deps, async (tx) => {
        const planned = await takeReview(tx.client, subjectId, tx.now)
        if (planned !== null) await reportReview(tx, planned, planned.review)
      })
    },
  }
}

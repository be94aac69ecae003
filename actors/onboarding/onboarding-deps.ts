/** The dependencies of the commands on KYB cases. */
import type { KybCaseRecord } from '../../lib/onboarding/kyb-case.ts'
import type { DownloadReads } from '../documents/downloads.ts'
import type { ChangeTransaction } from '../commands/changes.ts'
import type { RunOnceDeps } from '../commands/run-once.ts'
import type { Node } from '../runtime/node.ts'

export interface OnboardingDeps extends RunOnceDeps, Pick<Node, 'ids'> {
  readonly downloads: Pick<DownloadReads, 'link'>
  /**
   * Asks the operator's provider to review the applicants of a locked case, in the transaction of its submission.
   *
   * @returns the case as it is now
   */
  readonly askReviews: (tx: ChangeTransaction, record: KybCaseRecord) => Promise<KybCaseRecord>
  /** Waits until every node knows of a customer's new status; the version is that of the customer's row. */
  readonly announce: (customerId: string, version: bigint) => Promise<void>
}

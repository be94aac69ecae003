/** The dependencies of the commands on KYB cases. */
import type { DownloadReads } from '../documents/downloads.ts'
import type { RunOnceDeps } from '../commands/run-once.ts'
import type { Node } from '../runtime/node.ts'

export interface OnboardingDeps extends RunOnceDeps, Pick<Node, 'ids'> {
  readonly downloads: Pick<DownloadReads, 'link'>
  /** Waits until every node knows of a customer's new status; the version is that of the customer's row. */
  readonly announce: (customerId: string, version: bigint) => Promise<void>
}

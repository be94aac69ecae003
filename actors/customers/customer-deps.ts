/** The dependencies of the commands that make and steer customers. */
import type { RunOnceDeps } from '../commands/run-once.ts'
import type { Node } from '../runtime/node.ts'

export interface CustomerDeps extends RunOnceDeps, Pick<Node, 'ids' | 'random' | 'secrets' | 'sandbox' | 'origin'> {
  /** Waits until every node knows of the customer's new status; the version is that of the row. */
  readonly announce: (customerId: string, version: bigint) => Promise<void>
}

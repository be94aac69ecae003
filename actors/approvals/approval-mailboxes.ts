/** The mailboxes of approvals: the transactions of one approval run one after another on this node. */
import type { ApprovalRecord } from '../../lib/approvals/approval.ts'
import { type ApprovalTx, lockApproval } from '../../storage/approvals/approvals.ts'
import { InTurn } from '../runtime/in-turn.ts'
import { type Afterwards, decideInTransaction } from './decision-transaction.ts'

type TransactionDeps = Parameters<typeof decideInTransaction>[0]

/** Runs transactions under the lock of an approval's row. */
export class ApprovalMailboxes {
  readonly #options: TransactionDeps
  readonly #turns = new InTurn()

  constructor(options: TransactionDeps) {
    this.#options = options
  }

  /**
   * Runs one transaction under the lock of an approval, after the earlier ones of this node.
   *
   * @throws Overloaded when too many wait
   */
  within<Result>(
    id: string,
    work: (tx: ApprovalTx, approval: ApprovalRecord | null, afterwards: Afterwards) => Promise<Result>,
  ): Promise<Result> {
    return this.#turns.run(id, () =>
      decideInTransaction(
        this.#options,
        async (tx, afterwards) => await work(tx, await lockApproval(tx.client, id), afterwards),
      ),
    )
  }
}

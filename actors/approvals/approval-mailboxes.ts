/** The mailboxes of approvals: the transactions of one approval run one after another on this node. */
import type { ApprovalRecord } from '../../lib/approvals/approval.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { type ApprovalTx, lockApproval } from '../../storage/approvals/approvals.ts'
import { Overloaded } from '../runtime/lane.ts'
import { type Afterwards, decideInTransaction } from './decision-transaction.ts'

type TransactionDeps = Parameters<typeof decideInTransaction>[0]

/** Runs transactions under the lock of an approval's row. */
export class ApprovalMailboxes {
  readonly #options: TransactionDeps
  /** For each approval that is being decided here: its last transaction, and the number of transactions that wait. */
  readonly #mailboxes = new Map<string, { tail: Promise<unknown>; waiting: number }>()

  constructor(options: TransactionDeps) {
    this.#options = options
  }

  /**
   * Runs one transaction under the lock of an approval, after the earlier ones of this node.
   *
   * @throws Overloaded when too many wait
   */
  async within<Result>(
    id: string,
    work: (tx: ApprovalTx, approval: ApprovalRecord | null, afterwards: Afterwards) => Promise<Result>,
  ): Promise<Result> {
    const mailbox = this.#mailboxes.get(id) ?? { tail: Promise.resolve(), waiting: 0 }
    if (mailbox.waiting >= LIMITS.approvalMailboxMax)
      throw new Overloaded('Too many decisions are waiting; try again shortly.')
    this.#mailboxes.set(id, mailbox)
    mailbox.waiting += 1
    const turn = mailbox.tail.then(() => this.#transaction(id, work))
    mailbox.tail = turn.catch(() => {
      /* The caller gets the error; the next decision is independent of it. */
    })
    try {
      return await turn
    } finally {
      mailbox.waiting -= 1
      if (mailbox.waiting === 0) this.#mailboxes.delete(id)
    }
  }

  #transaction<Result>(
    id: string,
    work: (tx: ApprovalTx, approval: ApprovalRecord | null, afterwards: Afterwards) => Promise<Result>,
  ): Promise<Result> {
    return decideInTransaction(
      this.#options,
      async (tx, afterwards) => await work(tx, await lockApproval(tx.client, id), afterwards),
    )
  }
}

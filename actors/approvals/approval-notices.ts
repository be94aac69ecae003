/** The notices and mails about an approval: to its approvers, and to the person who asked for it. */
import type { ApprovalRecord } from '../../lib/approvals/approval.ts'
import type { Mailer } from '../../lib/notices/mail.ts'
import { approversOf } from '../../storage/approvals/approval-standing.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import { insertNotices, type Notice } from '../../storage/notices/notices.ts'
import type { Afterwards } from './decision-transaction.ts'

interface NoticeDeps {
  readonly mailer: Mailer
  readonly onError: (error: unknown, what: string) => void
}

/** Writes notices in the transaction of an approval, and sends their mails after the commit. */
export class ApprovalNotices {
  readonly #options: NoticeDeps
  readonly #work = new Set<Promise<unknown>>()

  constructor(options: NoticeDeps) {
    this.#options = options
  }

  /** Waits for the mails that have begun. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#work)
  }

  /** Tells all approvers of the approval. */
  async tellApprovers(
    tx: ApprovalTx,
    approval: ApprovalRecord,
    { type, text }: Pick<Notice, 'type' | 'text'>,
    afterwards: Afterwards,
  ): Promise<void> {
    const approvers = await approversOf(tx.client, approval.id)
    await this.tell(
      tx,
      approvers.map(({ userId }) => userId),
      {
        tenantId: approval.customerId,
        type,
        text,
        title: `${approval.subject.title} waits for approval`,
        object: { type: 'approval', id: approval.id },
      },
      afterwards,
    )
  }

  /** Tells these users. */
  async tell(
    { client, ids, now }: ApprovalTx,
    userIds: readonly string[],
    notice: Notice,
    afterwards: Afterwards,
  ): Promise<void> {
    const addresses = await insertNotices(client, ids, userIds, notice, now)
    const { mailer, onError } = this.#options
    afterwards.push(() => {
      for (const to of addresses)
        this.#background(
          mailer
            .send({ to, subject: notice.title, text: notice.text })
            .catch((error: unknown) => onError(error, 'mail')),
        )
    })
  }

  #background(work: Promise<unknown>): void {
    const guarded = work.finally(() => this.#work.delete(guarded))
    this.#work.add(guarded)
  }
}

/** Callers of use cases that decide about money: who asks, under which key, until when. */
import type { CommandKey } from '../../lib/balances/decision.ts'
import type { Problem } from '../../lib/base/problems.ts'

/** Who asks, under which key, and how a refusal is put into words. */
export interface Caller {
  readonly customerId: string
  readonly shard: number
  readonly createdBy: string
  readonly createdByName: string
  readonly createdVia: 'api_key' | 'web' | 'mobile' | 'schedule' | 'bulk'
  /** Who else shaped the terms of what it is made from; ids of people and keys. */
  readonly shapedBy?: readonly string[]
  /** When what it is made from was made, epoch milliseconds: who has changed the recipient since then has shaped the terms, too. */
  readonly termsSince?: number
  /** Who set the amount, where that is not `createdBy`. */
  readonly spenderId?: string
  /** The schedule in whose name it asks. */
  readonly scheduledPaymentId?: string
  /** The file and the row for which it asks. */
  readonly bulk?: { readonly bulkPaymentId: string; readonly bulkRowId: string }
  /** The approval of the file, for which the payment waits with all others of it. */
  readonly batchApprovalId?: string
  /** The recipient's bank is not asked for its name: the customer has waived it for this payment. */
  readonly skipPayeeVerification?: boolean
  /** The id that the payment gets; made here where nobody has to know it before. */
  readonly paymentId?: string
  readonly key: CommandKey | null
  /** Of the clock: what is not decided by then is refused undecided. */
  readonly deadline: number
  readonly problemText: (problem: Problem) => string
  readonly problemStatus: (problem: Problem) => number
}

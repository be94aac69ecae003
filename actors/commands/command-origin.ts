/** The caller of a use case that decides about money: the customer, the key and the deadline. */
import type { CommandKey } from '../../lib/balances/decision.ts'
import type { ProblemRequest } from '../../lib/base/problem-document.ts'

/** The caller, its key, and the rendering of refusals. */
export interface CommandOrigin {
  readonly customerId: string
  readonly shard: number
  readonly createdBy: string
  readonly createdByName: string
  readonly createdVia: 'api_key' | 'web' | 'mobile' | 'schedule' | 'bulk'
  /** Other people and keys that shaped the terms of the source; their ids. */
  readonly shapedBy?: readonly string[]
  /**
   * The creation time of the source (for example a schedule), epoch milliseconds: anyone who has changed the recipient
   * since then has shaped the terms too.
   */
  readonly termsSince?: number
  /** The id of the person or key that set the amount, where it is not `createdBy`. */
  readonly spenderId?: string
  /** The schedule for which the caller asks. */
  readonly scheduledPaymentId?: string
  /** The file and the row for which the caller asks. */
  readonly bulk?: { readonly bulkPaymentId: string; readonly bulkRowId: string }
  /** The approval of the file; the payment waits for it together with the other payments of the file. */
  readonly batchApprovalId?: string
  /** True when the customer has waived the name check with the recipient's bank for this payment. */
  readonly skipPayeeVerification?: boolean
  /** The id that the payment gets; drawn by the flow when absent. */
  readonly paymentId?: string
  readonly key: CommandKey | null
  /** The deadline by the clock: a command that is undecided by then is refused without a decision. */
  readonly deadline: number
  /** The request that the problem document of a refusal repeats. */
  readonly problemRequest: ProblemRequest
}

/** Services of approvals, as handlers get them. */
import type { ApprovalCommands, ApprovalReads } from '../approvals.ts'

declare module '../services.ts' {
  interface ReadServices {
    readonly approvals: ApprovalReads
  }
  interface Services {
    readonly approvals: ApprovalReads & ApprovalCommands
  }
}

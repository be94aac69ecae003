/** Services of approvals for handlers. */
import type { ApprovalCommands, ApprovalReads } from '../../actors/approvals/approval-operations.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly approvals: ApprovalReads
  }
  interface Services {
    readonly approvals: ApprovalReads & ApprovalCommands
  }
}

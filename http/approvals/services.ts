/** Services of approvals for handlers. */
import type { ApprovalService } from '../../actors/approvals/approval-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly approvals: ApprovalService
  }
}

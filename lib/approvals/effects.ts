/** Rows that decisions about approvals write. */
import type { ApprovalRow } from './opening.ts'

declare module '../decisions/effects.ts' {
  interface Effects {
    readonly approvals?: readonly ApprovalRow[]
  }
}

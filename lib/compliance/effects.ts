/** Rows that decisions about compliance holds and exceptions write. */
import type { ExceptionEnd, ExceptionRow } from './exception.ts'
import type { ComplianceHoldRow } from './hold.ts'

declare module '../decisions/effects.ts' {
  interface Effects {
    /** Compliance holds that the operator's staff decide on. */
    readonly complianceHolds?: readonly ComplianceHoldRow[]
    readonly exceptions?: readonly ExceptionRow[]
    readonly exceptionEnds?: readonly ExceptionEnd[]
  }
}

/** Sums that decisions count against the limits of customers. */
import type { Outflow } from './limits.ts'

declare module '../decisions/effects.ts' {
  interface Effects {
    /** Counted against limits; a sum beyond a limit is refused by the database, and the decision made again on fresh state. */
    readonly outflows?: readonly Outflow[]
  }
}

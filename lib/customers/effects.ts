/** Payment amounts that decisions count against the limits of customers. */
import type { Outflow } from './limits.ts'

declare module '../decisions/effects.ts' {
  interface Effects {
    /**
     * Amounts counted against limits. The database refuses a sum beyond a limit, and the decision is made again on
     * fresh state.
     */
    readonly outflows?: readonly Outflow[]
  }
}

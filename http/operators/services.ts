/** Services of operators, as handlers get them. */
import type { OperatorCommands, OperatorReads } from '../operators.ts'

declare module '../services.ts' {
  interface ReadServices {
    readonly operators: OperatorReads
  }
  interface Services {
    readonly operators: OperatorReads & OperatorCommands
  }
}

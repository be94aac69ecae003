/** Services of operators for handlers. */
import type { OperatorCommands, OperatorReads } from '../../actors/operators/operator-operations.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly operators: OperatorReads
  }
  interface Services {
    readonly operators: OperatorReads & OperatorCommands
  }
}

/** Services of operators for handlers. */
import type { OperatorService } from '../../actors/operators/operator-operations.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly operators: OperatorService
  }
}

/** The dependencies of the use cases of KYC. */
import type { Node } from '../runtime/node.ts'
import type { SumsubClient } from './sumsub-client.ts'

export interface KycDeps
  extends Pick<
    Node,
    'clock' | 'database' | 'findIdempotencyRecord' | 'ids' | 'log' | 'origin' | 'random' | 'sandbox' | 'secrets'
  > {
  readonly sumsub: SumsubClient
}

/** Rows that decisions about transfers write. */
import type { TransferRecord } from './transfer.ts'

/** The row of a new transfer. */
export interface TransferRow
  extends Omit<TransferRecord, 'version' | 'byPartner' | 'failure' | 'metadata' | 'updatedAt'> {
  readonly operatorId: string
  readonly shard: number
  /** JSON text, or null. */
  readonly metadata: string | null
}

/** A transfer that the partner makes, between balances on two connections or, in a sandbox, on one. */
export interface TransferOrderRow {
  readonly transferId: string
  readonly shard: number
  readonly holdId: string
  readonly fromConnectionId: string
  readonly toConnectionId: string
  /** The time when the partner is told. */
  readonly dueAt: number
}

declare module '../decisions/effects.ts' {
  interface Effects {
    readonly transfers?: readonly TransferRow[]
    readonly transferOrders?: readonly TransferOrderRow[]
  }
}

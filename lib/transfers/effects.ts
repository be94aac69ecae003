/** Rows that decisions about transfers write. */
import type { TransferStatus } from './transfer.ts'

export interface TransferRow {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly number: string
  readonly externalId: string | null
  readonly status: TransferStatus
  readonly fromBalanceId: string
  readonly toBalanceId: string
  readonly currency: string
  readonly amount: bigint
  readonly reference: string | null
  readonly createdBy: string
  readonly createdVia: string
  readonly metadata: string | null
  readonly completedAt: number | null
  readonly createdAt: number
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
  interface ObjectStatuses {
    readonly transfer: TransferStatus
  }
  interface Effects {
    readonly transfers?: readonly TransferRow[]
    readonly transferOrders?: readonly TransferOrderRow[]
  }
}

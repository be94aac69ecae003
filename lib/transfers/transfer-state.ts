/** The state of a transfer that its moves start from, and what a move comes to. */
import type { IdSource } from '../base/ids.ts'
import type { Effects } from '../decisions/effects.ts'
import type { InternalAccounts } from '../ledger/entry.ts'
import type { TransferRecord } from './transfer.ts'

/** A transfer by the partner as its moves see it. Amounts are minor units. */
export interface TransferState {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly number: string
  readonly status: TransferRecord['status']
  readonly version: number
  readonly fromBalanceId: string
  readonly toBalanceId: string
  readonly currency: string
  readonly amount: bigint
  readonly reference: string | null
  readonly holdId: string
  readonly fromConnectionId: string
  readonly toConnectionId: string
}

export interface TransferMoveContext {
  readonly ids: IdSource
  /** The internal accounts of both connections; they may be one. */
  readonly accounts: { readonly from: InternalAccounts; readonly to: InternalAccounts }
  /** Epoch milliseconds. */
  readonly now: number
}

/** What is written: the transfer as it is from now on, and everything beside. */
export interface MovedTransfer {
  readonly change: {
    readonly status: TransferRecord['status']
    readonly version: number
    readonly failure: TransferRecord['failure']
    readonly completedAt: number | null
  }
  /** Nothing is left to be told or asked. */
  readonly over: boolean
  /** What it is held by from now on, and when the partner is told of it; null: not before people have decided. */
  readonly order?: { readonly holdId: string; readonly dueAt: number | null }
  readonly effects: Effects
}

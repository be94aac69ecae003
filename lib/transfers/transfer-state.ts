/** The state of a transfer before a move, and the result of the move. */
import type { IdSource } from '../base/ids.ts'
import type { Effects } from '../decisions/effects.ts'
import type { InternalAccounts } from '../ledger/entry.ts'
import type { TransferRecord } from './transfer.ts'

/** A transfer by the partner, with the fields that its moves need. Amounts are minor units. */
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
  /** The internal accounts of both connections, which may be the same. */
  readonly accounts: { readonly from: InternalAccounts; readonly to: InternalAccounts }
  /** Epoch milliseconds. */
  readonly now: number
}

/** The result of a move: the changed fields of the transfer, and its effects. */
export interface MovedTransfer {
  readonly change: {
    readonly status: TransferRecord['status']
    readonly version: number
    readonly failure: TransferRecord['failure']
    readonly completedAt: number | null
  }
  /** Whether the partner has nothing more to be told or asked. */
  readonly over: boolean
  /** The new hold, and the time when the partner is told of the transfer; null: not before staff have decided. */
  readonly order?: { readonly holdId: string; readonly dueAt: number | null }
  readonly effects: Effects
}

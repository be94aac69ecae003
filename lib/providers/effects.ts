/** Rows that decisions write about providers: their messages, and the cash that payments move between them. */
import type { PartnerMessageType } from './messages.ts'

export interface ProviderEvent {
  readonly id: string
  readonly connectionId: string
  readonly type: PartnerMessageType
  readonly objectId: string
  readonly code: string | null
  readonly receivedAt: number
}

/**
 * The cash of a payment between balances at two connections, which its entry moves in the ledger (L21) and the banks, or
 * the operator, move between the accounts. The amount is minor units.
 */
export interface CashOrderRow {
  readonly paymentId: string
  readonly operatorId: string
  readonly shard: number
  readonly fromConnectionId: string
  readonly toConnectionId: string
  readonly currency: string
  readonly amount: bigint
  readonly createdAt: number
  /** The time when the banks are told. */
  readonly dueAt: number
}

declare module '../decisions/effects.ts' {
  interface Effects {
    readonly providerEvents?: readonly ProviderEvent[]
    readonly cashOrders?: readonly CashOrderRow[]
  }
}

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
 * The kinds of objects whose money crosses two connections. `connection`: the operator's own money, which leaves after the
 * balances.
 */
export const CASH_SUBJECTS = ['payment', 'incoming_payment', 'incoming_debit', 'collection', 'connection'] as const
export type CashSubject = (typeof CASH_SUBJECTS)[number]

/**
 * Cash between two connections, which an entry moves in the ledger (L21) and the banks, or the operator, move between
 * the accounts. The amount is minor units.
 */
export interface CashOrderRow {
  /** By which the banks know it: the source of its entry. A payment between two balances has one leg, by its own id. */
  readonly id: string
  readonly subjectObject: CashSubject
  readonly subjectId: string
  readonly customerId: string
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

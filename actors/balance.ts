/** The balance's actor: it alone decides what may leave the balance. It asks nobody. */
import type { BalanceState } from '../lib/ledger/balance.ts'
import type { Refused } from '../lib/ledger/decision.ts'
import { createPayment, type CreatePayment, type PaymentCreated } from '../lib/payments/create-payment.ts'
import { createTransfer, type CreateTransfer, type TransferCreated } from '../lib/payments/transfer.ts'
import { loadBalances } from '../storage/states.ts'
import type { ActorKind } from './runtime/actor.ts'

export type BalanceCommand = CreatePayment | CreateTransfer
export type BalanceReply = PaymentCreated | TransferCreated | Refused

export const balanceActor: ActorKind<BalanceState, BalanceCommand, BalanceReply> = {
  name: 'balance',
  load: loadBalances,
  decide(state, command, now) {
    switch (command.kind) {
      case 'create_payment': return createPayment(state, command, now)
      case 'create_transfer': return createTransfer(state, command, now)
      default: return command satisfies never
    }
  },
  fence: (state) => (state === null ? null : { balanceId: state.id, version: state.version }),
  credits: (command) => (command.kind === 'create_transfer' ? [command.toBalanceId] : []),
  committed: (state, after) => ({ ...state, available: after.posted - after.held, version: after.version }),
}

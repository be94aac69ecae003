/** The balance's actor: it alone decides what may leave the balance. It asks nobody. */
import { receiveCredit, type CreditReceived, type ReceiveCredit } from '../lib/incoming-payments/credit.ts'
import type { BalanceState } from '../lib/ledger/balance.ts'
import type { Refused } from '../lib/ledger/decision.ts'
import { createPayment, type CreatePayment, type PaymentCreated } from '../lib/payments/create-payment.ts'
import { releasePayment, type PaymentReleased, type ReleasePayment } from '../lib/payments/release-payment.ts'
import { createTransfer, type CreateTransfer, type TransferCreated } from '../lib/payments/transfer.ts'
import { loadBalances } from '../storage/states.ts'
import type { ActorKind } from './runtime/actor.ts'

export type BalanceCommand = CreatePayment | ReleasePayment | CreateTransfer
export type BalanceReply = PaymentCreated | PaymentReleased | TransferCreated | Refused

const actor: ActorKind<BalanceState, BalanceCommand | ReceiveCredit, BalanceReply | CreditReceived> = {
  name: 'balance',
  load: loadBalances,
  decide(state, command, now) {
    switch (command.kind) {
      case 'create_payment': return createPayment(state, command, now)
      case 'release_payment': return releasePayment(state, command, now)
      case 'create_transfer': return createTransfer(state, command, now)
      case 'receive_credit': return receiveCredit(state, command, now)
      default: return command satisfies never
    }
  },
  fence: (state) => (state === null ? null : { balanceId: state.id, version: state.version }),
  credits: (command) => (command.kind === 'create_transfer' ? [command.toBalanceId] : []),
  committed: (state, after) => ({ ...state, available: after.posted - after.held, version: after.version }),
}

/** To those who want something of a balance. */
export const balanceActor = actor as ActorKind<BalanceState, BalanceCommand, BalanceReply>
/** To those who bring money: the same actor, which never says no to them. */
export const creditedBalance = actor as unknown as ActorKind<BalanceState, ReceiveCredit, CreditReceived>

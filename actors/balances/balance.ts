/** The balance's actor: it alone decides what may leave the balance. It asks nobody. */
import { bookExchange, type BookExchange, type ExchangeBooked } from '../../lib/exchange/book-exchange.ts'
import { drawContract, type ContractDrawn, type DrawContract } from '../../lib/exchange/draw-contract.ts'
import { moveContractOf, type ContractMovedReply, type MoveContract } from '../../lib/exchange/move-contract.ts'
import { openContract, type ContractOpened, type OpenContract } from '../../lib/exchange/open-contract.ts'
import { receiveCredit, type CreditReceived, type ReceiveCredit } from '../../lib/incoming-payments/credit.ts'
import type { BalanceState } from '../../lib/balances/balance.ts'
import type { Refused } from '../../lib/balances/decision.ts'
import { createPayment, railsChanged, type CreatePayment, type PaymentCreated, type RailsChanged } from '../../lib/payments/create-payment.ts'
import { releasePayment, type PaymentReleased, type ReleasePayment } from '../../lib/payments/release-payment.ts'
import { createTransfer, type CreateTransfer, type TransferCreated } from '../../lib/transfers/transfer.ts'
import { loadBalances } from '../../storage/balances/balance-states.ts'
import type { ActorKind } from '../runtime/actor.ts'

export type BalanceCommand = CreatePayment | ReleasePayment | CreateTransfer
export type BalanceReply = PaymentCreated | RailsChanged | PaymentReleased | TransferCreated | Refused

/** A spot. */
export type ExchangeBookReply = ExchangeBooked | Refused

/** What is asked of a balance about a contract: to open it, to draw from it, and what it pays or takes. */
export type ContractCommand = OpenContract | DrawContract | MoveContract
export type ContractReply = ContractOpened | ContractDrawn | ContractMovedReply | Refused

const actor: ActorKind<BalanceState, BalanceCommand | ReceiveCredit | BookExchange | ContractCommand, BalanceReply | CreditReceived | ExchangeBookReply | ContractReply> = {
  name: 'balance',
  load: loadBalances,
  decide(state, command, now) {
    switch (command.kind) {
      case 'create_payment': return railsChanged(state, command) ?? createPayment(state, command, now)
      case 'release_payment': return releasePayment(state, command, now)
      case 'create_transfer': return createTransfer(state, command, now)
      case 'receive_credit': return receiveCredit(state, command, now)
      case 'book_exchange': return bookExchange(state, command, now)
      case 'open_contract': return openContract(state, command, now)
      case 'draw_contract': return drawContract(state, command, now)
      case 'move_contract': return moveContractOf(state, command, now)
      default: return command satisfies never
    }
  },
  fence: (state) => (state === null ? null : { balanceId: state.id, version: state.version }),
  credits(command) {
    switch (command.kind) {
      case 'create_transfer': return [command.toBalanceId]
      case 'book_exchange': return [command.exchange.buyBalanceId]
      // What is left of the deposit goes back to the contract's own balance.
      case 'draw_contract': return [command.order.buyBalanceId, command.contract.sellBalanceId]
      case 'move_contract': return [command.contract.sellBalanceId]
      default: return []
    }
  },
  committed: (state, after) => ({ ...state, available: after.posted - after.held, version: after.version }),
}

/** To those who want something of a balance. */
export const balanceActor = actor as ActorKind<BalanceState, BalanceCommand, BalanceReply>
/** To those who bring money: the same actor, which never says no to them. */
export const creditedBalance = actor as unknown as ActorKind<BalanceState, ReceiveCredit, CreditReceived>
/** To those who exchange at the rate of a quote. */
export const exchangingBalance = actor as unknown as ActorKind<BalanceState, BookExchange, ExchangeBookReply>
/** To those who look after contracts. */
export const contractBalance = actor as unknown as ActorKind<BalanceState, ContractCommand, ContractReply>

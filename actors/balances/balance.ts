/** The actor of a balance: it alone decides which money may leave the balance, and it asks no other actor. */
import {
  decideCardMessage,
  type CardMessageReply,
  type DecideCardMessage,
} from '../../lib/cards/decide-card-message.ts'
import { bookExchange, type BookExchange, type ExchangeBooked } from '../../lib/exchange/book-exchange.ts'
import { drawContract, type ContractDrawn, type DrawContract } from '../../lib/exchange/draw-contract.ts'
import { moveContractOf, type ContractMovedReply, type MoveContract } from '../../lib/exchange/move-contract.ts'
import { openContract, type ContractOpened, type OpenContract } from '../../lib/exchange/open-contract.ts'
import {
  takeCredit,
  type BalanceElsewhere,
  type CreditReceived,
  type ReceiveCredit,
} from '../../lib/incoming-payments/credit.ts'
import {
  receiveDebit,
  takeDebit,
  type DebitDecided,
  type ReceiveDebit,
  type TakeDebit,
} from '../../lib/incoming-debits/decide-debit.ts'
import {
  reverseCollection,
  type CollectionReversed,
  type ReverseCollection,
} from '../../lib/direct-debits/reversals/reverse-collection.ts'
import type { BalanceState } from '../../lib/balances/balance.ts'
import type { Refused } from '../../lib/balances/decision.ts'
import { createPayment, railsChanged } from '../../lib/payments/create-payment.ts'
import type { CreatePayment, PaymentCreated, RailsChanged } from '../../lib/payments/create-payment-command.ts'
import { releasePayment, type PaymentReleased, type ReleasePayment } from '../../lib/payments/release-payment.ts'
import { createTransfer, type CreateTransfer, type TransferCreated } from '../../lib/transfers/transfer.ts'
import { loadBalances } from '../../storage/balances/balance-states.ts'
import type { ActorKind } from '../runtime/actor.ts'

export type BalanceCommand = CreatePayment | ReleasePayment | CreateTransfer
export type BalanceReply = PaymentCreated | RailsChanged | PaymentReleased | TransferCreated | Refused

/** The reply to a booked spot exchange. */
export type ExchangeBookReply = ExchangeBooked | Refused

/** The commands about contracts: open a contract, draw from it, pay a deposit or take a returned one. */
export type ContractCommand = OpenContract | DrawContract | MoveContract
/** The commands about direct debits that the balance pays. */
export type DebitCommand = ReceiveDebit | TakeDebit
/** The reply to a collection that is sent back to its payer. */
export type ReversalReply = CollectionReversed | Refused
export type ContractReply = ContractOpened | ContractDrawn | ContractMovedReply | Refused

/** The reply to a credit. */
export type CreditReply = CreditReceived | BalanceElsewhere

const actor: ActorKind<
  BalanceState,
  | BalanceCommand
  | ReceiveCredit
  | BookExchange
  | ContractCommand
  | DebitCommand
  | ReverseCollection
  | DecideCardMessage,
  BalanceReply | CreditReply | ExchangeBookReply | ContractReply | DebitDecided | ReversalReply | CardMessageReply
> = {
  name: 'balance',
  lockRank: 0,
  onStale: 'lock',
  load: loadBalances,
  decide(state, command, now) {
    switch (command.kind) {
      case 'create_payment':
        return railsChanged(state, command) ?? createPayment(state, command, now)
      case 'release_payment':
        return releasePayment(state, command, now)
      case 'create_transfer':
        return createTransfer(state, command, now)
      case 'receive_credit':
        return takeCredit(state, command, now)
      case 'book_exchange':
        return bookExchange(state, command, now)
      case 'open_contract':
        return openContract(state, command, now)
      case 'draw_contract':
        return drawContract(state, command, now)
      case 'move_contract':
        return moveContractOf(state, command, now)
      case 'receive_debit':
        return receiveDebit(state, command, now)
      case 'take_debit':
        return takeDebit(state, command, now)
      case 'reverse_collection':
        return reverseCollection(state, command, now)
      case 'card_message':
        return decideCardMessage(state, command, now)
      default:
        return command satisfies never
    }
  },
  fence: (state) => (state === null ? null : { balanceId: state.id, version: state.version }),
  credits(command) {
    switch (command.kind) {
      case 'create_transfer':
        return [command.toBalanceId]
      case 'book_exchange':
        return [command.exchange.buyBalanceId]
      // The rest of the deposit returns to the contract's own balance.
      case 'draw_contract':
        return [command.order.buyBalanceId, command.contract.sellBalanceId]
      case 'move_contract':
        return [command.contract.sellBalanceId]
      default:
        return []
    }
  },
  // A credit compares no version. With another version than that of the state, the balance may have other policies,
  // limits, fees or another calendar by now; to take over the version alone would hide the change for good (I3).
  committed: (state, after, decided) =>
    after.version === state.version + (decided ? 1n : 0n)
      ? { ...state, available: after.posted - after.held, version: after.version }
      : undefined,
}

/** The balance actor for commands that debit a balance. */
export const balanceActor = actor as ActorKind<BalanceState, BalanceCommand, BalanceReply>
/** The same actor for credits, which it never refuses. */
export const creditedBalance = actor as unknown as ActorKind<BalanceState, ReceiveCredit, CreditReply>
/** The same actor for exchanges at the rate of a quote. */
export const exchangingBalance = actor as unknown as ActorKind<BalanceState, BookExchange, ExchangeBookReply>
/** The same actor for commands about contracts. */
export const contractBalance = actor as unknown as ActorKind<BalanceState, ContractCommand, ContractReply>
/** The same actor for direct debits. */
export const debitedBalance = actor as unknown as ActorKind<BalanceState, DebitCommand, DebitDecided>
/** The same actor for collections that go back to their payers. */
export const reversingBalance = actor as unknown as ActorKind<BalanceState, ReverseCollection, ReversalReply>
/** The same actor for messages of the card network. */
export const cardBalance = actor as unknown as ActorKind<BalanceState, DecideCardMessage, CardMessageReply>

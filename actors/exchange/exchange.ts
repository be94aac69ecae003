/** The actor of an exchange: takes a booked exchange to its end, one move at a time. */
import { withIds, type Seeded } from '../../lib/decisions/seeded.ts'
import { moveExchange, type ExchangeCommand, type ExchangeReply, type ExchangeState } from '../../lib/exchange/moves.ts'
import { loadExchanges } from '../../storage/exchange/exchanges.ts'
import type { ActorKind } from '../runtime/actor.ts'

export const exchangeActor: ActorKind<ExchangeState, Seeded<ExchangeCommand>, ExchangeReply> = {
  name: 'exchange',
  lockRank: 2,
  // Another exchange of the same commit may have changed the contract.
  onStale: 'isolate',
  turnMax: 1,
  // The state contains the payment that the exchange buys for, which the payment's actor and staff move too.
  staleAs: ['exchange_stale', 'payment_stale'],
  load: loadExchanges,
  decide: (state, command, now) => moveExchange(state, withIds<ExchangeCommand>(command), now),
  // The effects carry the exchange's version as their fence; their postings on balances need no decision of a balance.
  fence: () => null,
}

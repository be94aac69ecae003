/** The exchange's actor: one at a time, it moves an exchange that was booked to its end. */
import { moveExchange, type ExchangeCommand, type ExchangeReply, type ExchangeState } from '../../lib/exchange/moves.ts'
import { loadExchanges } from '../../storage/exchange/exchanges.ts'
import type { ActorKind } from '../runtime/actor.ts'

export const exchangeActor: ActorKind<ExchangeState, ExchangeCommand, ExchangeReply> = {
  name: 'exchange',
  turnMax: 1,
  // It remembers the payment that it buys for, which the payment's own actor and people move, too.
  staleAs: ['exchange_stale', 'payment_stale'],
  load: loadExchanges,
  decide: moveExchange,
  // An exchange's changes carry its version themselves; what they do to balances needs no decision of theirs.
  fence: () => null,
}

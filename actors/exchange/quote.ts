/**
 * The actor that writes quotes: one per customer, without state, so that thousands of quotes share commits with other
 * work. A quote is decided before it comes here: it depends on the market only, and needs no read from Postgres.
 */
import { outcomeRecord } from '../../lib/decisions/outcome-record.ts'
import type { CommandKey } from '../../lib/balances/decision.ts'
import type { QuoteRecord } from '../../lib/exchange/quote.ts'
import { formatRate } from '../../lib/exchange/rate.ts'
import type { ActorKind } from '../runtime/actor.ts'

export interface KeepQuote {
  readonly quote: QuoteRecord
  readonly key: CommandKey | null
}

export interface QuoteKept {
  readonly kind: 'quote_kept'
  readonly quote: QuoteRecord
}

export const quoteActor: ActorKind<null, KeepQuote, QuoteKept> = {
  name: 'quote',
  lockRank: 3,
  onStale: 'reload',
  load: async () => new Map(),
  decide: (_, { quote, key }, now) => ({
    state: null,
    reply: { kind: 'quote_kept', quote },
    effects: {
      quotes: [{ ...quote, rate: formatRate(quote.rate), partnerRate: formatRate(quote.partnerRate) }],
      ...outcomeRecord(key, 201, { type: 'quote', id: quote.id }, null, now),
    },
  }),
  fence: () => null,
}

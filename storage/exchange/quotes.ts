/**
 * Quotes: cached on the node that made them, read from Postgres elsewhere. Quotes never change, so the cache is always
 * correct.
 */
import { LRUCache } from 'lru-cache'
import { atMost } from '../../lib/base/at-most.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { isUuid, uuidTime } from '../../lib/base/ids.ts'
import type { QuoteKind, QuoteRecord } from '../../lib/exchange/quote.ts'
import { parseRate, type FixedSide } from '../../lib/exchange/rate.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { Database } from '../db/database.ts'
import { bigintExpression, bigintOrNull, expression, select } from '../db/select.ts'

/** About 500 bytes each: more than a node makes in the half minute that a quote lives, even if it does little else. */
const REMEMBERED_MAX = 50_000

export class QuoteCache {
  readonly #database: Database
  readonly #remembered = new LRUCache<string, QuoteRecord>(atMost(REMEMBERED_MAX))

  constructor(database: Database) {
    this.#database = database
  }

  /** Caches a quote that was just committed. */
  remember(quote: QuoteRecord): void {
    this.#remembered.set(quote.id, quote)
  }

  /** Empties the cache: after a failover the new server may have lost quotes. */
  forgetAll(): void {
    this.#remembered.clear()
  }

  /** Finds a quote of a customer, or null. @throws the driver's errors */
  async find(customerId: string, id: string): Promise<QuoteRecord | null> {
    this.#database.assertFree()
    const known = this.#remembered.get(id) ?? (await findQuote(this.#database, id))
    return known?.customerId === customerId ? known : null
  }

  /** Finds a quote of a customer and whether an exchange has used it; or null. @throws the driver's errors */
  async findWithUse(
    customerId: string,
    id: string,
  ): Promise<{ readonly quote: QuoteRecord; readonly used: boolean } | null> {
    const quote = await this.find(customerId, id)
    return quote === null ? null : { quote, used: await isQuoteUsed(this.#database, id) }
  }
}

/** A quote's table is partitioned by day and has no entity. */
const QUOTE = select({
  id: expression<string>('id'),
  customerId: expression<string>('customer_id'),
  connectionId: expression<string>('connection_id'),
  kind: expression<QuoteKind>('kind'),
  sellCurrency: expression<CurrencyCode>('sell_currency'),
  buyCurrency: expression<CurrencyCode>('buy_currency'),
  sellAmount: bigintExpression('sell_amount'),
  buyAmount: bigintExpression('buy_amount'),
  rate: expression<string>('rate::text'),
  partnerRate: expression<string>('partner_rate::text'),
  fixedSide: expression<FixedSide>('fixed_side'),
  fee: bigintExpression('fee'),
  settlementDate: expression<string | null>('settlement_date::text'),
  depositRequired: bigintOrNull('deposit_required'),
  holdMinutes: expression<number | null>('hold_minutes'),
  sellBalanceId: expression<string | null>('sell_balance_id'),
  buyBalanceId: expression<string | null>('buy_balance_id'),
  expiresAt: expression<number>('(extract(epoch from expires_at) * 1000)::float8'),
  createdAt: expression<number>('(extract(epoch from created_at) * 1000)::float8'),
})

/** Finds a quote by its id, of any customer; null when it does not exist. */
export async function findQuote(database: Database, id: string): Promise<QuoteRecord | null> {
  const ms = isUuid(id) ? uuidTime(id) : null
  // An id of another kind belongs to no quote.
  if (ms === null) return null
  const [row] = await database.query({
    name: 'find_quote',
    values: [id, timestamp(ms).slice(0, 10)],
    text: `select ${QUOTE.sql} from quote where id = $1 and day = $2::date`,
  })
  if (row === undefined) return null
  const quote = QUOTE.read(row)
  return { ...quote, rate: parseRate(quote.rate) as bigint, partnerRate: parseRate(quote.partnerRate) as bigint }
}

/** Whether an exchange has used the quote. */
export async function isQuoteUsed(database: Database, id: string): Promise<boolean> {
  const [row] = await database.query<[boolean]>({
    name: 'is_quote_used',
    text: 'select exists (select from exchange where quote_id = $1)',
    values: [id],
  })
  return (row as [boolean])[0]
}

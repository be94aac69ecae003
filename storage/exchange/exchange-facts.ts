/**
 * Caches per node the facts about a customer that an exchange needs, until one of them changes: its operator and the
 * operator's settings, its connection, and its enabled currencies. A quote needs no database read.
 */
import { LRUCache } from 'lru-cache'
import { atMost } from '../../lib/base/at-most.ts'
import type { ExchangeTerms } from '../../lib/operators/exchange-terms.ts'
import type { CalendarTerms } from '../../lib/rails/business-days.ts'
import { PROVIDER_DESCRIPTIONS } from '../../lib/providers/descriptions.ts'
import { textArray } from '../db/array-literal.ts'
import { feeRuleOf, type FeeRule, type FeeRuleJson } from '../../lib/pricing/fees.ts'
import type { Database } from '../db/database.ts'
import { through, type Queries, type TransactionClient } from '../db/transaction.ts'
import { CALENDAR_OF_CONNECTION } from '../providers/connection-calendars.ts'
import { CONNECTION_FOR_NEW_WORK } from '../providers/provider-connections.ts'
import { EXCHANGE_TERMS } from '../operators/operators.ts'
import { expression, select } from '../db/select.ts'

/** About 2 kB each. */
const REMEMBERED_MAX = 20_000

export interface ExchangeFacts {
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  /**
   * The connection of the customer's balances, one whose provider exchanges currencies before others; or else the
   * operator's connection for new work.
   */
  readonly connectionId: string
  readonly terms: ExchangeTerms
  /** The calendar of the partner's business days; null where calendars are ignored. */
  readonly calendar: CalendarTerms | null
  /** The currencies that the customer has enabled; null: all that are offered. */
  readonly enabled: ReadonlySet<string> | null
  /** The fees for exchanges, by the currency sold. */
  readonly fees: ReadonlyMap<string, readonly FeeRule[]>
}

export class ExchangeFactsCache {
  readonly #database: Database
  /** Contains reads under way too, so that concurrent requests share one read. */
  readonly #remembered = new LRUCache<string, Promise<ExchangeFacts | null>>(atMost(REMEMBERED_MAX))

  constructor(database: Database) {
    this.#database = database
  }

  /**
   * Returns the facts for a customer; null when the customer does not exist, or has no connection.
   * @throws the driver's errors
   */
  of(customerId: string): Promise<ExchangeFacts | null> {
    this.#database.assertFree()
    const known = this.#remembered.get(customerId)
    if (known !== undefined) return known
    const reading = read(this.#database, customerId)
    this.#remembered.set(customerId, reading)
    const forget = () => {
      if (this.#remembered.peek(customerId) === reading) this.#remembered.delete(customerId)
    }
    // A missing customer is not cached, because no message would announce its creation.
    reading.then((desk) => {
      if (desk === null) forget()
    }, forget)
    return reading
  }

  /** Reads the same facts within a transaction: without the cache, through the transaction's connection. */
  within(client: TransactionClient): Pick<ExchangeFactsCache, 'of'> {
    return { of: (customerId) => read(through(client), customerId) }
  }

  forget(customerId: string): void {
    this.#remembered.delete(customerId)
  }

  /** Drops all entries and reads under way, because a read may have seen the state before the change. */
  forgetAll(): void {
    this.#remembered.clear()
  }
}

interface Terms extends Omit<ExchangeTerms, 'minSellEur'> {
  readonly minSellEur: string
}

const FACTS = select({
  operatorId: expression<string>('c.operator_id'),
  shard: expression<number>('c.shard'),
  connectionId: expression<string>('k.id'),
  calendar: expression<CalendarTerms | null>(CALENDAR_OF_CONNECTION),
  enabled: expression<readonly string[] | null>(`s.value->'enabled'`),
  terms: expression<Terms>(EXCHANGE_TERMS),
  rules: expression<(FeeRuleJson & { readonly currency: string })[] | null>(
    `(select json_agg(json_build_object('kind', f.kind, 'currency', f.currency, 'rail', f.rail, 'fixed', f.fixed_minor::text, 'bps', f.bps, 'min', f.min_minor::text,
        'max', f.max_minor::text, 'taxBps', f.tax_bps, 'refundable', f.refundable, 'passedOn', f.passed_on)) from fee_rule f where f.template_id = coalesce(c.pricing_template_id, o.pricing_template_id) and f.kind = 'exchange')`,
  ),
})
const READ = `select ${FACTS.sql}
  from customer c join operator o on o.id = c.operator_id
  join provider_connection k on k.id = coalesce((select b.connection_id from balance b join provider_connection p on p.id = b.connection_id
      where b.customer_id = c.id order by p.provider = any($2) desc, b.id limit 1),
    ${CONNECTION_FOR_NEW_WORK})
  left join setting s on s.owner_id = c.id and s.name = 'currencies'
  where c.id = $1`
/** The providers that exchange currencies. */
const EXCHANGING = Object.values(PROVIDER_DESCRIPTIONS)
  .filter(({ capabilities }) => capabilities.fx)
  .map(({ provider }) => provider)

async function read(database: Queries, customerId: string): Promise<ExchangeFacts | null> {
  const [row] = await database.query({ name: 'exchange_desk', text: READ, values: [customerId, textArray(EXCHANGING)] })
  if (row === undefined) return null
  const { operatorId, shard, connectionId, calendar, enabled, terms, rules } = FACTS.read(row)
  const fees = new Map<string, FeeRule[]>()
  for (const rule of rules ?? []) fees.set(rule.currency, [...(fees.get(rule.currency) ?? []), feeRuleOf(rule)])
  return {
    customerId,
    operatorId,
    shard,
    connectionId,
    calendar,
    fees,
    terms: { ...terms, minSellEur: BigInt(terms.minSellEur) },
    enabled: enabled === null ? null : new Set(enabled),
  }
}

/**
 * What is known of a customer that wants to exchange, remembered per node until something of it changes: its operator and what that
 * has set, its connection, what it has enabled. From memory, so that a quote waits for nobody.
 */
import { LRUCache } from 'lru-cache'
import type { ExchangeTerms } from '../../lib/operators/exchange-terms.ts'
import type { CalendarTerms } from '../../lib/rails/business-days.ts'
import { feeRuleOf, type FeeRule, type FeeRuleJson } from '../../lib/pricing/fees.ts'
import type { Database } from '../db/database.ts'
import { through, type Queries, type TransactionClient } from '../db/transaction.ts'
import { CALENDAR_OF_CONNECTION } from '../providers/connection-calendars.ts'
import { EXCHANGE_TERMS } from '../operators/operators.ts'

/** About 2 kB each. */
const REMEMBERED_MAX = 20_000

export interface ExchangeDesk {
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  /** The connection of its balances, or else the one that new work of the operator goes to. */
  readonly connectionId: string
  readonly terms: ExchangeTerms
  /** By what days the partner works; null where calendars are ignored. */
  readonly calendar: CalendarTerms | null
  /** Currencies that it has enabled; null: all that are offered. */
  readonly enabled: ReadonlySet<string> | null
  /** What is charged for exchanges, by the currency sold. */
  readonly fees: ReadonlyMap<string, readonly FeeRule[]>
}

export class ExchangeDesks {
  readonly #database: Database
  /** Also while it is being read, so that many requests at once share one look. */
  readonly #remembered = new LRUCache<string, Promise<ExchangeDesk | null>>({ max: REMEMBERED_MAX })

  constructor(database: Database) { this.#database = database }

  /** The desk of a customer; null when there is no such customer, or nowhere to exchange. @throws what the driver throws */
  of(customerId: string): Promise<ExchangeDesk | null> {
    this.#database.assertFree()
    const known = this.#remembered.get(customerId)
    if (known !== undefined) return known
    const reading = read(this.#database, customerId)
    this.#remembered.set(customerId, reading)
    const forget = () => { if (this.#remembered.peek(customerId) === reading) this.#remembered.delete(customerId) }
    // That there is none is not remembered: nothing would tell when there is.
    reading.then((desk) => { if (desk === null) forget() }, forget)
    return reading
  }

  /** The same for code within a transaction: always read, through its connection. */
  within(client: TransactionClient): Pick<ExchangeDesks, 'of'> {
    return { of: (customerId) => read(through(client), customerId) }
  }

  forget(customerId: string): void {
    this.#remembered.delete(customerId)
  }

  /** A look that is under way is forgotten with the rest: it may have seen what was there before. */
  forgetAll(): void {
    this.#remembered.clear()
  }
}

interface Terms extends Omit<ExchangeTerms, 'minSellEur'> { readonly minSellEur: string }

const READ = `select c.operator_id, c.shard, k.id, ${CALENDAR_OF_CONNECTION}, s.value->'enabled',
    ${EXCHANGE_TERMS},
    (select json_agg(json_build_object('kind', f.kind, 'currency', f.currency, 'rail', f.rail, 'fixed', f.fixed_minor::text, 'bps', f.bps, 'min', f.min_minor::text,
        'max', f.max_minor::text, 'refundable', f.refundable, 'passedOn', f.passed_on)) from fee_rule f where f.template_id = o.pricing_template_id and f.kind = 'exchange')
  from customer c join operator o on o.id = c.operator_id
  join provider_connection k on k.id = coalesce((select b.connection_id from balance b where b.customer_id = c.id order by b.id limit 1),
    (select p.id from provider_connection p where p.operator_id = c.operator_id and p.status = 'active' and p.role = 'primary' order by p.id limit 1))
  left join setting s on s.owner_id = c.id and s.name = 'currencies'
  where c.id = $1`

async function read(database: Queries, customerId: string): Promise<ExchangeDesk | null> {
  const [row] = await database.query<[string, number, string, CalendarTerms | null, readonly string[] | null, Terms, (FeeRuleJson & { readonly currency: string })[] | null]>({
    name: 'exchange_desk', text: READ, values: [customerId],
  })
  if (row === undefined) return null
  const [operatorId, shard, connectionId, calendar, enabled, terms, rules] = row
  const fees = new Map<string, FeeRule[]>()
  for (const rule of rules ?? []) fees.set(rule.currency, [...fees.get(rule.currency) ?? [], feeRuleOf(rule)])
  return {
    customerId, operatorId, shard, connectionId, calendar, fees, terms: { ...terms, minSellEur: BigInt(terms.minSellEur) }, enabled: enabled === null ? null : new Set(enabled),
  }
}

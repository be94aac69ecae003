/**
 * Caches the internal accounts of the chart, which are made at their first use.
 *
 * Written by hand: payments wait for these accounts.
 */
import type { AccountKey } from '../../lib/ledger/chart.ts'
import { CHART } from '../../lib/ledger/chart.ts'
import type { InternalAccounts } from '../../lib/ledger/entry.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Database } from '../db/database.ts'
import { through, type Queries, type TransactionClient } from '../db/transaction.ts'

export interface AccountScope {
  readonly operatorId: string
  readonly connectionId: string
  readonly currency: string
}

/**
 * Accounts that exist once per connection or operator and currency. A customer's own internal accounts are made with
 * the customer.
 */
const SHARED_KEYS = CHART.filter(({ per }) => per === 'connection' || per === 'operator')

/** Finds internal accounts, and makes missing ones. */
export interface InternalAccountReader {
  /** The accounts of one operator, connection and currency. @throws the driver's errors */
  accounts(scope: AccountScope): Promise<InternalAccounts>
  /**
   * Like `accounts`, with one account of the customer's own, made where missing. Rarely needed, so not cached. @throws
   * the driver's errors
   */
  accountsWith(scope: AccountScope, key: AccountKey, customerId: string): Promise<InternalAccounts>
}

export class InternalAccountCache implements InternalAccountReader {
  readonly #database: Pick<Database, 'query' | 'assertFree'>
  readonly #ids: IdSource
  /** Bounded by connections x currencies, both of which an operator configures. Contains committed accounts only. */
  readonly #known = new Map<string, InternalAccounts>()
  readonly #loading = new Map<string, Promise<InternalAccounts>>()

  constructor(database: Pick<Database, 'query' | 'assertFree'>, ids: IdSource) {
    this.#database = database
    this.#ids = ids
  }

  async accounts(scope: AccountScope): Promise<InternalAccounts> {
    this.#database.assertFree()
    const key = keyOf(scope)
    const known = this.#known.get(key) ?? this.#loading.get(key)
    if (known !== undefined) return await known
    const loading = this.#load(this.#database, scope)
    this.#loading.set(key, loading)
    try {
      const accounts = await loading
      this.#known.set(key, accounts)
      return accounts
    } finally {
      this.#loading.delete(key)
    }
  }

  async accountsWith(scope: AccountScope, key: AccountKey, customerId: string): Promise<InternalAccounts> {
    return { ...(await this.accounts(scope)), [key]: await this.#ofCustomer(this.#database, scope, key, customerId) }
  }

  /**
   * A reader for code within a transaction: accounts that are not cached are read through the transaction's connection.
   * They are not cached then, because the transaction may make accounts and be rolled back.
   */
  within(client: TransactionClient): InternalAccountReader {
    const queries = through(client)
    const accounts = async (scope: AccountScope) => this.#known.get(keyOf(scope)) ?? (await this.#load(queries, scope))
    return {
      accounts,
      accountsWith: async (scope, key, customerId) => ({
        ...(await accounts(scope)),
        [key]: await this.#ofCustomer(queries, scope, key, customerId),
      }),
    }
  }

  async #ofCustomer(queries: Queries, scope: AccountScope, key: AccountKey, customerId: string): Promise<string> {
    const rows = await queries.query<[string]>({
      name: 'customer_account',
      text: `with made as (
          insert into account (id, operator_id, key, currency, customer_id) values ($1, $2, $3, $4, $5) on conflict on constraint account_unique do nothing returning id)
        select id from made union all select id from account where operator_id = $2 and key = $3 and currency = $4 and customer_id = $5 and connection_id is null`,
      values: [this.#ids.next(), scope.operatorId, key, scope.currency, customerId],
    })
    // As above, another node may have made it at this very moment, so read again.
    return rows[0]?.[0] ?? (await this.#ofCustomer(queries, scope, key, customerId))
  }

  async #load(queries: Queries, { operatorId, connectionId, currency }: AccountScope): Promise<InternalAccounts> {
    const keys = SHARED_KEYS.map(({ key }) => key)
    const rows = await queries.query<[AccountKey, string]>({
      name: 'internal_accounts',
      text: `with made as (
          insert into account (id, operator_id, key, currency, connection_id)
          select u.id, $1::uuid, u.key, $3, case when u.per_connection then $2::uuid end
          from unnest($4::uuid[], $5::text[], $6::boolean[]) as u(id, key, per_connection)
          on conflict on constraint account_unique do nothing returning key, id)
        select key, id from made
        union all select key, id from account
        where operator_id = $1 and currency = $3 and key = any($5) and (connection_id = $2 or connection_id is null) and customer_id is null`,
      values: [
        operatorId,
        connectionId,
        currency,
        keys.map(() => this.#ids.next()),
        keys,
        SHARED_KEYS.map(({ per }) => per === 'connection'),
      ],
    })
    // A row that another node inserted at this very moment is neither made here nor visible in this snapshot yet, so
    // read again.
    return new Set(rows.map(([key]) => key)).size < keys.length
      ? await this.#load(queries, { operatorId, connectionId, currency })
      : Object.fromEntries(rows)
  }
}

const keyOf = ({ operatorId, connectionId, currency }: AccountScope): string =>
  `${operatorId} ${connectionId} ${currency}`

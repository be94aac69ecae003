/** Account details as rows: read for display to a payer; the sandbox bank provides its details immediately. */
import { accountDetailsJson, type AccountDetailsJson } from '../../lib/accounts/details.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { sandboxAccounts } from '../../lib/sandbox/accounts.ts'
import { plainArray, textArray } from '../db/array-literal.ts'
import { without } from '../db/columns.ts'
import type { Database } from '../db/database.ts'
import { from, select } from '../db/select.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { AccountDetails } from './account-details-entity.ts'

const DETAILS = select(without(from(AccountDetails, ''), ['customerId', 'connectionId', 'shard', 'dueAt']))

const READ = `select ${DETAILS.sql} from account_details where balance_id = any($1::uuid[]) order by balance_id, (scope = 'local') desc, id`

/**
 * Reads the account details of each balance, local ones first, closed ones included. A balance without details is
 * absent.
 */
export async function accountDetailsOf(
  database: Pick<Database, 'query'>,
  balanceIds: readonly string[],
): Promise<Map<string, AccountDetailsJson[]>> {
  const found = new Map<string, AccountDetailsJson[]>()
  for (const row of await database.query({
    name: 'account_details_of',
    text: READ,
    values: [plainArray(balanceIds)],
  })) {
    const record = DETAILS.read(row)
    const known = found.get(record.balanceId)
    if (known === undefined) found.set(record.balanceId, [accountDetailsJson(record)])
    else known.push(accountDetailsJson(record))
  }
  return found
}

/**
 * Reads the details by which money can be sent to a balance now or soon: all that are not closed, pending ones
 * included.
 */
export async function depositDetailsOf(
  database: Pick<Database, 'query'>,
  balanceId: string,
): Promise<AccountDetailsJson[]> {
  const details = (await accountDetailsOf(database, [balanceId])).get(balanceId) ?? []
  return details.filter(({ status }) => status !== 'closed')
}

/**
 * SQL condition: account details `d` lead to a balance and are the account that the jsonb `bank` names. Details that
 * were replaced or are being closed still lead to their balance. A shared account does not lead to one: its identifiers
 * belong to many balances.
 */
const isAccountOf = (bank: string): string => `d.status in ('active', 'replaced', 'closing') and not d.shared
    and (d.identifiers->>'iban' = ${bank}->>'iban' or d.identifiers->>'clabe' = ${bank}->>'clabe'
      or (d.identifiers->>'accountNumber' = ${bank}->>'accountNumber'
        and (d.identifiers->>'sortCode' = ${bank}->>'sortCode' or d.identifiers->>'routingNumber' = ${bank}->>'routingNumber' or d.identifiers->>'bsb' = ${bank}->>'bsb'
          or d.identifiers->>'bic' = ${bank}->>'bic'
          or (d.identifiers->>'bankCode' = ${bank}->>'bankCode' and d.identifiers->>'branchCode' is not distinct from ${bank}->>'branchCode'))))`

/** SQL condition on a recipient `r`: its account belongs to the same customer. */
export const IS_OWN_ACCOUNT = `exists (select from account_details d where d.customer_id = r.customer_id and ${isAccountOf('r.bank')})`

/**
 * Finds the balances to which accounts of a connection lead, by the name that its provider gives an account: an IBAN, a
 * CLABE, or an account number, after the sort code, routing number or BIC and a space where there is one.
 *
 * @returns the balances by these names; a name that leads to none, or to several, is absent
 * @throws DatabaseUnavailable and the driver's errors
 */
export async function balancesOfAccounts(
  database: Pick<Database, 'query'>,
  connectionId: string,
  accounts: readonly string[],
): Promise<ReadonlyMap<string, { readonly balanceId: string; readonly customerId: string }>> {
  const rows = await database.query<[string, string, string]>({
    name: 'balances_of_accounts',
    values: [connectionId, textArray(accounts)],
    text: `select u.name, min(d.balance_id::text), min(d.customer_id::text)
      from unnest($2::text[]) u(name)
        cross join lateral (select split_part(u.name, ' ', 1) as bank, substr(u.name, strpos(u.name, ' ') + 1) as number) n
        join account_details d on d.connection_id = $1 and d.status in ('active', 'replaced', 'closing') and not d.shared
          and (d.identifiers->>'iban' = u.name or d.identifiers->>'clabe' = u.name
            or (d.identifiers->>'accountNumber' = n.number and n.bank in (n.number, d.identifiers->>'sortCode', d.identifiers->>'routingNumber',
              d.identifiers->>'bsb', d.identifiers->>'bic', d.identifiers->>'bankCode')))
      group by u.name having count(distinct d.balance_id) = 1`,
  })
  return new Map(rows.map(([name, balanceId, customerId]) => [name, { balanceId, customerId }]))
}

/** A balance on this platform that a recipient's account details lead to. */
export interface PlatformAccount {
  readonly balanceId: string
  /** Whether the balance belongs to the operator of the paying customer. */
  readonly sameOperator: boolean
  /** The holder's name as the account records it, for the check of the payee's name. */
  readonly holderName: string
}

/**
 * SQL of the `PlatformAccount` that a jsonb `bank` names in a currency, for paying customers of `operator`; null when
 * no balance on this platform has the account.
 */
const platformAccount = ({
  bank,
  currency,
  operator,
}: {
  readonly bank: string
  readonly currency: string
  readonly operator: string
}): string => `(
  select json_build_object('balanceId', b.id, 'sameOperator', b.operator_id = ${operator}, 'holderName', d.account_holder_name)
  from account_details d join balance b on b.id = d.balance_id
  where b.currency = ${currency} and ${isAccountOf(bank)} order by d.status = 'active' desc, d.id limit 1)`

/** SQL of the balance that the account of a recipient `r` of a customer `c` leads to. */
export const PLATFORM_ACCOUNT = platformAccount({ bank: 'r.bank', currency: 'r.currency', operator: 'c.operator_id' })

/**
 * Finds the balance on this platform that bank details in a currency name, for a customer who wants to pay it (null when
 * there is none), and the customer's operator. Null for no such customer.
 *
 * @throws DatabaseUnavailable and the driver's errors
 */
export async function findPayeeFacts(
  database: Pick<Database, 'query'>,
  { customerId, currency, bank }: { readonly customerId: string; readonly currency: string; readonly bank: object },
): Promise<{ readonly operatorId: string; readonly platformAccount: PlatformAccount | null } | null> {
  const [row] = await database.query<[string, PlatformAccount | null]>({
    name: 'platform_account',
    values: [customerId, currency, JSON.stringify(bank)],
    text: `select c.operator_id, ${platformAccount({ bank: '$3::jsonb', currency: '$2', operator: 'c.operator_id' })} from customer c where c.id = $1`,
  })
  return row === undefined ? null : { operatorId: row[0], platformAccount: row[1] }
}

/** Balances whose details one statement writes. */
const CHUNK_BALANCES = 1_000

export interface ProvidedFor {
  readonly ids: IdSource
  readonly now: number
  /** All balances of an operator, or the listed balances. */
  readonly balances: { readonly operatorId: string } | readonly string[]
}

/**
 * Opens an account at the sandbox bank for each of the balances that needs active details and has none.
 *
 * @throws the driver's errors
 */
export async function provideSandboxAccounts(
  client: TransactionClient,
  { ids, now, balances: which }: ProvidedFor,
): Promise<void> {
  const given =
    'operatorId' in which
      ? { condition: 'b.operator_id = $1', value: which.operatorId }
      : { condition: 'b.id = any($1::uuid[])', value: plainArray(which) }
  const { rows: balances } = await client.query<{
    id: string
    customer_id: string
    connection_id: string
    shard: number
    currency: CurrencyCode
    holder: string
    number: string
  }>(
    `select b.id, b.customer_id, b.connection_id, b.shard, b.currency, c.legal_name as holder, nextval('sandbox_account_number') as number
     from balance b join customer c on c.id = b.customer_id
     where ${given.condition} and b.details_status = 'active' and not exists (select from account_details d where d.balance_id = b.id)`,
    [given.value],
  )
  for (let from = 0; from < balances.length; from += CHUNK_BALANCES) {
    const rows = balances.slice(from, from + CHUNK_BALANCES).flatMap((balance) =>
      sandboxAccounts(balance.currency, Number(balance.number)).map((terms) => ({
        id: ids.next(),
        customer_id: balance.customer_id,
        connection_id: balance.connection_id,
        shard: balance.shard,
        balance_id: balance.id,
        currency: balance.currency,
        scope: terms.scope,
        rails: terms.rails,
        status: 'active',
        account_holder_name: balance.holder,
        identifiers: terms.identifiers,
        bank_name: terms.bankName,
        bank_address: terms.bankAddress,
        country: terms.country,
        shared: false,
        estimated_arrival: terms.estimatedArrival,
        valid_from: timestamp(now),
        created_at: timestamp(now),
      })),
    )
    await client.query(
      `insert into account_details (id, customer_id, balance_id, currency, scope, rails, status, account_holder_name, identifiers, bank_name, bank_address, country,
         shared, estimated_arrival, valid_from, created_at, connection_id, shard)
       select * from jsonb_to_recordset($1) as u(id uuid, customer_id uuid, balance_id uuid, currency text, scope text, rails text[], status text,
         account_holder_name text, identifiers jsonb, bank_name text, bank_address jsonb, country text, shared boolean, estimated_arrival jsonb,
         valid_from timestamptz, created_at timestamptz, connection_id uuid, shard smallint)`,
      [JSON.stringify(rows)],
    )
  }
}

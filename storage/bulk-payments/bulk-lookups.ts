/** Lookups of the recipients, balances and payments that the rows of a file name, for hundreds of rows at a time. */
import { plainArray, textArray } from '../db/array-literal.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { Database } from '../db/database.ts'
import type { TransactionClient } from '../db/transaction.ts'
import type { BalanceStatus } from '../../lib/balances/closing.ts'
import { catchUp } from '../transactions/transactions.ts'

/** Reads the account identity of each recipient that is not deleted. */
export async function accountsOfRecipients(
  database: Database,
  customerId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  const rows = await database.query<[string, string | null]>({
    name: 'bulk_accounts',
    values: [customerId, plainArray(ids)],
    text: `select id, account_identity from recipient where customer_id = $1 and id = any($2::uuid[]) and status <> 'deleted'`,
  })
  return new Map(rows)
}

export const accountKey = (currency: string, accountIdentity: string): string => `${currency} ${accountIdentity}`

/** Finds the recipients that have these accounts, by `accountKey`. */
export async function recipientsWithAccounts(
  database: Database,
  customerId: string,
  accounts: readonly { readonly currency: string; readonly accountIdentity: string }[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await database.query<[string, string, string]>({
    name: 'bulk_recipients',
    values: [
      customerId,
      textArray(accounts.map(({ currency }) => currency)),
      textArray(accounts.map(({ accountIdentity }) => accountIdentity)),
    ],
    text: `select r.currency, r.account_identity, r.id from unnest($2::text[], $3::text[]) as a (currency, account_identity)
      join recipient r on r.customer_id = $1 and r.currency = a.currency and r.account_identity = a.account_identity and r.status <> 'deleted'`,
  })
  return new Map(rows.map(([currency, accountIdentity, id]) => [accountKey(currency, accountIdentity), id]))
}

/** Finds the payments that have these external ids already. */
export async function paymentsWithExternalIds(
  database: Database,
  customerId: string,
  externalIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await database.query<[string, string]>({
    name: 'bulk_external_ids',
    values: [customerId, textArray(externalIds)],
    text: 'select external_id, id from payment where customer_id = $1 and external_id = any($2::text[])',
  })
  return new Map(rows)
}

/** Finds the balances of a customer that these account numbers or IBANs lead to. */
export async function balancesWithAccounts(
  database: Database,
  customerId: string,
  accounts: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await database.query<[string, string]>({
    name: 'bulk_source_accounts',
    values: [customerId, textArray(accounts)],
    text: `select a.account, d.balance_id from unnest($2::text[]) as a (account)
      join account_details d on d.customer_id = $1 and d.status = 'active' and a.account in (d.identifiers->>'iban', d.identifiers->>'accountNumber')`,
  })
  return new Map(rows)
}

/** The fields that two payments share when they look like duplicates. */
export interface PaymentTraits {
  readonly recipientId: string
  readonly currency: string
  readonly amount: bigint
  readonly reference: string
}

export const traitsKey = ({ recipientId, currency, amount, reference }: PaymentTraits): string =>
  `${recipientId} ${currency} ${amount} ${reference}`

/**
 * Finds which of these resemble a payment made since `since` and not given up, as `traitsKey`, including all payments
 * committed before the call. Times are epoch milliseconds.
 */
export async function paymentsAlike(
  database: Database,
  customerId: string,
  payments: readonly PaymentTraits[],
  { since, now }: { readonly since: number; readonly now: number },
): Promise<ReadonlySet<string>> {
  await catchUp(database, customerId, now)
  const rows = await database.query<[string, string, string, string]>({
    name: 'bulk_alike',
    values: [
      customerId,
      timestamp(since),
      plainArray(payments.map(({ recipientId }) => recipientId)),
      plainArray(payments.map(({ currency }) => currency)),
      plainArray(payments.map(({ amount }) => amount)),
      textArray(payments.map(({ reference }) => reference)),
    ],
    text: `select distinct t.recipient_id, t.currency, t.amount, t.reference from unnest($3::uuid[], $4::text[], $5::bigint[], $6::text[]) as a (recipient_id, currency, amount, reference)
      join account_transaction t on t.customer_id = $1 and t.recipient_id = a.recipient_id and t.created_at >= $2 and t.type = 'outgoing_payment' and t.amount = a.amount and t.currency = a.currency
        and t.reference = a.reference and t.status not in ('failed', 'cancelled', 'rejected')`,
  })
  return new Set(
    rows.map(([recipientId, currency, amount, reference]) =>
      traitsKey({ recipientId, currency, amount: BigInt(amount), reference }),
    ),
  )
}

/** Reads the operator, shard and type of the customer that uploaded a file. @throws when the customer does not exist */
export async function uploaderOf(
  client: TransactionClient,
  customerId: string,
): Promise<{ readonly operatorId: string; readonly shard: number; readonly customerType: string }> {
  const {
    rows: [row],
  } = await client.query<{ operator_id: string; shard: number; customer_type: string }>({
    name: 'bulk_uploader',
    text: 'select operator_id, shard, customer_type from customer where id = $1',
    values: [customerId],
  })
  if (row === undefined) throw new Error(`The customer ${customerId} does not exist.`)
  return { operatorId: row.operator_id, shard: row.shard, customerType: row.customer_type }
}

/** Reads the status of a balance of a customer; null when the balance is not the customer's. */
export async function bulkSourceStatus(
  client: TransactionClient,
  customerId: string,
  balanceId: string,
): Promise<BalanceStatus | null> {
  const {
    rows: [row],
  } = await client.query<{ status: BalanceStatus }>({
    name: 'bulk_source',
    text: 'select status from balance where id = $1 and customer_id = $2',
    values: [balanceId, customerId],
  })
  return row?.status ?? null
}

/** The operators and customers of a sandbox: their rows, keys and opening credits. */
import { incomingEvent } from '../../lib/incoming-payments/postings.ts'
import { strict as assert } from 'node:assert'
import { timestamp } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { entry } from '../../lib/ledger/entry.ts'
import type { Effects } from '../../lib/decisions/effects.ts'
import { FEATURE_DEFAULTS } from '../../lib/operators/features.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import { provideSandboxAccounts } from '../accounts/account-details.ts'
import { commit } from '../sections/commit.ts'
import type { CommitTurn } from '../commit/turn.ts'
import { through } from '../db/transaction.ts'
import { insertApprovedCases } from '../onboarding/kyb-cases.ts'
import { insertSandboxBookings } from '../sandbox/sandbox-book.ts'
import {
  CHUNK_ROWS,
  insertRows,
  inTransaction,
  type Row,
  type SeedDeps,
  type SeedTransaction,
} from './seed-transaction.ts'
import { newKey } from './seed-keys.ts'
import { askForApproval, recipientsOf } from './seed-recipients.ts'

export const OPERATOR_NAME = 'Sandbox Operator'

/** A customer for `createSandboxCustomers` to make. */
export interface CustomerSpec {
  readonly legalName: string
  readonly number: string
  /** `amount` in minor units is credited by rule L01 (money that arrives from outside); zero credits nothing. */
  readonly balances: readonly { readonly currency: CurrencyCode; readonly amount: bigint; readonly name?: string }[]
  /** Three active recipients, one each in EUR, GBP and USD, and one that waits for approval. */
  readonly recipients?: boolean
}

export interface CreatedCustomer {
  readonly id: string
  readonly apiKeyId: string
  /** The text of a key with all scopes of a customer. */
  readonly apiKey: string
  /** In the order of the specification. */
  readonly balanceIds: readonly string[]
  readonly recipients: { readonly EUR: string; readonly GBP: string; readonly USD: string } | null
}

export interface SandboxOperator {
  readonly operatorId: string
  readonly connectionId: string
}

/** Makes an operator with an active connection to the sandbox bank. */
export async function createSandboxOperator(deps: SeedDeps, name = OPERATOR_NAME): Promise<SandboxOperator> {
  return await inTransaction(deps, (tx) => insertOperator(tx, name))
}

/**
 * Makes active customers with balances, opening credits and a key each, in one transaction: 10 000 funded balances take
 * about two seconds. Balances are credited in the order of the specification.
 *
 * @throws the driver's errors; then nothing was written.
 */
export async function createSandboxCustomers(
  deps: SeedDeps & SandboxOperator,
  specs: readonly CustomerSpec[],
): Promise<CreatedCustomer[]> {
  return await inTransaction(deps, (tx) => insertCustomers(tx, deps, specs))
}

/** Makes a single such customer. */
export async function createSandboxCustomer(
  deps: SeedDeps & SandboxOperator,
  spec: CustomerSpec,
): Promise<CreatedCustomer> {
  const [created] = await createSandboxCustomers(deps, [spec])
  return created!
}

export async function insertOperator({ client, ids, now }: SeedTransaction, name: string): Promise<SandboxOperator> {
  const operatorId = ids.next()
  const connectionId = ids.next()
  // A sandbox has all features.
  const features = Object.fromEntries(Object.keys(FEATURE_DEFAULTS).map((feature) => [feature, true]))
  await client.query('insert into operator (id, name, features, created_at) values ($1, $2, $3, $4)', [
    operatorId,
    name,
    JSON.stringify(features),
    timestamp(now),
  ])
  await client.query(
    `insert into provider_connection (id, operator_id, provider, environment, role, status, name, verified_at, activated_at, created_at)
     values ($1, $2, 'sandbox', 'sandbox', 'primary', 'active', 'Sandbox bank', $3, $3, $3)`,
    [connectionId, operatorId, timestamp(now)],
  )
  await client.query(
    `insert into kyc_connection (id, operator_id, provider, name, status, verified_at, activated_at, created_at, updated_at)
     values ($1, $2, 'sandbox', 'Sandbox', 'active', $3, $3, $3, $3)`,
    [ids.next(), operatorId, timestamp(now)],
  )
  return { operatorId, connectionId }
}

export async function insertCustomers(
  tx: SeedTransaction,
  operator: SandboxOperator,
  specs: readonly CustomerSpec[],
): Promise<CreatedCustomer[]> {
  const { operatorId, connectionId } = operator
  const at = timestamp(tx.now)
  const rows = { customer: [] as Row[], key: [] as Row[], balance: [] as Row[], recipient: [] as Row[] }
  const credits: Credit[] = []
  const created = specs.map((spec): CreatedCustomer => {
    const id = tx.ids.next()
    const shard = shardOf(id)
    const key = newKey(tx, { level: 'customer', tenantId: id, operatorId })
    rows.key.push(key.row)
    rows.customer.push({
      id,
      operator_id: operatorId,
      number: spec.number,
      legal_name: spec.legalName,
      customer_type: 'business',
      identity_type: 'corporate',
      incorporation_country: 'NL',
      risk: 'low',
      status: 'active',
      approved_at: at,
      shard,
      created_at: at,
      updated_at: at,
    })
    const seen = new Set<string>()
    const balanceIds = spec.balances.map(({ currency, amount, name }) => {
      const balanceId = tx.ids.next()
      rows.balance.push({
        id: balanceId,
        customer_id: id,
        operator_id: operatorId,
        connection_id: connectionId,
        shard,
        currency,
        name: name ?? `${currency} account`,
        type: 'main',
        status: 'active',
        is_default: !seen.has(currency),
        details_status: 'active',
        created_at: at,
        updated_at: at,
      })
      seen.add(currency)
      if (amount > 0n) credits.push({ customerId: id, operatorId, shard, balanceId, currency, amount })
      return balanceId
    })
    const recipients = spec.recipients === true ? recipientsOf(tx, { customerId: id, createdBy: key.id }) : null
    if (recipients !== null) rows.recipient.push(...recipients.rows)
    return { id, apiKeyId: key.id, apiKey: key.secret, balanceIds, recipients: recipients?.active ?? null }
  })
  await insertRows(tx.client, 'customer', rows.customer)
  await insertApprovedCases(
    tx.client,
    created.map(({ id }) => ({ id: tx.ids.next(), customerId: id })),
  )
  await insertRows(tx.client, 'api_key', rows.key)
  await insertRows(tx.client, 'balance', rows.balance)
  await provideSandboxAccounts(tx.client, {
    ids: tx.ids,
    now: tx.now,
    balances: rows.balance.map(({ id }) => id as string),
  })
  await insertRows(tx.client, 'recipient', rows.recipient)
  const waiting = rows.recipient.filter(({ status }) => status === 'pending_approval')
  for (let from = 0; from < waiting.length; from += CHUNK_ROWS)
    await askForApproval(tx, operatorId, waiting.slice(from, from + CHUNK_ROWS))
  for (const { currency } of specs.flatMap(({ balances }) => balances))
    await tx.accounts.accounts({ operatorId, connectionId, currency })
  for (let from = 0; from < credits.length; from += CHUNK_ROWS)
    await credit(tx, operator, credits.slice(from, from + CHUNK_ROWS))
  return created
}

interface Credit {
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly balanceId: string
  readonly currency: CurrencyCode
  readonly amount: bigint
}

/**
 * Credits money from outside: writes the incoming payment, the posting by rule L01, and the event, as for any credit
 * from outside.
 */
async function credit(
  tx: SeedTransaction,
  { operatorId, connectionId }: SandboxOperator,
  credits: readonly Credit[],
): Promise<void> {
  const arrivals: Row[] = []
  const turns: CommitTurn[] = []
  for (const { customerId, shard, balanceId, currency, amount } of credits) {
    const id = tx.ids.next()
    const payer = { payer_name: OPERATOR_NAME, reference: 'Opening balance' }
    arrivals.push({
      id,
      customer_id: customerId,
      balance_id: balanceId,
      operator_id: operatorId,
      connection_id: connectionId,
      shard,
      status: 'received',
      currency,
      amount,
      ...payer,
      value_date: timestamp(tx.now).slice(0, 10),
      received_at: timestamp(tx.now),
      credited_at: timestamp(tx.now),
      updated_at: timestamp(tx.now),
    })
    const effects: Effects = {
      postings: entry({
        rule: 'L01',
        amounts: { A: amount },
        currency,
        accounts: await tx.accounts.accounts({ operatorId, connectionId, currency }),
        balances: { from: balanceId, to: { id: balanceId, fence: 'open' } },
        entryId: tx.ids.next(),
        customerId,
        source: { object: 'incoming_payment', id },
        description: 'Opening balance',
        reference: payer.reference,
        counterparty: payer.payer_name,
        bookedAt: tx.now,
        valueDate: timestamp(tx.now).slice(0, 10),
      }),
      events: [
        incomingEvent(
          { id, customerId, operatorId, shard, amount, currency },
          {
            id: tx.ids.next(),
            type: 'incoming_payment.received',
            status: 'received',
            previousStatus: null,
            at: tx.now,
          },
        ),
      ],
    }
    turns.push({ fence: null, commands: [{ effects }] })
  }
  await insertRows(tx.client, 'incoming_payment', arrivals)
  // The bank has this money in its own book, too.
  await insertSandboxBookings(
    through(tx.client),
    arrivals.map(({ id, currency, amount, reference }) => ({
      id: id as string,
      connectionId,
      currency: currency as string,
      reference: id as string,
      direction: 'CRDT',
      amount: amount as bigint,
      at: tx.now,
      code: 'RCDT',
      text: reference as string,
    })),
  )
  const result = await commit(
    { query: (statement) => tx.client.query(statement) as Promise<{ rows: unknown[][] }> },
    turns,
    tx.now,
  )
  assert(result.ok, 'the opening credits were refused')
}

/**
 * Seeds a sandbox: an operator with a connection to the sandbox bank, and a customer with money, recipients and keys.
 * The money arrives as in production: an incoming payment, posted by rule L01 through the commit, with its event.
 *
 * - S1: One transaction: an interrupted start leaves nothing behind, and the next one seeds from the beginning.
 * - S2: Nodes that start at the same time take turns under an advisory lock; one seeds, the others find the content.
 * - S3: Keys are stored as hashes only. They are derived from the service's secret, as its users are: nodes with the
 *   same secret derive the same keys, and a lost file can be restored. Under another secret new keys are made, and the
 *   old ones stop working.
 */
import { strict as assert } from 'node:assert'
import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { apiKeyHash, CUSTOMER_SCOPES, generateApiKey, OPERATOR_SCOPES } from '../../lib/identity/api-key.ts'
import { timestamp, type Clock } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { entry } from '../../lib/ledger/entry.ts'
import type { Effects } from '../../lib/decisions/effects.ts'
import { DEFAULT_TIER } from '../../lib/approvals/policy.ts'
import { opening, summary } from '../../lib/approvals/opening.ts'
import { maskAccountNumber, maskIban } from '../../lib/recipients/masking.ts'
import { openedReview } from '../../lib/recipients/review.ts'
import { accountIdentityOf } from '../../lib/recipients/validation.ts'
import { FEATURE_DEFAULTS } from '../../lib/operators/features.ts'
import type { SecretBox } from '../../lib/security/secret-box.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import { provideSandboxAccounts } from '../accounts/account-details.ts'
import { writeEffects } from '../sections/write-effects.ts'
import { plainArray, textArray } from '../db/array-literal.ts'
import { commit } from '../sections/commit.ts'
import type { CommitTurn } from '../commit/turn.ts'
import type { Database } from '../db/database.ts'
import { InternalAccountCache } from '../journal/internal-account-cache.ts'
import { seedActivity } from './seed-activity.ts'
import { through } from '../db/transaction.ts'
import { insertSandboxBookings } from '../sandbox/sandbox-book.ts'

/** The content of `sandbox.json`, with the text of the keys. */
export interface SandboxContent {
  readonly operator: { readonly id: string; readonly apiKey: string }
  readonly customer: {
    readonly id: string
    readonly apiKey: string
    readonly balances: { readonly EUR: string; readonly GBP: string; readonly USD: string; readonly JPY: string }
    readonly recipients: { readonly EUR: string; readonly GBP: string; readonly USD: string }
  }
}

export interface SeedDeps {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  /** Random bytes for keys; replaced only by tests that need repeatable keys. */
  readonly random?: (bytes: number) => Uint8Array
}

/** The advisory lock of S2; any fixed number works, this one spells "seed". */
const SEED_LOCK = '0x73656564'

const OPERATOR_NAME = 'Sandbox Operator'
const COMPANY_NAME = 'Sandbox Company'
const COMPANY_NUMBER = 'SANDBOX-1'
const KEY_NAME = 'Sandbox key'

/** 100 000.00, in currencies of two decimals. */
const OPENING_MINOR = 10_000_000n

/** Nodes that start together against one database each need a key of their own; an older key has lost its file. */
const START_TOGETHER_MS = 10_000

/** Rows of one statement when many are made: beyond this, larger statements are not faster. */
const CHUNK_ROWS = 1_000

/**
 * Makes the content of a new sandbox, or finds it. `kept` is the content of `sandbox.json`, null when there is no such
 * file: if its keys work, it is returned unchanged; otherwise, if the keys derived from the secret work, those are
 * returned. Otherwise the ids are returned with new keys, and the keys seeded before are revoked.
 *
 * @throws the driver's errors; then nothing was written.
 */
export async function seedSandbox(
  world: SeedDeps & { readonly kept: SandboxContent | null; readonly secrets?: Pick<SecretBox, 'derive'> },
): Promise<SandboxContent> {
  return await inTransaction(world, async (tx) => {
    await tx.client.query(`select pg_advisory_xact_lock(${SEED_LOCK})`)
    const found = await findSeed(tx)
    if (found !== null) {
      await provideSandboxAccounts(tx.client, { ids: tx.ids, now: tx.now, balances: { operatorId: found.operatorId } })
      return await renewKeys(tx, found, world.kept)
    }
    return await makeSeed(tx)
  })
}

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
export async function createSandboxOperator(world: SeedDeps, name = OPERATOR_NAME): Promise<SandboxOperator> {
  return await inTransaction(world, (tx) => insertOperator(tx, name))
}

/**
 * Makes active customers with balances, opening credits and a key each, in one transaction: 10 000 funded balances take
 * about two seconds. Balances are credited in the order of the specification.
 *
 * @throws the driver's errors; then nothing was written.
 */
export async function createSandboxCustomers(
  world: SeedDeps & SandboxOperator,
  specs: readonly CustomerSpec[],
): Promise<CreatedCustomer[]> {
  return await inTransaction(world, (tx) => insertCustomers(tx, world, specs))
}

/** Makes a single such customer. */
export async function createSandboxCustomer(
  world: SeedDeps & SandboxOperator,
  spec: CustomerSpec,
): Promise<CreatedCustomer> {
  const [created] = await createSandboxCustomers(world, [spec])
  return created!
}

// ── The sandbox ───────────────────────────────────────────────────────────────────────────────────────────────────────

interface Transaction {
  readonly client: pg.PoolClient
  readonly ids: IdSource
  readonly now: number
  /** The source of a tenant's keys: random bytes, or bytes derived from the service's secret. */
  readonly keyBytes: (tenantId: string) => (bytes: number) => Uint8Array
  readonly accounts: InternalAccountCache
}

/** The content that an earlier seed made. */
interface Found {
  readonly operatorId: string
  readonly customerId: string
  readonly balances: SandboxContent['customer']['balances']
  readonly recipients: SandboxContent['customer']['recipients']
}

async function makeSeed(tx: Transaction): Promise<SandboxContent> {
  const operator = await insertOperator(tx, OPERATOR_NAME)
  const [customer] = await insertCustomers(tx, operator, [
    {
      legalName: COMPANY_NAME,
      number: COMPANY_NUMBER,
      balances: [
        { currency: 'EUR', amount: OPENING_MINOR },
        { currency: 'GBP', amount: OPENING_MINOR },
        { currency: 'USD', amount: OPENING_MINOR },
        { currency: 'JPY', amount: 0n },
      ],
      recipients: true,
    },
  ])
  const [EUR, GBP, USD, JPY] = customer!.balanceIds as [string, string, string, string]
  await seedActivity(tx, {
    customerId: customer!.id,
    balanceId: EUR,
    author: { id: operator.operatorId, name: OPERATOR_NAME },
  })
  const apiKey = await insertKey(tx, {
    level: 'operator',
    tenantId: operator.operatorId,
    operatorId: operator.operatorId,
  })
  return {
    operator: { id: operator.operatorId, apiKey },
    customer: {
      id: customer!.id,
      apiKey: customer!.apiKey,
      balances: { EUR, GBP, USD, JPY },
      recipients: customer!.recipients!,
    },
  }
}

async function findSeed({ client }: Transaction): Promise<Found | null> {
  const {
    rows: [customer],
  } = await client.query<{ id: string; operator_id: string }>(
    `select c.id, c.operator_id from customer c join operator o on o.id = c.operator_id
     where c.number = $1 and o.name = $2 order by c.id limit 1`,
    [COMPANY_NUMBER, OPERATOR_NAME],
  )
  if (customer === undefined) return null
  // The first of each: balances and recipients made later are not the seed's.
  const first = async (text: string): Promise<Record<string, string>> => {
    const { rows } = await client.query<{ currency: string; id: string }>(text, [customer.id])
    return Object.fromEntries(rows.map(({ currency, id }) => [currency, id]))
  }
  const balances = await first(
    'select distinct on (currency) currency, id from balance where customer_id = $1 order by currency, id',
  )
  const recipients = await first(
    `select distinct on (currency) currency, id from recipient where customer_id = $1 and external_id like 'sandbox-%' order by currency, id`,
  )
  return {
    operatorId: customer.operator_id,
    customerId: customer.id,
    balances: pick(balances, ['EUR', 'GBP', 'USD', 'JPY']),
    recipients: pick(recipients, ['EUR', 'GBP', 'USD']),
  }
}

function pick<Name extends string>(found: Record<string, string>, names: readonly Name[]): Record<Name, string> {
  return Object.fromEntries(
    names.map((name) => {
      assert(found[name] !== undefined, `the sandbox has lost its ${name}`)
      return [name, found[name]]
    }),
  ) as Record<Name, string>
}

/** Returns working keys of a seeded sandbox, or makes new ones (S3). */
async function renewKeys(tx: Transaction, found: Found, kept: SandboxContent | null): Promise<SandboxContent> {
  const { operatorId, customerId, balances, recipients } = found
  if (kept !== null && (await keysWork(tx, found, kept))) return kept
  const own: SandboxContent = {
    operator: { id: operatorId, apiKey: keyText(tx, operatorId) },
    customer: { id: customerId, apiKey: keyText(tx, customerId), balances, recipients },
  }
  if (await keysWork(tx, found, own)) return own
  await tx.client.query(
    `update api_key set status = 'revoked', revoked_at = now()
     where operator_id = $1 and tenant_id in ($1, $2) and name = $3 and status = 'active' and created_at <= $4`,
    [operatorId, customerId, KEY_NAME, timestamp(tx.now - START_TOGETHER_MS)],
  )
  // A key that was revoked, by the seed or by a user, is not made again.
  const {
    rows: [used],
  } = await tx.client.query('select from api_key where sha256 = any($1::bytea[])', [
    [own.operator.apiKey, own.customer.apiKey].map((text) => Buffer.from(apiKeyHash(text), 'hex')),
  ])
  const making = used === undefined ? tx : { ...tx, keyBytes: () => randomBytes }
  return {
    operator: {
      id: operatorId,
      apiKey: await insertKey(making, { level: 'operator', tenantId: operatorId, operatorId }),
    },
    customer: {
      id: customerId,
      apiKey: await insertKey(making, { level: 'customer', tenantId: customerId, operatorId }),
      balances,
      recipients,
    },
  }
}

const keyText = ({ keyBytes }: Transaction, tenantId: string): string =>
  generateApiKey('test', keyBytes(tenantId)).secret

/** A source of bytes that are the same at every start. */
function derivedBytes(secrets: Pick<SecretBox, 'derive'>, tenantId: string): (bytes: number) => Uint8Array {
  let nth = 0
  return (bytes) => secrets.derive(`sandbox key of ${tenantId} ${nth++}`, bytes)
}

async function keysWork(
  { client }: Transaction,
  { operatorId, customerId }: Found,
  kept: SandboxContent,
): Promise<boolean> {
  const {
    rows: [working],
  } = await client.query<{ keys: number }>(
    `select count(*)::int as keys from api_key where status = 'active'
       and (tenant_id, sha256) in (($1, decode($2, 'hex')), ($3, decode($4, 'hex')))`,
    [operatorId, apiKeyHash(kept.operator.apiKey), customerId, apiKeyHash(kept.customer.apiKey)],
  )
  return working!.keys === 2
}

// ── Rows ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

async function insertOperator({ client, ids, now }: Transaction, name: string): Promise<SandboxOperator> {
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
    `insert into provider_connection (id, operator_id, provider, environment, role, status, name, created_at)
     values ($1, $2, 'sandbox', 'sandbox', 'primary', 'active', 'Sandbox bank', $3)`,
    [connectionId, operatorId, timestamp(now)],
  )
  return { operatorId, connectionId }
}

async function insertKey(
  tx: Transaction,
  owner: { readonly level: 'customer' | 'operator'; readonly tenantId: string; readonly operatorId: string },
): Promise<string> {
  const { secret, row } = newKey(tx, owner)
  await insertRows(tx.client, 'api_key', [row])
  return secret
}

function newKey(
  tx: Transaction,
  owner: { readonly level: 'customer' | 'operator'; readonly tenantId: string; readonly operatorId: string },
) {
  const { secret, prefix, sha256 } = generateApiKey('test', tx.keyBytes(owner.tenantId))
  const id = tx.ids.next()
  const row = {
    id,
    level: owner.level,
    tenant_id: owner.tenantId,
    operator_id: owner.operatorId,
    name: KEY_NAME,
    environment: 'test',
    prefix,
    sha256: `\\x${sha256}`,
    scopes: `{${(owner.level === 'operator' ? OPERATOR_SCOPES : CUSTOMER_SCOPES).join(',')}}`,
    status: 'active',
    // A key has no other requester: it is its own.
    created_by: id,
    created_at: timestamp(tx.now),
  }
  return { id, secret, row }
}

async function insertCustomers(
  tx: Transaction,
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
      status: 'active',
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
  tx: Transaction,
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
        {
          id: tx.ids.next(),
          createdAt: tx.now,
          customerId,
          operatorId,
          shard,
          type: 'incoming_payment.received',
          object: 'incoming_payment',
          objectId: id,
          status: 'received',
          previousStatus: null,
          amount,
          currency,
        },
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

// ── Recipients ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Account numbers of the sandbox bank: their check digits are right, their banks do not exist. */
const SANDBOX_RECIPIENTS = [
  {
    key: 'EUR',
    currency: 'EUR',
    country: 'NL',
    name: 'Amsterdam Trading BV',
    status: 'active',
    bank: { iban: 'NL77SBOX0100000001', bic: 'SBOXNL2A' },
    masked: maskIban('NL77SBOX0100000001'),
  },
  {
    key: 'GBP',
    currency: 'GBP',
    country: 'GB',
    name: 'London Supplies Ltd',
    status: 'active',
    bank: { sortCode: '990001', accountNumber: '10000001' },
    masked: maskAccountNumber('10000001'),
  },
  {
    key: 'USD',
    currency: 'USD',
    country: 'US',
    name: 'New York Services Inc',
    status: 'active',
    bank: { routingNumber: '099000011', accountNumber: '1000000001', accountType: 'checking' },
    masked: maskAccountNumber('1000000001'),
  },
  {
    key: 'pending',
    currency: 'EUR',
    country: 'NL',
    name: 'Rotterdam Freight BV',
    status: 'pending_approval',
    bank: { iban: 'NL50SBOX0100000002', bic: 'SBOXNL2A' },
    masked: maskIban('NL50SBOX0100000002'),
  },
] as const

const SANDBOX_ADDRESSES: Readonly<Record<string, object>> = {
  NL: address('Keizersgracht', '1', 'Amsterdam', { postalCode: '1015CJ', country: 'NL' }),
  GB: address('Fleet Street', '1', 'London', { postalCode: 'EC4Y 1AA', country: 'GB' }),
  US: address('Broadway', '1', 'New York', { postalCode: '10004', state: 'NY', country: 'US' }),
}

function address(
  line1: string,
  buildingNumber: string,
  city: string,
  rest: { readonly postalCode: string; readonly state?: string; readonly country: string },
): object {
  return {
    line1,
    line2: null,
    buildingNumber,
    city,
    postalCode: rest.postalCode,
    state: rest.state ?? null,
    country: rest.country,
  }
}

/**
 * Recipients made by a key wait for an approval, so an approval is opened for each. A new sandbox sends no mail:
 * approvers see the approvals when they sign in.
 */
async function askForApproval(tx: Transaction, operatorId: string, recipients: readonly Row[]): Promise<void> {
  if (recipients.length === 0) return
  const asked = recipients.map(
    ({ id, customer_id: customerId, created_by: requestedBy, name, masked_identifier: recipientMaskedIdentifier }) =>
      opening(
        {
          id: tx.ids.next(),
          eventId: tx.ids.next(),
          customerId: customerId as string,
          operatorId,
          shard: shardOf(customerId as string),
          subjectType: 'recipient',
          subjectId: id as string,
          subject: summary({
            title: `Recipient ${name as string}`,
            recipientName: name as string,
            recipientMaskedIdentifier: recipientMaskedIdentifier as string,
          }),
          kind: 'recipient',
          source: 'recipient',
          tier: DEFAULT_TIER,
          tierCurrency: 'EUR',
          requestedBy: requestedBy as string,
          requestedByName: KEY_NAME,
          sandboxDecision: null,
        },
        tx.now,
      ),
  )
  const approvals = asked.flatMap((one) => one.approvals)
  await writeEffects(tx, { approvals, events: asked.flatMap((one) => one.events) })
  await tx.client.query('update approval set announced_at = created_at, wake_at = expires_at where id = any($1)', [
    approvals.map(({ id }) => id),
  ])
  await tx.client.query(
    'update recipient r set approval = u.approval::jsonb from unnest($1::uuid[], $2::text[]) u(id, approval) where r.id = u.id',
    [
      approvals.map(({ subjectId }) => subjectId),
      approvals.map(({ id }) => JSON.stringify(openedReview('customer_tier', 'customer', id, tx.now))),
    ],
  )
}

function recipientsOf(
  { ids, now }: Transaction,
  { customerId, createdBy }: { readonly customerId: string; readonly createdBy: string },
) {
  const rows = SANDBOX_RECIPIENTS.map(
    ({ key, currency, country, name, status, bank, masked }): Row => ({
      id: ids.next(),
      customer_id: customerId,
      type: 'business',
      name,
      currency,
      bank_country: country,
      bank: JSON.stringify(bank),
      address: JSON.stringify(SANDBOX_ADDRESSES[country]),
      masked_identifier: masked,
      account_identity: accountIdentityOf(country, bank),
      external_id: `sandbox-${key}`,
      status,
      created_by: createdBy,
      created_at: timestamp(now),
      updated_at: timestamp(now),
    }),
  )
  const [EUR, GBP, USD] = rows.map(({ id }) => id as string) as [string, string, string]
  return { rows, active: { EUR, GBP, USD } }
}

// ── Statements ────────────────────────────────────────────────────────────────────────────────────────────────────────

type Row = Readonly<Record<string, string | number | bigint | boolean>>

/** Types of the inserted columns, which are the types of the bound arrays. */
const COLUMN_TYPES: Readonly<Record<string, string>> = {
  id: 'uuid',
  operator_id: 'uuid',
  customer_id: 'uuid',
  connection_id: 'uuid',
  tenant_id: 'uuid',
  balance_id: 'uuid',
  created_by: 'uuid',
  shard: 'smallint',
  is_default: 'boolean',
  sha256: 'bytea',
  amount: 'bigint',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  received_at: 'timestamptz',
  credited_at: 'timestamptz',
  value_date: 'date',
  bank: 'jsonb',
  address: 'jsonb',
}

/** Inserts rows with the same columns, a thousand per statement. */
async function insertRows(client: pg.PoolClient, table: string, rows: readonly Row[]): Promise<void> {
  for (let from = 0; from < rows.length; from += CHUNK_ROWS) {
    const chunk = rows.slice(from, from + CHUNK_ROWS)
    const names = Object.keys(chunk[0]!)
    const arrays = names.map((name) => {
      const values = chunk.map((row) => String(row[name]))
      return COLUMN_TYPES[name] === undefined || COLUMN_TYPES[name] === 'jsonb' || COLUMN_TYPES[name] === 'bytea'
        ? textArray(values)
        : plainArray(values)
    })
    const types = names.map((name, index) => `$${index + 1}::${COLUMN_TYPES[name] ?? 'text'}[]`)
    // `unnest` would flatten an array of arrays, so the scopes of keys are bound as the text of an array.
    const selected = names.map((name) => (name === 'scopes' ? 'u.scopes::text[]' : `u.${name}`))
    await client.query(
      `insert into ${table} (${names.join(', ')}) select ${selected.join(', ')} from unnest(${types.join(', ')}) as u(${names.join(', ')})`,
      arrays,
    )
  }
}

async function inTransaction<Result>(
  world: SeedDeps & { readonly secrets?: Pick<SecretBox, 'derive'> },
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const { database, clock, ids, secrets, random = randomBytes } = world
  const keyBytes = (tenantId: string) => (secrets === undefined ? random : derivedBytes(secrets, tenantId))
  return await database.hold(async (client, broken) => {
    // Accounts are made within the same transaction, at their first use.
    const within = { ...through(client), assertFree: () => undefined }
    try {
      await client.query('begin')
      const result = await work({
        client,
        ids,
        now: clock.now(),
        keyBytes,
        accounts: new InternalAccountCache(within, ids),
      })
      await client.query('commit')
      return result
    } catch (error) {
      await client.query('rollback').catch(() => {
        /* The connection is lost, and the transaction with it. */
      })
      broken(error as Error)
      throw error
    }
  })
}

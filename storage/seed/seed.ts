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
import { apiKeyHash } from '../../lib/identity/api-key.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { SecretBox } from '../../lib/security/secret-box.ts'
import { provideSandboxAccounts } from '../accounts/account-details.ts'
import { seedActivity } from './seed-activity.ts'
import { inTransaction, type SeedDeps, type SeedTransaction } from './seed-transaction.ts'
import { insertCustomers, insertOperator, OPERATOR_NAME } from './seed-customers.ts'
import { insertKey, KEY_NAME, keyText } from './seed-keys.ts'

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

/** The advisory lock of S2; any fixed number works, this one spells "seed". */
const SEED_LOCK = '0x73656564'

const COMPANY_NAME = 'Sandbox Company'
const COMPANY_NUMBER = 'SANDBOX-1'

/** 100 000.00, in currencies of two decimals. */
const OPENING_MINOR = 10_000_000n

/** Nodes that start together against one database each need a key of their own; an older key has lost its file. */
const START_TOGETHER_MS = 10_000

/**
 * Makes the content of a new sandbox, or finds it. `kept` is the content of `sandbox.json`, null when there is no such
 * file: if its keys work, it is returned unchanged; otherwise, if the keys derived from the secret work, those are
 * returned. Otherwise the ids are returned with new keys, and the keys seeded before are revoked.
 *
 * @throws the driver's errors; then nothing was written.
 */
export async function seedSandbox(
  deps: SeedDeps & { readonly kept: SandboxContent | null; readonly secrets?: Pick<SecretBox, 'derive'> },
): Promise<SandboxContent> {
  return await inTransaction(deps, async (tx) => {
    await tx.client.query(`select pg_advisory_xact_lock(${SEED_LOCK})`)
    const found = await findSeed(tx)
    if (found !== null) {
      await provideSandboxAccounts(tx.client, { ids: tx.ids, now: tx.now, balances: { operatorId: found.operatorId } })
      return await renewKeys(tx, found, deps.kept)
    }
    return await makeSeed(tx)
  })
}

/** The content that an earlier seed made. */
interface Found {
  readonly operatorId: string
  readonly customerId: string
  readonly balances: SandboxContent['customer']['balances']
  readonly recipients: SandboxContent['customer']['recipients']
}

async function makeSeed(tx: SeedTransaction): Promise<SandboxContent> {
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

async function findSeed({ client }: SeedTransaction): Promise<Found | null> {
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
async function renewKeys(tx: SeedTransaction, found: Found, kept: SandboxContent | null): Promise<SandboxContent> {
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

async function keysWork(
  { client }: SeedTransaction,
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

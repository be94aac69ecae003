/**
 * Recipients as payments see them, remembered per node. What is remembered may be old: a payment's commit compares the
 * version, and a stale one comes back here with `forget` (I3).
 */
import { LRUCache } from 'lru-cache'
import type { Editor } from '../../lib/approvals/requesters.ts'
import type { RecipientSnapshot } from '../../lib/payments/payment.ts'
import { railTable, type BankField, type RailTable } from '../../lib/rails/rails.ts'
import { payeeOf } from '../../lib/recipients/payee.ts'
import type { PayeeQuestion, RecipientVerification, VerificationPolicy } from '../../lib/recipients/verification.ts'
import { IS_OWN_ACCOUNT, PLATFORM_ACCOUNT, type PlatformAccount } from '../accounts/account-details.ts'
import { plainArray } from '../db/array-literal.ts'
import { railLimitsOf, type RailLimitsJson } from '../operators/rail-limits.ts'
import type { Database } from '../db/database.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { REQUIRES_VERIFICATION } from './verification-policy.ts'

/** About 600 bytes each. */
const REMEMBERED_MAX = 20_000
/** Tables of rails: one for each set of limits that an operator has. */
const TABLES_MAX = 64

/**
 * A digest of what a review of a recipient looks at, of a row called `r`: while it stays the same, what was approved is what
 * will be paid.
 */
export const REVIEWED_DIGEST = `encode(sha256(convert_to(jsonb_build_array(r.name, r.type, r.currency, r.bank_country, r.bank, r.address)::text, 'UTF8')), 'hex')`

export interface PayableRecipient extends RecipientSnapshot {
  readonly id: string
  readonly customerId: string
  readonly status: string
  readonly version: bigint
  readonly digest: string
  /** The bank details that are filled in, and `address` when there is one: what a rail may need. */
  readonly fields: ReadonlySet<BankField>
  readonly defaultReference: string | null
  /** Who changed its account, name or address, and when last. */
  readonly editors: readonly Editor[]
  /**
   * Whether it is an account of the customer's own. This alone is not compared by the commit: account details that come or go are
   * told to every node, and until it has heard a node at most asks for an approval that is not needed, or lets money go to an
   * account that was the customer's own a moment ago.
   */
  readonly ownAccount: boolean
  /**
   * The balance on this platform that its account is, in the recipient's currency; null for an account elsewhere. Like `ownAccount` it
   * may be old for a moment: a payment keeps the balance, and the commit that credits the balance asks whether it takes money.
   */
  readonly platformAccount: PlatformAccount | null
  readonly iban: string | null
  /** How its name is checked with its bank; null where no scheme reaches it. */
  readonly payee: PayeeQuestion | null
  /** The last check that was kept. */
  readonly verification: RecipientVerification | null
  /** What its customer and the operator want and allow. */
  readonly verificationPolicy: VerificationPolicy
  /** The rails under its limits. The paying balance knows the version that holds, and says so when this one is another. */
  readonly rails: { readonly version: number; readonly table: RailTable }
}

export class RecipientCache {
  readonly #database: Database
  readonly #remembered = new LRUCache<string, PayableRecipient>({ max: REMEMBERED_MAX })
  /** Reads under way, so that many payments to one recipient at once share one. */
  readonly #reading = new Map<string, Promise<PayableRecipient | null>>()

  constructor(database: Database) { this.#database = database }

  /** One recipient, or null. @throws what the driver throws */
  async find(id: string): Promise<PayableRecipient | null> {
    this.#database.assertFree()
    return this.#remembered.get(id) ?? await (this.#reading.get(id) ?? this.#read(id))
  }

  /** Those of many that there are, by id: what is not remembered is read at once. @throws what the driver throws */
  async findMany(ids: readonly string[]): Promise<ReadonlyMap<string, PayableRecipient>> {
    this.#database.assertFree()
    const found = new Map<string, PayableRecipient>()
    const unknown = [...new Set(ids)].filter((id) => {
      const remembered = this.#remembered.get(id)
      if (remembered !== undefined) found.set(id, remembered)
      return remembered === undefined
    })
    // Not remembered: a file of many thousand would push out everybody else's.
    if (unknown.length > 0) for (const recipient of await load(this.#database, unknown)) found.set(recipient.id, recipient)
    return found
  }

  #read(id: string): Promise<PayableRecipient | null> {
    const reading = load(this.#database, [id]).then(([found]) => {
      // What was read before it had to be forgotten is not kept.
      if (found !== undefined && this.#reading.get(id) === reading) this.#remembered.set(id, found)
      return found ?? null
    }).finally(() => {
      if (this.#reading.get(id) === reading) this.#reading.delete(id)
    })
    this.#reading.set(id, reading)
    return reading
  }

  /** The next find reads it again. */
  forget(id: string): void {
    this.#remembered.delete(id)
    this.#reading.delete(id)
  }

  /** The next find of any of a customer's reads it again. */
  forgetOf(customerId: string): void {
    for (const [id, recipient] of this.#remembered.entries()) if (recipient.customerId === customerId) this.#remembered.delete(id)
    // Whose the ones are that are being read is not known yet.
    this.#reading.clear()
  }

  /** The next find reads any of them again. */
  forgetAll(): void {
    this.#remembered.clear()
    this.#reading.clear()
  }
}

type PayableColumns = [string, string, string, 'business' | 'individual', string, string, string, string, string, Record<string, string | null>, boolean, string | null, string, RecipientVerification | null, boolean, string[], boolean, RailLimitsJson, number, PlatformAccount | null, Editor[]]

async function load(database: Database, ids: readonly string[]): Promise<PayableRecipient[]> {
  const rows = await database.query<PayableColumns>({
    name: 'payable_recipient',
    text: `select r.id, r.customer_id, r.name, r.type, r.masked_identifier, r.currency, r.bank_country, r.status, r.version, r.bank, r.address is not null,
        r.default_reference, ${REVIEWED_DIGEST}, r.verification, ${REQUIRES_VERIFICATION}, o.recipient_allowed_overrides, ${IS_OWN_ACCOUNT}, o.rail_limits, o.rail_version, ${PLATFORM_ACCOUNT}, r.editors
      from recipient r join customer c on c.id = r.customer_id join operator o on o.id = c.operator_id where r.id = any($1::uuid[]) and r.status <> 'deleted'`,
    values: [plainArray(ids)],
  })
  return rows.map(payableRecipient)
}

/** Operators share most of their limits with all of their recipients, so a table is made once. */
const tables = new LRUCache<string, RailTable>({ max: TABLES_MAX })

function tableOf(limits: RailLimitsJson): RailTable {
  const text = JSON.stringify(limits)
  const table = tables.get(text) ?? railTable(railLimitsOf(limits))
  tables.set(text, table)
  return table
}

function payableRecipient(row: PayableColumns): PayableRecipient {
  const [id, customerId, name, type, maskedIdentifier, currency, bankCountry, status, version, bank, hasAddress, defaultReference, digest, verification, requireVerification, allowedOverrides, ownAccount, railLimits, railVersion, platformAccount, editors] = row
  const fields = new Set(Object.keys(bank).filter((field) => bank[field] !== null) as BankField[])
  if (hasAddress) fields.add('address')
  return {
    id, customerId, name, type, maskedIdentifier, currency, bankCountry, status, version: BigInt(version), digest, fields, defaultReference, editors, ownAccount, platformAccount,
    iban: bank['iban'] ?? null, payee: payeeOf({ name, type, currency, bankCountry, bank }), verification, verificationPolicy: { requireVerification, allowedOverrides },
    rails: { version: railVersion, table: tableOf(railLimits) },
  }
}

/** A recipient as its review sees it now; null when there is none. */
export async function readReviewed(client: Pick<TransactionClient, 'query'>, id: string): Promise<{ readonly status: string; readonly digest: string; readonly maskedIdentifier: string } | null> {
  const { rows: [row] } = await client.query<{ status: string; digest: string; masked_identifier: string }>({
    name: 'reviewed_recipient', text: `select r.status, r.masked_identifier, ${REVIEWED_DIGEST} as digest from recipient r where r.id = $1`, values: [id],
  })
  return row === undefined ? null : { status: row.status, digest: row.digest, maskedIdentifier: row.masked_identifier }
}

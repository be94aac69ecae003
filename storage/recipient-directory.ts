/**
 * Recipients as payments see them, remembered per node. What is remembered may be old: a payment's commit compares the
 * version, and a stale one comes back here with `forget` (I3).
 */
import { LRUCache } from 'lru-cache'
import type { RecipientSnapshot } from '../lib/payments/payment.ts'
import type { BankField } from '../lib/payments/rails.ts'
import { payeeOf } from '../lib/recipients/payee.ts'
import type { PayeeQuestion, RecipientVerification, VerificationPolicy } from '../lib/recipients/verification.ts'
import { IS_OWN_ACCOUNT } from './account-details.ts'
import type { Database } from './database.ts'
import type { TransactionClient } from './transaction.ts'

/** About 600 bytes each. */
const REMEMBERED_MAX = 20_000

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
  /**
   * Whether it is an account of the customer's own. This alone is not compared by the commit: account details that come or go are
   * told to every node, and until it has heard a node at most asks for an approval that is not needed, or lets money go to an
   * account that was the customer's own a moment ago.
   */
  readonly ownAccount: boolean
  readonly iban: string | null
  /** How its name is checked with its bank; null where no scheme reaches it. */
  readonly payee: PayeeQuestion | null
  /** The last check that was kept. */
  readonly verification: RecipientVerification | null
  /** What the operator of its customer allows. */
  readonly verificationPolicy: VerificationPolicy
}

export class RecipientDirectory {
  readonly #database: Database
  readonly #remembered = new LRUCache<string, PayableRecipient>({ max: REMEMBERED_MAX })
  /** Reads under way, so that many payments to one recipient at once share one. */
  readonly #reading = new Map<string, Promise<PayableRecipient | null>>()

  constructor(database: Database) { this.#database = database }

  /** One recipient, or null. @throws what the driver throws */
  async find(id: string): Promise<PayableRecipient | null> {
    return this.#remembered.get(id) ?? await (this.#reading.get(id) ?? this.#read(id))
  }

  #read(id: string): Promise<PayableRecipient | null> {
    const reading = load(this.#database, id).then((found) => {
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

  /** The next find reads any of them again. */
  forgetAll(): void {
    this.#remembered.clear()
    this.#reading.clear()
  }
}

async function load(database: Database, id: string): Promise<PayableRecipient | undefined> {
  const [row] = await database.query<[string, string, 'business' | 'individual', string, string, string, string, string, Record<string, string | null>, boolean, string | null, string, RecipientVerification | null, boolean, string[], boolean]>({
    name: 'payable_recipient',
    text: `select r.customer_id, r.name, r.type, r.masked_identifier, r.currency, r.bank_country, r.status, r.version, r.bank, r.address is not null,
        r.default_reference, ${REVIEWED_DIGEST}, r.verification, o.recipient_require_verification, o.recipient_allowed_overrides, ${IS_OWN_ACCOUNT}
      from recipient r join customer c on c.id = r.customer_id join operator o on o.id = c.operator_id where r.id = $1 and r.status <> 'deleted'`,
    values: [id],
  })
  if (row === undefined) return undefined
  const [customerId, name, type, maskedIdentifier, currency, bankCountry, status, version, bank, hasAddress, defaultReference, digest, verification, requireVerification, allowedOverrides, ownAccount] = row
  const fields = new Set(Object.keys(bank).filter((field) => bank[field] !== null) as BankField[])
  if (hasAddress) fields.add('address')
  return {
    id, customerId, name, type, maskedIdentifier, currency, bankCountry, status, version: BigInt(version), digest, fields, defaultReference, ownAccount,
    iban: bank['iban'] ?? null, payee: payeeOf({ name, type, currency, bankCountry, bank }), verification, verificationPolicy: { requireVerification, allowedOverrides },
  }
}

/** A recipient as its review sees it now; null when there is none. */
export async function readReviewed(client: Pick<TransactionClient, 'query'>, id: string): Promise<{ readonly status: string; readonly digest: string; readonly maskedIdentifier: string } | null> {
  const { rows: [row] } = await client.query<{ status: string; digest: string; masked_identifier: string }>({
    name: 'reviewed_recipient', text: `select r.status, r.masked_identifier, ${REVIEWED_DIGEST} as digest from recipient r where r.id = $1`, values: [id],
  })
  return row === undefined ? null : { status: row.status, digest: row.digest, maskedIdentifier: row.masked_identifier }
}

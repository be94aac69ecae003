/**
 * Recipients as payments see them, remembered per node. What is remembered may be old: a payment's commit compares the
 * version, and a stale one comes back here with `forget` (I3).
 */
import { LRUCache } from 'lru-cache'
import type { RecipientSnapshot } from '../lib/payments/payment.ts'
import type { BankField } from '../lib/payments/rails.ts'
import type { Database } from './database.ts'

/** About 600 bytes each. */
const REMEMBERED_MAX = 20_000

export interface PayableRecipient extends RecipientSnapshot {
  readonly id: string
  readonly customerId: string
  readonly status: string
  readonly version: bigint
  /** The bank details that are filled in, and `address` when there is one: what a rail may need. */
  readonly fields: ReadonlySet<BankField>
  readonly defaultReference: string | null
}

export class RecipientDirectory {
  readonly #remembered: LRUCache<string, PayableRecipient>

  constructor(database: Database) {
    this.#remembered = new LRUCache({
      max: REMEMBERED_MAX,
      // Many payments to one recipient at once share one read.
      fetchMethod: async (id) => await load(database, id),
    })
  }

  /** One recipient, or null. @throws what the driver throws */
  async find(id: string): Promise<PayableRecipient | null> {
    return this.#remembered.get(id) ?? await this.#remembered.fetch(id) ?? null
  }

  /** The next find reads it again. */
  forget(id: string): void { this.#remembered.delete(id) }
}

async function load(database: Database, id: string): Promise<PayableRecipient | undefined> {
  const [row] = await database.query<[string, string, 'business' | 'individual', string, string, string, string, string, Record<string, unknown>, boolean, string | null]>({
    name: 'payable_recipient',
    text: `select customer_id, name, type, masked_identifier, currency, bank_country, status, version, bank, address is not null, default_reference
      from recipient where id = $1 and status <> 'deleted'`,
    values: [id],
  })
  if (row === undefined) return undefined
  const [customerId, name, type, maskedIdentifier, currency, bankCountry, status, version, bank, hasAddress, defaultReference] = row
  const fields = new Set(Object.keys(bank).filter((field) => bank[field] !== null) as BankField[])
  if (hasAddress) fields.add('address')
  return { id, customerId, name, type, maskedIdentifier, currency, bankCountry, status, version: BigInt(version), fields, defaultReference }
}

/**
 * Caches recipients per node as payments see them. A cached recipient may be outdated: a payment's commit compares the
 * version, and a stale one is dropped here with `forget` (I3).
 */
import { LRUCache } from 'lru-cache'
import { atMost } from '../../lib/base/at-most.ts'
import type { CustomerType } from '../../lib/customers/types.ts'
import type { Editor } from '../../lib/approvals/requesters.ts'
import type { RecipientSnapshot } from '../../lib/payments/payment.ts'
import { railTable } from '../../lib/rails/rail-limits.ts'
import type { BankField } from '../../lib/rails/bank-field.ts'
import type { RailTable } from '../../lib/rails/rails.ts'
import { bankFields } from '../../lib/recipients/markets.ts'
import { payeeOf } from '../../lib/recipients/payee.ts'
import type { PayeeQuestion, RecipientVerification, VerificationPolicy } from '../../lib/recipients/verification.ts'
import { IS_OWN_ACCOUNT, PLATFORM_ACCOUNT, type PlatformAccount } from '../accounts/account-details.ts'
import { plainArray } from '../db/array-literal.ts'
import { pick } from '../db/columns.ts'
import { expression, from, select } from '../db/select.ts'
import { Recipient } from './recipient-entity.ts'
import { railLimitsOf, type RailLimitsJson } from '../operators/rail-limits.ts'
import type { Database } from '../db/database.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { REQUIRES_VERIFICATION } from './verification-policy.ts'
import type { RecipientStatus } from '../../lib/recipients/review.ts'

/** About 600 bytes each. */
const REMEMBERED_MAX = 20_000
/** Cached tables of rails: one for each set of limits of an operator. */
const TABLES_MAX = 64

/**
 * SQL digest of the fields of a recipient `r` that a review covers: while the digest stays the same, the approved
 * details are the details paid.
 */
export const REVIEWED_DIGEST = `encode(sha256(convert_to(jsonb_build_array(r.name, r.type, r.currency, r.bank_country, r.bank, r.address)::text, 'UTF8')), 'hex')`

export interface PayableRecipient extends RecipientSnapshot {
  readonly id: string
  readonly customerId: string
  readonly status: RecipientStatus
  readonly version: bigint
  readonly digest: string
  /** The bank details that are present, and `address` when there is one: the fields that a rail may need. */
  readonly fields: ReadonlySet<BankField>
  readonly defaultReference: string | null
  /** The users and keys that changed the recipient's account, name or address, each with the last time. */
  readonly editors: readonly Editor[]
  /**
   * Whether the account belongs to the same customer. The commit does not compare this field: each node is notified
   * when account details are added or closed. Until then a node at most demands an approval that is not needed, or pays
   * without one an account that was the customer's own a moment ago.
   */
  readonly ownAccount: boolean
  /**
   * The balance on this platform that the account leads to, in the recipient's currency; null for an account elsewhere.
   * Like `ownAccount` it may be outdated for a moment: a payment records the balance, and the commit that credits the
   * balance checks that it accepts money.
   */
  readonly platformAccount: PlatformAccount | null
  readonly iban: string | null
  /** The request that checks the name with the recipient's bank; null where no scheme reaches the bank. */
  readonly payee: PayeeQuestion | null
  /** The last recorded check. */
  readonly verification: RecipientVerification | null
  /** The customer's and the operator's settings for verification. */
  readonly verificationPolicy: VerificationPolicy
  /**
   * The rails under the operator's limits. The paying balance has the current version, and reports when this version
   * differs.
   */
  readonly rails: { readonly version: number; readonly table: RailTable }
  /** The customer that pays the recipient. The commit does not compare it; a change makes nodes drop the recipient. */
  readonly payer: { readonly operatorId: string; readonly customerType: CustomerType }
}

export class RecipientCache {
  readonly #database: Database
  readonly #remembered = new LRUCache<string, PayableRecipient>(atMost(REMEMBERED_MAX))
  /** Reads under way, so that concurrent payments to one recipient share one read. */
  readonly #reading = new Map<string, Promise<PayableRecipient | null>>()

  constructor(database: Database) {
    this.#database = database
  }

  /** Finds one recipient, or null. @throws the driver's errors */
  async find(id: string): Promise<PayableRecipient | null> {
    this.#database.assertFree()
    return this.#remembered.get(id) ?? (await (this.#reading.get(id) ?? this.#read(id)))
  }

  /** Finds many recipients by id: those that are not cached are read in one statement. @throws the driver's errors */
  async findMany(ids: readonly string[]): Promise<ReadonlyMap<string, PayableRecipient>> {
    this.#database.assertFree()
    const found = new Map<string, PayableRecipient>()
    const unknown = [...new Set(ids)].filter((id) => {
      const remembered = this.#remembered.get(id)
      if (remembered !== undefined) found.set(id, remembered)
      return remembered === undefined
    })
    // Not cached: a file of many thousand recipients would evict the recipients of all other customers.
    if (unknown.length > 0)
      for (const recipient of await load(this.#database, unknown)) found.set(recipient.id, recipient)
    return found
  }

  #read(id: string): Promise<PayableRecipient | null> {
    const reading = load(this.#database, [id])
      .then(([found]) => {
        // A result that was invalidated during its read is not cached.
        if (found !== undefined && this.#reading.get(id) === reading) this.#remembered.set(id, found)
        return found ?? null
      })
      .finally(() => {
        if (this.#reading.get(id) === reading) this.#reading.delete(id)
      })
    this.#reading.set(id, reading)
    return reading
  }

  /** Drops a recipient; the next find reads it again. */
  forget(id: string): void {
    this.#remembered.delete(id)
    this.#reading.delete(id)
  }

  /** Drops the recipients of a customer; the next find reads them again. */
  forgetOf(customerId: string): void {
    for (const [id, recipient] of this.#remembered.entries())
      if (recipient.customerId === customerId) this.#remembered.delete(id)
    // The customers of reads under way are not known yet, so all of these reads are dropped.
    this.#reading.clear()
  }

  /** Drops all entries; the next find reads again. */
  forgetAll(): void {
    this.#remembered.clear()
    this.#reading.clear()
  }
}

const PAYABLE = select({
  ...pick(from(Recipient, 'r'), [
    'id',
    'customerId',
    'name',
    'type',
    'maskedIdentifier',
    'currency',
    'bankCountry',
    'status',
    'version',
    'defaultReference',
    'editors',
    'verification',
  ]),
  digest: expression<string>(REVIEWED_DIGEST),
  ownAccount: expression<boolean>(IS_OWN_ACCOUNT),
  platformAccount: expression<PlatformAccount | null>(PLATFORM_ACCOUNT),
})
/** The columns that other members are made of. */
const TERMS = select({
  ...pick(from(Recipient, 'r'), ['bank']),
  hasAddress: expression<boolean>('r.address is not null'),
  requireVerification: expression<boolean>(REQUIRES_VERIFICATION),
  allowedOverrides: expression<string[]>('o.recipient_allowed_overrides'),
  railLimits: expression<RailLimitsJson>('o.rail_limits'),
  railVersion: expression<number>('o.rail_version'),
  operatorId: expression<string>('c.operator_id'),
  customerType: expression<CustomerType>('c.customer_type'),
})

async function load(database: Database, ids: readonly string[]): Promise<PayableRecipient[]> {
  const rows = await database.query({
    name: 'payable_recipient',
    text: `select ${PAYABLE.sql}, ${TERMS.sql}
      from recipient r join customer c on c.id = r.customer_id join operator o on o.id = c.operator_id where r.id = any($1::uuid[]) and r.status <> 'deleted'`,
    values: [plainArray(ids)],
  })
  return rows.map(payableRecipient)
}

/** One table for each set of limits, because an operator's recipients share it. */
const tables = new LRUCache<string, RailTable>({ max: TABLES_MAX })

function tableOf(limits: RailLimitsJson): RailTable {
  const text = JSON.stringify(limits)
  const table = tables.get(text) ?? railTable(railLimitsOf(limits))
  tables.set(text, table)
  return table
}

function payableRecipient(row: readonly unknown[]): PayableRecipient {
  const payable = PAYABLE.read(row)
  const terms = TERMS.read(row, PAYABLE.width)
  const { bank, requireVerification, allowedOverrides } = terms
  const members = Object.keys(bank).filter((member) => bank[member] !== null)
  return {
    ...payable,
    fields: bankFields(payable.currency, payable.bankCountry, members, terms.hasAddress),
    iban: bank['iban'] ?? null,
    payee: payeeOf({ ...payable, bank }),
    verificationPolicy: { requireVerification, allowedOverrides },
    rails: { version: terms.railVersion, table: tableOf(terms.railLimits) },
    payer: { operatorId: terms.operatorId, customerType: terms.customerType },
  }
}

/** Reads a recipient for its review; null when it does not exist. */
export async function readReviewed(
  client: Pick<TransactionClient, 'query'>,
  id: string,
): Promise<{ readonly status: RecipientStatus; readonly digest: string; readonly maskedIdentifier: string } | null> {
  const {
    rows: [row],
  } = await client.query<{ status: RecipientStatus; digest: string; masked_identifier: string }>({
    name: 'reviewed_recipient',
    text: `select r.status, r.masked_identifier, ${REVIEWED_DIGEST} as digest from recipient r where r.id = $1`,
    values: [id],
  })
  return row === undefined ? null : { status: row.status, digest: row.digest, maskedIdentifier: row.masked_identifier }
}

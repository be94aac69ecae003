/** Recipients as the API shows them. */
import { sql } from 'kysely'
import type { Editor } from '../../lib/approvals/requesters.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { RecipientApproval, RecipientStatus } from '../../lib/recipients/review.ts'
import type { KeptAddress } from '../../lib/recipients/validation.ts'
import type { RecipientVerification } from '../../lib/recipients/verification.ts'
import type { Database } from '../db/database.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { Conditions, EMPTY, readPage, type Branch, type Order, type ReadDatabase, type TimeTo } from '../db/page.ts'

export interface RecipientFilters {
  readonly status?: readonly string[]
  readonly type?: readonly string[]
  readonly currency?: readonly string[]
  readonly country?: readonly string[]
  readonly verificationOutcome?: readonly string[]
  readonly approvalStatus?: readonly string[]
  readonly createdBy?: readonly string[]
  readonly id?: readonly string[]
  readonly lastPaidFrom?: string
  readonly lastPaidTo?: TimeTo
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}

/** Fields that change without a command, and are not part of a recipient's entity tag. */
export const RECIPIENT_UNTAGGED: readonly string[] = ['lastPaidAt']

export type RecipientSort = 'name' | '-createdAt' | '-lastPaidAt'
export type RecipientListQuery = RowQuery<RecipientFilters, RecipientSort>

/** Bank details as stored: only the fields that the recipient has. */
export interface StoredBank {
  readonly iban?: string | null
  readonly bic?: string | null
  readonly accountNumber?: string | null
  readonly bankName?: string | null
  readonly accountType?: 'checking' | 'savings' | 'current' | null
  readonly sortCode?: string | null
  readonly routingNumber?: string | null
  readonly bsb?: string | null
  readonly institutionNumber?: string | null
  readonly transitNumber?: string | null
  readonly bankCode?: string | null
  readonly branchCode?: string | null
  readonly clearingNumber?: string | null
  readonly ifsc?: string | null
  readonly clabe?: string | null
  readonly bankgiro?: string | null
  readonly fpsId?: string | null
  readonly secondaryReference?: string | null
  readonly intermediaryBic?: string | null
  readonly bankAddress?: KeptAddress | null
}

export interface RecipientColumns {
  readonly id: string
  readonly customer_id: string
  readonly external_id: string | null
  readonly type: 'business' | 'individual'
  readonly name: string
  readonly nickname: string | null
  readonly email: string | null
  readonly address: KeptAddress | null
  readonly currency: string
  readonly bank_country: string
  readonly bank: StoredBank
  readonly masked_identifier: string
  readonly account_identity: string | null
  readonly default_reference: string | null
  readonly purpose: string | null
  readonly status: RecipientStatus
  readonly verification: RecipientVerification | null
  readonly approval: RecipientApproval | null
  readonly last_paid_ms: number | null
  readonly created_by: string
  readonly metadata: Record<string, string>
  readonly version: string
  readonly editors: readonly Editor[]
  readonly created_ms: number
  readonly updated_ms: number
}

const ms = (column: string, name: string) => `(extract(epoch from r.${column}) * 1000)::float8 as ${name}`

/** The columns of a recipient `r`. */
export const recipientColumns = `r.id, r.customer_id, r.external_id, r.type, r.name, r.nickname, r.email, r.address, r.currency, r.bank_country,
  r.bank, r.masked_identifier, r.account_identity, r.default_reference, r.purpose, r.status, r.verification, r.approval, r.created_by, r.metadata, r.version, r.editors,
  ${ms('last_paid_at', 'last_paid_ms')}, ${ms('created_at', 'created_ms')}, ${ms('updated_at', 'updated_ms')}`

/** A recipient with its version, as the API shows it, and its full bank details. */
export interface RecipientRecord {
  readonly version: bigint
  readonly accountIdentity: string | null
  /** The users and keys that changed fields that a review covers, each with the last time. */
  readonly editors: readonly Editor[]
  /** Only the fields that the recipient has. */
  readonly bank: StoredBank
  readonly view: ReturnType<typeof recipientJson>
  readonly untagged: readonly string[]
}

export function recipientRecord(row: RecipientColumns): RecipientRecord {
  return {
    version: BigInt(row.version),
    accountIdentity: row.account_identity,
    editors: row.editors,
    bank: row.bank,
    view: recipientJson(row, row.bank),
    untagged: RECIPIENT_UNTAGGED,
  }
}

const ORDERS: Readonly<Record<RecipientSort, Order>> = {
  name: {
    keys: [
      { expression: sql`lower(r.name)`, type: 'text' },
      { expression: sql`r.id`, type: 'uuid' },
    ],
    descending: false,
  },
  '-createdAt': { keys: [{ expression: sql`r.id`, type: 'uuid' }], descending: true },
  // Recipients that were never paid come last; `-infinity` stands for null, because a keyset has no nulls.
  '-lastPaidAt': {
    keys: [
      { expression: sql`coalesce(r.last_paid_at, '-infinity'::timestamptz)`, type: 'timestamptz' },
      { expression: sql`r.id`, type: 'uuid' },
    ],
    descending: true,
  },
}

/** Lists the recipients of a customer, without account numbers. Operators have none of their own. */
export async function listRecipients(
  db: ReadDatabase,
  query: RecipientListQuery,
): Promise<ListResult<ReturnType<typeof recipientJson>>> {
  if (query.tenant.kind !== 'customer') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const { rows, ...page } = await readPage<RecipientColumns>(db, [recipientBranch(query)], query)
  return { ...page, rows: rows.map((row) => recipientJson(row, listed(row.bank))) }
}

/** The FROM and WHERE of a list; exported so that a test can check its plan. */
export function recipientBranch({ tenant, filters, metadata, sort, q }: RecipientListQuery): Branch {
  const where = new Conditions()
    .add(sql`r.customer_id = ${tenant.id}::uuid`)
    .anyOf(sql`r.status`, filters.status, 'text')
    .anyOf(sql`r.type`, filters.type, 'text')
    .anyOf(sql`r.currency`, filters.currency, 'bpchar')
    .anyOf(sql`r.bank_country`, filters.country, 'bpchar')
    .anyOf(sql`r.created_by`, filters.createdBy, 'uuid')
    .anyOf(sql`r.id`, filters.id, 'uuid')
    .anyOf(sql`(r.verification->>'outcome')`, filters.verificationOutcome, 'text')
    // Recipients without a review needed none.
    .anyOf(sql`coalesce(r.approval->>'status', 'not_required')`, filters.approvalStatus, 'text')
    .during(sql`r.last_paid_at`, filters.lastPaidFrom, filters.lastPaidTo)
    .created('r', filters.createdFrom, filters.createdTo)
    .metadata(sql`r.metadata`, metadata)
  // Deleted recipients are listed only when the filter names their status.
  if (filters.status === undefined) where.add(sql`r.status <> 'deleted'`)
  if (q !== null) where.add(sql`search_words(r.customer_id, ${SEARCHED}) @@ search_query(${tenant.id}::uuid, ${q})`)
  return { columns: sql.raw(recipientColumns), from: sql`recipient r`, where: where.list, order: ORDERS[sort] }
}

/** The searched text, written as in the index. */
const SEARCHED = sql`r.name || ' ' || coalesce(r.nickname, '') || ' ' || coalesce(r.email, '') || ' ' || r.masked_identifier`

const GET = `select ${recipientColumns} from recipient r where r.id = $1 and r.customer_id = $2 and r.status <> 'deleted'`

/**
 * Reads one recipient of a customer, including full account numbers, with its version; null when it is deleted or not
 * the tenant's.
 */
export async function getRecipient(database: Database, tenant: Tenant, id: string): Promise<RecipientRecord | null> {
  if (tenant.kind !== 'customer') return null
  const {
    rows: [row],
  } = await database.pool.query<RecipientColumns>({ name: 'get_recipient', text: GET, values: [id, tenant.id] })
  return row === undefined ? null : recipientRecord(row)
}

/** Bank details for a list: without account numbers. */
function listed(bank: StoredBank): StoredBank {
  return { ...bank, iban: null, accountNumber: null, clabe: null, bankgiro: null, fpsId: null }
}

function recipientJson(row: RecipientColumns, bank: StoredBank) {
  return {
    id: row.id,
    customerId: row.customer_id,
    externalId: row.external_id,
    type: row.type,
    name: row.name,
    nickname: row.nickname,
    email: row.email,
    address: addressJson(row.address),
    currency: row.currency,
    bank: {
      bankCountry: row.bank_country,
      iban: bank.iban ?? null,
      bic: bank.bic ?? null,
      accountNumber: bank.accountNumber ?? null,
      bankName: bank.bankName ?? null,
      accountType: bank.accountType ?? null,
      sortCode: bank.sortCode ?? null,
      routingNumber: bank.routingNumber ?? null,
      bsb: bank.bsb ?? null,
      institutionNumber: bank.institutionNumber ?? null,
      transitNumber: bank.transitNumber ?? null,
      bankCode: bank.bankCode ?? null,
      branchCode: bank.branchCode ?? null,
      clearingNumber: bank.clearingNumber ?? null,
      ifsc: bank.ifsc ?? null,
      clabe: bank.clabe ?? null,
      bankgiro: bank.bankgiro ?? null,
      fpsId: bank.fpsId ?? null,
      secondaryReference: bank.secondaryReference ?? null,
      intermediaryBic: bank.intermediaryBic ?? null,
      bankAddress: addressJson(bank.bankAddress ?? null),
    },
    maskedIdentifier: row.masked_identifier,
    defaultReference: row.default_reference,
    purpose: row.purpose,
    status: row.status,
    verification: verificationJson(row.verification),
    lastPaidAt: row.last_paid_ms === null ? null : timestamp(row.last_paid_ms),
    createdBy: row.created_by,
    createdAt: timestamp(row.created_ms),
    updatedAt: timestamp(row.updated_ms),
    approval: approvalJson(row.approval),
    metadata: row.metadata,
  }
}

/** Orders the fields as the contract does, like addresses. */
function verificationJson(verification: RecipientVerification | null) {
  if (verification === null) return null
  const {
    scheme,
    outcome,
    reasonCode,
    reason,
    matchedName,
    accountTypeMatch,
    requestedName,
    checkedAt,
    validUntil,
    override,
  } = verification
  return {
    scheme,
    outcome,
    reasonCode,
    reason,
    matchedName,
    accountTypeMatch,
    requestedName,
    checkedAt,
    validUntil,
    override:
      override === null
        ? null
        : { acceptOutcome: override.acceptOutcome, reason: override.reason, by: override.by, at: override.at },
  }
}

function approvalJson(approval: RecipientApproval | null) {
  if (approval === null) return null
  const { mode, status, approvalId, stage, requestedAt, decidedAt, decidedBy, reason } = approval
  return { mode, status, approvalId, stage, requestedAt, decidedAt, decidedBy, reason }
}

/** Orders the fields as the contract does; the database has an order of its own. */
function addressJson(address: KeptAddress | null) {
  if (address === null) return null
  const { line1, line2, buildingNumber, city, postalCode, state, country } = address
  return {
    line1,
    line2: line2 ?? null,
    buildingNumber: buildingNumber ?? null,
    city,
    postalCode: postalCode ?? null,
    state: state ?? null,
    country,
  }
}

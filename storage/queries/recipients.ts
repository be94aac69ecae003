/** Recipients as the API shows them. */
import { sql } from 'kysely'
import { timestamp } from '../../lib/clock.ts'
import type { Database } from '../database.ts'
import { Conditions, EMPTY, epochMs, NEVER, readPage, type Branch, type ListQuery, type ListResult, type Order, type ReadDatabase, type Tenant, type TimeTo } from './page.ts'

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

export type RecipientSort = 'name' | '-createdAt' | '-lastPaidAt'
export type RecipientListQuery = ListQuery<RecipientFilters, RecipientSort>

/** A postal address as it is kept: the JSON of the API. */
export interface StoredAddress {
  readonly line1: string
  readonly line2: string | null
  readonly buildingNumber: string | null
  readonly city: string
  readonly postalCode: string | null
  readonly state: string | null
  readonly country: string
}

/** Bank details as they are kept: only the members that the recipient has. */
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
  readonly bankAddress?: StoredAddress | null
}

interface RecipientRow {
  readonly id: string
  readonly customer_id: string
  readonly external_id: string | null
  readonly type: 'business' | 'individual'
  readonly name: string
  readonly nickname: string | null
  readonly email: string | null
  readonly address: StoredAddress | null
  readonly currency: string
  readonly bank_country: string
  readonly bank: StoredBank
  readonly masked_identifier: string
  readonly default_reference: string | null
  readonly purpose: string | null
  readonly status: 'pending_approval' | 'active' | 'rejected' | 'blocked' | 'deleted'
  readonly last_paid_ms: number | null
  readonly created_by: string
  readonly metadata: Record<string, string>
  readonly version: string
  readonly created_ms: number
  readonly updated_ms: number
}

const COLUMNS = sql`r.id, r.customer_id, r.external_id, r.type, r.name, r.nickname, r.email, r.address, r.currency, r.bank_country,
  r.bank, r.masked_identifier, r.default_reference, r.purpose, r.status, ${epochMs('r.last_paid_at')} as last_paid_ms, r.created_by,
  r.metadata, r.version, ${epochMs('r.created_at')} as created_ms, ${epochMs('r.updated_at')} as updated_ms`

const ORDERS: Readonly<Record<RecipientSort, Order>> = {
  name: { keys: [{ expression: sql`lower(r.name)`, type: 'text' }, { expression: sql`r.id`, type: 'uuid' }], descending: false },
  '-createdAt': { keys: [{ expression: sql`r.id`, type: 'uuid' }], descending: true },
  // Those never paid come last, and a keyset has no nulls.
  '-lastPaidAt': {
    keys: [{ expression: sql`coalesce(r.last_paid_at, '-infinity'::timestamptz)`, type: 'timestamptz' }, { expression: sql`r.id`, type: 'uuid' }],
    descending: true,
  },
}

/** The recipients of a customer; account numbers are left out. Operators have none of their own. */
export async function listRecipients(db: ReadDatabase, query: RecipientListQuery): Promise<ListResult<ReturnType<typeof recipientJson>>> {
  if (query.tenant.kind !== 'customer') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const { rows, ...page } = await readPage<RecipientRow>(db, [recipientBranch(query)], query)
  return { ...page, rows: rows.map((row) => recipientJson(row, listed(row.bank))) }
}

/** Where the rows of a list come from; exported so that a test can look at its plan. */
export function recipientBranch({ tenant, filters, metadata, sort, q }: RecipientListQuery): Branch {
  const where = new Conditions()
    .add(sql`r.customer_id = ${tenant.id}::uuid`)
    .anyOf(sql`r.status`, filters.status, 'text')
    .anyOf(sql`r.type`, filters.type, 'text')
    .anyOf(sql`r.currency`, filters.currency, 'bpchar')
    .anyOf(sql`r.bank_country`, filters.country, 'bpchar')
    .anyOf(sql`r.created_by`, filters.createdBy, 'uuid')
    .anyOf(sql`r.id`, filters.id, 'uuid')
    .during(sql`r.last_paid_at`, filters.lastPaidFrom, filters.lastPaidTo)
    .created('r', filters.createdFrom, filters.createdTo)
    .metadata(sql`r.metadata`, metadata)
  // No recipient is verified or goes through an approval yet.
  if (filters.verificationOutcome !== undefined || filters.approvalStatus !== undefined) where.add(NEVER)
  if (q !== null) where.add(sql`search_words(r.customer_id, ${SEARCHED}) @@ search_query(${tenant.id}::uuid, ${q})`)
  return { columns: COLUMNS, from: sql`recipient r`, where: where.list, order: ORDERS[sort] }
}

/** As the index has it. */
const SEARCHED = sql`r.name || ' ' || coalesce(r.nickname, '') || ' ' || coalesce(r.email, '') || ' ' || r.masked_identifier`

const GET = `select id, customer_id, external_id, type, name, nickname, email, address, currency, bank_country, bank, masked_identifier,
    default_reference, purpose, status, (extract(epoch from last_paid_at) * 1000)::float8 as last_paid_ms, created_by, metadata, version,
    (extract(epoch from created_at) * 1000)::float8 as created_ms, (extract(epoch from updated_at) * 1000)::float8 as updated_ms
  from recipient where id = $1 and customer_id = $2`

/** One recipient of a customer, account numbers and all, with its version; null when it is not the tenant's. */
export async function getRecipient(database: Database, tenant: Tenant, id: string) {
  if (tenant.kind !== 'customer') return null
  const { rows } = await database.pool.query<RecipientRow>({ name: 'get_recipient', text: GET, values: [id, tenant.id] })
  const [row] = rows
  return row === undefined ? null : { version: BigInt(row.version), view: recipientJson(row, row.bank) }
}

/** Bank details for a list: what moves money is left out. */
function listed(bank: StoredBank): StoredBank {
  return { ...bank, iban: null, accountNumber: null, clabe: null, bankgiro: null, fpsId: null }
}

function recipientJson(row: RecipientRow, bank: StoredBank) {
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
    verification: null,
    lastPaidAt: row.last_paid_ms === null ? null : timestamp(row.last_paid_ms),
    createdBy: row.created_by,
    createdAt: timestamp(row.created_ms),
    updatedAt: timestamp(row.updated_ms),
    approval: null,
    metadata: row.metadata,
  }
}

/** In the order of the contract; the database keeps members in its own. */
function addressJson(address: StoredAddress | null) {
  if (address === null) return null
  const { line1, line2, buildingNumber, city, postalCode, state, country } = address
  return { line1, line2: line2 ?? null, buildingNumber: buildingNumber ?? null, city, postalCode: postalCode ?? null, state: state ?? null, country }
}

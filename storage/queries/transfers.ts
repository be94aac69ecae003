/** Transfers as their customer sees them, and as the domain reads them back. */
import { transferJson, type TransferRecord } from '../../lib/payments/transfer.ts'
import type { Database } from '../database.ts'
import type { Tenant } from './page.ts'

const RECORD = `select id, customer_id, number, external_id, status, version, from_balance_id, to_balance_id, currency, amount, reference,
    created_by, created_via, metadata, (extract(epoch from completed_at) * 1000)::float8,
    (extract(epoch from created_at) * 1000)::float8, (extract(epoch from updated_at) * 1000)::float8
  from transfer where id = $1`

type RecordRow = [string, string, string, string | null, TransferRecord['status'], number, string, string, string, string, string | null,
  string, TransferRecord['createdVia'], Record<string, string> | null, number | null, number, number]

/** A transfer by its id, whoever's it is; null when there is none. */
export async function findTransfer(database: Database, id: string): Promise<TransferRecord | null> {
  const [row] = await database.query<RecordRow>({ name: 'get_transfer', text: RECORD, values: [id] })
  if (row === undefined) return null
  const [transferId, customerId, number, externalId, status, version, fromBalanceId, toBalanceId, currency, amount, reference, createdBy,
    createdVia, metadata, completedAt, createdAt, updatedAt] = row
  return { id: transferId, customerId, number, externalId, status, version, fromBalanceId, toBalanceId, currency, amount: BigInt(amount),
    reference, createdBy, createdVia, metadata: metadata ?? {}, completedAt, createdAt, updatedAt }
}

/** One transfer of a customer with its version; null when it is not the tenant's. */
export async function getTransfer(database: Database, tenant: Tenant, id: string) {
  if (tenant.kind !== 'customer') return null
  const record = await findTransfer(database, id)
  if (record === null || record.customerId !== tenant.id) return null
  return { version: record.version, view: transferJson(record) }
}

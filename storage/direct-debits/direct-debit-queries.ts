/** Mandates and collections as the customer sees them. */
import { sql } from 'kysely'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import { collectionJson } from '../../lib/direct-debits/collection-view.ts'
import type { CollectionRecord } from '../../lib/direct-debits/collection.ts'
import type { MandateRecord } from '../../lib/direct-debits/mandate.ts'
import type { Database } from '../db/database.ts'
import { Conditions, EMPTY, readPage, type Branch, type ReadDatabase, type TimeTo } from '../db/page.ts'
import { from, select, expression } from '../db/select.ts'
import { Mandate } from './mandate-entity.ts'
import { mandateRecord } from './mandates.ts'
import { COLLECTION, collectionRecord, findCollection } from './collections.ts'

/** The due date of the next pending collection; null: there is none. */
const NEXT = `(select min(p.due_date)::text from collection p where p.mandate_id = m.id and p.status = 'pending')`
const SHOWN = select({ ...from(Mandate, 'm'), nextCollectionDate: expression<string | null>(NEXT) })

/** A mandate with the due date of its next pending collection. */
export interface ShownMandate {
  readonly mandate: MandateRecord
  readonly nextCollectionDate: string | null
}

const shown = ({ nextCollectionDate, ...row }: ReturnType<typeof SHOWN.read>): ShownMandate => ({
  mandate: mandateRecord(row),
  nextCollectionDate,
})

/** Reads a mandate of a tenant: a customer's own, or any of an operator's customers. Null: there is none. */
export async function shownMandate(
  database: Pick<Database, 'query'>,
  tenant: Tenant,
  id: string,
): Promise<ShownMandate | null> {
  const [row] = await database.query({
    name: 'shown_mandate',
    text: `select ${SHOWN.sql} from mandate m where m.id = $1 and $2 in (m.customer_id, m.operator_id)`,
    values: [id, tenant.id],
  })
  return row === undefined ? null : shown(SHOWN.read(row))
}

export interface MandateFilters {
  readonly status?: readonly string[]
  readonly direction?: readonly string[]
  readonly scheme?: readonly string[]
  readonly balanceId?: readonly string[]
  readonly reference?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}

export type MandateListQuery = RowQuery<MandateFilters, '-createdAt' | 'createdAt'>

/** Lists the mandates of a customer. Operators have none of their own. */
export async function listMandates(db: ReadDatabase, query: MandateListQuery): Promise<ListResult<ShownMandate>> {
  if (query.tenant.kind !== 'customer') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const { rows, ...page } = await readPage<object>(db, [mandateBranch(query)], query)
  return { ...page, rows: rows.map((row) => shown(SHOWN.readNamed(row))) }
}

function mandateBranch({ tenant, filters, sort }: MandateListQuery): Branch {
  const where = new Conditions()
    .add(sql`m.customer_id = ${tenant.id}::uuid`)
    .anyOf(sql`m.status`, filters.status, 'text')
    .anyOf(sql`m.direction`, filters.direction, 'text')
    .anyOf(sql`m.scheme`, filters.scheme, 'text')
    .anyOf(sql`m.balance_id`, filters.balanceId, 'uuid')
    .anyOf(sql`m.reference`, filters.reference, 'text')
    .created('m', filters.createdFrom, filters.createdTo)
  return {
    columns: sql.raw(SHOWN.named),
    from: sql`mandate m`,
    where: where.list,
    order: { keys: [{ expression: sql`m.id`, type: 'uuid' }], descending: sort === '-createdAt' },
  }
}

/** Reads a collection of a tenant with its version; null: there is none. */
export async function getCollection(database: Pick<Database, 'query'>, tenant: Tenant, id: string) {
  const found = await collectionOfTenant(database, tenant, id)
  return found === null ? null : { version: found.version, view: collectionJson(found) }
}

/** Reads the row of a collection of a tenant: a customer's own, or any of an operator's customers. */
export async function collectionOfTenant(
  database: Pick<Database, 'query'>,
  tenant: Tenant,
  id: string,
): Promise<CollectionRecord | null> {
  const found = await findCollection(database, id)
  return found !== null && [found.customerId, found.operatorId].includes(tenant.id) ? found : null
}

export interface CollectionFilters {
  readonly status?: readonly string[]
  readonly mandateId?: readonly string[]
  readonly balanceId?: readonly string[]
  readonly dueFrom?: string
  readonly dueTo?: string
  readonly externalId?: readonly string[]
  readonly reasonCode?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}

export type CollectionListQuery = RowQuery<CollectionFilters, '-createdAt' | 'dueDate' | '-dueDate'>

/** Lists the collections of a customer. */
export async function listCollections(
  db: ReadDatabase,
  query: CollectionListQuery,
): Promise<ListResult<ReturnType<typeof collectionJson>>> {
  if (query.tenant.kind !== 'customer') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const { rows, ...page } = await readPage<object>(db, [collectionBranch(query)], query)
  return { ...page, rows: rows.map((row) => collectionJson(collectionRecord(COLLECTION.readNamed(row)))) }
}

function collectionBranch({ tenant, filters, sort }: CollectionListQuery): Branch {
  const where = new Conditions()
    .add(sql`c.customer_id = ${tenant.id}::uuid`)
    .anyOf(sql`c.status`, filters.status, 'text')
    .anyOf(sql`c.mandate_id`, filters.mandateId, 'uuid')
    .anyOf(sql`c.balance_id`, filters.balanceId, 'uuid')
    .anyOf(sql`c.external_id`, filters.externalId, 'text')
    .days(sql`c.due_date`, filters.dueFrom, filters.dueTo)
    .created('c', filters.createdFrom, filters.createdTo)
  if (filters.reasonCode !== undefined)
    where.add(
      sql`exists (select from jsonb_array_elements(c.r_transactions::jsonb) r where r->>'reasonCode' = any(${filters.reasonCode}::text[]))`,
    )
  const id = { expression: sql`c.id`, type: 'uuid' } as const
  return {
    columns: sql.raw(COLLECTION.named),
    from: sql`collection c`,
    where: where.list,
    order:
      sort === '-createdAt'
        ? { keys: [id], descending: true }
        : { keys: [{ expression: sql`c.due_date`, type: 'date' }, id], descending: sort === '-dueDate' },
  }
}

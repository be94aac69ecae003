/** Jobs as the tenant sees them. */
import { sql } from 'kysely'
import type { Database } from '../db/database.ts'
import { JOB_COLUMNS, jobRecord, type JobColumns, type JobRecord } from './jobs.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { Conditions, readPage, type Branch, type ReadDatabase, type TimeTo } from '../db/page.ts'

export interface JobFilters {
  readonly kind?: readonly string[]
  readonly status?: readonly string[]
  readonly requestedBy?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}

export type JobListQuery = RowQuery<JobFilters, '-createdAt'>

/** Finds one job of a tenant; null when the tenant has none with this id. */
export async function findJob(database: Database, tenant: Tenant, id: string): Promise<JobRecord | null> {
  const {
    rows: [row],
  } = await database.pool.query<JobColumns>({
    name: 'job_find',
    text: `select ${JOB_COLUMNS} from job j where j.id = $1 and j.tenant_id = $2`,
    values: [id, tenant.id],
  })
  return row === undefined ? null : jobRecord(row)
}

/** Lists the jobs of a tenant. */
export async function listJobs(db: ReadDatabase, query: JobListQuery): Promise<ListResult<JobRecord>> {
  const { rows, ...page } = await readPage<JobColumns>(db, [jobBranch(query)], query)
  return { ...page, rows: rows.map(jobRecord) }
}

/** The FROM and WHERE of a list; exported so that a test can check its plan. */
export function jobBranch({ tenant, filters }: JobListQuery): Branch {
  const where = new Conditions()
    .add(sql`j.tenant_id = ${tenant.id}::uuid`)
    .anyOf(sql`j.kind`, filters.kind, 'text')
    .anyOf(sql`j.status`, filters.status, 'text')
    .anyOf(sql`j.requested_by`, filters.requestedBy, 'uuid')
    .created('j', filters.createdFrom, filters.createdTo)
  return {
    columns: sql.raw(JOB_COLUMNS),
    from: sql`job j`,
    where: where.list,
    order: { keys: [{ expression: sql`j.id`, type: 'uuid' }], descending: true },
  }
}

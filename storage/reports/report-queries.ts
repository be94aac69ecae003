/** Reports as rows: each is a job of the operator. */
import { sql } from 'kysely'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import { Conditions, EMPTY, readPage, type ReadDatabase, type TimeTo } from '../db/page.ts'
import { JOB_COLUMNS, jobRecord, type JobColumns, type JobRecord } from '../jobs/jobs.ts'

export interface ReportFilters {
  readonly kind?: readonly string[]
  readonly status?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}

/** Lists the reports of an operator, by pages. @throws DatabaseUnavailable */
export async function listReports(
  db: ReadDatabase,
  { tenant, filters, sort, ...query }: RowQuery<ReportFilters, '-createdAt' | 'createdAt'>,
): Promise<ListResult<JobRecord>> {
  if (tenant.kind !== 'operator') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const where = new Conditions()
    .add(sql`j.tenant_id = ${tenant.id}::uuid`)
    .add(sql`j.kind = 'report'`)
    .anyOf(sql`j.request::json->>'kind'`, filters.kind, 'text')
    .anyOf(sql`j.status`, filters.status, 'text')
    .created('j', filters.createdFrom, filters.createdTo)
  const branch = {
    columns: sql.raw(JOB_COLUMNS),
    from: sql`job j`,
    where: where.list,
    order: { keys: [{ expression: sql`j.id`, type: 'uuid' as const }], descending: sort === '-createdAt' },
  }
  const { rows, ...page } = await readPage<JobColumns>(db, [branch], query)
  return { ...page, rows: rows.map(jobRecord) }
}

/** Reads pricing templates of an operator, by pages. */
import { sql } from 'kysely'
import { TEMPLATE_COLUMNS, templateRecord, type PricingTemplateRecord, type TemplateRow } from './pricing.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import { Conditions, EMPTY, readPage, type ReadDatabase } from '../db/page.ts'

/** Lists an operator's templates, by pages. Customers have none. */
export async function listTemplates(
  db: ReadDatabase,
  { tenant, sort, ...query }: RowQuery<object, 'createdAt' | '-createdAt'>,
): Promise<ListResult<PricingTemplateRecord>> {
  if (tenant.kind !== 'operator') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const branch = {
    columns: sql.raw(TEMPLATE_COLUMNS),
    from: sql.raw('pricing_template p'),
    where: new Conditions().add(sql`p.operator_id = ${tenant.id}::uuid`).list,
    order: { keys: [{ expression: sql`p.id`, type: 'uuid' as const }], descending: sort === '-createdAt' },
  }
  const { rows, ...page } = await readPage<TemplateRow>(db, [branch], query)
  return { ...page, rows: rows.map(templateRecord) }
}

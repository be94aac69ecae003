/** The brand of a tenant's operator, for mails and pages. */
import { BRANDING, brandOf, type Brand } from '../../lib/branding/brand.ts'
import type { BrandingFields } from '../../lib/branding/branding-schema.ts'
import type { Database } from '../db/database.ts'

/**
 * SQL of the name and the branding of the operator of a tenant, as an array of two; null when there is no such tenant.
 * The argument is an SQL expression of the id of an operator or of a customer.
 */
export const brandOfTenant = (tenantId: string): string =>
  `(select json_build_array(o.name, s.value) from operator o left join setting s on s.owner_id = o.id and s.name = '${BRANDING}'
    where o.id = coalesce((select c.operator_id from customer c where c.id = ${tenantId}), ${tenantId}))`

/** The value of `brandOfTenant`. */
export type BrandRow = readonly [operatorName: string, branding: BrandingFields | null]

/** Makes the brand of what `brandOfTenant` has selected. */
export const brandOfRow = (row: BrandRow | null): Brand | null => (row === null ? null : brandOf(...row))

/** Reads the brand of an operator, or of the operator of a customer; null when there is no such tenant. */
export async function readBrand(database: Database, tenantId: string): Promise<Brand | null> {
  const [row] = await database.query<[BrandRow | null]>({
    name: 'brand_of_tenant',
    text: `select ${brandOfTenant('$1::uuid')}`,
    values: [tenantId],
  })
  return brandOfRow(row?.[0] ?? null)
}

/** Reads the brand of the only operator; null when there is none, or more than one. */
export async function readOnlyBrand(database: Database): Promise<Brand | null> {
  const rows = await database.query<[BrandRow | null]>({
    name: 'only_brand',
    text: `select ${brandOfTenant('op.id')} from operator op limit 2`,
    values: [],
  })
  return rows.length === 1 ? brandOfRow(rows[0]?.[0] ?? null) : null
}

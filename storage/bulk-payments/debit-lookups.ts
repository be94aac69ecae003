/** Reads what the rows of files of collections name. */
import { textArray } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'

/** A mandate by which the customer collects. */
export interface MandateOfRow {
  readonly id: string
  readonly scheme: string
  readonly reference: string
}

/** Finds the mandates of a customer by their references; one reference may name mandates of several schemes. */
export async function mandatesOfRows(
  database: Pick<Database, 'query'>,
  customerId: string,
  references: readonly string[],
): Promise<readonly MandateOfRow[]> {
  if (references.length === 0) return []
  const rows = await database.query<[string, string, string]>({
    name: 'mandates_of_rows',
    values: [customerId, textArray(references)],
    text: `select id, scheme, reference from mandate where customer_id = $1 and direction = 'collect' and reference = any($2::text[]) order by id`,
  })
  return rows.map(([id, scheme, reference]) => ({ id, scheme, reference }))
}

/** Finds which external ids the collections of a customer have. */
export async function collectionsWithExternalIds(
  database: Pick<Database, 'query'>,
  customerId: string,
  externalIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (externalIds.length === 0) return new Set()
  const rows = await database.query<[string]>({
    name: 'collections_with_external_ids',
    values: [customerId, textArray(externalIds)],
    text: 'select external_id from collection where customer_id = $1 and external_id = any($2::text[])',
  })
  return new Set(rows.map(([externalId]) => externalId))
}

/** Reads mandates from their rows: for decisions and for display. */
import type { MandateRecord } from '../../lib/direct-debits/mandate.ts'
import { plainArray } from '../db/array-literal.ts'
import type { Reader } from '../db/connection.ts'
import type { Database } from '../db/database.ts'
import { from, select } from '../db/select.ts'
import { Mandate } from './mandate-entity.ts'

/** All columns of a row `m`. */
export const MANDATE = select(from(Mandate, 'm'))

/** Converts a row to a record. */
export const mandateRecord = (row: ReturnType<typeof MANDATE.read>): MandateRecord => ({
  ...row,
  metadata: row.metadata ?? {},
})

const STATES = `select ${MANDATE.sql} from mandate m where m.id = any($1::uuid[]) order by m.id`

/** Reads the states of mandates that actors cache; an id without a row is absent. `lock` locks the rows in their order. */
export async function loadMandates(
  reader: Reader,
  ids: readonly string[],
  lock: boolean,
): Promise<Map<string, MandateRecord>> {
  const { rows } = await reader.query(
    lock
      ? { name: 'lock_mandates', text: `${STATES} for update of m`, values: [plainArray(ids)] }
      : { name: 'load_mandates', text: STATES, values: [plainArray(ids)] },
  )
  return new Map(rows.map((row) => mandateRecord(MANDATE.read(row))).map((record) => [record.id, record]))
}

/** Finds a mandate by its id, of any customer; null when it does not exist. */
export async function findMandate(database: Pick<Database, 'query'>, id: string): Promise<MandateRecord | null> {
  const [row] = await database.query({
    name: 'find_mandate',
    text: `select ${MANDATE.sql} from mandate m where m.id = $1`,
    values: [id],
  })
  return row === undefined ? null : mandateRecord(MANDATE.read(row))
}

/** Finds mandates by their ids, of any customer; an id without a row is absent. */
export async function findMandates(
  database: Pick<Database, 'query'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, MandateRecord>> {
  const rows = await database.query({
    name: 'find_mandates',
    text: `select ${MANDATE.sql} from mandate m where m.id = any($1::uuid[])`,
    values: [plainArray(ids)],
  })
  return new Map(rows.map((row) => mandateRecord(MANDATE.read(row))).map((record) => [record.id, record]))
}

/**
 * Finds the mandates of a creditor by the references that banks report, in one scheme. A reference that no mandate of
 * the operator has is absent.
 */
export async function findMandatesByReference(
  database: Pick<Database, 'query'>,
  { operatorId, scheme }: Pick<MandateRecord, 'operatorId' | 'scheme'>,
  references: readonly string[],
): Promise<ReadonlyMap<string, MandateRecord>> {
  const rows = await database.query({
    name: 'mandates_by_reference',
    text: `select ${MANDATE.sql} from mandate m where m.operator_id = $1 and m.scheme = $2 and m.direction = 'collect' and m.reference = any($3::text[])`,
    values: [operatorId, scheme, references],
  })
  return new Map(rows.map((row) => mandateRecord(MANDATE.read(row))).map((record) => [record.reference, record]))
}

/** The limits that an operator sets for rails, as rows. */
import type { Rail } from '../../lib/rails/rails.ts'
import type { RailLimits } from '../../lib/rails/rail-limits.ts'
import { fenceOperator } from '../commit/fences.ts'
import type { TransactionClient } from '../db/transaction.ts'

/** Minor units as text, by rail. */
export type RailLimitsJson = { readonly [rail in Rail]?: string | null }

/** Converts limits to their stored form. */
export function railLimitsJson(limits: RailLimits): RailLimitsJson {
  return Object.fromEntries(
    Object.entries(limits).map(([rail, limit]) => [rail, limit === null ? null : limit.toString()]),
  )
}

/** Converts limits from their stored form. */
export function railLimitsOf(json: RailLimitsJson): RailLimits {
  return Object.fromEntries(Object.entries(json).map(([rail, limit]) => [rail, limit === null ? null : BigInt(limit)]))
}

/**
 * Reads the rail limits of an operator, or of a customer's operator, with their version. @throws when the tenant does
 * not exist
 */
export async function readRailLimits(
  client: Pick<TransactionClient, 'query'>,
  tenantId: string,
): Promise<{ readonly limits: RailLimits; readonly version: number }> {
  const {
    rows: [row],
  } = await client.query<{ rail_limits: RailLimitsJson; rail_version: number }>({
    name: 'read_rail_limits',
    values: [tenantId],
    text: 'select rail_limits, rail_version from operator where id = coalesce((select operator_id from customer where id = $1), $1)',
  })
  if (row === undefined) throw new Error(`The tenant ${tenantId} does not exist.`)
  return { limits: railLimitsOf(row.rail_limits), version: row.rail_version }
}

/** Sets the rail limits of a locked operator. From then on every payment is decided under them, on every node. */
export async function writeRailLimits(
  client: TransactionClient,
  operatorId: string,
  limits: RailLimits,
): Promise<void> {
  await client.query({
    name: 'write_rail_limits',
    text: 'update operator set rail_limits = $2, rail_version = rail_version + 1 where id = $1',
    values: [operatorId, JSON.stringify(railLimitsJson(limits))],
  })
  await fenceOperator(client, operatorId)
}

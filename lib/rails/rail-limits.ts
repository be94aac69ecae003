/** The limits that an operator sets in place of the schemes' own. */
import { RAILS, type Rail, type RailTable, type RailTerms } from './rails.ts'

/**
 * Limits that an operator sets in place of the schemes' own, in minor units of the rail's currency; null for no limit.
 */
export type RailLimits = { readonly [rail in Rail]?: bigint | null }

/** Applies an operator's limits to the table. */
export function railTable(limits: RailLimits): RailTable {
  if (Object.keys(limits).length === 0) return RAILS
  return new Map([...RAILS].map(([rail, row]) => [rail, underLimits(row, limits)]))
}

/** Applies an operator's limits to one rail. */
export function underLimits(row: RailTerms, limits: RailLimits): RailTerms {
  const limitMinor = limits[row.rail]
  return limitMinor === undefined ? row : { ...row, limitMinor }
}

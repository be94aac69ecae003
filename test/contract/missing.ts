/**
 * Operations of operations.ts that do not exist yet. The list only shrinks: the contract test fails when one of these
 * exists, and when one that is not here is missing.
 */
import { LATER_OPERATIONS } from './known.ts'
import { CONTRACT } from './operations.ts'

const later = new Set(LATER_OPERATIONS)
export const MISSING: ReadonlySet<string> = new Set(CONTRACT.map(({ id }) => id).filter((id) => later.has(id)))

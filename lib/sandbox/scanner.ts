/** The sandbox's scanner: after two seconds a file is clean, or infected if its name contains the token. */
import type { Scanner } from '../documents/scan.ts'
import type { CatalogueRule } from './triggers.ts'

const SCAN_MS = 2_000
const INFECTED = /SBX[:_]INFECTED/i

export const sandboxScanner: Scanner = {
  async scan({ fileName, createdAt }, now) {
    const doneAt = createdAt + SCAN_MS
    return now < doneAt ? { askAgainAt: doneAt } : { verdict: INFECTED.test(fileName) ? 'infected' : 'clean' }
  },
}

/** Describes these rules, for the catalogue that integrators read. */
export function scannerRules(): readonly CatalogueRule[] {
  return [
    `any file: clean after ${SCAN_MS / 1_000} s`,
    'SBX:INFECTED in the name of a file, or SBX_INFECTED, because a name has no slash and many systems allow no colon: infected',
  ].map((rule) => ({
    topic: 'documents',
    rule,
  }))
}

/** The sandbox's scanner: every file is clean after two seconds, but for those whose name says otherwise. */
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

/** The rules above in words, for the catalogue that integrators read. */
export function scannerRules(): readonly CatalogueRule[] {
  return [`any file: clean after ${SCAN_MS / 1_000} s`, 'SBX:INFECTED in the name of a file: infected'].map((rule) => ({ topic: 'documents', rule }))
}

/**
 * The deployed build: the package's version, and the commit when the service runs from a checkout or GIT_COMMIT is set.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

function commitOf(): string {
  if (process.env['GIT_COMMIT']) return process.env['GIT_COMMIT']
  try {
    const head = readFileSync(join(root, '.git', 'HEAD'), 'utf8').trim()
    return head.startsWith('ref: ') ? readFileSync(join(root, '.git', head.slice(5)), 'utf8').trim() : head
  } catch {
    // Not a checkout, or its refs are packed: only the version is known.
    return 'unknown'
  }
}

export const BUILD = {
  version: (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version,
  commit: commitOf(),
} as const

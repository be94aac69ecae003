/** Compares the version that a caller has read with the version that is stored. */
import { refuse } from '../../lib/base/problems.ts'
import { etagOf } from '../../lib/commands/etag.ts'
import type { Versioned } from '../../lib/commands/command.ts'

/**
 * Refuses a change of a resource that has changed since the caller read it. `expected` is null when the caller sets no
 * condition.
 *
 * @throws ProblemError `precondition-failed`, with the current ETag
 */
export function requireVersion(found: Versioned<object>, expected: number | bigint | null): void {
  if (expected === null || BigInt(found.version) === BigInt(expected)) return
  refuse('precondition-failed', 'The resource has changed since it was read.', {
    extra: { currentEtag: etagOf(found) },
  })
}

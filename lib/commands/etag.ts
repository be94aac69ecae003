/**
 * Entity tags. The tag of a single resource contains its row version, so that `If-Match` is compared without building
 * the resource; the hash tells representations of one version apart. Lists have no version, only a hash.
 */
import { hash } from 'node:crypto'
import { refuse } from '../base/problems.ts'
import type { Versioned } from './command.ts'

const RESOURCE_HASH_DIGITS = 12
const LIST_HASH_DIGITS = 24

/** Builds the weak tag of one resource. `body` is the text that is sent. */
export function resourceETag(version: number | bigint, body: string | Uint8Array): string {
  return `W/"${version}-${hash('sha256', body, 'hex').slice(0, RESOURCE_HASH_DIGITS)}"`
}

/**
 * Builds the weak tag of a resource as a read shows it. Members that change by themselves, such as the time of last
 * use, are left out, so that they never make a client's change fail.
 */
export function etagOf({ version, view, untagged }: Versioned<unknown>, body: string = JSON.stringify(view)): string {
  if (untagged === undefined) return resourceETag(version, body)
  return resourceETag(
    version,
    JSON.stringify(view, (name, value: unknown) => (untagged.includes(name) ? undefined : value)),
  )
}

/** Whether a resource still has the version that its caller has read; null stands for any version. */
export function isCurrent(version: number | bigint, expected: number | bigint | null): boolean {
  return expected === null || BigInt(version) === BigInt(expected)
}

/**
 * Refuses to change a resource that has changed since its caller read it.
 *
 * @param currentEtag left out where the resource as a read shows it is not at hand
 * @throws ProblemError `precondition-failed`
 */
export function refuseChanged(currentEtag?: string): never {
  refuse(
    'precondition-failed',
    'The resource has changed since it was read.',
    currentEtag === undefined ? {} : { extra: { currentEtag } },
  )
}

/**
 * Checks that a resource still has the version that its caller has read; null stands for any version.
 *
 * @param found the resource as a read shows it, whose current tag the problem then names; or its stored row
 * @throws ProblemError `precondition-failed`
 */
export function checkVersion(
  found: Versioned<unknown> | { readonly version: number | bigint },
  expected: number | bigint | null,
): void {
  if (!isCurrent(found.version, expected)) refuseChanged('view' in found ? etagOf(found) : undefined)
}

/** Builds the weak tag of a list. */
export function listETag(body: string): string {
  return `W/"${hash('sha256', body, 'hex').slice(0, LIST_HASH_DIGITS)}"`
}

function opaquePart(tag: string): string {
  const text = tag.trim()
  return text.startsWith('W/') ? text.slice(2) : text
}

/**
 * Whether `If-Match` names the version of a resource, whatever the rest of it showed: lists of tags and `*` allowed.
 * For
 * resources with members that move by themselves, such as the amounts of a balance.
 */
export function matchesVersion(header: string, version: number | bigint): boolean {
  return header.trim() === '*' || header.split(',').some((tag) => opaquePart(tag).startsWith(`"${version}-`))
}

/** Whether `If-None-Match` (or `If-Match`) names the tag: weak comparison, lists of tags and `*` allowed. */
export function matchesETag(header: string, etag: string): boolean {
  if (header === etag || header === '*') return true
  const wanted = opaquePart(etag)
  // Tags made here contain no commas, so a foreign tag with a comma can only fail to match.
  for (const tag of header.split(',')) {
    if (opaquePart(tag) === wanted) return true
  }
  return false
}

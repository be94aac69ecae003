/** The record of a command's outcome under its key (I5). */
import type { ResourceRef } from '../base/resource-types.ts'
import type { Effects, IdempotencyRow } from './effects.ts'

/**
 * Builds the record of an outcome; a command without a key leaves none.
 *
 * @param resource what the command made or changed; null where there is none
 * @param answer the stored answer; null where it can be made again of the resource
 * @param now epoch milliseconds
 */
export function outcomeRecord(
  key: Pick<IdempotencyRow, 'id' | 'fingerprint'> | null,
  status: number,
  resource: ResourceRef | null,
  answer: string | null,
  now: number,
): Pick<Effects, 'idempotency'> {
  if (key === null) return {}
  return {
    idempotency: {
      ...key,
      status,
      resourceType: resource?.type ?? null,
      resourceId: resource?.id ?? null,
      answer,
      createdAt: now,
    },
  }
}

/**
 * The section of the commit statement for idempotency records (I5).
 *
 * A record names the type of its resource. The records of a commit are nearly always of payments alone, so their status
 * and type are sent once (`alike`), and a commit of payments sends no array for them.
 */
import { timestamp } from '../../lib/base/clock.ts'
import type { IdempotencyRow } from '../../lib/decisions/effects.ts'
import type { ResourceType } from '../../lib/base/resource-types.ts'
import { computed } from './columns.ts'
import {
  alike,
  fence,
  gathered,
  insert,
  type CommandConflict,
  type CommandRef,
  type Conflicts,
  type Section,
} from './section.ts'
import type { CommitCommand } from './turn.ts'

/** Retention of an idempotency key, in milliseconds. */
export const IDEMPOTENCY_RETENTION_MS = 24 * 60 * 60 * 1000

export interface StoredOutcome {
  readonly fingerprint: string
  readonly status: number
  readonly resourceType: ResourceType | null
  readonly resourceId: string | null
  readonly answer: string | null
  /** Time of the recorded decision, RFC 3339. */
  readonly decidedAt: string
}

export const IDEMPOTENCY: Section<IdempotencyRow> = gathered(
  'idempotency',
  alike(
    insert<IdempotencyRow, 'day'>('idempotency', {
      id: 'uuid',
      day: computed('date', (i) => timestamp(i.createdAt).slice(0, 10)),
      fingerprint: 'uuid',
      status: 'smallint',
      resourceType: 'text',
      resourceId: 'uuid',
      answer: 'text',
      createdAt: 'timestamptz',
    }),
    ['day'],
    ['status', 'resource_type', 'answer'],
  ),
  (record, batch) => {
    batch.add(IDEMPOTENCY, record)
    batch.add(RECORDED, { command: batch.nth, id: record.id, since: record.createdAt - IDEMPOTENCY_RETENTION_MS })
  },
)

interface RecordedKey extends CommandRef {
  readonly since: number
}
type Recorded = CommandConflict<'recorded'> & { readonly outcome: StoredOutcome }
const ALREADY_RECORDED: Conflicts<Recorded> = {
  kind: 'recorded',
  of: ({ nth, fingerprint, status, resourceType, resourceId, answer, decidedAt }, commands) => ({
    kind: 'recorded',
    command: commands[nth] as CommitCommand,
    outcome: {
      fingerprint: fingerprint as string,
      status: status as number,
      resourceType,
      resourceId,
      answer,
      decidedAt: (decidedAt as Date).toISOString(),
    },
  }),
}

/**
 * Finds recorded answers of idempotency keys. A key lives for a day, so its record is in the partition of this day or
 * the one before. Days are in UTC, whatever the session's time zone: a time zone ahead of UTC would skip yesterday's
 * records, and a repeated command would move money again. The upper day leaves out the partitions that are made ahead,
 * of which each commit would open the index; another node's clock may already be in the next day, by less than an hour.
 */
export const RECORDED = fence<RecordedKey, Recorded>(
  ALREADY_RECORDED,
  'recorded',
  { command: 'integer', id: 'uuid', since: 'timestamptz' },
  (source, bound) => `i.fingerprint, i.resource_type, i.resource_id, i.status, i.answer, i.created_at
  from ${source} join idempotency i on i.id = u.id and i.id = any(${bound('id')}) and i.created_at > u.since
  where i.day between ((${bound('since')})[1] at time zone 'UTC')::date
    and (($1::timestamptz + interval '1 hour') at time zone 'UTC')::date`,
)

/** The sections of the commit statement for mandates. */
import type { MandateChange, MandateRow } from '../../lib/direct-debits/effects.ts'
import type { Columns } from '../commit/columns.ts'
import {
  changed,
  commandConflict,
  existingConflict,
  existingDetail,
  fence,
  gathered,
  insertInto,
  moves,
  type Changeable,
  type Section,
  versionFence,
} from '../commit/section.ts'
import { columns, pick, without } from '../db/columns.ts'
import { Mandate } from './mandate-entity.ts'

const COLUMNS = columns(Mandate)

/** The columns that moves write, and no creation. */
const MOVED = [
  'version',
  'termsVersion',
  'lastCollectionAt',
  'lastPresentedAt',
  'presentedCount',
  'pendingCount',
  'submittedCount',
  'cancelledAt',
  'endDueAt',
  'pendingAmendment',
  'updatedAt',
] as const

interface MandateReference {
  readonly command: number
  readonly operatorId: string
  readonly scheme: string
  readonly reference: string
}

const REFERENCE_USED = existingConflict('mandate_reference_used')

/** Finds mandates of a creditor that have the reference already. */
export const MANDATE_REFERENCES = fence<MandateReference, ReturnType<typeof REFERENCE_USED.of>>(
  REFERENCE_USED,
  'mandate_reference',
  { command: 'integer', operatorId: 'uuid', scheme: 'text', reference: 'text' },
  (source) => `${existingDetail('x.id')}
  from ${source} join mandate x on x.operator_id = u.operator_id and x.scheme = u.scheme and x.reference = u.reference and x.direction = 'collect'`,
)

export const MANDATES: Section<MandateRow> = gathered(
  'mandates',
  insertInto(Mandate, without(COLUMNS, MOVED) satisfies Columns<MandateRow>, {
    version: '1',
    updated_at: 'u.created_at',
  }),
  (mandate, batch) => {
    batch.add(MANDATES, mandate)
    const { operatorId, scheme, reference, direction } = mandate
    if (direction === 'collect') batch.add(MANDATE_REFERENCES, { command: batch.nth, operatorId, scheme, reference })
  },
)

const CHANGEABLE = pick(COLUMNS, [
  'termsVersion',
  'balanceId',
  'connectionId',
  'amountLimit',
  'noticeDays',
  'signedAt',
  'providerRef',
  'statusReason',
  'submittedAt',
  'activatedAt',
  'cancelledAt',
  'endDueAt',
  'lastCollectionAt',
  'lastPresentedAt',
  'presentedCount',
  'pendingCount',
  'submittedCount',
  'dueAt',
  'counterparty',
  'history',
  'pendingAmendment',
  'metadata',
]) satisfies Changeable<MandateChange>

export const MANDATE_CHANGES: Section<MandateChange> = gathered(
  'mandateChanges',
  moves<MandateChange>(
    'mandate_changed',
    CHANGEABLE,
    (source, bound) => `mandate_changed_written as (
  update mandate m set status = u.status, version = m.version + 1, updated_at = u.updated_at, ${changed(CHANGEABLE, 'm')}
  from ${source} where m.id = u.id and m.id = any(${bound('id')}) and (select ok from verdict))`,
  ),
  (change, batch) => {
    batch.add(MANDATE_CHANGES, change)
    batch.change(MANDATE_FENCES, change.id, change.version)
  },
)

const MANDATE_STALE = commandConflict('mandate_stale')

/** Locks the mandates that change, after the balances, and compares their versions. */
export const MANDATE_FENCES = versionFence(MANDATE_STALE, 'mandate', 'm')

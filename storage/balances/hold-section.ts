/** The sections of the commit statement for holds, which alone move held amounts. */
import type { HoldResolution, HoldRow } from '../../lib/decisions/effects.ts'
import { NO_COLUMN } from '../commit/columns.ts'
import { alike, gathered, insertInto, section, type Section } from '../commit/section.ts'
import { columns, pick, without } from '../db/columns.ts'
import { balanceDelta } from './balance-section.ts'
import { Hold } from './hold-entity.ts'

const COLUMNS = columns(Hold)

export const HOLDS: Section<HoldRow> = gathered(
  'holds',
  alike(
    insertInto(Hold, without(COLUMNS, ['status', 'capturedAmount', 'expiresAt', 'resolvedAt']), { status: `'active'` }),
    ['subject_type'],
    ['balance_id', 'customer_id'],
  ),
  (hold, batch) => {
    balanceDelta(batch, hold.balanceId).held += hold.amount
    batch.add(HOLDS, hold)
  },
)

/** Ends holds; the whole amount of a hold leaves the held amount of its balance. */
export const HOLD_RESOLUTIONS: Section<HoldResolution> = gathered(
  'holdResolutions',
  alike(
    section<HoldResolution>(
      'hold_resolved',
      {
        ...pick(COLUMNS, ['id', 'status', 'capturedAmount', 'resolvedAt']),
        balanceId: NO_COLUMN,
        amount: NO_COLUMN,
      },
      (source, bound) => `hold_resolved_written as (
  update hold h set status = u.status, captured_amount = u.captured_amount, resolved_at = u.resolved_at
  from ${source} where h.id = u.id and h.id = any(${bound('id')}) and (select ok from verdict))`,
    ),
    ['status'],
  ),
  (hold, batch) => {
    balanceDelta(batch, hold.balanceId).held -= hold.amount
    batch.add(HOLD_RESOLUTIONS, hold)
  },
)

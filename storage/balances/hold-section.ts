/** The sections of the commit statement for holds, which alone move held amounts. */
import type { HoldResolution, HoldRow } from '../../lib/decisions/effects.ts'
import { NO_COLUMN } from '../commit/columns.ts'
import { gathered, insert, section, type Section } from '../commit/section.ts'
import { balanceDelta } from './balance-section.ts'

export const HOLDS: Section<HoldRow> = gathered(
  'holds',
  insert<HoldRow>(
    'hold',
    {
      id: 'uuid',
      balanceId: 'uuid',
      customerId: 'uuid',
      amount: 'bigint',
      subjectType: 'text',
      subjectId: 'uuid',
      description: 'text',
      createdAt: 'timestamptz',
    },
    { status: `'active'` },
  ),
  (hold, batch) => {
    balanceDelta(batch, hold.balanceId).held += hold.amount
    batch.add(HOLDS, hold)
  },
)

/** Ends holds; the whole amount of a hold leaves the held amount of its balance. */
export const HOLD_RESOLUTIONS: Section<HoldResolution> = gathered(
  'holdResolutions',
  section<HoldResolution>(
    'hold_resolved',
    {
      id: 'uuid',
      balanceId: NO_COLUMN,
      amount: NO_COLUMN,
      status: 'text',
      capturedAmount: 'bigint',
      resolvedAt: 'timestamptz',
    },
    (source, bound) => `hold_resolved_written as (
  update hold h set status = u.status, captured_amount = u.captured_amount, resolved_at = u.resolved_at
  from ${source} where h.id = u.id and h.id = any(${bound('id')}) and (select ok from verdict))`,
  ),
  (hold, batch) => {
    balanceDelta(batch, hold.balanceId).held -= hold.amount
    batch.add(HOLD_RESOLUTIONS, hold)
  },
)

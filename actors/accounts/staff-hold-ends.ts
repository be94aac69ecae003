/**
 * Ends holds of staff whose time is over. The node that owns the shard of a hold's balance polls for it; each hold is
 * ended under the lock of its row, so two polls at once end it once.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { expiredStaffHolds, lockStaffHold } from '../../storage/balances/staff-holds.ts'
import type { Database } from '../../storage/db/database.ts'
import { runChange } from '../commands/changes.ts'
import { Poller } from '../runtime/poller.ts'
import { untilDue } from '../runtime/rest.ts'
import type { Wakes } from '../runtime/wakes.ts'
import { endHold } from './staff-holds.ts'

/** The poll interval, and the number of holds ended per poll. */
const TICK_MS = 1_000
const TAKEN_MAX = 64

export interface StaffHoldEndsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly shards: Shards
  readonly wakes: Wakes
  readonly onError: (error: unknown, what: string) => void
}

export class StaffHoldEnds extends Poller {
  readonly #options: StaffHoldEndsOptions

  constructor(options: StaffHoldEndsOptions) {
    super({
      everyMs: TICK_MS,
      poll: () => this.#poll(),
      rest: untilDue(options, ['staff_hold']),
      onError: (error) => options.onError(error, 'holds that are over'),
    })
    this.#options = options
  }

  async #poll(): Promise<void> {
    const { database, clock, shards, onError } = this.#options
    const due = await expiredStaffHolds(database, { now: clock.now(), owned: shards.owned(), max: TAKEN_MAX })
    for (const { id, operatorId } of due)
      await this.#end(id, operatorId).catch((error: unknown) => onError(error, `hold ${id}`))
  }

  async #end(id: string, operatorId: string): Promise<void> {
    await runChange(this.#options, async (tx) => {
      const hold = await lockStaffHold(tx.client, operatorId, id)
      if (hold === null || hold.status !== 'active') return
      await endHold(tx, hold, { status: 'expired', reason: null })
    })
  }
}

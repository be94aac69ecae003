/** Warns of API keys that expire soon. A warning that was given is recorded with the key, so each is sent once. */
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Database } from '../../storage/db/database.ts'
import { tellOfExpiringKeys } from '../../storage/identity/key-expiry.ts'
import type { Task } from '../runtime/tasks.ts'

export interface KeyExpiryDeps {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
}

/** Looks once a minute: a warning comes three days before the end at the latest, so the minute does not matter. */
export function keyExpiry({ database, clock, ids }: KeyExpiryDeps): Task {
  return {
    name: 'identity.key_expiry',
    cron: '* * * * *',
    run: () => tellOfExpiringKeys(database, ids, clock.now()),
  }
}

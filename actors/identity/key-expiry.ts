/** Warns of API keys that expire soon. A warning that was given is recorded with the key, so each is sent once. */
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Mailer } from '../../lib/notices/mail.ts'
import type { Database } from '../../storage/db/database.ts'
import { tellOfExpiringKeys } from '../../storage/identity/key-expiry.ts'
import type { Task } from '../runtime/tasks.ts'

export interface KeyExpiryDeps {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly mailer: Mailer
  readonly onError: (error: unknown, what: string) => void
}

/** Looks once a minute: a warning comes three days before the end at the latest, so the minute does not matter. */
export function keyExpiry({ database, clock, ids, mailer, onError }: KeyExpiryDeps): Task {
  return {
    name: 'identity.key_expiry',
    cron: '* * * * *',
    async run() {
      for (const mail of await tellOfExpiringKeys(database, ids, clock.now()))
        await mailer.send(mail).catch((error: unknown) => onError(error, 'mail'))
    },
  }
}

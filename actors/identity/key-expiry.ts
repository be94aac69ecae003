/**
 * Warns of API keys that expire soon. Every node polls; a given warning is recorded with the key, so that each warning
 * is sent once.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Mailer } from '../../lib/notices/mail.ts'
import type { Database } from '../../storage/db/database.ts'
import { tellOfExpiringKeys } from '../../storage/identity/key-expiry.ts'
import { Poller } from '../runtime/poller.ts'

const TICK_MS = 2_000

export interface KeyExpiryOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly mailer: Mailer
  readonly onError: (error: unknown, what: string) => void
}

export class KeyExpiry extends Poller {
  constructor({ database, clock, ids, mailer, onError }: KeyExpiryOptions) {
    const poll = async (): Promise<void> => {
      for (const mail of await tellOfExpiringKeys(database, ids, clock.now()))
        await mailer.send(mail).catch((error: unknown) => onError(error, 'mail'))
    }
    super({ everyMs: TICK_MS, poll, onError: (error) => onError(error, 'keys that expire') })
  }
}

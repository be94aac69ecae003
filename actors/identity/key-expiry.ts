/**
 * Warns of API keys that expire soon. Every node polls; a given warning is recorded with the key, so that each warning
 * is sent once.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Mailer } from '../../lib/notices/mail.ts'
import type { Database } from '../../storage/db/database.ts'
import { nextKeyWarning, tellOfExpiringKeys } from '../../storage/identity/key-expiry.ts'
import { Poller, type Rest } from '../runtime/poller.ts'
import type { Wakes } from '../runtime/wakes.ts'

const TICK_MS = 2_000

export interface KeyExpiryOptions {
  readonly wakes: Wakes
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly mailer: Mailer
  readonly onError: (error: unknown, what: string) => void
}

export class KeyExpiry extends Poller {
  constructor({ database, clock, ids, mailer, wakes, onError }: KeyExpiryOptions) {
    const poll = async (): Promise<void> => {
      for (const mail of await tellOfExpiringKeys(database, ids, clock.now()))
        await mailer.send(mail).catch((error: unknown) => onError(error, 'mail'))
    }
    const rest: Rest = {
      clock,
      wakes,
      on: ['api_key'],
      next: () => nextKeyWarning(database, clock.now()),
    }
    super({ everyMs: TICK_MS, poll, rest, onError: (error) => onError(error, 'keys that expire') })
  }
}

/**
 * The registration of webhooks with the partner, as webhooks show it: the first valid one that it is done, one that is signed
 * otherwise that it was done with another secret.
 */
import type { Database } from '../../../storage/db/database.ts'
import { noteWebhookRegistration } from '../../../storage/providers/provider-connections.ts'

/** An open connection; a new secret opens another. */
interface Opened {
  readonly id: string
}

export class WebhookRegistrations {
  readonly #database: Database
  /** The states that were noted of open connections, so that a flood of webhooks writes nothing more. */
  readonly #noted = new WeakMap<Opened, 'registered' | 'failed'>()

  constructor(database: Database) {
    this.#database = database
  }

  /** Notes a webhook of a connection that has a secret. @throws the driver's errors */
  async note(connection: Opened, isValid: boolean): Promise<void> {
    const state = isValid ? 'registered' : 'failed'
    const known = this.#noted.get(connection)
    if (known === 'registered' || known === state) return
    this.#noted.set(connection, state)
    await noteWebhookRegistration(this.#database.pool, connection.id, state)
  }
}

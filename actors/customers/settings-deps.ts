/** Dependencies of the settings of customers. */
import type { IdSource } from '../../lib/ids.ts'
import type { Database } from '../../storage/database.ts'

export interface SettingsWorld {
  readonly database: Database
  readonly ids: IdSource
  readonly clock: { now(): number }
}

/** The dependencies of customer settings. */
import type { IdSource } from '../../lib/base/ids.ts'
import type { Database } from '../../storage/db/database.ts'

export interface SettingsDeps {
  readonly database: Database
  readonly ids: IdSource
  readonly clock: { now(): number }
}

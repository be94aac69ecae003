/** The dependencies of the identity commands. */
import type { IdSource } from '../../lib/base/ids.ts'
import type { Mailer } from '../../lib/notices/mail.ts'
import type { Database } from '../../storage/db/database.ts'
import type { Passwords } from '../../workers/pool/pool.ts'
import type { SecondFactorDeps } from './second-factor.ts'
import type { Log } from '../../lib/base/log.ts'

export interface IdentityDeps extends SecondFactorDeps {
  readonly database: Database
  readonly passwords: Passwords
  readonly mailer: Mailer
  readonly ids: IdSource
  readonly clock: { now(): number }
  readonly log: Log
  /** True where a sandbox exists; test keys work only there. */
  readonly sandbox: boolean
  /** Returns random bytes of cryptographic quality. */
  readonly random: (bytes: number) => Uint8Array
}

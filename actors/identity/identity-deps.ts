/** The dependencies of the identity commands. */
import type { IdSource } from '../../lib/base/ids.ts'
import type { Database } from '../../storage/db/database.ts'
import type { Passwords } from '../../workers/pool/pool.ts'
import type { Log } from '../../lib/base/log.ts'
import type { RelyingParty } from '../../lib/identity/webauthn.ts'
import type { SecretBox } from '../../lib/security/secret-box.ts'

export interface IdentityDeps {
  readonly database: Database
  readonly passwords: Passwords
  readonly ids: IdSource
  readonly clock: { now(): number }
  readonly log: Log
  /** True where a sandbox exists; test keys work only there. */
  readonly sandbox: boolean
  /** Returns random bytes of cryptographic quality. */
  readonly random: (bytes: number) => Uint8Array
  readonly secrets: SecretBox
  /**
   * True when a code of an app is valid for one use, as it must be for real money. A system with play money accepts a
   * code again within its half minute, because people who try the API, and tests, would otherwise wait for the next
   * code at every step.
   */
  readonly singleUse: boolean
  /** Returns the public address of the service, with which the links of mails begin. */
  origin(): string
  /** Returns the party that authenticators make credentials for; known once the node listens. */
  relyingParty(): RelyingParty
}

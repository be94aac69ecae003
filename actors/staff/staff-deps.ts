/** The dependencies of the commands of staff. */
import type { SecretBox } from '../../lib/security/secret-box.ts'
import type { ChangeDeps } from '../commands/changes.ts'
import type { StaffReads } from './staff.ts'

export interface StaffDeps extends ChangeDeps {
  readonly secrets: SecretBox
  /** Returns random bytes of cryptographic quality. */
  readonly random: (bytes: number) => Uint8Array
  /** Returns the public address of the service, with which the links of mails begin. */
  readonly origin: () => string
  /** The reads that the commands answer with. */
  readonly reads: StaffReads
}

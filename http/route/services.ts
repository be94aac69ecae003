/**
 * The services that handlers use. A handler of a GET route gets `ReadServices`, which can write nothing; every other
 * handler gets `Services`. The members here are for every operation. Each noun adds its own in its `services.ts`
 * (`declare module`): reads to `ReadServices`, reads and commands together to `Services`.
 *
 * Views are exactly the JSON of the API's resources, so a handler never rearranges them.
 */
import type { ApiKey } from '../../lib/commands/caller.ts'
import type { IdempotencyRecord } from '../../lib/commands/command.ts'
import type { Log } from '../../lib/base/log.ts'
import type { Health, Readiness } from '../../lib/contract/health.ts'

/** Services of GET handlers: reads only. */
export interface ReadServices {
  readonly problemBase: string
  /** Test keys work only where there is a sandbox. */
  readonly sandbox: boolean
  /** Whether a customer is a developer's workspace, whose people may use simulations. */
  isWorkspace(customerId: string): boolean
  /** Secret of the cursors' HMAC; the same on every node, 32 bytes. */
  readonly cursorKey: Uint8Array
  readonly ids: { next(): string }
  readonly clock: { now(): number }
  readonly log: Log
  health(): Health
  readiness(): Promise<Readiness>
  /** Finds an API key. Called at most about once a second per key and node. */
  findApiKey(sha256: string): Promise<ApiKey | null>
  findIdempotencyRecord(id: string): Promise<IdempotencyRecord | null>
}

/** Services of all other handlers: reads and commands. */
export interface Services extends ReadServices {
  /** Counts an attempt to sign in against the limit of its e-mail address. @throws ProblemError `rate-limited` */
  limitSignIn(email: string): void
}

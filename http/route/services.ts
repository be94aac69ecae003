/**
 * The services that handlers use. A handler of a GET route gets `ReadServices`, which can write nothing; every other
 * handler gets `Services`. Each noun adds its factory's type to `Nouns` in its `services.ts` (`declare module`).
 *
 * Views are exactly the JSON of the API's resources, so a handler never rearranges them.
 */
import type { ApiKey } from '../../lib/commands/caller.ts'
import type { IdempotencyRecord } from '../../lib/commands/command.ts'
import type { Log } from '../../lib/base/log.ts'
import type { Health, Readiness } from '../../lib/contract/health.ts'

/** The services of a noun as its factory in `actors` builds them. */
export interface Noun {
  readonly reads: object
  /** Absent for a noun that is only read. */
  readonly commands?: object
}

/** The nouns by the names under which handlers find them. */
// biome-ignore lint/suspicious/noEmptyInterface: each noun declares its own member.
export interface Nouns {}

type ReadsOf<Of> = Of extends { readonly reads: infer Reads } ? Reads : never
type CommandsOf<Of> = Of extends { readonly commands: infer Commands } ? Commands : unknown

/** The reads of all nouns. */
export type NounReads = { readonly [Name in keyof Nouns]: ReadsOf<Nouns[Name]> }
/** The reads and commands of all nouns. */
export type NounServices = { readonly [Name in keyof Nouns]: ReadsOf<Nouns[Name]> & CommandsOf<Nouns[Name]> }

/** The services for every operation. */
export interface NodeServices {
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
  /**
   * Counts a document that is rendered for a customer against its limit of exports. @throws ProblemError `rate-limited`
   */
  limitRendering(customerId: string): void
  /** Finds an API key. Called at most about once a second per key and node. */
  findApiKey(sha256: string): Promise<ApiKey | null>
  findIdempotencyRecord(id: string): Promise<IdempotencyRecord | null>
}

/** Services of GET handlers: reads only. */
export interface ReadServices extends NodeServices, NounReads {}

/** Services of all other handlers: reads and commands. */
export interface Services extends NodeServices, NounServices {
  /** Counts an attempt to sign in against the limit of its e-mail address. @throws ProblemError `rate-limited` */
  limitSignIn(email: string): void
}

/** Merges the reads and commands of each noun. */
export function servicesOf(nouns: Nouns): NounServices {
  return Object.fromEntries(
    Object.entries<Noun>({ ...nouns }).map(([name, { reads, commands }]) => [name, { ...reads, ...commands }]),
  ) as unknown as NounServices
}

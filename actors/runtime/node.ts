/**
 * A node of the service: the machinery that the nouns are built on, and the form in which a noun returns its background
 * work. The machinery knows no noun.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Log } from '../../lib/base/log.ts'
import type { IdempotencyRecord } from '../../lib/commands/command.ts'
import type { Screener } from '../../lib/compliance/screening.ts'
import type { Config } from '../../lib/config/config.ts'
import type { SecretBox } from '../../lib/security/secret-box.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import type { BalanceCache } from '../../storage/balances/balance-cache.ts'
import type { Database } from '../../storage/db/database.ts'
import type { PgListener } from '../../storage/db/pg-listener.ts'
import type { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import type { OrderNumbers } from '../../storage/payments/order-numbers.ts'
import type { WorkerPool } from '../../workers/pool/pool.ts'
import type { Answers } from '../commands/answers.ts'
import type { ActorSystem } from './system.ts'
import type { Wakes } from './wakes.ts'

/** The machinery of a node. Its members have the names under which the options of the parts of a noun ask for them. */
export interface Node {
  readonly config: Config
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Log
  /** Logs an error of work in the background, which goes on all the same. */
  readonly onError: (error: unknown, what: string) => void
  readonly database: Database
  /** The address of the database, for parts that need connections of their own. */
  readonly databaseUrl: string
  /** Receives the messages of other nodes; the nouns subscribe to its channels while they are built. */
  readonly listener: Pick<PgListener, 'subscribe'>
  /** Wakes the pollers that rest. */
  readonly wakes: Wakes
  /**
   * Connections for snapshots, which read many rows as of one moment while their results are written through other
   * connections.
   */
  readonly snapshots: Database
  readonly system: ActorSystem
  readonly shards: Shards
  readonly workers: WorkerPool
  readonly secrets: SecretBox
  /** Returns random bytes of cryptographic quality. */
  readonly random: (bytes: number) => Uint8Array
  readonly accounts: InternalAccountCache
  readonly balances: BalanceCache
  readonly orderNumbers: OrderNumbers
  readonly answers: Answers
  readonly findIdempotencyRecord: (id: string) => Promise<IdempotencyRecord | null>
  /** The secret of the cursors' HMAC, 32 bytes; the same on every node. */
  readonly cursorKey: Uint8Array
  readonly problemBase: string
  /** True where a sandbox exists. */
  readonly sandbox: boolean
  /** Screens names and references of payments. */
  readonly screener: Screener
  /** False keeps payments, transfers and exchanges in their queues: nothing is sent to partners. */
  readonly dispatch: boolean
  /** Returns the address at which clients reach the service; known once the node listens. */
  origin(): string
}

/** A part of a noun that works by itself, for example a poller. */
export interface Background {
  /** The name of the part, for the log. */
  readonly name: string
  start(): Promise<void> | void
  /** Finishes the work that has begun; does nothing when the part was not started. */
  stop(): Promise<void> | void
  /** Does once what the part's timer does; resolves when what was due is done. Parts without a timer have none. */
  runOnce?(): Promise<void>
}

/** Gives a part with `start` and `stop` its name. */
export function background(name: string, part: Omit<Background, 'name'>): Background {
  return {
    name,
    start: () => part.start(),
    stop: () => part.stop(),
    runOnce: async () => await part.runOnce?.(),
  }
}

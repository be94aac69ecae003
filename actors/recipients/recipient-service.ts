/** The recipient service: the cache that payments read, the commands for routes, and the parts that must be stopped. */
import type { Approvals, ApprovalSubject } from '../approvals/approvals.ts'
import { recipientSubject } from './review-recipient.ts'
import type { PayeeVerifier } from '../providers/bank.ts'
import { RecipientReviews } from './recipient-reviews.ts'
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Mailer } from '../../lib/notices/mail.ts'
import type { BankDirectory } from '../../lib/recipients/bank-directory.ts'
import type { UkModulusTable } from '../../lib/recipients/uk-modulus.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import type { Database } from '../../storage/db/database.ts'
import { PgListener } from '../../storage/db/pg-listener.ts'
import { RecipientCache } from '../../storage/recipients/recipient-cache.ts'
import { createBankLookups, type BankLookups } from './bank-lookups.ts'
import type { RecipientDeps } from './change-recipient.ts'
import { createRecipientCommands, type RecipientCommands } from './recipient-operations.ts'

/**
 * The NOTIFY channel for changed recipients. The payload is the recipient's id; empty for all recipients; or `of `, a
 * customer's id and a version for all recipients of that customer.
 */
const RECIPIENT_CHANGED = 'recipient_changed'
const ALL_OF = 'of '
/**
 * The time that a change waits until other nodes have dropped the recipient. A payment that is decided on an old
 * recipient is decided again.
 */
const FORGOTTEN_WITHIN_MS = 1_000

export interface RecipientServiceOptions {
  readonly database: Database
  readonly databaseUrl: string
  readonly clock: Clock
  readonly ids: IdSource
  readonly shards: Shards
  readonly mailer: Mailer
  readonly sandbox: boolean
  readonly ukModulus: UkModulusTable
  readonly banks: BankDirectory
  readonly payees: PayeeVerifier
  readonly problemBase: string
  readonly onError: (error: unknown, what: string) => void
}

export interface RecipientService {
  /** The cache of recipients that payments read. */
  readonly directory: RecipientCache
  /** The directory of banks. */
  readonly lookups: BankLookups
  /** The effects of an approval on a recipient. */
  readonly subject: ApprovalSubject
  /**
   * Waits until all nodes have dropped a customer's recipients from their caches, because of a new version of the
   * customer's preferences.
   */
  forgetOf(customerId: string, version: number): Promise<void>
  commands(
    approvals: Pick<Approvals, 'cancel'>,
    findIdempotencyRecord: RecipientDeps['findIdempotencyRecord'],
  ): RecipientCommands
  /** Starts listening for recipients that other nodes change, and polling reviews. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** Creates the service. Listens on a connection of its own to `databaseUrl`. */
export function createRecipientService(options: RecipientServiceOptions): RecipientService {
  const { database, databaseUrl, sandbox, onError } = options
  const directory = new RecipientCache(database)
  const tell = (told: string) => {
    if (told === '') directory.forgetAll()
    else if (told.startsWith(ALL_OF)) directory.forgetOf(told.slice(ALL_OF.length).split(' ')[0] as string)
    else directory.forget(told)
  }
  const notifications = new PgListener({
    url: databaseUrl,
    channel: RECIPIENT_CHANGED,
    onMessage: tell,
    onGap: () => directory.forgetAll(),
    onError,
  })
  const changed = (id: string) => directory.forget(id)
  const reviews = new RecipientReviews({ ...options, changed })
  return {
    directory,
    lookups: createBankLookups(options),
    subject: recipientSubject({ sandbox, changed }),
    async forgetOf(customerId, version) {
      directory.forgetOf(customerId)
      await notifications.heard(`${ALL_OF}${customerId} ${version}`, FORGOTTEN_WITHIN_MS)
    },
    commands: (approvals, findIdempotencyRecord) =>
      createRecipientCommands({
        ...options,
        approvals,
        reviews,
        findIdempotencyRecord,
        async forget(id) {
          directory.forget(id)
          await notifications.heard(id, FORGOTTEN_WITHIN_MS)
        },
      }),
    async start() {
      await notifications.start()
      reviews.start()
    },
    async stop() {
      await reviews.stop()
      await notifications.stop()
    },
  }
}

/** Recipients: the cache that payments read, reviews of recipients, and the reads and commands for routes. */
import type { ValidationDeps } from '../../lib/recipients/validation.ts'
import { RecipientCache } from '../../storage/recipients/recipient-cache.ts'
import type { ApprovalService } from '../approvals/approval-service.ts'
import type { PayeeVerifier } from '../providers/bank.ts'
import type { Node } from '../runtime/node.ts'
import { createBankLookups } from './bank-lookups.ts'
import { createRecipientCommands } from './recipient-operations.ts'
import { createRecipientReads } from './recipient-reads.ts'
import { RecipientReviews } from './recipient-reviews.ts'
import { recipientSubject } from './review-recipient.ts'

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

/** The machinery that recipients need. */
type RecipientNode = Pick<
  Node,
  | 'database'
  | 'listener'
  | 'wakes'
  | 'clock'
  | 'ids'
  | 'shards'
  | 'sandbox'
  | 'problemBase'
  | 'onError'
  | 'findIdempotencyRecord'
>

/** The nouns and partners that recipients need. */
export interface RecipientServiceParts {
  /** Checks names of payees. */
  readonly payees: PayeeVerifier
  /** The tables for checks of bank details. */
  readonly validation: Pick<ValidationDeps, 'ukModulus' | 'banks'>
  readonly approvals: Pick<ApprovalService, 'approvals' | 'addSubjects'>
  readonly operators: { onChange(listener: () => void): void }
}

export type RecipientService = ReturnType<typeof createRecipientService>

/** Creates the service. */
export function createRecipientService(
  node: RecipientNode,
  { payees, validation, approvals, operators }: RecipientServiceParts,
) {
  const { database, listener, sandbox } = node
  const directory = new RecipientCache(database)
  const tell = (told: string) => {
    if (told === '') directory.forgetAll()
    else if (told.startsWith(ALL_OF)) directory.forgetOf(told.slice(ALL_OF.length).split(' ')[0] as string)
    else directory.forget(told)
  }
  const changes = listener.subscribe(RECIPIENT_CHANGED, {
    onMessage: tell,
    onGap: () => directory.forgetAll(),
    confirms: true,
  })
  const changed = (id: string) => directory.forget(id)
  const reviews = new RecipientReviews({ ...node, changed })
  approvals.addSubjects({ recipient: recipientSubject({ sandbox, changed }) })
  operators.onChange(() => directory.forgetAll())
  return {
    reads: createRecipientReads(node),
    commands: createRecipientCommands({
      ...node,
      ...validation,
      payees,
      approvals: approvals.approvals,
      reviews,
      async forget(id) {
        directory.forget(id)
        await changes.heard(id, FORGOTTEN_WITHIN_MS)
      },
    }),
    tasks: [reviews.task()],
    /** The cache of recipients that payments read. */
    directory,
    /** The directory of banks. */
    bankLookups: { reads: createBankLookups({ ...node, ...validation }) },
    /**
     * Waits until all nodes have dropped a customer's recipients from their caches, because of a new version of the
     * customer's preferences.
     */
    async forgetOf(customerId: string, version: number): Promise<void> {
      directory.forgetOf(customerId)
      await changes.heard(`${ALL_OF}${customerId} ${version}`, FORGOTTEN_WITHIN_MS)
    },
  }
}

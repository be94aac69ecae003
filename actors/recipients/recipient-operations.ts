/**
 * Creates and changes recipients: a checked request becomes a row, its review, its events and its trail entry, all in
 * one transaction.
 *
 *  * A recipient is stored only when the table of requirements accepts it, its bank does not reject its name (or a
 *    person accepts the mismatch), and no other recipient of the customer has the same account.
 *  * The bank is asked before the transaction begins, so that no lock is held while a partner is slow.
 *  * An idempotency key keeps its answer. The answer is stored with the change that it reports, for success and refusal
 *    alike.
 *  * Every node that listens knows of a change before the change is answered, so that no payment uses the old details.
 */
import type { RecipientMaker } from './review-recipient.ts'
import type { Problem } from '../../lib/base/problems.ts'
import type { RecipientVerification } from '../../lib/recipients/verification.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { Recipient, RecipientCreate, RecipientUpdate } from '../../lib/recipients/recipient-schema.ts'
import type { Command, CommandAnswer, Versioned } from '../../lib/commands/command.ts'
import { blockRecipient } from './block-recipient.ts'
import type { RecipientDeps } from './change-recipient.ts'
import { CreateRecipient } from './create-recipient.ts'
import { deleteRecipient } from './delete-recipient.ts'
import { makeRecipient, type NewRecipient } from './make-recipient.ts'
import { updateRecipient } from './update-recipient.ts'
import { verifyRecipient } from './verify-recipient.ts'

/** Write operations. Every refusal is thrown as a problem, except the outcomes recorded under an idempotency key. */
export interface RecipientCommands {
  create(by: Caller, command: Command<RecipientCreate>): Promise<CommandAnswer<Recipient, 201>>
  /**
   * Creates a recipient on behalf of other work. A repeated call for a recipient that it has created is a
   * `duplicate-recipient`.
   */
  make(
    maker: RecipientMaker,
    body: NewRecipient,
    options: { readonly verify: boolean },
  ): Promise<{ readonly id: string } | { readonly refused: Problem }>
  update(by: Caller, id: string, body: RecipientUpdate, expected: number | bigint | null): Promise<Versioned<Recipient>>
  remove(by: Caller, id: string, expected: number | bigint | null): Promise<void>
  verify(by: Caller, id: string): Promise<RecipientVerification>
  /** Records a staff decision on a review that waits for staff. */
  review(
    by: Caller,
    reviewId: string,
    decision: { readonly decision: 'approved' | 'rejected'; readonly reason: string | null },
  ): Promise<void>
  /** Blocks an active recipient from being paid, or unblocks it. For staff. */
  block(by: Caller, id: string, change: { readonly blocked: boolean; readonly reason: string | null }): Promise<void>
}

/** Creates the commands of recipients. */
export function createRecipientCommands(deps: RecipientDeps): RecipientCommands {
  const creation = new CreateRecipient(deps)
  return {
    create: (by, command) => creation.create(by, command),
    make: (maker, body, options) => makeRecipient(deps, maker, body, options),
    update: (by, id, body, expected) => updateRecipient(deps, by, id, body, expected),
    remove: (by, id, expected) => deleteRecipient(deps, by, id, expected),
    verify: (by, id) => verifyRecipient(deps, by, id),
    review: (by, reviewId, { decision, reason }) =>
      deps.reviews.decide({ reviewId, operatorId: by.tenant.id, decision, reason, by: auditCaller(by) }),
    block: (by, id, change) => blockRecipient(deps, by, id, change),
  }
}

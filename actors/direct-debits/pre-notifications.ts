/**
 * Tells payers of their collections before the due date. The mail and the note that it was sent are one transaction, with
 * the versions of the mandate and the collection as its fence, so that a payer gets it once.
 */
import type { Clock } from '../../lib/base/clock.ts'
import { refuseField, refuseTransition } from '../../lib/base/problems.ts'
import { instantOf } from '../../lib/contract/formats.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { schemeDate } from '../../lib/direct-debits/dates.ts'
import type { CollectionMove } from '../../lib/direct-debits/collection-moves.ts'
import type { PreNotificationSent } from '../../lib/direct-debits/collection-schema.ts'
import type { CollectionRecord } from '../../lib/direct-debits/collection.ts'
import { decideCollection } from '../../lib/direct-debits/debit-decision.ts'
import { noticeMail } from '../../lib/direct-debits/notices/notice-mail.ts'
import { DEBIT_SCHEMES } from '../../lib/direct-debits/schemes.ts'
import type { SecretBox } from '../../lib/security/secret-box.ts'
import type { Database } from '../../storage/db/database.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import { findCollection } from '../../storage/direct-debits/collections.ts'
import { findMandate } from '../../storage/direct-debits/mandates.ts'
import { writeMail } from '../../storage/notices/mails.ts'
import { CommitConflict, writeEffects } from '../../storage/sections/write-effects.ts'
import type { DebitOutcome } from './debit-mover.ts'

/**
 * Makes the move of a collection whose customer has told the payer.
 *
 * @param now epoch milliseconds
 * @throws ProblemError `validation-error` for a time to come, `invalid-transition` for a payer that was told before
 */
export function sentNotice(
  { status, preNotification }: Pick<CollectionRecord, 'status' | 'preNotification'>,
  { channel, sentAt: at = null }: PreNotificationSent,
  now: number,
): CollectionMove {
  const sentAt = at === null ? now : instantOf(at)
  if (sentAt > now) refuseField('/sentAt', 'invalid_value', 'Must not be in the future.')
  const told = preNotification?.sentAt ?? null
  if (status === 'pending' && told !== null) refuseTransition(`The payer was told at ${told}.`, status, [])
  return { kind: 'notify', channel, sentAt }
}

export interface PreNotificationDeps {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly secrets: SecretBox
}

export class PreNotifications {
  readonly #deps: PreNotificationDeps

  constructor(deps: PreNotificationDeps) {
    this.#deps = deps
  }

  /**
   * Sends the notice of a collection to its payer. A collection that is not pending any more, has had its notice, or
   * whose payer has no address: `ignored`.
   */
  async send(id: string): Promise<DebitOutcome> {
    const { database, clock, ids, secrets } = this.#deps
    const collection = await findCollection(database, id)
    const mandate = collection === null ? null : await findMandate(database, collection.mandateId)
    if (collection === null || mandate === null) return { kind: 'ignored', status: null }
    const to = mandate.counterparty.email
    if (to === undefined || collection.preNotification?.sentAt !== null)
      return { kind: 'ignored', status: collection.status }
    const now = clock.now()
    const { reply, effects } = decideCollection(
      mandate,
      {
        kind: 'move_collection',
        collection,
        move: { kind: 'notify', channel: 'email', sentAt: now },
        pending: [],
        event: null,
        context: {
          ids,
          by: 'system',
          accounts: {},
          valueDate: schemeDate(DEBIT_SCHEMES[collection.scheme], now),
          reserveUntil: null,
        },
      },
      now,
    )
    if (reply.kind !== 'moved' || effects === null) return { kind: 'ignored', status: collection.status }
    const mail = noticeMail(to, collection, mandate, mandate.creditorName ?? 'Your creditor')
    try {
      await inTransaction(database, async (client) => {
        await writeMail({ client, ids, now }, secrets, { ...mail, tenantId: collection.customerId })
        await writeEffects({ client, now }, effects)
      })
    } catch (error) {
      // Another change came first: the collection is due again at its next look.
      if (error instanceof CommitConflict) return { kind: 'ignored', status: collection.status }
      throw error
    }
    return reply
  }
}

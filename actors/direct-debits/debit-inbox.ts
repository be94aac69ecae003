/**
 * The inbox of messages about mandates and collections, from banks, response files, staff and simulations. Each message
 * counts once, by its id; what fits no row of the tables changes nothing and is kept as such.
 */
import { schemeDate } from '../../lib/direct-debits/dates.ts'
import type { DebitEvent } from '../../lib/direct-debits/debit-decision.ts'
import {
  isMandateMessage,
  type CollectionMessage,
  type DebitMessage,
  type MandateMessage,
} from '../../lib/direct-debits/debit-messages.ts'
import { collectionSteps, mandateSteps, type ReturnTerms } from '../../lib/direct-debits/debit-steps.ts'
import type { CollectionRecord } from '../../lib/direct-debits/collection.ts'
import type { MandateRecord } from '../../lib/direct-debits/mandate.ts'
import { DEBIT_SCHEMES } from '../../lib/direct-debits/schemes.ts'
import { reserveUntil } from '../../lib/direct-debits/debit-terms.ts'
import { findCollection } from '../../storage/direct-debits/collections.ts'
import { readDebitTerms } from '../../storage/direct-debits/customer-debit-terms.ts'
import { findMandate } from '../../storage/direct-debits/mandates.ts'
import { keepDebitMessage } from '../../storage/direct-debits/debit-messages.ts'
import { isKeptAlready } from '../../storage/providers/provider-events.ts'
import { judgeCustomer } from './return-rates.ts'
import { DebitMover, type DebitMoverDeps, type DebitOutcome } from './debit-mover.ts'

/** The effect of a message: its move was made, it fits no row, its object is unknown, or it had counted before. */
export type DebitTaken = 'moved' | 'ignored' | 'unknown' | 'repeated'

/** Fees and retries of returned collections. */
export type ReturnTermsOf = (
  collection: CollectionRecord,
  mandate: MandateRecord,
  message: CollectionMessage,
) => Promise<ReturnTerms>

/** Without terms a return costs nothing and is not presented again. */
const NO_TERMS: ReturnTermsOf = async () => ({ fee: 0n, retryAt: null, challengeUntil: null })

export interface DebitInboxDeps extends DebitMoverDeps {
  readonly onError: (error: unknown, what: string) => void
  readonly returnTermsOf?: ReturnTermsOf
}

export class DebitInbox {
  readonly #deps: DebitInboxDeps
  readonly #mover: DebitMover

  constructor(deps: DebitInboxDeps) {
    this.#deps = deps
    this.#mover = new DebitMover(deps)
  }

  /**
   * Takes messages; resolves with the ids of those that need not be told again. A message that fails is told again.
   */
  async take(messages: readonly DebitMessage[]): Promise<readonly string[]> {
    const acknowledged: string[] = []
    // Messages about one mandate follow each other; the actor of a mandate takes them in this order.
    for (const message of messages) {
      try {
        await this.takeOne(message)
        acknowledged.push(message.id)
      } catch (error) {
        this.#deps.onError(error, `message ${message.type}`)
      }
    }
    return acknowledged
  }

  /** Takes one message. @throws Overloaded, DatabaseUnavailable or OutcomeUnknown; it may then be told again */
  async takeOne(message: DebitMessage): Promise<DebitTaken> {
    try {
      const taken = isMandateMessage(message)
        ? await this.#takeOfMandate(message)
        : await this.#takeOfCollection(message)
      if (taken === 'ignored') await this.#keep(message)
      return taken
    } catch (error) {
      if (isKeptAlready(error)) return 'repeated'
      throw error
    }
  }

  async #takeOfMandate(message: MandateMessage): Promise<DebitTaken> {
    const mandate = await findMandate(this.#deps.database, message.mandateId)
    if (mandate === null) return 'unknown'
    if (isOfAnother(message, mandate)) return 'ignored'
    const steps = mandateSteps(mandate, message, this.#deps.clock.now())
    let outcome: DebitOutcome = { kind: 'ignored', status: mandate.status }
    for (const [index, move] of steps.entries()) {
      const event = index === steps.length - 1 ? eventOf(message, mandate.connectionId) : null
      outcome = await this.#mover.moveMandate(mandate.id, move, { by: actorOf(message), event })
      if (outcome.kind !== 'moved') return 'ignored'
    }
    return outcome.kind === 'moved' ? 'moved' : 'ignored'
  }

  async #takeOfCollection(message: CollectionMessage): Promise<DebitTaken> {
    const { database, clock, returnTermsOf = NO_TERMS } = this.#deps
    const collection = await findCollection(database, message.collectionId)
    const mandate = collection === null ? null : await findMandate(database, collection.mandateId)
    if (collection === null || mandate === null) return 'unknown'
    if (isOfAnother(message, collection)) return 'ignored'
    const terms = await returnTermsOf(collection, mandate, message)
    const scheme = DEBIT_SCHEMES[collection.scheme]
    const held = reserveUntil(
      scheme,
      await readDebitTerms(database, collection),
      message.bookedOn ?? schemeDate(scheme, clock.now()),
    )
    const steps = collectionSteps(collection, mandate, message, terms)
    for (const [index, move] of steps.entries()) {
      const isLast = index === steps.length - 1
      const outcome = await this.#mover.moveCollection(
        collection.id,
        () => move,
        { by: actorOf(message), event: isLast ? eventOf(message, collection.connectionId) : null },
        // Money that comes back with the same message is no reserve.
        { reserveUntil: isLast ? held : null, bookedOn: message.bookedOn },
      )
      if (outcome.kind !== 'moved') return 'ignored'
    }
    if (message.type === 'collection.returned' || message.type === 'collection.rejected')
      await judgeCustomer(this.#deps, collection).catch((error: unknown) => this.#deps.onError(error, 'return rate'))
    return steps.length > 0 ? 'moved' : 'ignored'
  }

  /** Keeps a message that has changed nothing, once. */
  async #keep(message: DebitMessage): Promise<void> {
    const { database, clock } = this.#deps
    const { id, type, connectionId, reasonCode: code } = message
    const objectId = isMandateMessage(message) ? message.mandateId : message.collectionId
    if (connectionId !== null) await keepDebitMessage(database, { id, type, connectionId, objectId, code }, clock.now())
  }
}

const isOfAnother = (
  { connectionId }: Pick<DebitMessage, 'connectionId'>,
  { connectionId: own }: { readonly connectionId: string },
): boolean => connectionId !== null && connectionId !== own

const eventOf = ({ id, type, reasonCode }: DebitMessage, connectionId: string): DebitEvent => ({
  id,
  type,
  connectionId,
  code: reasonCode,
})

const actorOf = ({ source }: DebitMessage) => (source === 'staff' ? 'system' : source)

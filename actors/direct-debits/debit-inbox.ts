/**
 * The inbox of messages about mandates and collections, from banks, response files, staff and simulations. Each message
 * counts once, by its id; what fits no row of the tables changes nothing and is kept as such.
 */
import { LIMITS } from '../../lib/base/limits.ts'
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
import { isDebitMessageKept, keepDebitMessage } from '../../storage/direct-debits/debit-messages.ts'
import { isKeptAlready } from '../../storage/providers/provider-events.ts'
import { judgeCustomer } from './return-rates.ts'
import { Overloaded } from '../runtime/lane.ts'
import { DebitMover, type DebitMoverDeps } from './debit-mover.ts'

/** The effect of a message: its move was made, it fits no row, its object is unknown, or it had counted before. */
export type DebitTaken = 'moved' | 'ignored' | 'unknown' | 'repeated'

/** Fees and retries of returned collections. */
export type ReturnTermsOf = (
  collection: CollectionRecord,
  mandate: MandateRecord,
  message: CollectionMessage,
) => Promise<ReturnTerms>

/** Without terms a return costs nothing and is not presented again. */
const NO_TERMS: ReturnTerms = { fee: 0n, retryAt: null, challengeUntil: null }
/** More steps than a message has (three), each of them read again while others change the same row. */
const STEPS_MAX = 3 * LIMITS.conflictAttemptsMax

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

  /**
   * Makes the moves of a message about a mandate, each as the row then asks for it: another node that hears the same may
   * have made some of them.
   */
  async #takeOfMandate(message: MandateMessage): Promise<DebitTaken> {
    const { database, clock } = this.#deps
    let planned: string | null = null
    for (let attempt = 0; attempt < STEPS_MAX; attempt++) {
      const mandate = await findMandate(database, message.mandateId)
      if (mandate === null) return 'unknown'
      if (isOfAnother(message, mandate) || mandate.status === planned) return 'ignored'
      const [move, ...rest] = mandateSteps(mandate, message, clock.now())
      if (move === undefined) return 'ignored'
      const isLast = rest.length === 0
      if (!isLast && (await isDebitMessageKept(database, message.id))) return 'repeated'
      const event = isLast ? eventOf(message, mandate.connectionId) : null
      const outcome = await this.#mover.moveMandate(mandate.id, move, { by: actorOf(message), event })
      if (outcome.kind === 'moved' && isLast) return 'moved'
      // A move that the same status refuses again fits no row.
      planned = outcome.kind === 'moved' ? null : mandate.status
    }
    throw new Overloaded('The mandate keeps changing; try again.')
  }

  /** Makes the moves of a message about a collection, as those of a mandate. */
  async #takeOfCollection(message: CollectionMessage): Promise<DebitTaken> {
    const { database, clock, onError } = this.#deps
    for (let attempt = 0; attempt < STEPS_MAX; attempt++) {
      const collection = await findCollection(database, message.collectionId)
      const mandate = collection === null ? null : await findMandate(database, collection.mandateId)
      if (collection === null || mandate === null) return 'unknown'
      if (isOfAnother(message, collection)) return 'ignored'
      const isLast = collectionSteps(collection, mandate, message, NO_TERMS).length === 1
      const [move] = collectionSteps(
        collection,
        mandate,
        message,
        isLast ? await this.#terms(collection, mandate, message) : NO_TERMS,
      )
      if (move === undefined) return 'ignored'
      if (!isLast && (await isDebitMessageKept(database, message.id))) return 'repeated'
      const scheme = DEBIT_SCHEMES[collection.scheme]
      const terms = await readDebitTerms(database, collection)
      const held = reserveUntil(scheme, terms, message.bookedOn ?? schemeDate(scheme, clock.now()))
      let isFresh = true
      const outcome = await this.#mover.moveCollection(
        collection.id,
        ({ version }) => {
          isFresh = version === collection.version
          return isFresh ? move : null
        },
        { by: actorOf(message), event: isLast ? eventOf(message, collection.connectionId) : null },
        // Money that comes back with the same message is no reserve.
        { reserveUntil: isLast ? held : null, bookedOn: message.bookedOn },
      )
      if (!isFresh) continue
      if (outcome.kind !== 'moved') return 'ignored'
      if (!isLast) continue
      if (message.type === 'collection.returned' || message.type === 'collection.rejected')
        await judgeCustomer(this.#deps, collection).catch((error: unknown) => onError(error, 'return rate'))
      return 'moved'
    }
    throw new Overloaded('The collection keeps changing; try again.')
  }

  async #terms(collection: CollectionRecord, mandate: MandateRecord, message: CollectionMessage): Promise<ReturnTerms> {
    return (await this.#deps.returnTermsOf?.(collection, mandate, message)) ?? NO_TERMS
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

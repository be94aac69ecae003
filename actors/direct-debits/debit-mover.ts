/**
 * Brings moves to mandates: reads what a move needs (the collection, the pending collections of a mandate that may end,
 * the accounts), asks the mandate, and reads and asks again while something has changed in between.
 */
import type { CommandKey, Recorded } from '../../lib/balances/decision.ts'
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import type { StatusUpdate } from '../../lib/decisions/effects.ts'
import type { CollectionMove } from '../../lib/direct-debits/collection-moves.ts'
import type { CollectionRecord } from '../../lib/direct-debits/collection.ts'
import { schemeDate, type Period } from '../../lib/direct-debits/dates.ts'
import type { PatchMandate } from '../../lib/direct-debits/create-debits.ts'
import { endOfMandate, type DebitEvent, type DebitReply } from '../../lib/direct-debits/debit-decision.ts'
import { MANDATE_MOVES, type MandateMove } from '../../lib/direct-debits/mandate-moves.ts'
import type { MandateRecord } from '../../lib/direct-debits/mandate.ts'
import { DEBIT_SCHEMES } from '../../lib/direct-debits/schemes.ts'
import type { StoredOutcome } from '../../storage/commit/idempotency-section.ts'
import type { Database } from '../../storage/db/database.ts'
import { findCollection, findCollections, pendingCollections } from '../../storage/direct-debits/collections.ts'
import { findMandate, findMandates } from '../../storage/direct-debits/mandates.ts'
import type { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import { readHome } from '../providers/cash/home-accounts.ts'
import { askUntilDecided } from '../runtime/ask-until-decided.ts'
import { Overloaded } from '../runtime/lane.ts'
import type { ActorSystem } from '../runtime/system.ts'
import { mandateActor, type MandateCommand } from './mandate.ts'

export interface DebitMoverDeps {
  readonly system: ActorSystem
  readonly database: Database
  readonly accounts: InternalAccountCache
  readonly ids: IdSource
  readonly clock: Clock
}

/** The caller that asks for a move, and its key. Without a key nothing is recorded. */
export interface DebitAsker {
  readonly by: StatusUpdate['actor']
  readonly key?: CommandKey | null
  readonly problemRequest?: Recorded['problemRequest']
  /** The message of a bank that asks; it is recorded with the move. */
  readonly event?: DebitEvent | null
  /** Epoch milliseconds; by default as long as a request may take. */
  readonly deadline?: number
}

export type DebitOutcome =
  | Exclude<DebitReply, { readonly kind: 'stale' }>
  /** The key has a recorded outcome. */
  | { readonly kind: 'recorded'; readonly outcome: StoredOutcome }

/** Makes the move of a collection as it was read; null: nothing is asked. */
export type CollectionMoveOf = (collection: CollectionRecord, mandate: MandateRecord) => CollectionMove | null

/** Terms of the money of a move. */
export interface MoneyTerms {
  /** Until when collected money is held as a reserve, epoch milliseconds. */
  readonly reserveUntil?: number | null
  /** `YYYY-MM-DD`: the day on which the bank booked the money; by default today in the scheme's zone. */
  readonly bookedOn?: string | null
}

/** Makes the command of an attempt; null: what was read asks for none. */
type MakeCommand = (() => MandateCommand) | { readonly none: string | null }

export class DebitMover {
  readonly #deps: DebitMoverDeps

  constructor(deps: DebitMoverDeps) {
    this.#deps = deps
  }

  /**
   * Moves a mandate. A mandate that does not exist: `ignored`, without a status.
   *
   * @param notice the notice of the mandate's payer, for an answer that is recorded under a key
   * @throws ProblemError, Overloaded, DatabaseUnavailable or OutcomeUnknown
   */
  async moveMandate(
    id: string,
    move: MandateMove,
    asker: DebitAsker,
    { notice, message }: { readonly notice?: Period; readonly message?: string } = {},
  ): Promise<DebitOutcome> {
    const { database, ids } = this.#deps
    const { by, event = null, key = null, problemRequest } = asker
    const known = await findMandate(database, id)
    if (known === null) return { kind: 'ignored', status: null }
    const ends = MANDATE_MOVES[move.kind].pending !== 'go on'
    return await this.#untilFresh(known, asker, async () => {
      const pending = ends ? await pendingCollections(database, id) : []
      return () => ({
        kind: 'move_mandate',
        move,
        pending,
        event,
        key,
        ...(problemRequest === undefined ? {} : { problemRequest }),
        ...(notice === undefined ? {} : { notice }),
        ...(message === undefined ? {} : { message }),
        context: { by },
        seed: ids.next(),
      })
    })
  }

  /**
   * Changes the terms of a mandate, as people ask for it.
   *
   * @throws ProblemError, Overloaded, DatabaseUnavailable or OutcomeUnknown
   */
  async patchMandate(
    mandate: Pick<MandateRecord, 'id' | 'shard'>,
    { patch, termsVersion }: Pick<PatchMandate, 'patch' | 'termsVersion'>,
  ): Promise<DebitOutcome> {
    const { ids } = this.#deps
    return await this.#untilFresh(mandate, { by: 'member' }, async () => () => ({
      kind: 'patch_mandate',
      patch,
      termsVersion,
      context: { by: 'member' },
      seed: ids.next(),
    }))
  }

  /**
   * Moves a collection. `moveOf` is asked with each row that is read, so that the move fits it. A collection that does
   * not exist, and no move: `ignored`.
   *
   * @throws ProblemError, Overloaded, DatabaseUnavailable or OutcomeUnknown
   */
  async moveCollection(
    id: string,
    moveOf: CollectionMoveOf,
    asker: DebitAsker,
    { reserveUntil = null, bookedOn = null }: MoneyTerms = {},
  ): Promise<DebitOutcome> {
    const { database } = this.#deps
    const first = await findCollection(database, id)
    const mandate = first === null ? null : await findMandate(database, first.mandateId)
    return first === null || mandate === null
      ? { kind: 'ignored', status: null }
      : await this.#moveRead({ first, mandate }, moveOf, asker, { reserveUntil, bookedOn })
  }

  /**
   * Makes one move of many collections, which are read together; `moveOf` as above. Those that do not exist are left out.
   *
   * @throws ProblemError, Overloaded, DatabaseUnavailable or OutcomeUnknown, when all others have ended
   */
  async moveCollections(ids: readonly string[], moveOf: CollectionMoveOf, asker: DebitAsker): Promise<void> {
    const { database } = this.#deps
    const collections = [...(await findCollections(database, ids)).values()]
    const mandates = await findMandates(
      database,
      collections.map(({ mandateId }) => mandateId),
    )
    const moved = await Promise.allSettled(
      collections.map(async (first) => {
        const mandate = mandates.get(first.mandateId)
        if (mandate !== undefined) await this.#moveRead({ first, mandate }, moveOf, asker, {})
      }),
    )
    for (const each of moved) if (each.status === 'rejected') throw each.reason
  }

  async #moveRead(
    { first, mandate }: { readonly first: CollectionRecord; readonly mandate: MandateRecord },
    moveOf: CollectionMoveOf,
    asker: DebitAsker,
    { reserveUntil = null, bookedOn = null }: MoneyTerms,
  ): Promise<DebitOutcome> {
    const { database, ids, clock, accounts } = this.#deps
    const { by, event = null, key = null, problemRequest } = asker
    const { id } = first
    const { operatorId, connectionId, currency, scheme } = first
    const internal = await accounts.accounts({ operatorId, connectionId, currency })
    let suspenseId: string | undefined
    let isFirst = true
    return await this.#untilFresh(
      mandate,
      asker,
      async () => {
        const collection = isFirst ? first : await reread(database, id)
        isFirst = false
        const move = moveOf(collection, mandate)
        if (move === null) return { none: collection.status }
        const mayEnd = endOfMandate(mandate, { statusReason: null }, move) !== null
        const pending = mayEnd ? await pendingCollections(database, mandate.id) : []
        const home = MOVES_MONEY.has(move.kind) ? await readHome(database, accounts, collection) : undefined
        return () => ({
          kind: 'move_collection',
          collection,
          move,
          pending,
          event,
          key,
          ...(problemRequest === undefined ? {} : { problemRequest }),
          ...(suspenseId === undefined ? {} : { suspenseId }),
          context: {
            by,
            accounts: internal,
            home,
            valueDate: bookedOn ?? schemeDate(DEBIT_SCHEMES[scheme], clock.now()),
            reserveUntil,
          },
          seed: ids.next(),
        })
      },
      () => {
        suspenseId ??= ids.next()
      },
    )
  }

  /** Asks, and reads and asks again while what was read has changed. */
  async #untilFresh(
    { id, shard }: Pick<MandateRecord, 'id' | 'shard'>,
    { deadline }: DebitAsker,
    read: () => Promise<MakeCommand>,
    onCreditRefused: () => void = () => undefined,
  ): Promise<DebitOutcome> {
    const { system, clock } = this.#deps
    const until = deadline ?? clock.now() + LIMITS.requestDeadlineMs
    for (let attempt = 0; attempt < LIMITS.conflictAttemptsMax; attempt++) {
      const made = await read()
      if ('none' in made) return { kind: 'ignored', status: made.none }
      const reply = await askUntilDecided(
        { system, actor: mandateActor, id, shard, deadline: until },
        made,
        (conflict): DebitReply => {
          if (conflict.kind === 'collection_file_written') return { kind: 'ignored', status: null }
          if (conflict.kind === 'credit_refused') onCreditRefused()
          // The balance has moved to another connection.
          else if (conflict.kind !== 'collection_stale' && conflict.kind !== 'fact_stale')
            throw new Error(`Moving a mandate met ${conflict.kind}.`)
          return { kind: 'stale' }
        },
        'mandate',
      )
      if (reply.kind !== 'stale') return reply
    }
    throw new Overloaded('The mandate keeps changing; try again.')
  }
}

/** The moves by which a bank takes in or pays out money of a balance. */
const MOVES_MONEY: ReadonlySet<CollectionMove['kind']> = new Set(['collect', 'return', 'reinstate', 'refuse_reversal'])

async function reread(database: Database, id: string): Promise<CollectionRecord> {
  const found = await findCollection(database, id)
  if (found === null) throw new Error(`The collection ${id} is gone.`)
  return found
}

/**
 * Orders to banks about what they have already: collections that their creditors send back, and mandates that have ended
 * here. The rows are the queue, as for other orders (debit-queue.ts).
 *
 *  * A reversal is noted as sent before the bank is called (I1). One without an answer is asked about, and sent again
 *    only when the bank never got it (I7).
 *  * The end of a mandate is told until the bank has it: a repeat changes nothing.
 */
import type { Clock } from '../../lib/base/clock.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import type { CollectionMessage } from '../../lib/direct-debits/debit-messages.ts'
import type { MandateCounterparty } from '../../lib/direct-debits/mandate.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import type { Database } from '../../storage/db/database.ts'
import {
  endsTold,
  endsToTell,
  keepReversalRefs,
  markReversalsSent,
  nextLaterOrder,
  reversalsToSend,
  type ReversalToSend,
} from '../../storage/direct-debits/later-debit-orders.ts'
import { derivedId } from '../providers/adapters/derived-id.ts'
import type {
  DebitPartner,
  DebitStatus,
  DebitSubmission,
  ReversalOrder,
  TakeDebitMessages,
} from '../providers/debits.ts'
import { Poller } from '../runtime/poller.ts'
import type { Wakes } from '../runtime/wakes.ts'
import { presentationOf } from './debit-queue.ts'

const TICK_MS = 1_000
/** A reversal that was sent this long ago and is not acknowledged is asked about: longer than a call may take. */
const DOUBT_MS = 15_000
/** The delay before a bank that did not answer is told of the end of a mandate again. */
const AGAIN_MS = 60_000

export interface LaterDebitOrdersOptions {
  readonly wakes: Wakes
  readonly database: Database
  readonly clock: Clock
  readonly shards: Shards
  readonly partner: Pick<DebitPartner, 'reverse' | 'cancel' | 'status'>
  readonly inbox: TakeDebitMessages
  /** The schemes that travel by orders (lib/providers/debit-carriers.ts). */
  readonly carriers: readonly string[]
  readonly onError: (error: unknown, what: string) => void
}

export class LaterDebitOrders extends Poller {
  readonly #options: LaterDebitOrdersOptions

  constructor(options: LaterDebitOrdersOptions) {
    const { clock, wakes, database, shards, carriers, onError } = options
    super({
      everyMs: TICK_MS,
      poll: async () => {
        await this.#reverse()
        await this.#endMandates()
      },
      rest: {
        clock,
        wakes,
        on: ['events'],
        next: () => nextLaterOrder(database, { carriers, owned: shards.owned() }, DOUBT_MS),
      },
      onError: (error) => onError(error, 'reversals and ends of mandates'),
    })
    this.#options = options
  }

  #range() {
    const { clock, shards, carriers } = this.#options
    const now = clock.now()
    return { now, sentBefore: now - DOUBT_MS, carriers, owned: shards.owned(), max: LIMITS.partnerBatchMax }
  }

  async #reverse(): Promise<void> {
    const { database, clock, partner, inbox } = this.#options
    const due = await reversalsToSend(database, this.#range())
    if (due.length === 0) return
    const inDoubt = due.filter(({ isSent }) => isSent)
    const statuses: ReadonlyMap<string, DebitStatus> =
      inDoubt.length === 0
        ? new Map()
        : await partner.status(inDoubt.map(({ reference, connectionId }) => ({ reference, connectionId })))
    const wanted = due.filter(({ reference, isSent }) => !isSent || statuses.get(reference)?.kind === 'unknown')
    const marked = await markReversalsSent(
      database,
      wanted.map(({ collectionId }) => collectionId),
      clock.now(),
    )
    const orders = wanted.filter(({ collectionId }) => marked.has(collectionId)).map(reversalOrder)
    const submissions: ReadonlyMap<string, DebitSubmission> =
      orders.length === 0 ? new Map() : await partner.reverse(orders)
    const refs = new Map<string, string>()
    const refused: CollectionMessage[] = []
    for (const reversal of due) {
      const answer = submissions.get(reversal.reference) ?? statuses.get(reversal.reference)
      if (answer !== undefined && 'providerRef' in answer) refs.set(reversal.collectionId, answer.providerRef)
      if (answer?.kind === 'refused') refused.push(refusal(reversal, answer.reasonCode))
    }
    await keepReversalRefs(database, refs)
    if (refused.length > 0) await inbox(refused)
  }

  async #endMandates(): Promise<void> {
    const { database, clock, partner, onError } = this.#options
    const due = await endsToTell(database, this.#range())
    if (due.length === 0) return
    const ended = await partner
      .cancel(due.map(({ id: reference, connectionId }) => ({ reference, connectionId })))
      .catch((error: unknown): ReadonlySet<string> => {
        onError(error, 'ends of mandates')
        return new Set()
      })
    const ids = due.map(({ id }) => id)
    await endsTold(
      database,
      ids.filter((id) => ended.has(id)),
      null,
    )
    await endsTold(
      database,
      ids.filter((id) => !ended.has(id)),
      clock.now() + AGAIN_MS,
    )
  }
}

function reversalOrder({ counterparty, attempt, isSent: _isSent, ...reversal }: ReversalToSend): ReversalOrder {
  return {
    ...reversal,
    presentation: presentationOf(reversal.collectionId, attempt),
    counterparty: JSON.parse(counterparty) as MandateCounterparty,
  }
}

/** The message of a reversal that the bank has refused at once. */
const refusal = ({ reference, connectionId, collectionId }: ReversalToSend, reasonCode: string): CollectionMessage => ({
  id: derivedId(reference, 'refused'),
  type: 'collection.reversal_refused',
  connectionId,
  source: 'partner',
  reasonCode,
  providerRef: null,
  collectionId,
  rType: null,
  amount: null,
  bookedOn: null,
})

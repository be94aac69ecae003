/**
 * Mandates and collections on their way to banks that take them by orders.
 *
 *  * The queue is the rows themselves: pending ones that are due, and submitted ones that their bank has not
 *    acknowledged with a reference of its own. Memory holds nothing, so a crash loses nothing.
 *  * The move to `submitted` is committed before the bank is called (I1), by the actor of the mandate: a cancellation
 *    comes before it or after it, never between.
 *  * A bank is asked for the status of what was sent and not acknowledged. It is sent again, under the same reference,
 *    only when the bank answers that it never got it (I7).
 */
import type { Clock } from '../../lib/base/clock.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import type { DebitMessage } from '../../lib/direct-debits/debit-messages.ts'
import type { MandateCounterparty } from '../../lib/direct-debits/mandate.ts'
import { DEBIT_SUBMITTED_MS } from '../../lib/sandbox/direct-debits.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import type { Database } from '../../storage/db/database.ts'
import {
  collectionsToPresent,
  keepDebitRefs,
  mandatesToLodge,
  nextDebitOrder,
  stillSubmitted,
  type CollectionToPresent,
  type MandateToLodge,
} from '../../storage/direct-debits/debit-orders.ts'
import { derivedId } from '../providers/adapters/derived-id.ts'
import type {
  CollectionOrder,
  TakeDebitMessages,
  DebitPartner,
  DebitStatus,
  DebitSubmission,
  MandateOrder,
} from '../providers/debits.ts'
import { Poller } from '../runtime/poller.ts'
import type { Wakes } from '../runtime/wakes.ts'

/** The shortest time between two looks at the rows. */
const TICK_MS = 250
/** An order that was sent this long ago and is not acknowledged is asked about: longer than a call may take. */
const DOUBT_MS = 15_000

export interface DebitQueueOptions {
  readonly wakes: Wakes
  readonly database: Database
  readonly clock: Clock
  readonly shards: Shards
  readonly partner: DebitPartner
  readonly inbox: TakeDebitMessages
  /** The schemes that travel by orders (lib/providers/debit-carriers.ts). */
  readonly carriers: readonly string[]
  readonly onError: (error: unknown, what: string) => void
}

/** An order with the row that it is made from. */
interface Prepared<Order> {
  readonly id: string
  readonly order: Order
  readonly isSent: boolean
  /** The message that makes it submitted. */
  readonly submitted: DebitMessage
}

type Kind = 'mandate' | 'collection'

export class DebitQueue {
  readonly #options: DebitQueueOptions
  readonly #poller: Poller

  constructor(options: DebitQueueOptions) {
    this.#options = options
    const { clock, wakes, database, shards, carriers } = options
    this.#poller = new Poller({
      everyMs: TICK_MS,
      poll: () => this.#send(),
      rest: {
        clock,
        wakes,
        on: ['events'],
        next: () =>
          nextDebitOrder(database, { carriers, sandboxDelayMs: DEBIT_SUBMITTED_MS, owned: shards.owned() }, DOUBT_MS),
      },
      onError: (error) => options.onError(error, 'queue of direct debits'),
    })
  }

  start(): void {
    this.#poller.start()
  }

  /** Sends what is due now; resolves when the banks have answered. */
  async runOnce(): Promise<void> {
    await this.#poller.runOnce()
  }

  async stop(): Promise<void> {
    await this.#poller.stop()
  }

  /** Sends due orders, batch by batch: mandates first, because their collections wait for them. */
  async #send(): Promise<void> {
    const { database, clock, shards, carriers, partner } = this.#options
    const range = () => ({
      now: clock.now(),
      sentBefore: clock.now() - DOUBT_MS,
      sandboxDelayMs: DEBIT_SUBMITTED_MS,
      carriers,
      owned: shards.owned(),
      max: LIMITS.partnerBatchMax,
    })
    for (;;) {
      const mandates = (await mandatesToLodge(database, range())).map(mandateOrder)
      const done = await this.#batch('mandate', mandates, (orders) => partner.lodge(orders))
      if (mandates.length < LIMITS.partnerBatchMax || done === 0) break
    }
    for (;;) {
      const collections = (await collectionsToPresent(database, range())).map(collectionOrder)
      const done = await this.#batch('collection', collections, (orders) => partner.submit(orders))
      if (collections.length < LIMITS.partnerBatchMax || done === 0) break
    }
  }

  /**
   * Sends a batch. What was sent before is asked about first, and sent again when its bank never got it.
   *
   * @returns how many orders were acknowledged or refused
   */
  async #batch<Order extends MandateOrder | CollectionOrder>(
    kind: Kind,
    all: readonly Prepared<Order>[],
    send: (orders: readonly Order[]) => Promise<ReadonlyMap<string, DebitSubmission>>,
  ): Promise<number> {
    if (all.length === 0) return 0
    const inDoubt = all.filter(({ isSent }) => isSent)
    const statuses = await this.#statuses(inDoubt.map(({ order }) => order))
    const lost = inDoubt.filter(({ order }) => statuses.get(order.reference)?.kind === 'unknown')
    const taken = await this.#submitted(
      kind,
      all.filter(({ isSent }) => !isSent),
    )
    const toSend = [...lost, ...taken]
    const submissions =
      toSend.length === 0 ? new Map<string, DebitSubmission>() : await send(toSend.map(({ order }) => order))
    return await this.#answered(
      kind,
      all,
      new Map<string, DebitSubmission | DebitStatus>([...statuses, ...submissions]),
    )
  }

  async #statuses(orders: readonly (MandateOrder | CollectionOrder)[]): Promise<ReadonlyMap<string, DebitStatus>> {
    if (orders.length === 0) return new Map()
    return await this.#options.partner.status(
      orders.map(({ reference, connectionId }) => ({ reference, connectionId })),
    )
  }

  /** Moves orders to `submitted`. @returns those whose mandate or collection is still to be sent */
  async #submitted<Order>(kind: Kind, orders: readonly Prepared<Order>[]): Promise<readonly Prepared<Order>[]> {
    if (orders.length === 0) return []
    const { database, inbox } = this.#options
    await inbox(orders.map(({ submitted }) => submitted))
    // An order that was cancelled meanwhile is not submitted, and is not sent.
    const submitted = await stillSubmitted(
      database,
      kind,
      orders.map(({ id }) => id),
    )
    return orders.filter(({ id }) => submitted.has(id))
  }

  /** Keeps the references of orders that were taken, and reports refusals. @returns how many of both */
  async #answered<Order extends MandateOrder | CollectionOrder>(
    kind: Kind,
    orders: readonly Prepared<Order>[],
    answers: ReadonlyMap<string, DebitSubmission | DebitStatus>,
  ): Promise<number> {
    const { database, inbox } = this.#options
    const refs = new Map<string, string>()
    const refused: DebitMessage[] = []
    for (const { id, order } of orders) {
      const answer = answers.get(order.reference)
      if (answer !== undefined && 'providerRef' in answer) refs.set(id, answer.providerRef)
      if (answer?.kind === 'refused') refused.push(refusal(kind, id, order, answer.reasonCode))
    }
    await keepDebitRefs(database, kind, refs)
    if (refused.length > 0) await inbox(refused)
    return refs.size + refused.length
  }
}

/** Returns the reference of one presentation of a collection: each is an order of its own. */
export const presentationOf = (collectionId: string, attempt: number): string =>
  attempt <= 1 ? collectionId : derivedId(collectionId, `presentation ${attempt}`)

/** The messages of the queue itself: it has handed an order to its bank, or the bank has refused it at once. */
const told = (reference: string, connectionId: string, what: string, reasonCode: string | null = null) =>
  ({ id: derivedId(reference, what), connectionId, source: 'partner', reasonCode, providerRef: null }) as const

function refusal(
  kind: Kind,
  id: string,
  { reference, connectionId }: MandateOrder | CollectionOrder,
  reasonCode: string,
): DebitMessage {
  const common = told(reference, connectionId, 'refused', reasonCode)
  return kind === 'mandate'
    ? { ...common, type: 'mandate.failed', mandateId: id }
    : { ...common, type: 'collection.rejected', collectionId: id, rType: 'reject', amount: null, bookedOn: null }
}

function mandateOrder({ id, isSent, reference, counterparty, ...mandate }: MandateToLodge): Prepared<MandateOrder> {
  return {
    id,
    isSent,
    order: {
      ...mandate,
      reference: id,
      mandateId: id,
      mandateReference: reference,
      counterparty: JSON.parse(counterparty) as MandateCounterparty,
    },
    submitted: { ...told(id, mandate.connectionId, 'handed over'), type: 'mandate.submitted', mandateId: id },
  }
}

function collectionOrder({ id, isSent, counterparty, ...collection }: CollectionToPresent): Prepared<CollectionOrder> {
  const reference = presentationOf(id, collection.attempt)
  return {
    id,
    isSent,
    order: {
      ...collection,
      reference,
      collectionId: id,
      counterparty: JSON.parse(counterparty) as MandateCounterparty,
    },
    submitted: {
      ...told(reference, collection.connectionId, 'handed over'),
      type: 'collection.submitted',
      collectionId: id,
      rType: null,
      amount: null,
      bookedOn: null,
    },
  }
}

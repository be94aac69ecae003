/**
 * The direct debits of the sandbox bank: mandates and presentations of collections in a book of its own (table
 * sandbox_debit), so that what it has taken survives a crash, and a repeated reference is the same order.
 *
 * The reports about an order are planned when it is taken, from the counterparty's name and the amount
 * (lib/sandbox/direct-debits.ts); a simulation replaces the reports still to come. Each report is sent until it is
 * acknowledged. Money is booked before the report about it is sent.
 */
import type { Clock } from '../../lib/base/clock.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import type { DebitMessage } from '../../lib/direct-debits/debit-messages.ts'
import type { CounterpartyAccount } from '../../lib/direct-debits/mandate.ts'
import { accountOf } from '../../lib/direct-debits/account.ts'
import {
  DEBIT_SUBMITTED_MS,
  decodeDebitSteps,
  encodeDebitSteps,
  planCollection,
  planMandate,
  planReversal,
  transferredAccount,
  type CollectionStep,
  type DebitStep,
  type MandateStep,
} from '../../lib/sandbox/direct-debits.ts'
import type { Direction } from '../../lib/reconciliation/statement.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import type { Database } from '../../storage/db/database.ts'
import type { Queries } from '../../storage/db/transaction.ts'
import { insertSandboxBookings } from '../../storage/sandbox/sandbox-book.ts'
import {
  dueSandboxDebits,
  findSandboxDebit,
  insertSandboxDebits,
  knownSandboxDebits,
  replanSandboxDebits,
  type NewSandboxDebit,
  type SandboxDebitOrder,
  type SandboxDebitPlan,
} from '../../storage/sandbox/sandbox-debits.ts'
import { derivedId } from '../providers/adapters/derived-id.ts'
import type {
  CollectionOrder,
  TakeDebitMessages,
  DebitPartner,
  DebitQuestion,
  DebitStatus,
  DebitSubmission,
  MandateOrder,
  ReversalOrder,
} from '../providers/debits.ts'
import { Poller } from '../runtime/poller.ts'
import { untilDue } from '../runtime/rest.ts'
import type { Wakes } from '../runtime/wakes.ts'

/** Time between two polls for due reports: a tenth of the shortest time of a plan would be noticed, this is not. */
const TICK_MS = 200
/** Attempts to replace the plan of an order that moves on at the same time. */
const ATTEMPTS_MAX = 8

export interface SandboxDebitsOptions {
  readonly wakes: Wakes
  readonly database: Database
  readonly clock: Clock
  /** Only the node that owns a shard sends the reports about its orders. */
  readonly shards: Shards
  readonly onError: (error: unknown, what: string) => void
}

/** The codes of bookings: a collection is credited, and debited when it comes back, or is sent back. */
const BOOKINGS: { readonly [event in DebitStep['event']]?: { readonly direction: Direction; readonly code: string } } =
  {
    'collection.collected': { direction: 'CRDT', code: 'RDDT' },
    'collection.reinstated': { direction: 'CRDT', code: 'RDDT' },
    'collection.returned': { direction: 'DBIT', code: 'RDDT' },
    'collection.reversed': { direction: 'DBIT', code: 'RDDT' },
  }

export class SandboxDebits implements DebitPartner {
  readonly #options: SandboxDebitsOptions
  readonly #poller: Poller
  #inbox: TakeDebitMessages | undefined

  constructor(options: SandboxDebitsOptions) {
    this.#options = options
    this.#poller = new Poller({
      everyMs: TICK_MS,
      poll: () => this.#report(),
      rest: untilDue(options, ['sandbox_debit']),
      onError: (error) => options.onError(error, 'direct debits of the sandbox bank'),
    })
  }

  /** Starts sending due reports. */
  start(inbox: TakeDebitMessages): void {
    this.#inbox = inbox
    this.#poller.start()
  }

  /** Sends the reports that are due now; resolves when they are processed. */
  async runOnce(): Promise<void> {
    await this.#poller.runOnce()
  }

  /** Stops sending, and waits until the reports under way are finished. */
  async stop(): Promise<void> {
    await this.#poller.stop()
  }

  async lodge(mandates: readonly MandateOrder[]): Promise<ReadonlyMap<string, DebitSubmission>> {
    return await this.#take(
      mandates,
      'mandate',
      mandates.map((order) => ({
        objectId: order.mandateId,
        amount: null,
        receivedAt: order.createdAt,
        steps: planMandate(order.scheme, order.counterparty.name, order.direction),
      })),
    )
  }

  async submit(collections: readonly CollectionOrder[]): Promise<ReadonlyMap<string, DebitSubmission>> {
    const now = this.#options.clock.now()
    return await this.#take(
      collections,
      'collection',
      collections.map((order) => ({
        objectId: order.collectionId,
        amount: order.amount,
        // A collection that waited longer than usual is planned from its submission.
        receivedAt: order.attempt === 1 ? order.createdAt : now - DEBIT_SUBMITTED_MS,
        steps: planCollection({
          scheme: order.scheme,
          counterpartyName: order.counterparty.name,
          amountMinor: order.amount,
          attempt: order.attempt,
        }),
      })),
    )
  }

  async #take(
    orders: readonly (MandateOrder | CollectionOrder | ReversalOrder)[],
    kind: 'mandate' | 'collection',
    plans: readonly {
      readonly objectId: string
      readonly amount: bigint | null
      readonly receivedAt: number
      readonly steps: readonly DebitStep[]
    }[],
  ): Promise<ReadonlyMap<string, DebitSubmission>> {
    if (orders.length > 0) {
      await insertSandboxDebits(
        this.#options.database,
        orders.map((order, nth) => {
          const plan = plans[nth] as (typeof plans)[number]
          const [first] = plan.steps
          return {
            reference: order.reference,
            kind,
            objectId: plan.objectId,
            shard: order.shard,
            connectionId: order.connectionId,
            scheme: order.scheme,
            currency: order.currency,
            amount: plan.amount,
            account: accountOf(order.counterparty),
            steps: encodeDebitSteps(plan.steps),
            dueAt: first === undefined ? null : plan.receivedAt + first.afterMs,
            receivedAt: plan.receivedAt,
          }
        }),
      )
      this.#poller.wake()
    }
    return new Map(
      orders.map(({ reference }) => [reference, { kind: 'accepted', providerRef: providerRef(reference) }]),
    )
  }

  async reverse(reversals: readonly ReversalOrder[]): Promise<ReadonlyMap<string, DebitSubmission>> {
    return await this.#take(
      reversals,
      'collection',
      reversals.map((order) => ({
        objectId: order.collectionId,
        amount: order.amount,
        receivedAt: order.createdAt,
        steps: planReversal(),
      })),
    )
  }

  async cancel(mandates: readonly DebitQuestion[]): Promise<ReadonlySet<string>> {
    for (const { reference } of mandates) await this.#replan(this.#options.database, reference, () => [])
    return new Set(mandates.map(({ reference }) => reference))
  }

  async status(questions: readonly DebitQuestion[]): Promise<ReadonlyMap<string, DebitStatus>> {
    const known = await knownSandboxDebits(
      this.#options.database,
      questions.map(({ reference }) => reference),
    )
    return new Map(
      questions.map(({ reference }) => [
        reference,
        known.has(reference) ? { kind: 'taken', providerRef: providerRef(reference) } : { kind: 'unknown' },
      ]),
    )
  }

  /**
   * Replaces the planned reports about a mandate, or about a presentation of a collection, with simulated ones that are
   * due at once, one after the other. The bank takes an order that it does not have yet.
   *
   * @returns the id of the first report
   */
  async simulate(
    queries: Queries,
    order: Omit<NewSandboxDebit, 'steps' | 'dueAt'>,
    reports: readonly Omit<DebitStep, 'afterMs'>[],
  ): Promise<string | null> {
    await insertSandboxDebits(queries, [{ ...order, steps: '', dueAt: null }])
    return await this.#replan(queries, order.objectId, (nowMs) =>
      reports.map((report) => ({ ...report, afterMs: nowMs })),
    )
  }

  /** @throws Error when the order has changed at each of `ATTEMPTS_MAX` attempts */
  async #replan(
    queries: Queries,
    objectId: string,
    decide: (nowMs: number) => readonly DebitStep[],
  ): Promise<string | null> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const found = await findSandboxDebit(queries, objectId)
      if (found === null) return null
      const steps = decide(Math.max(0, this.#options.clock.now() - found.receivedAt))
      if ((await replanSandboxDebits(queries, [planned(found, steps)])).length > 0)
        return messageId(found.reference, found.eventNumber + 1)
    }
    throw new Error(`The sandbox bank’s order about ${objectId} keeps changing.`)
  }

  /** Sends due reports until none is left, or until a batch was not fully acknowledged. */
  async #report(): Promise<void> {
    const { database, clock, shards } = this.#options
    while (this.#inbox !== undefined) {
      const due = (
        await dueSandboxDebits(database, { now: clock.now(), max: LIMITS.partnerEventsMax, owned: shards.owned() })
      ).map((order) => {
        const steps = decodeDebitSteps(order.steps)
        return { order, steps, message: messageOf(order, steps[0] as DebitStep) }
      })
      if (due.length === 0) return
      await bookMoney(database, due)
      const acknowledged = new Set(await this.#inbox(due.map(({ message }) => message)))
      const heard = due.filter(({ message }) => acknowledged.has(message.id))
      await replanSandboxDebits(
        database,
        heard.map(({ order, steps }) => planned(order, steps.slice(1))),
      )
      if (heard.length < due.length) return
    }
  }
}

interface Due {
  readonly order: SandboxDebitOrder
  readonly steps: readonly DebitStep[]
  readonly message: DebitMessage
}

function planned(
  { reference, eventNumber, receivedAt }: SandboxDebitOrder,
  steps: readonly DebitStep[],
): SandboxDebitPlan {
  const [next] = steps
  return {
    reference,
    eventNumber,
    steps: encodeDebitSteps(steps),
    dueAt: next === undefined ? null : receivedAt + next.afterMs,
  }
}

/** The bank's own reference of an order. */
const providerRef = (reference: string): string => `SBX${reference.replaceAll('-', '').slice(-12).toUpperCase()}`

/** The bank's id of a report, the same when the report is repeated. */
const messageId = (reference: string, eventNumber: number): string => derivedId(reference, `report ${eventNumber}`)

const isOfMandate = (step: DebitStep): step is MandateStep => step.event.startsWith('mandate.')
const isOfCollection = (step: DebitStep): step is CollectionStep => step.event.startsWith('collection.')

/** @throws Error for a report of the other kind of order: stored plans are never guessed */
function messageOf(order: SandboxDebitOrder, step: DebitStep): DebitMessage {
  const told = {
    id: messageId(order.reference, order.eventNumber),
    connectionId: order.connectionId,
    source: 'partner',
    reasonCode: step.reasonCode,
    providerRef: providerRef(order.reference),
  } as const
  if (order.kind === 'mandate' && isOfMandate(step))
    return {
      ...told,
      type: step.event,
      mandateId: order.objectId,
      ...(step.event === 'mandate.amended'
        ? { amendment: transferredAccount(order.scheme, JSON.parse(order.account) as CounterpartyAccount) }
        : {}),
    }
  if (order.kind === 'collection' && isOfCollection(step))
    return { ...told, type: step.event, collectionId: order.objectId, rType: step.type, amount: null, bookedOn: null }
  throw new Error(`The sandbox bank has planned ${step.event} for a ${order.kind}.`)
}

/** Books money before its report is sent; the id of the report makes sure that it is booked once. */
async function bookMoney(database: Database, due: readonly Due[]): Promise<void> {
  const bookings = due.flatMap(({ order, steps: [step], message }) => {
    const booking = step === undefined ? undefined : BOOKINGS[step.event]
    return booking === undefined || order.amount === null
      ? []
      : [
          {
            id: message.id,
            connectionId: order.connectionId,
            currency: order.currency,
            reference: order.objectId,
            ...booking,
            amount: order.amount,
            at: order.dueAt as number,
            text: null,
          },
        ]
  })
  if (bookings.length > 0) await insertSandboxBookings(database, bookings)
}

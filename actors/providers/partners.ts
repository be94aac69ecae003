/**
 * The banking partners of a node, as the rest of the service sees them: each order and each question goes to the adapter
 * of its connection. What one connection does not answer holds up no other one.
 */
import type { Clock } from '../../lib/base/clock.ts'
import type { CallOutcome } from '../../lib/providers/health.ts'
import type { ProviderId } from '../../lib/providers/provider.ts'
import type { Database } from '../../storage/db/database.ts'
import type { Queries } from '../../storage/db/transaction.ts'
import { askedPayments, connectionsOfExchanges, keepProviderRefs } from '../../storage/providers/partner-references.ts'
import { partiesOfPayments } from '../../storage/providers/payment-parties.ts'
import type { AccountPartner } from './account-partner.ts'
import type { AdapterConnection } from './adapters/adapter.ts'
import type { BankPartner, BankRecallRequest, OrderStatus, PaymentOrder, RecallPartner, Submission } from './bank.ts'
import type { BookOrder, BookTransferPartner } from './book-transfers.ts'
import type { CreditPartner } from './credits.ts'
import type { DebitPartner, DebitQuestion, DebitStatus, DebitSubmission } from './debits.ts'
import type { FxMarkets, FxPartner, FxStatus, FxSubmission } from './fx.ts'
import type { IncomingDebitPartner } from './incoming-debits.ts'
import { ConnectionUnusable, type Adapters, type OpenConnections, type OpenedConnection } from './open-connections.ts'
import type { StatementPartner } from './statements.ts'

export interface PartnersOptions {
  readonly database: Database
  readonly clock: Clock
  readonly adapters: Adapters
  readonly connections: Pick<OpenConnections, 'open' | 'isOutside'>
  readonly health: { record(connectionId: string, outcome: CallOutcome): void }
  readonly onError: (error: unknown, what: string) => void
}

export interface Partners {
  readonly bank: BankPartner & RecallPartner
  readonly credits: CreditPartner
  readonly incomingDebits: IncomingDebitPartner
  readonly statements: StatementPartner
  readonly bookTransfers: BookTransferPartner
  readonly accounts: AccountPartner
  readonly exchanges: FxPartner
  readonly markets: Pick<FxMarkets, 'of'>
  readonly debits: DebitPartner
}

/** Items of connections that are taken together; null: their connection cannot be used. */
interface Group<Item> {
  readonly opened: OpenedConnection | null
  readonly items: readonly Item[]
}

interface OfConnection {
  readonly connectionId: string
}

/** Creates the ports. */
export function createPartners(options: PartnersOptions): Partners {
  const dispatch = new Dispatch(options)
  return {
    bank: bankOf(options, dispatch),
    credits: creditsOf(options, dispatch),
    incomingDebits: incomingDebitsOf(options, dispatch),
    statements: {
      async statement(question) {
        const { clock } = options
        const opened = await dispatch.opened(question.connectionId)
        return (await opened?.adapter.statement?.(question, clock.now())) ?? null
      },
    },
    bookTransfers: bookTransfersOf(dispatch),
    accounts: accountsOf(options, dispatch),
    exchanges: exchangesOf(options, dispatch),
    markets: {
      async of(connectionId, transaction) {
        const opened = await dispatch.opened(connectionId, transaction)
        return opened === null ? 'unusable' : (opened.adapter.fx ?? 'not_offered')
      },
    },
    debits: debitsOf(dispatch),
  }
}

/** Finds the open connections of orders and questions, and calls their adapters. */
class Dispatch {
  readonly #options: PartnersOptions

  constructor(options: PartnersOptions) {
    this.#options = options
  }

  /** Opens a connection; null when it cannot be used, which is logged. */
  async opened(connectionId: string, transaction?: Queries): Promise<OpenedConnection | null> {
    try {
      return await this.#options.connections.open(connectionId, transaction)
    } catch (error) {
      if (!(error instanceof ConnectionUnusable)) this.#options.onError(error, `opening the connection ${connectionId}`)
      return null
    }
  }

  /**
   * Groups items by their connections. The connections of a provider that is part of this process are one group: a
   * batch of its orders stays one batch.
   */
  async groups<Item extends OfConnection>(items: readonly Item[]): Promise<readonly Group<Item>[]> {
    const [first] = items
    if (first === undefined) return []
    // The usual case, without a map.
    if (items.every(({ connectionId }) => connectionId === first.connectionId))
      return [{ opened: await this.opened(first.connectionId), items }]
    const groups = new Map<unknown, { opened: OpenedConnection | null; items: Item[] }>()
    for (const [connectionId, of] of Map.groupBy(items, (item) => item.connectionId)) {
      const opened = await this.opened(connectionId)
      const key = opened?.description.rate === null ? opened.description : connectionId
      const group = groups.get(key)
      if (group === undefined) groups.set(key, { opened, items: of })
      else group.items.push(...of)
    }
    return [...groups.values()]
  }

  /**
   * Calls each group's adapter at the same time, and puts the answers together. A group whose call fails answers
   * nothing, and the failure is logged.
   *
   * @param call the call; null where the connection has no such ability, or cannot be used
   * @param without the answer for an item of a group without a call
   */
  async ask<Item extends OfConnection & { readonly reference: string }, Answer>(
    what: string,
    items: readonly Item[],
    call: (group: OpenedConnection) => ((items: readonly Item[]) => Promise<ReadonlyMap<string, Answer>>) | null,
    without: Answer,
    failed?: Answer,
  ): Promise<ReadonlyMap<string, Answer>> {
    const groups = await this.groups(items)
    const answers = await Promise.all(
      groups.map(async ({ opened, items: of }): Promise<ReadonlyMap<string, Answer>> => {
        const ask = opened === null ? null : call(opened)
        if (opened === null || ask === null) return same(of, without)
        try {
          return await this.#measured(opened, of, () => ask(of))
        } catch (error) {
          this.#options.onError(error, `${what} of the connection ${opened.id}`)
          return failed === undefined ? new Map() : same(of, failed)
        }
      }),
    )
    const [only] = answers
    return answers.length === 1 && only !== undefined ? only : new Map(answers.flatMap((each) => [...each]))
  }

  /** Measures the calls of providers within this process; the calls of others are measured where they leave. */
  async #measured<Answer>(
    { description }: OpenedConnection,
    items: readonly OfConnection[],
    call: () => Promise<Answer>,
  ): Promise<Answer> {
    if (description.rate !== null) return await call()
    const began = performance.now()
    let ok = false
    try {
      const answer = await call()
      ok = true
      return answer
    } finally {
      const latencyMs = Math.round(performance.now() - began)
      let last = ''
      for (const { connectionId } of items) {
        if (connectionId !== last) this.#options.health.record(connectionId, { ok, latencyMs })
        last = connectionId
      }
    }
  }
}

const same = <Answer>(items: readonly { readonly reference: string }[], answer: Answer): ReadonlyMap<string, Answer> =>
  new Map(items.map(({ reference }) => [reference, answer]))

function bankOf(
  { database, clock, connections, onError }: PartnersOptions,
  dispatch: Dispatch,
): BankPartner & RecallPartner {
  /** Writes the partners' references; the payments go on without them. */
  const keepRefs = async (answers: ReadonlyMap<string, Submission | OrderStatus>): Promise<void> => {
    let refs: Map<string, string> | undefined
    for (const [reference, answer] of answers)
      if ('providerRef' in answer && answer.providerRef !== undefined)
        (refs ??= new Map()).set(reference, answer.providerRef)
    if (refs !== undefined)
      await keepProviderRefs(database, refs).catch((error: unknown) => onError(error, 'references of a bank'))
  }
  return {
    isOutside: (connectionId) => connections.isOutside(connectionId),
    async submit(orders) {
      const submissions = await dispatch.ask<PaymentOrder, Submission>(
        'submission',
        orders,
        ({ adapter, description }) =>
          adapter.submit === undefined
            ? null
            : async (of) =>
                (await adapter.submit?.(
                  description.needsParties ? await withParties(database, of) : of,
                  clock.now(),
                )) ?? new Map(),
        { kind: 'unsent' },
      )
      await keepRefs(submissions)
      return submissions
    },
    async status(references) {
      const statuses = await dispatch.ask(
        'status requests',
        await askedPayments(database, references),
        ({ adapter }) =>
          adapter.status === undefined
            ? null
            : async (questions): Promise<ReadonlyMap<string, OrderStatus>> =>
                (await adapter.status?.(questions, clock.now())) ?? new Map(),
        { kind: 'unasked' },
        { kind: 'unasked' },
      )
      await keepRefs(statuses)
      return statuses
    },
    async recall(requests) {
      const asked = new Map(
        (
          await askedPayments(
            database,
            requests.map(({ reference }) => reference),
          )
        ).map((payment) => [payment.reference, payment]),
      )
      const ofConnections = requests.flatMap((request) => {
        const payment = asked.get(request.reference)
        return payment === undefined ? [] : [{ ...request, connectionId: payment.connectionId }]
      })
      for (const { opened, items } of await dispatch.groups(ofConnections)) {
        // Without a word of the bank the recall ends when its time is over.
        await opened?.adapter.recall?.(items satisfies readonly BankRecallRequest[], clock.now())
      }
    },
  }
}

/** Gives orders their parties. @throws the driver's errors */
async function withParties(database: Database, orders: readonly PaymentOrder[]): Promise<readonly PaymentOrder[]> {
  const parties = await partiesOfPayments(
    database,
    orders.map(({ reference }) => reference),
  )
  return orders.map((order) => {
    const of = parties.get(order.reference)
    return of === undefined ? order : { ...order, parties: of }
  })
}

function creditsOf({ clock, onError }: PartnersOptions, dispatch: Dispatch): CreditPartner {
  return {
    async giveBack(returns) {
      const taken = await Promise.all(
        (await dispatch.groups(returns)).map(async ({ opened, items }) => {
          try {
            return (await opened?.adapter.giveBack?.(items, clock.now())) ?? []
          } catch (error) {
            // They stay due, and are given back again under the same references.
            onError(error, `returns of the connection ${opened?.id}`)
            return []
          }
        }),
      )
      return taken.flat()
    },
  }
}

function incomingDebitsOf({ clock, onError }: PartnersOptions, dispatch: Dispatch): IncomingDebitPartner {
  return {
    async answerDebits(answers) {
      const taken = await Promise.all(
        (await dispatch.groups(answers)).map(async ({ opened, items }) => {
          try {
            if (opened === null) return []
            // A partner that takes no answers is told by hand.
            return opened.adapter.answerDebits === undefined
              ? items.map(({ reference }) => reference)
              : await opened.adapter.answerDebits(items, clock.now())
          } catch (error) {
            // They stay due, and are sent again under the same references.
            onError(error, `answers to debits of the connection ${opened?.id}`)
            return []
          }
        }),
      )
      return taken.flat()
    },
  }
}

/** Balances of one connection share its accounts at the provider, so there is nothing for the provider to book. */
const isWithin = ({ fromConnectionId, toConnectionId }: BookOrder): boolean => fromConnectionId === toConnectionId

function bookTransfersOf(dispatch: Dispatch): BookTransferPartner {
  const partnerOf = async (connectionId: string): Promise<BookTransferPartner | null> =>
    (await dispatch.opened(connectionId))?.adapter.bookTransfers ?? null
  return {
    async book(order) {
      const partner = await partnerOf(order.fromConnectionId)
      return partner === null ? (isWithin(order) ? 'accepted' : 'by_staff') : await partner.book(order)
    },
    async status(order) {
      const partner = await partnerOf(order.fromConnectionId)
      if (partner !== null) return await partner.status(order)
      return isWithin(order) ? { kind: 'settled' } : null
    },
  }
}

function accountsOf({ adapters }: PartnersOptions, dispatch: Dispatch): AccountPartner {
  const partnerOf = async (connectionId: string): Promise<AdapterConnection['accounts'] | null> =>
    (await dispatch.opened(connectionId))?.adapter.accounts ?? null
  return {
    offers: (provider, currency) => adapters[provider as ProviderId]?.accountOffers?.(currency) ?? [],
    async open(request) {
      return (
        (await (await partnerOf(request.connectionId))?.open(request)) ?? {
          kind: 'refused',
          reason: 'The bank keeps no accounts for balances.',
        }
      )
    },
    async close(account) {
      return (await (await partnerOf(account.connectionId))?.close(account)) ?? true
    },
  }
}

function exchangesOf({ database, clock }: PartnersOptions, dispatch: Dispatch): FxPartner {
  return {
    submit: async (orders) =>
      await dispatch.ask<(typeof orders)[number], FxSubmission>(
        'exchanges',
        orders,
        ({ adapter }) =>
          adapter.fx === undefined ? null : async (of) => (await adapter.fx?.submit(of, clock.now())) ?? new Map(),
        'timeout',
      ),
    async status(references) {
      const asked = await connectionsOfExchanges(database, references)
      const groups = await dispatch.groups(asked)
      const answers = await Promise.all(
        groups.map(
          async ({ opened, items }): Promise<ReadonlyMap<string, FxStatus>> =>
            (await opened?.adapter.fx?.status(
              items.map(({ reference }) => reference),
              clock.now(),
            )) ?? new Map(),
        ),
      )
      return new Map(answers.flatMap((each) => [...each]))
    },
  }
}

function debitsOf(dispatch: Dispatch): DebitPartner {
  const unsent: DebitSubmission = { kind: 'unsent' }
  const unasked: DebitStatus = { kind: 'unasked' }
  const send = async <Order extends DebitQuestion>(
    what: string,
    orders: readonly Order[],
    by: (debits: DebitPartner, of: readonly Order[]) => Promise<ReadonlyMap<string, DebitSubmission>>,
  ) =>
    await dispatch.ask<Order, DebitSubmission>(
      what,
      orders,
      ({ adapter: { debits } }) => (debits === undefined ? null : (of) => by(debits, of)),
      unsent,
    )
  return {
    lodge: async (mandates) => await send('mandates', mandates, (debits, of) => debits.lodge(of)),
    submit: async (collections) => await send('collections', collections, (debits, of) => debits.submit(of)),
    reverse: async (reversals) => await send('reversals', reversals, (debits, of) => debits.reverse(of)),
    status: async (questions) =>
      await dispatch.ask<DebitQuestion, DebitStatus>(
        'status requests of direct debits',
        questions,
        ({ adapter: { debits } }) => (debits === undefined ? null : (of) => debits.status(of)),
        unasked,
        unasked,
      ),
    async cancel(mandates) {
      const ended: string[] = []
      for (const { opened, items } of await dispatch.groups(mandates))
        ended.push(...((await opened?.adapter.debits?.cancel(items)) ?? []))
      return new Set(ended)
    },
  }
}

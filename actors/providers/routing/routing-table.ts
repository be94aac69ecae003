/**
 * The rules and connections of all operators, in the memory of this node, and the decisions by them. Triggers tell of
 * every change. While an operator has no rule and all its connections take payments, nothing is looked up for a payment.
 *
 * Volumes of a day are read when a rule with a limit may match, and kept for a moment; payments of this node count at
 * once. So a limit can be exceeded by what other nodes send within that moment, and by no more. The moment grows with the
 * time that the sum takes, so that sums cost a twentieth of one connection of the database at most.
 */
import { dateIn, type Clock } from '../../../lib/base/clock.ts'
import type { CalendarTerms } from '../../../lib/rails/business-days.ts'
import type { Rail } from '../../../lib/rails/rails.ts'
import {
  connectionForQuestion,
  isRouted,
  route,
  takesPayments,
  type KeptRouting,
  type RoutedPayment,
  type RoutedQuestion,
  type RoutedVolume,
  type RoutingDecision,
  type RoutingTerms,
  offeredRails,
} from '../../../lib/providers/routing.ts'
import type { Queries } from '../../../storage/db/transaction.ts'
import { readRoutedVolumes, readRoutingTerms } from '../../../storage/providers/routing/routing-terms.ts'

/** Volumes are kept this long, or this many times as long as it took to read them. */
const VOLUMES_MS = 1_000
const VOLUMES_TIMES = 20

export interface RoutingTableOptions {
  readonly database: Queries
  readonly clock: Clock
  readonly onError: (error: unknown, what: string) => void
}

/** The facts on which a decision rests beside the payment. */
export interface RouteOptions {
  readonly canUse: (rail: Rail) => boolean
  readonly refusedBy?: ReadonlySet<string>
}

/** The volumes of a connection on a day, by currency. */
interface Volumes {
  readonly day: string
  /** By the monotonic clock. */
  readonly until: number
  readonly sums: Map<string, RoutedVolume>
}

const NOTHING: RoutedVolume = { amount: 0n, count: 0 }

export class RoutingTable {
  readonly #options: RoutingTableOptions
  #terms: ReadonlyMap<string, RoutingTerms> = new Map()
  /** Operators whose payments are routed. */
  #routed: ReadonlySet<string> = new Set()
  /** Connections that are sent nothing new at present. */
  #closed: ReadonlySet<string> = new Set()
  readonly #volumes = new Map<string, Promise<Volumes>>()
  readonly #listeners: (() => void)[] = []
  #reading: Promise<void> | null = null
  #isStale = false

  constructor(options: RoutingTableOptions) {
    this.#options = options
  }

  /**
   * Reads the rules and connections again. Resolves when what was committed before the call is in force here.
   *
   * @throws DatabaseUnavailable, and what the driver throws
   */
  async reload(): Promise<void> {
    this.#isStale = true
    while (this.#isStale) await (this.#reading ??= this.#read().finally(() => (this.#reading = null)))
  }

  /** Reads again in the background, after the news of a change. */
  changed(): void {
    this.reload().catch((error: unknown) => this.#options.onError(error, 'routing'))
  }

  /** Calls the listener after each change. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  async #read(): Promise<void> {
    this.#isStale = false
    try {
      const terms = await readRoutingTerms(this.#options.database, null)
      this.#terms = terms
      this.#routed = new Set([...terms].filter(([, each]) => isRouted(each)).map(([id]) => id))
      this.#closed = new Set(
        [...terms.values()].flatMap(({ connections }) =>
          connections.filter((each) => !takesPayments(each)).map(({ id }) => id),
        ),
      )
    } catch (error) {
      this.#isStale = true
      throw error
    }
    for (const listener of this.#listeners) listener()
  }

  /** Whether an operator has anything to decide for its payments. */
  isRouted(operatorId: string): boolean {
    return this.#routed.has(operatorId)
  }

  /** The cut-offs and closed days of a connection; null where none are kept. */
  calendarOf(operatorId: string, connectionId: string): CalendarTerms | null {
    return this.#terms.get(operatorId)?.connections.find(({ id }) => id === connectionId)?.calendar ?? null
  }

  /** The rails by which a payment could leave; undefined: every rail. */
  offeredRails(operatorId: string, payment: Parameters<typeof offeredRails>[1]): ReturnType<typeof offeredRails> {
    const terms = this.#terms.get(operatorId)
    return terms === undefined ? undefined : offeredRails(terms, payment)
  }

  /** Whether a connection is sent nothing new at present, so that its payments may leave through another. */
  isClosed(connectionId: string): boolean {
    return this.#closed.has(connectionId)
  }

  /** The connection in words for staff: its name, and what it has done or is. */
  describe(operatorId: string, connectionId: string, hasRefused: boolean): string {
    const found = this.#terms.get(operatorId)?.connections.find(({ id }) => id === connectionId)
    if (found === undefined) return 'The connection is gone.'
    const { name, status, health } = found
    return `“${name}” ${hasRefused ? 'has refused the payment' : `is ${status === 'active' ? health : status}`}.`
  }

  /** Whether a closed connection still finishes the payments that it has: it is not down, and not paused. */
  isFinishing(operatorId: string, connectionId: string): boolean {
    const found = this.#terms.get(operatorId)?.connections.find(({ id }) => id === connectionId)
    return found !== undefined && found.status === 'draining' && takesPayments({ ...found, status: 'active' })
  }

  /**
   * Finds the connection that answers a question of a customer of an operator; null when none can. Told from memory, but
   * for an operator that this node has not heard of.
   *
   * @throws DatabaseUnavailable, and what the driver throws
   */
  async connectionFor(operatorId: string, question: RoutedQuestion): Promise<string | null> {
    if (!this.#terms.has(operatorId)) await this.reload()
    return connectionForQuestion(this.#terms.get(operatorId)?.connections ?? [], question)
  }

  /** Decides by the rules that are in force. @throws DatabaseUnavailable, and what the driver throws */
  async decide(operatorId: string, payment: RoutedPayment, options: RouteOptions): Promise<RoutingDecision> {
    return await this.decideBy(this.#terms.get(operatorId) ?? { rules: [], connections: [] }, payment, options)
  }

  /** Decides by the terms given. @throws DatabaseUnavailable, and what the driver throws */
  async decideBy(terms: RoutingTerms, payment: RoutedPayment, options: RouteOptions): Promise<RoutingDecision> {
    const volumes = new Map<string, Volumes>()
    for (const { connectionId, dailyVolumeMax, dailyCountMax } of terms.rules)
      if ((dailyVolumeMax !== null || dailyCountMax !== null) && !volumes.has(connectionId))
        volumes.set(connectionId, await this.#volumesOf(connectionId))
    const volumeOf = (connectionId: string): RoutedVolume => {
      const sums = volumes.get(connectionId)?.sums
      const count = [...(sums?.values() ?? [])].reduce((total, each) => total + each.count, 0)
      return { amount: sums?.get(payment.currency)?.amount ?? 0n, count }
    }
    return route(terms, payment, { ...options, volumeOf })
  }

  /** The decision as the payment keeps it; from now on it counts for the volumes of the day. */
  keep(
    { ruleId, connectionId, reason }: Pick<RoutingDecision, 'ruleId' | 'connectionId' | 'reason'>,
    { currency, amount }: Pick<RoutedPayment, 'currency' | 'amount'>,
    refusedBy: ReadonlySet<string> = new Set(),
  ): KeptRouting {
    const day = dateIn(this.#options.clock.now(), 'UTC')
    this.#count(connectionId, day, currency, amount)
    return { ruleId, connectionId, reason, day, ...(refusedBy.size === 0 ? {} : { refusedBy: [...refusedBy] }) }
  }

  async #volumesOf(connectionId: string): Promise<Volumes> {
    const day = dateIn(this.#options.clock.now(), 'UTC')
    const known = this.#volumes.get(connectionId)
    if (known !== undefined) {
      const volumes = await known
      if (volumes.day === day && performance.now() < volumes.until) return volumes
      // Another payment may have begun to read them meanwhile.
      const next = this.#volumes.get(connectionId)
      if (next !== undefined && next !== known) return await next
    }
    const reading = this.#readVolumes(connectionId, day)
    this.#volumes.set(connectionId, reading)
    return await reading.catch((error: unknown) => {
      if (this.#volumes.get(connectionId) === reading) this.#volumes.delete(connectionId)
      throw error
    })
  }

  async #readVolumes(connectionId: string, day: string): Promise<Volumes> {
    const begun = performance.now()
    const sums = new Map(await readRoutedVolumes(this.#options.database, connectionId, day))
    const ended = performance.now()
    return { day, sums, until: ended + Math.max(VOLUMES_MS, (ended - begun) * VOLUMES_TIMES) }
  }

  /** Counts a payment of this node, whose commit a sum that was read before does not hold. */
  #count(connectionId: string, day: string, currency: string, amount: bigint): void {
    const add = ({ day: of, sums }: Volumes) => {
      const sum = sums.get(currency) ?? NOTHING
      if (of === day) sums.set(currency, { amount: sum.amount + amount, count: sum.count + 1 })
    }
    this.#volumes.get(connectionId)?.then(add, () => undefined)
  }
}

/**
 * Impatient integrators: they send payments, transfers and exchanges against tight balances to any node, repeat each under its
 * one key until it is decided, some of them twice at once to two nodes, and write down everything that was said.
 *
 * A customer has a purse that fills and two balances that are tight, so that there is always something to refuse, and one in
 * dollars, which are bought from the others and sold to them.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

import type { CreatedCustomer } from '../../storage/seed.ts'
import type { ClusterNode } from '../support/cluster.ts'
import { Random } from '../support/random.ts'
import { PATHS } from './books.ts'
import { classOf, type Call, type Command, type History, type Look } from './checker.ts'

/** A client that waits longer than this has hung up. */
const CALL_MS = 4_000
/** Between two attempts: a fault is not made better by being hammered. */
const RETRY_MS = 40
/** A fault that lasts longer than this is not one that the service survives. */
const DECIDED_MS = 90_000
/** Lines of commands that are kept; a run that makes more stops sending. */
const COMMANDS_MAX = 150_000

/** What the bank makes of a payment, and how often one is sent. */
const TRIGGERS: readonly (readonly [share: number, reference: string, ends: Command['ends']])[] = [
  [0.45, 'Invoice 42', 'completed'],
  [0.35, 'Invoice 42 SBX/AC04', 'failed'],
  [0.05, 'Invoice 42 SBX/PROVIDER-502', 'failed'],
  [0.03, 'Invoice 42 SBX/TIMEOUT-OK', 'completed'],
  [0.02, 'Invoice 42 SBX/TIMEOUT-FAIL', 'failed'],
  [0.03, 'Invoice 42 SBX/RET-AC04', 'returned'],
  [0.03, 'Invoice 42 SBX/RET-EARLY', 'returned'],
  [0.02, 'Invoice 42 SBX/HOLD-RELEASE', 'completed'],
  [0.02, 'Invoice 42 SBX/HOLD-BLOCK', 'failed'],
]
/** Never answered at all; kept to few, for they take their money with them. */
const SILENT: (typeof TRIGGERS)[number] = [0, 'Invoice 42 SBX/TIMEOUT', 'exception']

/** What is sold in an exchange whose end the sandbox is told: refused, or a minute without a word. */
const REFUSED = 1_309n
const DOUBTED = 1_501n

export interface ClientsOptions {
  readonly nodes: readonly Pick<ClusterNode, 'url' | 'name'>[]
  readonly customers: readonly CreatedCustomer[]
  readonly workers: number
  readonly seed: number
  /** Commands a second that all workers together begin at most. */
  readonly pace: number
  /** False: every payment completes. */
  readonly triggers?: boolean
}

interface Sending {
  readonly command: Command
  readonly customer: CreatedCustomer
  readonly body: string
}

/** Balances of a customer: where money comes from, the two that are fought over, and dollars. */
export const PURSE = 5_000_000n
export const TIGHT = 3_000n
export const OPENING = [PURSE, TIGHT, TIGHT, { currency: 'USD', amount: TIGHT }] as const

export class Clients {
  readonly #options: ClientsOptions
  readonly #random: Random
  readonly #sendings: Sending[] = []
  readonly #calls: Call[] = []
  readonly #looks: Look[] = []
  readonly #decided = new Set<string>()
  /** Quotes that are used once more, by a command of another key. */
  readonly #usedOnce: { readonly customer: CreatedCustomer; readonly command: Command & { readonly quoteId: string } }[] = []
  #workers: Promise<unknown> = Promise.resolve()
  #stopping = false
  #abandoned = false
  #next = performance.now()
  #silent = 0
  /** When a command was last answered, and the longest time without that since it was last asked for. */
  #lastSuccess = now()
  #longest = 0

  constructor(options: ClientsOptions) {
    this.#options = options
    this.#random = new Random(options.seed)
  }

  start(): void {
    this.#lastSuccess = now()
    this.#workers = Promise.all(Array.from({ length: this.#options.workers }, () => this.#work()))
    // A worker's failure is told by `stop`; until then it must not end the process.
    this.#workers.catch(() => undefined)
  }

  get history(): History {
    return { commands: this.#sendings.map(({ command }) => command), calls: this.#calls, looks: this.#looks }
  }

  get counts(): { readonly commands: number; readonly calls: number; readonly decided: number } {
    return { commands: this.#sendings.length, calls: this.#calls.length, decided: this.#decided.size }
  }

  /** Calls that had no answer, of those that were sent since then. */
  unanswered(since: number): number { return this.#calls.filter(({ start, status }) => start >= since && status === null).length }

  /** The longest time without a decided command since this was last asked, milliseconds. */
  takeLongest(): number {
    const longest = Math.max(this.#longest, now() - this.#lastSuccess)
    this.#longest = 0
    return longest
  }

  /** Sends nothing new, and waits until everything begun is decided. @throws when something never is */
  async stop(): Promise<void> {
    this.#stopping = true
    await this.#workers
  }

  /** Sends nothing more and waits for nothing: the test is over, whatever came of it. */
  abandon(): void {
    this.#stopping = true
    this.#abandoned = true
  }

  /** Sends every command once more (`max` of them, chosen at random): the answers must be those that were given. */
  async replay(max = Infinity): Promise<void> {
    const all = [...this.#sendings]
    const chosen = all.length <= max ? all : Array.from({ length: max }, () => this.#random.pick(all))
    let next = 0
    await Promise.all(Array.from({ length: 8 }, async () => {
      while (next < chosen.length) await this.#decide(chosen[next++] as Sending)
    }))
  }

  async #work(): Promise<void> {
    while (!this.#stopping && this.#sendings.length < COMMANDS_MAX) {
      const due = this.#next
      this.#next = Math.max(due, performance.now() - 1_000) + 1_000 / this.#options.pace
      if (due > performance.now()) await pause(due - performance.now())
      if (this.#random.chance(0.1)) { await this.#look(); continue }
      const sending = this.#random.chance(0.15) ? await this.#exchange() : this.#make()
      if (sending === null) continue
      this.#sendings.push(sending)
      await this.#decide(sending)
    }
  }

  #make(): Sending {
    const random = this.#random
    const customer = random.pick(this.#options.customers)
    const [purse, first, second] = customer.balanceIds as [string, string, string]
    const key = randomUUID()
    const [one, other] = random.chance(0.5) ? [first, second] : [second, first]
    const dice = random.next()
    if (dice < 0.35) {
      // The purse tops up what has run low; the rest goes to and fro.
      const [from, to] = dice < 0.12 ? [purse, one] : [one, other]
      // Between the two are the amounts by which the sandbox is told to hold a transfer, or to send it by the bank.
      const amount = BigInt(from === purse && random.chance(0.4) ? random.int(1_710, 2_500) : random.int(200, 1_200))
      const body = { fromBalanceId: from, toBalanceId: to, amount: { amountMinor: String(amount), currency: 'EUR' }, externalId: key }
      return { customer, body: JSON.stringify(body), command: { key, kind: 'transfer', from, to, amount, ends: 'completed' } }
    }
    const amount = BigInt(random.int(100, 1_000))
    const [, reference, ends] = this.#trigger()
    const body = { sourceBalanceId: one, recipientId: customer.recipients!.EUR, amount: { amountMinor: String(amount), currency: 'EUR' }, reference, externalId: key }
    return { customer, body: JSON.stringify(body), command: { key, kind: 'payment', from: one, to: null, amount, ends } }
  }

  /** A quote and what is made from it, some of them by two who do not know of each other; null when no quote was to be had. */
  async #exchange(): Promise<Sending | null> {
    const random = this.#random
    const again = random.chance(0.2) ? this.#usedOnce.pop() : undefined
    if (again !== undefined) return exchangeOf(again.customer, { ...again.command, key: randomUUID() })
    const customer = random.pick(this.#options.customers)
    const [, first, second, dollars] = customer.balanceIds as [string, string, string, string]
    const euros = random.chance(0.5) ? first : second
    const selling = random.chance(0.6)
    const special = this.#options.triggers !== false && random.chance(0.1) ? random.pick([REFUSED, REFUSED, DOUBTED]) : null
    const amount = special ?? BigInt(random.int(200, 1_200))
    const pair = { sellCurrency: selling ? 'EUR' : 'USD', buyCurrency: selling ? 'USD' : 'EUR' }
    const quoteId = await this.#quote(customer, { ...pair, amount: { amountMinor: String(amount), currency: pair.sellCurrency }, fixedSide: 'sell' })
    if (quoteId === null) return null
    const command = { key: randomUUID(), kind: 'exchange', from: selling ? euros : dollars, to: selling ? dollars : euros, amount, ends: amount === REFUSED ? 'failed' : 'completed', quoteId } as const
    if (this.#usedOnce.length < 64) this.#usedOnce.push({ customer, command })
    return exchangeOf(customer, command)
  }

  /** Asks any node for a quote. It moves no money, so nobody holds the service to an answer that was lost. */
  async #quote(customer: CreatedCustomer, body: object): Promise<string | null> {
    try {
      const response = await fetch(`${this.#random.pick(this.#options.nodes).url}/v1/exchanges/quotes`, {
        method: 'POST', body: JSON.stringify(body), signal: AbortSignal.timeout(CALL_MS),
        headers: { 'content-type': 'application/json', authorization: `Bearer ${customer.apiKey}`, 'x-tenant-id': customer.id },
      })
      const text = await response.text()
      return response.status === 201 ? (JSON.parse(text) as { id: string }).id : null
    } catch {
      return null
    }
  }

  #trigger(): (typeof TRIGGERS)[number] {
    if (this.#options.triggers === false) return TRIGGERS[0]!
    if (this.#silent < 10 && this.#random.chance(0.002)) { this.#silent += 1; return SILENT }
    let dice = this.#random.next()
    return TRIGGERS.find(([share]) => (dice -= share) < 0) ?? TRIGGERS[0]!
  }

  /** Asks until there is a final answer. */
  async #decide(sending: Sending): Promise<void> {
    const { key } = sending.command
    const deadline = now() + DECIDED_MS
    for (let attempt = 0; ; attempt++) {
      const asked = this.#random.chance(0.12) ? [this.#send(sending), this.#send(sending)] : [this.#send(sending)]
      const calls = await Promise.all(asked)
      if (calls.some((call) => classOf(call) === 'final')) {
        const at = now()
        this.#longest = Math.max(this.#longest, at - this.#lastSuccess)
        this.#lastSuccess = at
        this.#decided.add(key)
        return
      }
      if (this.#abandoned) return
      // The checker says what is wrong with it.
      if (calls.some((call) => classOf(call) === 'unexpected')) return
      if (now() > deadline) throw new Error(`The command ${key} was not decided within ${DECIDED_MS} ms; last: ${JSON.stringify(calls)}`)
      await pause(RETRY_MS * Math.min(attempt + 1, 10))
    }
  }

  async #send({ command, customer, body }: Sending): Promise<Call> {
    const node = this.#random.pick(this.#options.nodes)
    const start = now()
    let status: number | null = null
    let answer = ''
    let retryAfter = false
    try {
      const response = await fetch(`${node.url}${PATHS[command.kind]}`, {
        method: 'POST', body, signal: AbortSignal.timeout(CALL_MS),
        headers: { 'content-type': 'application/json', 'idempotency-key': command.key, authorization: `Bearer ${customer.apiKey}`, 'x-tenant-id': customer.id },
      })
      answer = await response.text()
      status = response.status
      retryAfter = response.headers.has('retry-after')
    } catch {
      // No answer, or half of one: that is what is written down.
    }
    const call: Call = { key: command.key, node: node.name, start, end: now(), status, answer, retryAfter }
    this.#calls.push(call)
    return call
  }

  async #look(): Promise<void> {
    const node = this.#random.pick(this.#options.nodes)
    const customer = this.#random.pick(this.#options.customers)
    const balanceId = this.#random.pick(customer.balanceIds)
    const start = now()
    try {
      const response = await fetch(`${node.url}/v1/balances/${balanceId}`, {
        signal: AbortSignal.timeout(CALL_MS), headers: { authorization: `Bearer ${customer.apiKey}`, 'x-tenant-id': customer.id },
      })
      const text = await response.text()
      if (response.status !== 200) return
      const { bookBalance, heldBalance } = JSON.parse(text) as Record<'bookBalance' | 'heldBalance', { amountMinor: string }>
      this.#looks.push({ balanceId, node: node.name, start, end: now(), posted: BigInt(bookBalance.amountMinor), held: BigInt(heldBalance.amountMinor) })
    } catch {
      // Nobody has seen anything.
    }
  }
}

function exchangeOf(customer: CreatedCustomer, command: Command): Sending {
  return { customer, command, body: JSON.stringify({ quoteId: command.quoteId, sellBalanceId: command.from, buyBalanceId: command.to, externalId: command.key }) }
}

/** Epoch milliseconds with their fractions: Postgres tells the times of commits so too. */
export function now(): number { return performance.timeOrigin + performance.now() }

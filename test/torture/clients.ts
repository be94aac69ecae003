/**
 * Impatient integrators: they send payments, transfers and exchanges against tight balances to any node, and whatever
 * else they do takes several steps (stories.ts). They repeat each command under its one key until it is decided, some
 * of them twice at once to two nodes, and write down everything that was said.
 *
 * A customer has a purse that fills and two balances that are tight, so that there is always something to refuse, and
 * one in dollars, which are bought from the others and sold to them.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

import type { CreatedCustomer } from '../../storage/seed/seed-customers.ts'
import type { ClusterNode } from '../support/cluster.ts'
import { Random } from '../support/random.ts'
import {
  classOf,
  type Call,
  type Closing,
  type Command,
  type History,
  type Look,
  type Resolution,
  type Rest,
} from './history.ts'
import { begin, type Asking, type Desk, type Story } from './stories.ts'

/** A client that waits longer than this has hung up. */
const CALL_MS = 4_000
/** Between two attempts: a fault is not made better by being hammered. */
const RETRY_MS = 40
/** A fault that lasts longer than this is not one that the service survives. */
const DECIDED_MS = 90_000
/** Lines of commands that are kept; a run that makes more stops sending. */
const COMMANDS_MAX = 150_000
/** How often the operator's people look at exchanges in doubt. */
const RESOLVE_MS = 400
/**
 * How often somebody goes on with a story rather than sending something by itself, and how many there are at a time.
 */
const STORY_SHARE = 0.12
const STORIES_MAX = 24

/** The bank's outcomes of payments, and how often each is requested. */
const TRIGGERS: readonly (readonly [share: number, reference: string, ends: string])[] = [
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

/** The amount sold that tells the sandbox the outcome of an exchange: refused, or no answer for a minute. */
const REFUSED = 1_309n
const DOUBTED = 1_501n

export interface ClientsOptions {
  readonly nodes: readonly Pick<ClusterNode, 'url' | 'name'>[]
  readonly customers: readonly CreatedCustomer[]
  /**
   * For stories: customers whose larger payments wait for people, the owners of all, and two people of the operator.
   */
  readonly people?: People
  readonly workers: number
  readonly seed: number
  /** Commands a second that all workers together begin at most. */
  readonly pace: number
  /** False: every payment completes. */
  readonly triggers?: boolean
  /** True: they also send files, keep schedules and ask for money. */
  readonly stories?: boolean
}

/** Sessions of people. */
export interface People {
  readonly careful: readonly CreatedCustomer[]
  /** Tokens of owners, by the ids of their customers. */
  readonly owners: ReadonlyMap<string, string>
  readonly operatorId: string
  readonly staff: readonly [string, string]
}

interface Sending {
  readonly command: Command
  readonly customer: CreatedCustomer
  /** Null: there is none. */
  readonly body: { readonly type: string; readonly bytes: string | Uint8Array<ArrayBuffer> } | null
}

/** Something that is sent by itself. */
interface Single {
  readonly customer: CreatedCustomer
  readonly asking: Asking
}

const PATHS = { payment: '/v1/payments', transfer: '/v1/transfers', exchange: '/v1/exchanges' } as const

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
  readonly #rests: Rest[] = []
  readonly #resolutions: Resolution[] = []
  readonly #closings: Closing[] = []
  readonly #lateEdits: object[] = []
  readonly #decided = new Set<string>()
  /** Quotes that are used once more, by a command of another key. */
  readonly #usedOnce: Exchanging[] = []
  readonly #stories: Story[] = []
  readonly #desk: Desk
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
    this.#desk = {
      random: this.#random,
      customers: options.customers,
      now,
      ask: (customer, asking) => this.#ask(customer, asking),
      read: (customer, path) => this.#read(customer, path),
      send: (customer, path) => this.#post(customer, path),
      trigger: () => {
        const [, reference, ends] = this.#trigger()
        return { reference, ends }
      },
      rest: (rest) => {
        this.#rests.push(rest)
      },
      careful: options.people?.careful ?? [],
      write: ({ id, apiKey }, { method, path, body, asOwner = false }) =>
        this.#fetchAs(asOwner ? (options.people?.owners.get(id) ?? apiKey) : apiKey, id, path, jsonOf(method, body)),
      quote: async (customer, body) => {
        const answer = await this.#fetch(customer, '/v1/exchanges/quotes', jsonOf('POST', body))
        return answer?.status === 201
          ? (JSON.parse(answer.text) as { id: string; sellAmount: { amountMinor: string }; buyAmount: object })
          : null
      },
      closing: (closing) => {
        this.#closings.push(closing)
      },
      lateEdit: (edit) => {
        this.#lateEdits.push(edit)
      },
    }
  }

  start(): void {
    this.#lastSuccess = now()
    this.#workers = Promise.all([
      ...Array.from({ length: this.#options.workers }, () => this.#work()),
      ...(this.#options.people === undefined ? [] : [this.#resolve(this.#options.people)]),
    ])
    // A worker's failure is told by `stop`; until then it must not end the process.
    this.#workers.catch(() => undefined)
  }

  get history(): History {
    return {
      commands: this.#sendings.map(({ command }) => command),
      calls: this.#calls,
      looks: this.#looks,
      rests: this.#rests,
      resolutions: this.#resolutions,
      closings: this.#closings,
      lateEdits: this.#lateEdits,
    }
  }

  get counts(): { readonly commands: number; readonly calls: number; readonly decided: number } {
    return { commands: this.#sendings.length, calls: this.#calls.length, decided: this.#decided.size }
  }

  /** Calls that had no answer, of those that were sent since then. */
  unanswered(since: number): number {
    return this.#calls.filter(({ start, status }) => start >= since && status === null).length
  }

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
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        while (next < chosen.length) await this.#decide(chosen[next++] as Sending)
      }),
    )
  }

  async #work(): Promise<void> {
    while (!this.#stopping && this.#sendings.length < COMMANDS_MAX) {
      const due = this.#next
      this.#next = Math.max(due, performance.now() - 1_000) + 1_000 / this.#options.pace
      if (due > performance.now()) await pause(due - performance.now())
      if (this.#random.chance(0.1)) await this.#look()
      else if (this.#options.stories === true && this.#random.chance(STORY_SHARE)) await this.#goOn()
      else {
        const single = this.#random.chance(0.15) ? await this.#exchange() : this.#make()
        if (single !== null) await this.#ask(single.customer, single.asking)
      }
    }
  }

  /** Two people of the operator look at exchanges in doubt now and then, and say the same of one. */
  async #resolve({ staff, operatorId }: People): Promise<void> {
    while (!this.#stopping) {
      await pause(RESOLVE_MS)
      const listed = await this.#fetchAs(staff[0], operatorId, '/v1/exceptions?limit=100')
      if (listed?.status !== 200) continue
      const open = (JSON.parse(listed.text) as { data: readonly Open[] }).data.filter(
        ({ related }) => related.object === 'exchange',
      )
      if (open.length === 0) continue
      const { id, related } = this.#random.pick(open)
      const outcome = this.#random.pick(['completed', 'failed'] as const)
      for (const person of staff) {
        const answer = await this.#fetchAs(
          person,
          operatorId,
          `/v1/exceptions/${id}/resolve`,
          jsonOf('POST', { outcome, evidence: 'Line 7 of the statement.' }),
        )
        if (answer === null || answer.status >= 500 || answer.status === 200)
          this.#resolutions.push({ exchangeId: related.id, outcome, booked: answer?.status === 200 })
      }
    }
  }

  /** Goes on with the story that has waited longest, or begins one. */
  async #goOn(): Promise<void> {
    const isNew = this.#stories.length === 0 || (this.#stories.length < STORIES_MAX && this.#random.chance(0.3))
    const story = isNew ? begin(this.#desk) : (this.#stories.shift() as Story)
    const { done } = await story.next()
    if (done !== true) this.#stories.push(story)
  }

  #make(): Single {
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
      const body = {
        fromBalanceId: from,
        toBalanceId: to,
        amount: { amountMinor: String(amount), currency: 'EUR' },
        externalId: key,
      }
      return {
        customer,
        asking: {
          key,
          kind: 'transfer',
          path: PATHS.transfer,
          body,
          wants: [{ name: key, kind: 'transfer', from, to, amount, ends: 'completed' }],
        },
      }
    }
    const amount = BigInt(random.int(100, 1_000))
    const [, reference, ends] = this.#trigger()
    const body = {
      sourceBalanceId: one,
      recipientId: customer.recipients!.EUR,
      amount: { amountMinor: String(amount), currency: 'EUR' },
      reference,
      externalId: key,
    }
    return {
      customer,
      asking: {
        key,
        kind: 'payment',
        path: PATHS.payment,
        body,
        wants: [{ name: key, kind: 'payment', from: one, to: null, amount, ends }],
      },
    }
  }

  /**
   * A quote and what is made from it, some of them by two who do not know of each other; null when no quote was to be
   * had.
   */
  async #exchange(): Promise<Single | null> {
    const random = this.#random
    const again = random.chance(0.2) ? this.#usedOnce.pop() : undefined
    if (again !== undefined) return exchangeOf(again)
    const customer = random.pick(this.#options.customers)
    const [, first, second, dollars] = customer.balanceIds as [string, string, string, string]
    const euros = random.chance(0.5) ? first : second
    const selling = random.chance(0.6)
    const special =
      this.#options.triggers !== false && random.chance(0.1) ? random.pick([REFUSED, REFUSED, DOUBTED]) : null
    const amount = special ?? BigInt(random.int(200, 1_200))
    const pair = { sellCurrency: selling ? 'EUR' : 'USD', buyCurrency: selling ? 'USD' : 'EUR' }
    const quoteId = await this.#quote(customer, {
      ...pair,
      amount: { amountMinor: String(amount), currency: pair.sellCurrency },
      fixedSide: 'sell',
    })
    if (quoteId === null) return null
    const exchanging = { customer, quoteId, from: selling ? euros : dollars, to: selling ? dollars : euros, amount }
    if (this.#usedOnce.length < 64) this.#usedOnce.push(exchanging)
    return exchangeOf(exchanging)
  }

  /** Asks any node for a quote. It moves no money, so nobody holds the service to an answer that was lost. */
  async #quote(customer: CreatedCustomer, body: object): Promise<string | null> {
    const answer = await this.#fetch(customer, '/v1/exchanges/quotes', {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })
    return answer?.status === 201 ? (JSON.parse(answer.text) as { id: string }).id : null
  }

  async #read<Shown>(customer: CreatedCustomer, path: string): Promise<Shown | null> {
    const answer = await this.#fetch(customer, path)
    return answer?.status === 200 ? (JSON.parse(answer.text) as Shown) : null
  }

  async #post(customer: CreatedCustomer, path: string): Promise<number | null> {
    const answer = await this.#fetch(customer, path, { method: 'POST' })
    // A command whose connection failed may have been done.
    return answer === null || answer.status >= 500 ? null : answer.status
  }

  /** Asks any node once; null when there was no answer, or half of one. */
  async #fetch(
    { id, apiKey }: CreatedCustomer,
    path: string,
    init: RequestInit = {},
  ): Promise<{ readonly status: number; readonly text: string } | null> {
    return await this.#fetchAs(apiKey, id, path, init)
  }

  async #fetchAs(
    secret: string,
    tenantId: string,
    path: string,
    init: RequestInit = {},
  ): Promise<{ readonly status: number; readonly text: string } | null> {
    try {
      const response = await fetch(`${this.#random.pick(this.#options.nodes).url}${path}`, {
        ...init,
        signal: AbortSignal.timeout(CALL_MS),
        headers: {
          'content-type': 'application/json',
          ...init.headers,
          authorization: `Bearer ${secret}`,
          'x-tenant-id': tenantId,
        },
      })
      return { status: response.status, text: await response.text() }
    } catch {
      return null
    }
  }

  #trigger(): (typeof TRIGGERS)[number] {
    if (this.#options.triggers === false) return TRIGGERS[0]!
    if (this.#silent < 10 && this.#random.chance(0.002)) {
      this.#silent += 1
      return SILENT
    }
    let dice = this.#random.next()
    return TRIGGERS.find(([share]) => (dice -= share) < 0) ?? TRIGGERS[0]!
  }

  /** Sends a command until it is decided. @returns the last answer */
  async #ask(customer: CreatedCustomer, { key = randomUUID(), body, wants = [], ...asking }: Asking): Promise<Call> {
    const sending: Sending = {
      customer,
      command: { key, tenantId: customer.id, wants, ...asking },
      body:
        body === undefined ? null : 'bytes' in body ? body : { type: 'application/json', bytes: JSON.stringify(body) },
    }
    this.#sendings.push(sending)
    return await this.#decide(sending)
  }

  /** Asks until there is a final answer. */
  async #decide(sending: Sending): Promise<Call> {
    const { key, kind } = sending.command
    const deadline = now() + DECIDED_MS
    for (let attempt = 0; ; attempt++) {
      const asked = this.#random.chance(0.12) ? [this.#send(sending), this.#send(sending)] : [this.#send(sending)]
      const calls = await Promise.all(asked)
      const final = calls.find((call) => classOf(kind, call) === 'final')
      if (final !== undefined) {
        const at = now()
        this.#longest = Math.max(this.#longest, at - this.#lastSuccess)
        this.#lastSuccess = at
        this.#decided.add(key)
        return final
      }
      // The checker judges unexpected answers.
      const end = calls.find((call) => classOf(kind, call) !== 'later') ?? (this.#abandoned ? calls[0] : undefined)
      if (end !== undefined) return end
      if (now() > deadline)
        throw new Error(`The command ${key} was not decided within ${DECIDED_MS} ms; last: ${JSON.stringify(calls)}`)
      await pause(RETRY_MS * Math.min(attempt + 1, 10))
    }
  }

  async #send({ command: { key, path }, customer, body }: Sending): Promise<Call> {
    const node = this.#random.pick(this.#options.nodes)
    const start = now()
    let status: number | null = null
    let answer = ''
    let retryAfter = false
    try {
      const response = await fetch(`${node.url}${path}`, {
        method: 'POST',
        ...(body === null ? {} : { body: body.bytes }),
        signal: AbortSignal.timeout(CALL_MS),
        headers: {
          ...(body === null ? {} : { 'content-type': body.type }),
          'idempotency-key': key,
          ...credentials(customer),
        },
      })
      answer = await response.text()
      status = response.status
      retryAfter = response.headers.has('retry-after')
    } catch {
      // No answer, or half of one: that is what is written down.
    }
    const call: Call = { key, node: node.name, start, end: now(), status, answer, retryAfter }
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
        signal: AbortSignal.timeout(CALL_MS),
        headers: credentials(customer),
      })
      const text = await response.text()
      if (response.status !== 200) return
      const { bookBalance, heldBalance } = JSON.parse(text) as Record<
        'bookBalance' | 'heldBalance',
        { amountMinor: string }
      >
      this.#looks.push({
        balanceId,
        node: node.name,
        start,
        end: now(),
        posted: BigInt(bookBalance.amountMinor),
        held: BigInt(heldBalance.amountMinor),
      })
    } catch {
      // No answer was read.
    }
  }
}

/** An exception as a list shows it. */
interface Open {
  readonly id: string
  readonly related: { readonly object: string; readonly id: string }
}

const jsonOf = (method: string, body: object): RequestInit => ({
  method,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', 'if-match': '*' },
})

const credentials = ({ id, apiKey }: CreatedCustomer) => ({ authorization: `Bearer ${apiKey}`, 'x-tenant-id': id })

/** The resource to create from a quote. */
interface Exchanging {
  readonly customer: CreatedCustomer
  readonly quoteId: string
  readonly from: string
  readonly to: string
  readonly amount: bigint
}

/** Under a key of its own each time. */
function exchangeOf({ customer, quoteId, from, to, amount }: Exchanging): Single {
  const key = randomUUID()
  return {
    customer,
    asking: {
      key,
      kind: 'exchange',
      path: PATHS.exchange,
      quoteId,
      body: { quoteId, sellBalanceId: from, buyBalanceId: to, externalId: key },
      wants: [{ name: key, kind: 'exchange', from, to, amount, ends: amount === REFUSED ? 'failed' : 'completed' }],
    },
  }
}

/** Epoch milliseconds with their fractions: Postgres tells the times of commits so too. */
export function now(): number {
  return performance.timeOrigin + performance.now()
}

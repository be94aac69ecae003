/**
 * Mandates and collections at the hands of their customer, payers, banks and time, on two nodes that hear the same at
 * once: messages in any order, doubled and repeated long after, cancellations, suspensions, returns of a part and of more
 * than the amount, reinstatements, and days that pass. A model of its own says what each of them makes of what it knew;
 * whatever happens, the rows and the balances are what the model says, and the books are clean.
 *
 *   SEED=123 npm test -- test/histories/direct-debits.test.ts
 *   HISTORY_ROUNDS=50 npm test -- test/histories/direct-debits.test.ts
 */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import { createAnswers } from '../../actors/commands/answers.ts'
import { createDirectDebitService, type DirectDebitService } from '../../actors/direct-debits/direct-debit-service.ts'
import type { Node as ServiceNode } from '../../actors/runtime/node.ts'
import { DAY_MS, HOUR_MS, ManualClock } from '../../lib/base/clock.ts'
import type { CommandBytes } from '../../lib/commands/command.ts'
import { COLLECTION_MOVES } from '../../lib/direct-debits/collection-moves.ts'
import type { CollectionStatus } from '../../lib/direct-debits/collection.ts'
import type { CollectionMessage, DebitMessage, MandateMessage } from '../../lib/direct-debits/debit-messages.ts'
import type { MandateCreate } from '../../lib/direct-debits/mandate-schema.ts'
import { MANDATE_MOVES } from '../../lib/direct-debits/mandate-moves.ts'
import type { MandateStatus } from '../../lib/direct-debits/mandate.ts'
import { DEBIT_SCHEMES } from '../../lib/direct-debits/schemes.ts'
import { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import { ids, MONDAY } from '../support/commands.ts'
import { auditIsClean, openLedger, type Ledger } from '../support/ledger.ts'
import { Random } from '../support/random.ts'
import { asked, faultsOf, hearers, overloaded, SEEDS, Tally, type Change } from './history.ts'
import { Client, command, openNodes, PROBLEM_BASE, type Node } from './nodes.ts'

const ROUNDS = Number(process.env['HISTORY_ROUNDS'] ?? 4)
/** Askers of a round, each with mandates of its own, and what each of them asks. */
const ASKERS = 8
const WORDS = 24
const OPENING = 50_000n
/** So much may be out that can come back; some collections are refused for it. */
const MAX_EXPOSURE = 60_000n

const SCHEMES = ['sepa_dd_core', 'sepa_dd_core', 'sepa_dd_b2b', 'bacs_dd'] as const
type Scheme = (typeof SCHEMES)[number]
const ACCOUNT: Readonly<Record<Scheme, object>> = {
  sepa_dd_core: { iban: 'NL50SBOX0100000002' },
  sepa_dd_b2b: { iban: 'NL50SBOX0100000002' },
  bacs_dd: { sortCode: '990001', accountNumber: '12345678' },
}
/** Reasons of refusals and returns; some end the mandate. */
const ENDING: ReadonlySet<string> = new Set(['AC04', '1', '2'])
const REASONS: Readonly<Record<Scheme, readonly string[]>> = {
  sepa_dd_core: ['AM04', 'MD06', 'AC04', 'MS03'],
  sepa_dd_b2b: ['AM04', 'AC04', 'MS03'],
  bacs_dd: ['0', '1', '2'],
}
const LEGAL_MANDATE = legal(MANDATE_MOVES, ['pending', 'active'])
const LEGAL_COLLECTION = legal(COLLECTION_MOVES, ['pending'])

function legal(
  moves: Readonly<Record<string, { readonly from: readonly string[]; readonly to: string }>>,
  first: readonly string[],
): ReadonlySet<string> {
  return new Set([
    ...first.map((to) => `→${to}`),
    ...Object.values(moves).flatMap(({ from, to }) => from.map((one) => `${one}→${to}`)),
    // Fails with its mandate.
    'pending→failed',
  ])
}

// ── The model
// ────────────────────────────────────────────────────────────────────────────────────────────────────────

interface MandateModel {
  readonly id: string
  readonly scheme: Scheme
  readonly oneOff: boolean
  status: MandateStatus
  readonly collections: CollectionModel[]
}

interface CollectionModel {
  readonly id: string
  readonly amount: bigint
  /** Whether it is presented again after a lack of funds. */
  readonly retries: boolean
  status: CollectionStatus
  /** What its balance has of it now. */
  there: bigint
  /** What the bank took beyond it. */
  beyond: bigint
  /** Whether its creditor has asked for its reversal, and its bank has not decided. */
  reversing: boolean
}

const CLEARING: readonly CollectionStatus[] = ['submitted', 'exception']

/** What the messages and commands about one asker's mandates make of them. */
class Model {
  readonly mandates: MandateModel[] = []

  #end(mandate: MandateModel, status: 'failed' | 'cancelled' | 'consumed'): void {
    mandate.status = status
    for (const each of mandate.collections)
      if (each.status === 'pending') each.status = status === 'failed' ? 'failed' : 'cancelled'
  }

  cancel(mandate: MandateModel): boolean {
    const isOpen = ['pending', 'submitted', 'active', 'suspended'].includes(mandate.status)
    if (!isOpen || mandate.collections.some(({ status }) => CLEARING.includes(status))) return false
    this.#end(mandate, 'cancelled')
    return true
  }

  takeOfMandate(mandate: MandateModel, type: MandateMessage['type']): void {
    const { status } = mandate
    const isNew = status === 'pending' || status === 'submitted'
    if (type === 'mandate.submitted' && status === 'pending') mandate.status = 'submitted'
    if (type === 'mandate.active' && (isNew || status === 'suspended')) mandate.status = 'active'
    if (type === 'mandate.failed' && isNew) this.#end(mandate, 'failed')
    if (type === 'mandate.suspended' && status === 'active') mandate.status = 'suspended'
    if (type === 'mandate.reinstated' && status === 'suspended') mandate.status = 'active'
    if (type === 'mandate.cancelled') {
      if (isNew) this.#end(mandate, 'failed')
      else if (status === 'active' || status === 'suspended') this.#end(mandate, 'cancelled')
    }
  }

  takeOfCollection(
    mandate: MandateModel,
    collection: CollectionModel,
    { type, reasonCode, amount: told }: Pick<CollectionMessage, 'type' | 'reasonCode' | 'amount'>,
  ): void {
    const { amount } = collection
    if (type === 'collection.reversed' || type === 'collection.reversal_refused') {
      if (collection.reversing && type === 'collection.reversal_refused') collection.status = 'collected'
      collection.reversing = false
      return
    }
    if (collection.status === 'pending' && type !== 'collection.reinstated') {
      // Each of the others proves that it was submitted, which its mandate has to allow.
      if (mandate.status !== 'active') return
      collection.status = 'submitted'
    }
    const isClearing = CLEARING.includes(collection.status)
    const collect = () => {
      collection.status = 'collected'
      collection.there = amount
      collection.beyond = 0n
      if (mandate.oneOff && mandate.status === 'active') this.#end(mandate, 'consumed')
    }
    if (type === 'collection.unclear' && collection.status === 'submitted') collection.status = 'exception'
    if (type === 'collection.collected' && isClearing) collect()
    if (type === 'collection.rejected' && isClearing) {
      collection.status = 'failed'
      this.#endFor(mandate, reasonCode)
    }
    if (type === 'collection.returned' && (isClearing || collection.status === 'collected')) {
      if (collection.status === 'submitted') collect()
      else if (collection.status === 'exception') collection.there = amount
      const asks = told ?? collection.there
      const back = asks < collection.there ? asks : collection.there
      collection.there -= back
      collection.beyond += asks - back
      collection.status = 'returned'
      this.#endFor(mandate, reasonCode)
    }
    if (type === 'collection.reinstated' && collection.status === 'returned') {
      const gone = amount - collection.there
      collection.there += told === null || told > gone ? gone : told
      collection.status = 'collected'
    }
  }

  #endFor(mandate: MandateModel, reasonCode: string | null): void {
    if (
      reasonCode !== null &&
      ENDING.has(reasonCode) &&
      (mandate.status === 'active' || mandate.status === 'suspended')
    )
      this.#end(mandate, 'cancelled')
  }
}

// ── The acts
// ─────────────────────────────────────────────────────────────────────────────────────────────────────────

interface Hearer extends Node {
  readonly debits: DirectDebitService
}

function hearing(node: Node): Hearer {
  const { world, system } = node
  return {
    ...node,
    debits: createDirectDebitService({
      ...world,
      system,
      accounts: new InternalAccountCache(world.database, ids),
      random: (bytes: number) => new Uint8Array(randomBytes(bytes)),
      answers: createAnswers(world),
      problemBase: PROBLEM_BASE,
      sandbox: true,
      dispatch: false,
    } as unknown as ServiceNode),
  }
}

/** Mandates of one asker, which nobody else asks for anything; all askers share balances and exposure. */
class Asker extends Client<Hearer> {
  readonly model = new Model()
  override readonly tally: Tally
  readonly #sent: DebitMessage[] = []
  readonly #externalIds: string[] = []

  constructor(ledger: Ledger, clock: ManualClock, random: Random, nodes: readonly Hearer[], tally: Tally) {
    super(ledger, clock, random, nodes)
    this.tally = tally
  }

  async next(): Promise<void> {
    const { random } = this
    const part = random.int(0, 99)
    const mandate = this.#pick(({ status }) => status !== 'cancelled' && status !== 'failed') ?? null
    if (mandate === null || part < 8) await this.#createMandate()
    else if (part < 34) await this.#collect(mandate)
    else if (part < 38) await this.#cancelMandate(mandate)
    else if (part < 42) await this.#cancelCollection()
    else if (part < 46) await this.#reverse()
    else if (part < 58) await this.#tellOfMandate(mandate)
    else if (part < 94) await this.#tellOfCollection()
    else await this.#repeat()
  }

  #pick(fits: (mandate: MandateModel) => boolean): MandateModel | undefined {
    const fitting = this.model.mandates.filter(fits)
    return fitting.length === 0 ? undefined : this.random.pick(fitting)
  }

  /** A collection, of those that can still move three times out of five. */
  #pickCollection(): { readonly mandate: MandateModel; readonly collection: CollectionModel } | null {
    const all = this.model.mandates.flatMap((mandate) =>
      mandate.collections.map((collection) => ({ mandate, collection })),
    )
    const moving = all.filter(({ collection: { status } }) => status !== 'cancelled' && status !== 'failed')
    const of = this.random.chance(0.6) && moving.length > 0 ? moving : all
    return of.length === 0 ? null : this.random.pick(of)
  }

  async #createMandate(): Promise<void> {
    const { random, by, clock, ledger } = this
    const scheme = random.pick(SCHEMES)
    const isSigned = random.chance(0.7)
    const oneOff = random.chance(0.15)
    const body = {
      direction: 'collect' as const,
      scheme,
      balanceId: ledger.balances[scheme === 'bacs_dd' ? 1 : 0]!,
      counterparty: { name: 'Ada Payer', ...ACCOUNT[scheme] },
      ...(isSigned ? { signedAt: '2026-01-05' } : {}),
      ...(oneOff ? { sequenceType: 'one_off' as const } : {}),
    } satisfies MandateCreate
    const asking = command(by, '/v1/mandates', body, clock)
    const id = await this.#made('mandate', ({ commands }) => commands.createMandate(asking), [])
    if (id === null) return
    const status = scheme === 'sepa_dd_core' && isSigned ? 'active' : 'pending'
    this.model.mandates.push({ id, scheme, oneOff, status, collections: [] })
  }

  async #collect(mandate: MandateModel): Promise<void> {
    const { random, by, clock } = this
    const amount = BigInt(random.int(1, 2_000))
    const retries = random.chance(0.3)
    const isTaken = this.#externalIds.length > 0 && random.chance(0.1)
    const externalId = isTaken ? random.pick(this.#externalIds) : ids.next()
    const body = {
      mandateId: mandate.id,
      amount: { amountMinor: String(amount), currency: DEBIT_SCHEMES[mandate.scheme].currency },
      reference: 'Invoice 42',
      externalId,
      retry: retries ? { enabled: true } : null,
    }
    const asking = command(by, '/v1/collections', body, clock)
    const isOpen = ['pending', 'submitted', 'active'].includes(mandate.status)
    const isUsed =
      mandate.oneOff && mandate.collections.some(({ status }) => status !== 'cancelled' && status !== 'failed')
    const id = await this.#made('collection', ({ commands }) => commands.createCollection(asking), [
      ...(isOpen && !isUsed ? [] : (['invalid-transition'] as const)),
      ...(isTaken ? (['duplicate-external-id'] as const) : []),
      'limit-exceeded',
    ])
    if (id === null) return
    if (!isOpen || isUsed || isTaken) throw new Error(`The collection ${id} was made against the model.`)
    this.#externalIds.push(externalId)
    mandate.collections.push({ id, amount, retries, status: 'pending', there: 0n, beyond: 0n, reversing: false })
  }

  /** Asks one node or both under one key: both answer the same. @returns the id of what was made; null for a refusal */
  async #made(
    what: string,
    ask: (debits: DirectDebitService) => Promise<unknown>,
    refusals: Parameters<typeof asked>[2],
  ): Promise<string | null> {
    const answers = await Promise.all(
      hearers(this.random, this.nodes).map(({ debits }) => asked(this.tally, what, refusals, () => ask(debits))),
    )
    const made = new Set(
      answers.flatMap((answer) =>
        answer === null ? [] : [(JSON.parse((answer as CommandBytes).body) as { readonly id: string }).id],
      ),
    )
    if (made.size > 1) throw new Error(`One key made ${[...made]}.`)
    return [...made][0] ?? null
  }

  async #cancelMandate(mandate: MandateModel): Promise<void> {
    await this.#cancel('cancel mandate', this.model.cancel(mandate), ({ commands }) =>
      commands.cancelMandate(
        command(this.by, `/v1/mandates/${mandate.id}/cancel`, { reason: null }, this.clock),
        mandate.id,
      ),
    )
  }

  async #cancelCollection(): Promise<void> {
    const picked = this.#pickCollection()
    if (picked === null) return
    const { collection } = picked
    const can = collection.status === 'pending'
    if (can) collection.status = 'cancelled'
    const path = `/v1/collections/${collection.id}/cancel`
    await this.#cancel('cancel collection', can, ({ commands }) =>
      commands.cancelCollection(command(this.by, path, null, this.clock), collection.id),
    )
  }

  /** The creditor asks for a reversal, which the balance has the funds for; some are asked for too late. */
  async #reverse(): Promise<void> {
    const all = this.model.mandates.flatMap(({ collections }) => collections)
    const collected = all.filter(({ status }) => status === 'collected')
    const of = collected.length > 0 && this.random.chance(0.8) ? collected : all
    if (of.length === 0) return
    const collection = this.random.pick(of)
    const path = `/v1/collections/${collection.id}/reverse`
    const answers = await Promise.all(
      hearers(this.random, this.nodes).map(({ debits }) =>
        asked(this.tally, 'reverse', ['invalid-transition'], () =>
          debits.commands.reverseCollection(command(this.by, path, { reasonCode: 'DUPL' }, this.clock), collection.id),
        ),
      ),
    )
    const done = answers.filter((answer) => answer !== null).length
    if (done > (collection.status === 'collected' ? 1 : 0))
      throw new Error(`${collection.id} was reversed ${done} times.`)
    if (done === 0) return
    collection.status = 'reversed'
    collection.reversing = true
  }

  /** Nodes that are asked at once: one of them does it, where it can be done. */
  async #cancel(what: string, can: boolean, ask: (debits: DirectDebitService) => Promise<unknown>): Promise<void> {
    const answers = await Promise.all(
      hearers(this.random, this.nodes).map(({ debits }) =>
        asked(this.tally, what, ['invalid-transition', 'not-cancellable'], () => ask(debits)),
      ),
    )
    const done = answers.filter((answer) => answer !== null).length
    if (done !== (can ? 1 : 0)) throw new Error(`${what} was done ${done} times, and could be done: ${can}.`)
  }

  async #tellOfMandate(mandate: MandateModel): Promise<void> {
    const type = this.random.pick([
      'mandate.submitted',
      'mandate.active',
      'mandate.active',
      'mandate.active',
      'mandate.suspended',
      'mandate.reinstated',
      'mandate.failed',
      'mandate.cancelled',
      'mandate.amended',
    ] as const)
    // A mandate that ends at once leaves little to tell.
    if ((type === 'mandate.failed' || type === 'mandate.cancelled') && this.random.chance(0.7)) return
    this.model.takeOfMandate(mandate, type)
    await this.#tell({
      ...this.#told(),
      type,
      mandateId: mandate.id,
      ...(type === 'mandate.amended' ? { amendment: { name: 'Ada Newname' } } : {}),
    })
  }

  async #tellOfCollection(): Promise<void> {
    const { random } = this
    const picked = this.#pickCollection()
    if (picked === null) return
    const { mandate, collection } = picked
    const type = random.pick([
      'collection.submitted',
      'collection.submitted',
      'collection.collected',
      'collection.collected',
      'collection.collected',
      'collection.rejected',
      'collection.returned',
      'collection.returned',
      'collection.reinstated',
      'collection.unclear',
      'collection.reversed',
      'collection.reversal_refused',
    ] as const)
    const hasReason = type === 'collection.rejected' || type === 'collection.returned'
    const hasAmount = (type === 'collection.returned' || type === 'collection.reinstated') && random.chance(0.3)
    const message: CollectionMessage = {
      ...this.#told(),
      type,
      collectionId: collection.id,
      reasonCode: hasReason ? random.pick(REASONS[mandate.scheme]) : null,
      rType: null,
      amount: hasAmount ? BigInt(random.int(1, 2_400)) : null,
      bookedOn: null,
    }
    this.model.takeOfCollection(mandate, collection, message)
    await this.#tell(message)
  }

  #told() {
    const { connectionId } = this.ledger
    return { id: ids.next(), connectionId, source: 'partner', reasonCode: null, providerRef: null } as const
  }

  /** A message that has counted is told again: nothing follows. */
  async #repeat(): Promise<void> {
    if (this.#sent.length === 0) return
    await this.#tell(this.random.pick(this.#sent))
    this.tally.add('repeated')
  }

  /** A message is repeated until a node has taken it. */
  async #tell(message: DebitMessage): Promise<void> {
    this.tally.add(message.type)
    for (let attempt = 0; ; attempt += 1) {
      if (attempt === 20) throw new Error(`${message.type} was not taken.`)
      const taken = await Promise.all(
        hearers(this.random, this.nodes).map(({ debits }) => debits.inbox.take([message])),
      )
      if (taken.every((each) => each.includes(message.id))) break
    }
    this.#sent.push(message)
  }
}

// ── The whole
// ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The changes that time alone makes. */
const BY_TIME = new Set([
  'submitted→exception',
  'failed→pending',
  'returned→pending',
  'submitted→active',
  'active→expired',
  'pending→cancelled',
])

/** Does what is due, on both nodes at once, until nothing is. */
async function passTime(nodes: readonly Hearer[], tally: Tally): Promise<void> {
  for (let again = 0; again < 2; again++)
    for (const nth of [0, 1])
      await Promise.all(
        nodes.map(({ debits }) =>
          debits.tasks[nth]!.run('', { signal: new AbortController().signal, attempt: 1 }).catch(overloaded),
        ),
      )
  tally.add('time')
}

/** Compares the rows with the model; what time alone has changed is taken over. @returns what disagrees */
async function compare(ledger: Ledger, askers: readonly Asker[], mayBeTime: boolean): Promise<readonly string[]> {
  const mandates = new Map(await ledger.read<[string, MandateStatus]>('select id, status from mandate'))
  const collections = new Map(
    (await ledger.read<[string, CollectionStatus]>('select id, status from collection')).map(([id, ...rest]) => [
      id,
      rest,
    ]),
  )
  const wrong: string[] = []
  const differs = <Status extends string>(id: string, told: Status, found: Status | undefined): Status => {
    if (found === told) return told
    if (!mayBeTime || found === undefined || !BY_TIME.has(`${told}→${found}`))
      wrong.push(`${id}: ${told}, not ${found}`)
    return found ?? told
  }
  for (const { model } of askers)
    for (const mandate of model.mandates) {
      mandate.status = differs(mandate.id, mandate.status, mandates.get(mandate.id))
      for (const collection of mandate.collections)
        collection.status = differs(collection.id, collection.status, collections.get(collection.id)?.[0])
    }
  return wrong
}

/** Compares balances, exposure and the charges of the bank with the sums of the model. */
async function compareSums(t: Test, ledger: Ledger, askers: readonly Asker[]): Promise<void> {
  const all = askers.flatMap(({ model }) => model.mandates)
  const sumOf = (nth: number, of: (collection: CollectionModel) => bigint): bigint =>
    all
      .filter(({ scheme }) => (scheme === 'bacs_dd') === (nth === 1))
      .flatMap(({ collections }) => collections)
      .reduce((sum, collection) => sum + of(collection), 0n)
  const stays = ({ status, there }: CollectionModel): bigint => (status === 'reversed' ? 0n : there)
  for (const nth of [0, 1]) {
    const { posted } = await ledger.funds(ledger.balances[nth]!)
    t.equal(posted, OPENING + sumOf(nth, stays), `balance ${nth} has what was collected and stayed`)
  }
  const exposed = new Map(
    (await ledger.read<[string, string]>('select currency, amount from debit_exposure')).map(([currency, amount]) => [
      currency,
      BigInt(amount),
    ]),
  )
  const [counted] = await ledger.read<[string]>(
    `select coalesce(sum(amount) filter (where status in ('pending', 'submitted', 'exception') or (status = 'collected' and exposed_until is not null)), 0) from collection where currency = 'EUR'`,
  )
  t.equal(exposed.get('EUR'), BigInt(counted![0]), 'the exposure is that of the collections')
}

async function run(t: Test, seed: number): Promise<void> {
  const clock = new ManualClock(MONDAY)
  const ledger = await openLedger(t, [OPENING, { currency: 'GBP', amount: OPENING }], clock)
  await ledger.read('update operator set collection_reserve_days = 2, collection_max_exposure = $1', [
    JSON.stringify({ EUR: String(MAX_EXPOSURE) }),
  ])
  const { nodes, bugs } = await openNodes(t, ledger, 2)
  const random = new Random(seed)
  const tally = new Tally()
  const hearers2 = nodes.map(hearing)
  const askers = Array.from({ length: ASKERS }, () => new Asker(ledger, clock, random, hearers2, tally))
  for (let round = 1; round <= ROUNDS; round++) {
    await Promise.all(
      askers.map(async (asker) => {
        for (let word = 0; word < WORDS; word++) {
          clock.advance(1)
          await asker.next()
        }
      }),
    )
    t.strictSame(await compare(ledger, askers, false), [], `round ${round}: the rows are what the model says`)
    clock.advance(random.pick([HOUR_MS, DAY_MS, 6 * DAY_MS, 20 * DAY_MS]))
    await passTime(hearers2, tally)
    t.strictSame(await compare(ledger, askers, true), [], `round ${round}: time changes what it may`)
  }
  await compareSums(t, ledger, askers)
  t.comment(`seed ${seed}: ${tally}`)
  t.ok(
    [
      'mandate',
      'collection',
      'cancel mandate',
      'cancel collection',
      'reverse',
      'repeated',
      'collection.reinstated',
    ].every((what) => tally.of(what) > 0),
    `much was asked, and done: ${tally}`,
  )
  // Two nodes that write one message at once: the key of the message stops the second.
  t.strictSame(
    bugs.filter((bug) => !bug.includes('provider_event_pkey')),
    [],
    'and nothing was a bug',
  )
  for (const [table, type, legalChanges] of [
    ['mandate', 'mandate.status_changed', LEGAL_MANDATE],
    ['collection', 'collection.status_changed', LEGAL_COLLECTION],
  ] as const)
    t.strictSame(
      faultsOf(
        await ledger.read<[...Change]>(
          `select object_id, coalesce(previous_status, ''), status from outbox where type = '${type}'`,
        ),
        legalChanges,
        new Map(await ledger.read<[string, string]>(`select id, status from ${table}`)),
      ),
      [],
      `each change of a ${table} is one event, and one of its table`,
    )
  await auditIsClean(t, ledger)
}

for (const seed of SEEDS) t.test(`seed ${seed}`, (t) => run(t, seed))

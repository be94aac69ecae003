/**
 * The contract of adapters whose direct debits travel by orders, as cases that run over each of them: a reference counts
 * once, an unknown outcome is found by its status, and a report has one id however often it comes.
 */
import assert from 'node:assert/strict'
import type { Test } from 'tap'
import type {
  CollectionOrder,
  DebitPartner,
  DebitStatus,
  DebitSubmission,
  MandateOrder,
  ReversalOrder,
} from '../../../actors/providers/debits.ts'
import type { DebitMessage } from '../../../lib/direct-debits/debit-messages.ts'

/** Troubles of the next call for `lodge`, `submit` or `reverse`; later calls go well. */
export type DebitTrouble =
  /** The provider takes the orders, and its answer is lost. */
  | 'answer_lost'
  /** The request is lost, and the adapter cannot know. */
  | 'request_lost'

/** An adapter with a simulated provider. */
export interface DebitHarness {
  readonly debits: DebitPartner
  trouble(trouble: DebitTrouble): void
  /** How many times the provider has an order. */
  carried(reference: string): Promise<number>
  /** Lets the provider report what it has to, and again because nothing was acknowledged. Returns all reports. */
  reports(): Promise<readonly DebitMessage[]>
}

const CONNECTION = '019ff000-0000-7000-8000-00000000c0de'
const reference = (nth: number): string => `019ff100-0000-7000-8000-${nth.toString(16).padStart(12, '0')}`

const shared = (nth: number, at: number) => ({
  reference: reference(nth),
  shard: 0,
  connectionId: CONNECTION,
  mandateId: reference(nth),
  scheme: 'sepa_dd_core' as const,
  currency: 'EUR',
  counterparty: { name: 'Ada Marsh', kind: 'consumer' as const, iban: 'NL77SBOX0100000001' },
  mandateReference: `WB${nth}`,
  createdAt: at,
})

export const mandateOrder = (nth: number, at: number, name = 'Ada Marsh'): MandateOrder => ({
  ...shared(nth, at),
  direction: 'collect',
  counterparty: { ...shared(nth, at).counterparty, name },
  creditorId: 'DE98ZZZ09999999999',
  creditorName: 'Example',
  signedAt: at,
})

export const collectionOrder = (nth: number, at: number, amount = 1_000n): CollectionOrder => ({
  ...shared(nth, at),
  mandateId: reference(1),
  collectionId: reference(nth),
  attempt: 1,
  amount,
  dueDate: '2026-05-18',
  sequenceType: 'first',
  remittance: 'Invoice 1',
  endToEndId: `E2E${nth}`,
})

const reversalOrder = (nth: number): ReversalOrder => ({
  ...shared(nth, 0),
  mandateId: reference(1),
  collectionId: reference(2),
  presentation: reference(2),
  providerRef: null,
  amount: 1_000n,
  endToEndId: `E2E${nth}`,
  reasonCode: 'DUPL',
})

type Send = (debits: DebitPartner, nth: number) => Promise<ReadonlyMap<string, DebitSubmission>>

/** The kinds of orders, whose cases are the same. */
const SENDS: Readonly<Record<'mandate' | 'collection' | 'reversal', Send>> = {
  mandate: (debits, nth) => debits.lodge([mandateOrder(nth, 0)]),
  collection: (debits, nth) => debits.submit([collectionOrder(nth, 0)]),
  reversal: (debits, nth) => debits.reverse([reversalOrder(nth)]),
}

/** Sends an order. A call that throws, or gives no result, timed out. */
async function sent({ debits }: DebitHarness, send: Send, nth: number): Promise<DebitSubmission['kind']> {
  try {
    return (await send(debits, nth)).get(reference(nth))?.kind ?? 'timeout'
  } catch {
    return 'timeout'
  }
}

async function statusOf({ debits }: DebitHarness, nth: number): Promise<DebitStatus['kind'] | 'absent'> {
  return (
    (await debits.status([{ reference: reference(nth), connectionId: CONNECTION }])).get(reference(nth))?.kind ??
    'absent'
  )
}

export interface DebitCase {
  readonly name: string
  /** @throws AssertionError when the adapter breaks the contract */
  run(harness: DebitHarness): Promise<void>
}

export const DEBIT_KIT: readonly DebitCase[] = [
  ...(Object.keys(SENDS) as (keyof typeof SENDS)[]).flatMap((kind, base): DebitCase[] => [
    {
      name: `the same ${kind} twice is one ${kind}`,
      async run(harness) {
        const nth = base * 100 + 10
        assert.equal(await sent(harness, SENDS[kind], nth), 'accepted')
        assert.notEqual(await sent(harness, SENDS[kind], nth), 'refused')
        assert.equal(await harness.carried(reference(nth)), 1)
      },
    },
    {
      name: `a timeout of a ${kind} that arrived: its outcome is unknown, and its status finds it`,
      async run(harness) {
        const nth = base * 100 + 20
        harness.trouble('answer_lost')
        assert.equal(await sent(harness, SENDS[kind], nth), 'timeout')
        assert.equal(await statusOf(harness, nth), 'taken')
        assert.equal(await harness.carried(reference(nth)), 1)
      },
    },
    {
      name: `a timeout of a ${kind} that never arrived: its status says so, and it can be sent again`,
      async run(harness) {
        const nth = base * 100 + 30
        harness.trouble('request_lost')
        assert.match(await sent(harness, SENDS[kind], nth), /^(timeout|unsent)$/)
        assert.equal(await statusOf(harness, nth), 'unknown')
        assert.equal(await sent(harness, SENDS[kind], nth), 'accepted')
        assert.equal(await harness.carried(reference(nth)), 1)
      },
    },
  ]),
  {
    name: 'a report that comes twice has one id, and other reports have others',
    async run(harness) {
      assert.equal(await sent(harness, SENDS.mandate, 40), 'accepted')
      assert.equal(await sent(harness, SENDS.collection, 41), 'accepted')
      const reports = await harness.reports()
      const byId = Map.groupBy(reports, ({ id }) => id)
      assert(byId.size >= 2, 'The provider reports about both.')
      for (const [id, same] of byId) {
        assert(same.length >= 2, `${id} comes again until it is acknowledged.`)
        assert.equal(new Set(same.map((each) => JSON.stringify(each, plain))).size, 1, 'A repeated report is the same.')
      }
    },
  },
  {
    name: 'a cancelled mandate is not reported active any more',
    async run(harness) {
      assert.equal(await sent(harness, SENDS.mandate, 50), 'accepted')
      for (let time = 0; time < 2; time++)
        assert(
          (await harness.debits.cancel([{ reference: reference(50), connectionId: CONNECTION }])).has(reference(50)),
          'A mandate that has ended is told so, however often it is ended.',
        )
      const told = (await harness.reports()).filter((each) => 'mandateId' in each && each.mandateId === reference(50))
      assert.deepEqual(
        told.map(({ type }) => type),
        [],
      )
    },
  },
]

const plain = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

/** Runs all cases, each over a harness of its own. */
export async function runDebitKit(t: Test, open: () => Promise<DebitHarness>): Promise<void> {
  for (const { name, run } of DEBIT_KIT)
    await t.test(name, async (t) => {
      await run(await open())
      t.pass('keeps the contract')
    })
}

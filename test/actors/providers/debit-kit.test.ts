/** The kit of direct debits passes for a model, and each of its cases fails for the flaw that it is there to find. */
import t from 'tap'
import type { DebitSubmission } from '../../../actors/providers/debits.ts'
import type { DebitMessage } from '../../../lib/direct-debits/debit-messages.ts'
import { DEBIT_KIT, runDebitKit, type DebitHarness, type DebitTrouble } from './debit-kit.ts'

const FLAWS = ['takes_twice', 'lost_is_accepted', 'never_unknown', 'new_ids', 'ignores_cancels'] as const
type Flaw = (typeof FLAWS)[number]

/** The first words of the cases that find each flaw. */
const FOUND_BY: Readonly<Record<Flaw, readonly string[]>> = {
  takes_twice: ['the same mandate twice', 'the same collection twice', 'the same reversal twice'],
  lost_is_accepted: [
    'a timeout of a mandate that arrived',
    'a timeout of a collection that arrived',
    'a timeout of a reversal that arrived',
  ],
  never_unknown: [
    'a timeout of a mandate that never arrived',
    'a timeout of a collection that never arrived',
    'a timeout of a reversal that never arrived',
  ],
  new_ids: ['a report that comes twice'],
  ignores_cancels: ['a cancelled mandate'],
}

/** A provider in memory. */
function modelHarness(flaw: Flaw | null = null): DebitHarness {
  const orders = new Map<string, { readonly kind: 'mandate' | 'collection'; times: number; ended: boolean }>()
  let next: DebitTrouble | null = null
  let told = 0
  const take =
    (kind: 'mandate' | 'collection') =>
    async (sent: readonly { readonly reference: string }[]): Promise<ReadonlyMap<string, DebitSubmission>> => {
      const trouble = next
      next = null
      if (trouble === 'request_lost') throw new Error('The call was lost.')
      for (const { reference } of sent) {
        const known = orders.get(reference)
        if (known === undefined) orders.set(reference, { kind, times: 1, ended: false })
        else if (flaw === 'takes_twice') known.times += 1
      }
      if (trouble === 'answer_lost' && flaw !== 'lost_is_accepted') throw new Error('The answer was lost.')
      return new Map(sent.map(({ reference }) => [reference, { kind: 'accepted', providerRef: `R${reference}` }]))
    }
  const report = (): DebitMessage[] =>
    [...orders].flatMap(([reference, { kind, ended }]): DebitMessage[] => {
      if (ended) return []
      const base = {
        id: flaw === 'new_ids' ? `${reference} ${told++}` : reference,
        connectionId: 'c',
        source: 'partner',
        reasonCode: null,
        providerRef: null,
      } as const
      return kind === 'mandate'
        ? [{ ...base, type: 'mandate.active', mandateId: reference }]
        : [
            {
              ...base,
              type: 'collection.collected',
              collectionId: reference,
              rType: null,
              amount: null,
              bookedOn: null,
            },
          ]
    })
  return {
    debits: {
      lodge: take('mandate'),
      submit: take('collection'),
      reverse: take('collection'),
      async cancel(mandates) {
        const told = new Set(mandates.map(({ reference }) => reference))
        if (flaw === 'ignores_cancels') return told
        for (const { reference } of mandates) {
          const order = orders.get(reference)
          if (order !== undefined) order.ended = true
        }
        return told
      },
      status: async (questions) =>
        new Map(
          questions.map(({ reference }) => [
            reference,
            orders.has(reference) || flaw === 'never_unknown'
              ? { kind: 'taken', providerRef: `R${reference}` }
              : { kind: 'unknown' },
          ]),
        ),
    },
    trouble(trouble) {
      next = trouble
    },
    carried: async (reference) => orders.get(reference)?.times ?? 0,
    reports: async () => [...report(), ...report()],
  }
}

t.test('the model keeps the contract', (t) => runDebitKit(t, async () => modelHarness()))

t.test('each case finds its flaw', async (t) => {
  for (const flaw of FLAWS)
    for (const words of FOUND_BY[flaw]) {
      const found = DEBIT_KIT.find(({ name }) => name.startsWith(words))
      if (found === undefined) throw new Error(`No case finds ${flaw}.`)
      await t.rejects(found.run(modelHarness(flaw)), `${flaw}: ${found.name}`)
    }
  for (const { name } of DEBIT_KIT)
    t.ok(
      Object.values(FOUND_BY).some((all) => all.some((words) => name.startsWith(words))),
      `A flaw proves the case: ${name}`,
    )
})

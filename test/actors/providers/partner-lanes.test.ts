/** The lanes of connections outside of the process: each by itself, full at two batches, free again at one. */
import t from 'tap'
import { PartnerLanes } from '../../../actors/providers/partner-lanes.ts'
import { LIMITS } from '../../../lib/base/limits.ts'

const BATCH = LIMITS.partnerBatchMax

const payments = (connectionId: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, nth) => ({ id: `${connectionId}-${from + nth}`, connectionId }))

const place = (connectionId: string) => ({ connectionId, currency: 'EUR', rail: 'sepa' })

/** Lanes whose submissions end when they are told to. */
function open() {
  let rooms = 0
  const ends: (() => void)[] = []
  const submitted: string[][] = []
  const working = new Set<Promise<void>>()
  const lanes = new PartnerLanes({
    bank: { isOutside: (connectionId) => connectionId !== 'inside' },
    background: (work) => working.add(work),
    onRoom: () => {
      rooms += 1
    },
  })
  const submit = (of: readonly { readonly id: string; readonly connectionId: string }[]) =>
    lanes.submit(of, async (given) => {
      submitted.push(given.map(({ id }) => id))
      await new Promise<void>((end) => ends.push(end))
    })
  return { lanes, rooms: () => rooms, ends, submitted, working, submit }
}

t.test('only payments within the process are waited for', async (t) => {
  const { submit, submitted, ends } = open()
  const waited = submit([...payments('a', 2), ...payments('inside', 3), ...payments('b', 1)])
  t.strictSame(submitted, [['a-0', 'a-1'], ['b-0'], ['inside-0', 'inside-1', 'inside-2']])
  ends[2]?.()
  await waited
  await submit(payments('a', 1, 2))
  t.strictSame(submitted.at(-1), ['a-2'])
})

t.test('a lane is full with two batches, and takes more when one of them has ended', async (t) => {
  const { lanes, rooms, ends, working, submit } = open()
  await submit(payments('a', BATCH))
  t.notOk(lanes.passesOver(place('a')))
  t.ok(lanes.has('a-0'))
  await submit(payments('a', BATCH, BATCH))
  t.ok(lanes.passesOver(place('a')))
  t.notOk(lanes.passesOver(place('b')), 'others are not')
  t.notOk(lanes.passesOver({ ...place('a'), rail: 'internal' }), 'no partner carries these')
  t.strictSame(lanes.crowded, ['a EUR sepa'])
  const [first, second] = working
  ends[0]?.()
  await first
  t.notOk(lanes.passesOver(place('a')))
  t.strictSame(lanes.crowded, [])
  t.notOk(lanes.has('a-0'))
  t.ok(lanes.has(`a-${BATCH}`))
  t.equal(rooms(), 1)
  ends[1]?.()
  await second
  t.equal(rooms(), 1, 'it is told once')
  t.notOk(lanes.has(`a-${BATCH}`))
})

/** Payments are gathered for a hand-over while many wait, and never otherwise. */
import t from 'tap'
import { HandOverPace } from '../../../actors/payments/hand-over-pace.ts'
import { LIMITS } from '../../../lib/base/limits.ts'

const BACKLOG = 4

t.test('without a backlog the next hand-over begins at once', async (t) => {
  const pace = new HandOverPace(() => t.fail('nothing is due'))
  t.notOk(pace.isGathering(1), 'the first')
  for (let payments = 1; payments < BACKLOG; payments++) {
    await pace.begin(payments)
    t.notOk(pace.isGathering(1), `after one of ${payments}`)
  }
})

t.test('after a hand-over of many the next one waits, then begins by itself', async (t) => {
  let due = 0
  const pace = new HandOverPace(() => {
    due += 1
    t.notOk(pace.isGathering(1))
  })
  const gathered = pace.begin(BACKLOG)
  t.ok(pace.isGathering(1))
  t.ok(pace.isGathering(LIMITS.partnerBatchMax - 1))
  t.notOk(pace.isGathering(LIMITS.partnerBatchMax), 'a full one does not wait')
  t.equal(due, 0)
  await gathered
  t.equal(due, 1)
  t.notOk(pace.isGathering(1))
})

t.test('the wait ends with the next hand-over that begins, and when the queue stops', async (t) => {
  const pace = new HandOverPace(() => t.fail('nothing is due'))
  const first = pace.begin(LIMITS.partnerBatchMax)
  await pace.begin(1)
  await first
  t.notOk(pace.isGathering(1), 'a hand-over of one payment shows that the backlog is gone')
  const last = pace.begin(LIMITS.partnerBatchMax)
  pace.end()
  await last
  t.notOk(pace.isGathering(1))
})

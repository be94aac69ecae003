import t from 'tap'
import { restAfter } from '../../../actors/transactions/transaction-follower.ts'

t.test('in a flood of commands the follower of transactions has a ninth of its time, else all of it', (t) => {
  t.equal(restAfter(100, 0, 250), 0)
  t.equal(restAfter(100, 125, 250), 0, '500 a second it keeps up with')
  t.equal(restAfter(100, 126, 250), 800)
  t.equal(restAfter(100, 10_000, 250), 800)
  t.equal(restAfter(3_000, 10_000, 5_000), 2_000, 'but it never rests for long')
  t.equal(restAfter(1, 1, 0), 8)
  t.end()
})

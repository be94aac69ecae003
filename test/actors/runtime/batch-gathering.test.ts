/** Work is gathered for a batch while much waits, and never otherwise. */
import t from 'tap'
import { BatchGathering } from '../../../actors/runtime/batch-gathering.ts'

const BACKLOG = 4
const FULL = 256
const open = (onDue: () => void) => new BatchGathering({ gatherMs: 20, backlogMin: BACKLOG, batchMax: FULL, onDue })

t.test('without a backlog the next batch begins at once', async (t) => {
  const gathering = open(() => t.fail('nothing is due'))
  t.notOk(gathering.holds(1), 'the first')
  for (let items = 1; items < BACKLOG; items++) {
    await gathering.begin(items)
    t.notOk(gathering.holds(1), `after one of ${items}`)
  }
})

t.test('after a batch of many the next one waits, then begins by itself', async (t) => {
  let due = 0
  const gathering = open(() => {
    due += 1
    t.notOk(gathering.holds(1))
  })
  const gathered = gathering.begin(BACKLOG)
  t.ok(gathering.holds(1))
  t.ok(gathering.holds(FULL - 1))
  t.notOk(gathering.holds(FULL), 'a full one does not wait')
  t.equal(due, 0)
  await gathered
  t.equal(due, 1)
  t.notOk(gathering.holds(1))
})

t.test('the wait ends with the next batch that begins, and when the owner stops', async (t) => {
  const gathering = open(() => t.fail('nothing is due'))
  const first = gathering.begin(FULL)
  await gathering.begin(1)
  await first
  t.notOk(gathering.holds(1), 'a batch of one item shows that the backlog is gone')
  const last = gathering.begin(FULL)
  gathering.end()
  await last
  t.notOk(gathering.holds(1))
})

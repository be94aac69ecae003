import t from 'tap'

import { trial } from '../support/trial.ts'
import { until } from '../support/until.ts'

t.test(
  'the bank times out, answers twice, late, nobody at all, and contradicts itself: each payment ends once',
  async (t) => {
    await trial(t, { nodes: 2 }, async ({ cluster, answers }) => {
      await until(
        'the bank has spoken',
        async () =>
          (await cluster.query(`select from sandbox_order where state in ('settled', 'rejected') limit 20`)).length ===
          20,
      )
      t.ok((await cluster.bankRepeats()) > 0)
      t.ok((await cluster.bankIsLate(6_000)) > 0)
      await answers()
      const stalled = cluster.stallBank(5_000)
      await answers()
      await stalled
      await until('there is something to contradict', async () => (await cluster.bankContradicts()) > 0)
      await until(
        'it was heard',
        async () =>
          (
            await cluster.query(
              `select from sandbox_order where state = 'accepted' and due_at < now() - interval '1 second'`,
            )
          ).length === 0,
      )
      t.ok(
        (await cluster.query(`select from payment where status = 'exception'`)).length > 0,
        'what it never answered is an exception',
      )
    })
  },
)

import t from 'tap'

import { trial } from '../support/trial.ts'
import { until } from '../support/until.ts'

/** Less than a lease: nobody has to wait for one to end. */
const HAND_OVER_MS = 2_500
/** On a machine that does much else the others may be late; then the node leaves again. */
const LEAVES_MAX = 3
/** With so many a node that is home to none of them is rarer than one run in five thousand. */
const CUSTOMERS = 24

t.test('nodes leave and join under load: each has its share, says so, and hands it over before it ends', async (t) => {
  await trial(t, { nodes: 3, customers: CUSTOMERS }, async ({ cluster, answers }) => {
    const held = async () =>
      (await Promise.all(cluster.live.map((node) => node.shards()))).map((state) => state?.held).sort()
    t.strictSame(await held(), [85, 85, 86], 'a fair share each')
    for (const node of cluster.nodes) {
      t.equal(await node.metric('vostro_shards_held'), (await node.shards())!.held)
      t.equal(await node.metric('vostro_nodes'), 3)
    }
    const [, , leaving] = cluster.nodes
    let isAtOnce = false
    for (let nth = 1; !isAtOnce && nth <= LEAVES_MAX; nth++) {
      if (nth > 1) {
        await leaving!.start()
        await cluster.settled()
      }
      t.equal(await leaving!.stop(), 0)
      isAtOnce = await cluster.settled(HAND_OVER_MS).then(
        () => true,
        () => false,
      )
    }
    t.ok(isAtOnce, 'nobody waits for the end of a lease')
    t.strictSame(await held(), [128, 128], 'the others have them at once')
    await answers()
    await leaving!.start()
    await cluster.settled()
    t.strictSame(await held(), [85, 85, 86])
    await answers()
    const handedOver = (await cluster.query('select from sandbox_order')).length
    t.ok(handedOver > 0)
    await until('all nodes have committed', async () =>
      (await Promise.all(cluster.nodes.map((node) => node.metric('vostro_commands_total')))).every(
        (count) => count > 0,
      ),
    )
    t.ok(
      (await Promise.all(cluster.nodes.map((node) => node.metric('vostro_commit_conflicts_total')))).every(
        (count) => count < 50,
      ),
      "and did not do each other's work",
    )
  })
})

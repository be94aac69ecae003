import t from 'tap'

import { flood, percentile } from '../torture/flood.ts'
import { trial } from '../support/trial.ts'

/** More than such a node takes on any machine this runs on. */
const PER_SECOND = 6_000

t.test('far more than a node can take: it says so quickly, and what it accepts is right', async (t) => {
  await trial(t, { nodes: 1, redis: false }, async ({ cluster, answers }) => {
    const customer = await cluster.customer([1_000_000n, 0n])
    const { sent, statuses, refusedMs, acceptedMs, mute } = await flood({
      urls: [cluster.nodes[0]!.url],
      customer,
      perSecond: PER_SECOND,
      ms: 4_000,
    })
    t.comment(
      `${sent} sent: ${JSON.stringify([...statuses])}; 503 after ${percentile(refusedMs, 0.5).toFixed(0)} ms (p99 ${percentile(refusedMs, 0.99).toFixed(0)}), 201 after ${percentile(acceptedMs, 0.5).toFixed(0)} ms (p99 ${percentile(acceptedMs, 0.99).toFixed(0)})`,
    )
    t.ok((statuses.get(503) ?? 0) > 0, 'some are turned away')
    t.ok((statuses.get(201) ?? 0) > 0, 'some are taken')
    t.equal(mute, 0, 'who is turned away is told when to come back')
    t.strictSame(
      [...statuses.keys()].filter((status) => ![0, 201, 503].includes(status)),
      [],
    )
    const [row] = await cluster.query<{ transfers: string; posted: string }>(
      `select (select count(*) from transfer where customer_id = $1) as transfers, (select posted from balance where id = $2) as posted`,
      [customer.id, customer.balanceIds[1]],
    )
    t.ok(Number(row!.transfers) >= statuses.get(201)!, 'each that was taken is there')
    t.equal(row!.posted, row!.transfers, 'and is booked once')
    await answers()
  })
})

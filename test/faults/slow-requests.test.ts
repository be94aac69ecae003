import { randomBytes, randomUUID } from 'node:crypto'

import { Agent, request } from 'undici'
import t from 'tap'

import { generateApiKey } from '../../lib/identity/api-key.ts'
import type { CreatedCustomer } from '../../storage/seed/seed-customers.ts'
import { Cluster } from '../support/cluster.ts'
import { gather, halfSent, halfUploaded, type SlowClient } from '../support/slow-crowd.ts'
import { percentile } from '../torture/flood.ts'

/** Of each kind of slow client; there are eight kinds. */
const OF_A_KIND = 160
/** The requests of the other tenant in a round, enough for a p99, and their connections. */
const PAYMENTS = 400
const CONNECTIONS = 4
/**
 * Quiet and disturbed rounds in turn. The machine is shared, so a median of pairs is judged; more pairs are taken when
 * it is too high.
 */
const PAIRS = 3
const PAIRS_MAX = 9
const TIMES_MAX = 2

interface Round {
  readonly p99Ms: number
  readonly statuses: ReadonlyMap<number, number>
}

/** Payments of one customer, one after the other on each connection. */
async function pay(urls: readonly string[], { id, apiKey, balanceIds, recipients }: CreatedCustomer): Promise<Round> {
  const agent = new Agent({ connections: CONNECTIONS, headersTimeout: 20_000 })
  const statuses = new Map<number, number>()
  const times: number[] = []
  let sent = 0
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (sent < PAYMENTS) {
        const nth = sent++
        const started = performance.now()
        const answer = await request(`${urls[nth % urls.length]}/v1/payments`, {
          dispatcher: agent,
          method: 'POST',
          headers: {
            authorization: `Bearer ${apiKey}`,
            'x-tenant-id': id,
            'content-type': 'application/json',
            'idempotency-key': randomUUID(),
          },
          body: JSON.stringify({
            sourceBalanceId: balanceIds[0],
            recipientId: recipients!.EUR,
            amount: { amountMinor: '1', currency: 'EUR' },
            reference: 'Quiet',
          }),
        })
        await answer.body.dump()
        times.push(performance.now() - started)
        statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1)
      }
    }),
  )
  await agent.close()
  return {
    p99Ms: percentile(
      times.sort((a, b) => a - b),
      0.99,
    ),
    statuses,
  }
}

/** Every way of holding a request open, without a credential, with a wrong one and with the key of a customer. */
function slowClients({ id, apiKey }: CreatedCustomer): SlowClient[] {
  const caller = { Authorization: `Bearer ${apiKey}`, 'X-Tenant-Id': id }
  const kinds: (() => SlowClient)[] = [
    () => ({ text: '' }),
    () => ({ text: 'POST /v1/payments HTTP/1.1\r\nHost: localhost\r\nX-Slow: ', drip: 'a' }),
    () => ({ text: halfSent('/v1/payments', {}), drip: ' ' }),
    () => ({
      text: halfSent('/v1/payments', {
        Authorization: `Bearer ${generateApiKey('test', randomBytes).secret}`,
        'X-Tenant-Id': randomUUID(),
      }),
      drip: ' ',
    }),
    () => ({ text: halfSent('/v1/sessions', {}) }),
    () => ({ text: halfSent('/v1/payments', caller) }),
    () => ({ text: halfSent('/v1/payments', caller), drip: ' ' }),
    () => ({ text: halfUploaded('/v1/bulk-payments', caller), drip: ',' }),
  ]
  return kinds.flatMap((make) => Array.from({ length: OF_A_KIND }, make))
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] as number

for (const nodes of [1, 2]) {
  t.test(
    `slow, silent and half-sent requests by the thousand at ${nodes} ${nodes === 1 ? 'node' : 'nodes'}: another tenant's payments are answered as before`,
    async (t) => {
      await using cluster = await Cluster.open({ nodes, redis: nodes > 1 })
      const urls = cluster.nodes.map(({ url }) => url)
      const [slow, other] = [await cluster.customer([1_000_000n]), await cluster.customer([1_000_000n])]
      // The first requests compile and load code, so they belong to no round.
      await pay(urls, other)
      const ratios: number[] = []
      while (ratios.length < PAIRS || (ratios.length < PAIRS_MAX && median(ratios) > TIMES_MAX)) {
        const quiet = await pay(urls, other)
        const crowds = await Promise.all(urls.map((url) => gather(url, slowClients(slow))))
        const disturbed = await pay(urls, other)
        const open = crowds.reduce((sum, crowd) => sum + crowd.open, 0)
        for (const crowd of crowds) crowd.stop()
        t.comment(
          `p99 ${quiet.p99Ms.toFixed(1)} ms quiet, ${disturbed.p99Ms.toFixed(1)} ms with ${open} slow connections; they heard ${JSON.stringify(crowds.map(({ statuses }) => [...statuses]))}`,
        )
        t.strictSame([...quiet.statuses], [[201, PAYMENTS]], 'every payment of a quiet round is taken')
        t.strictSame([...disturbed.statuses], [[201, PAYMENTS]], 'every payment of a disturbed round is taken')
        ratios.push(disturbed.p99Ms / quiet.p99Ms)
        if (disturbed.statuses.size > 1) break
      }
      t.ok(
        median(ratios) <= TIMES_MAX,
        `p99 stays within ${TIMES_MAX} times the quiet one: ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')}`,
      )
      for (const node of cluster.nodes) node.look()
      t.strictSame(
        cluster.nodes.flatMap(({ errors }) => errors),
        [],
        'no node has met a bug',
      )
    },
  )
}

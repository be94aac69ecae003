import t from 'tap'

import { Client } from '../support/client.ts'
import { hammer, verify } from '../support/hammer.ts'
import { createDataDir, startNode } from '../support/node-process.ts'
import type { NodeProcess } from '../support/node-process.ts'
import { addCustomer } from '../support/world.ts'

const OPENING = 60_000n
const KILLS = 3
/** Answers between one kill and the next. */
const ANSWERS = 60

t.test('kill -9 in the middle of the work loses nothing that was answered, and repeats nothing', async (t) => {
  await using dataDir = await createDataDir()
  let node: NodeProcess = await startNode(dataDir.path)
  t.teardown(() => node[Symbol.asyncDispose]())
  const customer = await addCustomer(await dataDir.databaseUrl(), (await dataDir.sandbox()).operator.id, {
    balances: [
      { currency: 'EUR', amount: OPENING },
      { currency: 'EUR', amount: OPENING },
      { currency: 'USD', amount: 0n },
    ],
  })
  const client = new Client({ url: () => node.url, apiKey: customer.apiKey, tenantId: customer.id })
  const [first, second, dollars] = customer.balanceIds as [string, string, string]
  const balanceIds = [first, second] as const

  const load = hammer({ client, balanceIds, dollars, recipientId: customer.recipients.EUR, workers: 8 })
  for (let kill = 0; kill < KILLS; kill++) {
    const before = load.sent.length
    await load.answered(before + ANSWERS)
    node.kill('SIGKILL')
    t.strictSame(await node.ended, { code: null, signal: 'SIGKILL' })
    const postmaster = await dataDir.postmaster()
    t.ok(postmaster, 'the database survives its service')
    node = await startNode(dataDir.path)
    t.equal(await dataDir.postmaster(), postmaster, 'and the next one adopts it')
  }
  const before = load.sent.length
  await load.answered(before + ANSWERS)
  await load.stop()
  await verify(t, load, { client, balanceIds, opening: OPENING, query: dataDir.query, audit: dataDir.audit })
  t.equal(node.stderr, '')
  node.kill('SIGTERM')
  t.strictSame(await node.ended, { code: 0, signal: null })
})

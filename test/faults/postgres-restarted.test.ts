import t from 'tap'

import { Client } from '../support/client.ts'
import { hammer, verify } from '../support/hammer.ts'
import { createDataDir, startNode } from '../support/node-process.ts'
import { until } from '../support/until.ts'
import { addCustomer } from '../support/world.ts'

const OPENING = 60_000n
const ANSWERS = 60

t.test(
  'Postgres stops and sessions are cut under load: no double effect, and the service recovers by itself',
  async (t) => {
    await using dataDir = await createDataDir()
    await using node = await startNode(dataDir.path)
    const customer = await addCustomer(await dataDir.databaseUrl(), (await dataDir.sandbox()).operator.id, {
      balances: [
        { currency: 'EUR', amount: OPENING },
        { currency: 'EUR', amount: OPENING },
      ],
    })
    const client = new Client({ url: () => node.url, apiKey: customer.apiKey, tenantId: customer.id })
    const balanceIds = customer.balanceIds as [string, string]
    const ready = async () => (await client.send('/ready')).status

    const load = hammer({ client, balanceIds, recipientId: customer.recipients.EUR, workers: 8 })
    const answers = async () => {
      const before = load.sent.length
      await load.answered(before + ANSWERS)
    }
    for (let round = 0; round < 2; round++) {
      await answers()
      t.equal(await ready(), 200)
      const postmaster = (await dataDir.postmaster())!
      process.kill(postmaster, 'SIGQUIT')
      await until('/ready says that the database is gone', async () => (await ready()) === 503, { pollMs: 1 })
      t.equal((await client.send('/health')).status, 200, 'the process lives meanwhile')
      await until('/ready says that it is back', async () => (await ready()) === 200)
      await until(
        'the service has started another one',
        async () => ![null, postmaster].includes(await dataDir.postmaster()),
      )

      await answers()
      const cut = await dataDir.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'vostro%' and pid <> pg_backend_pid()`,
      )
      t.ok(cut.length >= 3, `${cut.length} sessions were cut: lanes, pool and the claim on DATA_DIR`)
      await until('it is ready', async () => (await ready()) === 200)
    }
    await answers()
    await load.stop()
    await verify(t, load, { client, balanceIds, opening: OPENING, query: dataDir.query, audit: dataDir.audit })
    t.equal(node.stderr, '')
    node.kill('SIGTERM')
    t.strictSame(await node.ended, { code: 0, signal: null })
  },
)

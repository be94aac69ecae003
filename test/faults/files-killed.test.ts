/** A node that is killed again and again while it sends files to a bank: each payment is in one file, once. */
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { FilesConfig } from '../../lib/providers/files/files-config.ts'
import type { Payment } from '../../lib/payments/payment-schema.ts'
import { ordersOf } from '../support/bank-answers.ts'
import { Client } from '../support/client.ts'
import { createDataDir, startNode } from '../support/node-process.ts'
import { until } from '../support/until.ts'
import { paymentBody } from '../support/world.ts'

/** Kills, each at another step of a file. */
const STEPS = ['closed', 'written', 'handing_over'] as const
const PAYMENTS = 6

const CONFIG: FilesConfig = {
  transport: 'directory',
  paths: { outgoing: 'out', incoming: 'in' },
  settlementAccounts: [{ currency: 'EUR', accountRef: 'NL02ABNA0123456789', bic: 'ABNANL2A' }],
  initiatingParty: { name: 'Norden Bank' },
  gatherSeconds: 0,
  ordersMax: 1,
}

t.test('kills at each step of a file', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'vostro-files-killed-'))
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await using dataDir = await createDataDir()
  await using stack = new AsyncDisposableStack()
  const start = async () => {
    const node = await startNode(dataDir.path, { PROVIDER_FILES_ROOT: root })
    stack.defer(() => node[Symbol.asyncDispose]())
    return node
  }
  let node = await start()
  const { customer } = await dataDir.sandbox()
  const [connection] = await dataDir.query<{ id: string }>(
    `update provider_connection set provider = 'files', settings = $1 returning id`,
    [JSON.stringify(CONFIG)],
  )
  for (const name of ['out', 'in']) await mkdir(join(root, connection!.id, name), { recursive: true })
  const client = new Client({ url: () => node.url, apiKey: customer.apiKey, tenantId: customer.id })
  const statuses = async (): Promise<readonly string[]> =>
    (await dataDir.query<{ status: string }>('select status from provider_file')).map(({ status }) => status)
  const made: string[] = []
  for (const step of STEPS) {
    // Some are on their way while the node is killed, and others come after it.
    const payments = await Promise.all(
      Array.from({ length: PAYMENTS }, () =>
        client.createPayment(paymentBody(customer.balances.EUR, customer.recipients.EUR, 100)),
      ),
    )
    made.push(...payments.map(({ body }) => body.id))
    // The step may have passed when it is looked for; what comes of the kill is right all the same.
    await until(
      'a file is under way',
      async () => {
        const found = await statuses()
        return found.includes(step) || found.filter((status) => status === 'sent').length === made.length
      },
      { deadlineMs: 120_000 },
    )
    node.kill('SIGKILL')
    await node.ended
    node = await start()
  }
  await until(
    'all files to be sent',
    async () => {
      const found = await statuses()
      return found.length >= made.length && found.every((status) => status === 'sent')
    },
    { deadlineMs: 120_000, pollMs: 100 },
  )
  const out = join(root, connection!.id, 'out')
  const names = (await readdir(out)).filter((name) => !name.startsWith('.'))
  const orders = (await Promise.all(names.map((name) => readFile(join(out, name), 'utf8')))).flatMap(ordersOf)
  t.same(orders.map(({ instructionId }) => instructionId).sort(), made.map((id) => id.replaceAll('-', '')).sort())
  t.equal(new Set(orders.map(({ messageId }) => messageId)).size, made.length, 'each file has its own id')
  for (const id of made) t.match((await client.get<Payment>(`/payments/${id}`)).body.status, /^(processing|exception)$/)
  const { ok, checks } = await dataDir.audit()
  t.ok(ok, JSON.stringify(checks))
})

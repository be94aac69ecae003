/**
 * A bank that is reached by files, from the first request on: a payment goes out as pain.001 over SFTP, the bank answers
 * with pain.002, camt.054 and camt.053, and the ledger, the statement and the bank's file agree to the cent.
 */
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Balance } from '../../../lib/balances/balance-schema.ts'
import type { SuspenseItem } from '../../../lib/incoming-payments/incoming-payment-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { ProviderConnectionView } from '../../../lib/providers/connection-schema.ts'
import type { ProviderEventView } from '../../../lib/providers/provider-event-schema.ts'
import type { Reconciliation } from '../../../lib/reconciliation/reconciliation-schema.ts'
import { notification, ordersOf, statement, statusReport, type Entry } from '../../support/bank-answers.ts'
import type { PageBody } from '../../support/client.ts'
import type { Person } from '../../support/person.ts'
import { startSftpServer } from '../../support/sftp-server.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody } from '../../support/world.ts'
import { endDay } from '../reconciliation/support.ts'

const PATH = '/provider-connections'
const ACCOUNT = { iban: 'NL02ABNA0123456789', currency: 'EUR' } as const
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

async function proven<Body = ProviderConnectionView>(staff: Person, path: string, body?: object, method = 'POST') {
  await staff.stepUp('provider_connection.change')
  return await staff.send<Body>(method, path, body)
}

t.test('a day at a bank of files', async (t) => {
  await using server = await startSftpServer()
  await using world = await createWorld({ settings: { PROVIDER_NETWORKS: '127.0.0.1' } })
  // The morning of a day, so that the day does not end before the test.
  world.advanceTo(Math.ceil(world.now() / DAY_MS) * DAY_MS + 8 * HOUR_MS)
  const day = new Date(world.now()).toISOString().slice(0, 10)
  const { client, recipients } = world.seeded
  const admin = await world.person('operator_admin').signIn()
  const operations = await world.person('operations').signIn()
  const owner = await world.person('owner').signIn()

  const config = {
    transport: 'sftp',
    host: '127.0.0.1',
    port: server.port,
    username: server.username,
    hostKeys: [server.hostKey],
    paths: { outgoing: 'out', incoming: 'in', archive: 'archive' },
    settlementAccounts: [{ currency: 'EUR', accountRef: ACCOUNT.iban, bic: 'ABNANL2A' }],
    initiatingParty: { name: 'Norden Bank' },
    gatherSeconds: 0,
  }
  const make = (body: object) => proven(admin, PATH, { provider: 'files', name: 'A bank of files', ...body })
  const faulty = async (change: object) => (await make({ config: { ...config, ...change } })).problem
  t.match(await faulty({ hostKeys: undefined }), { errors: [{ field: '/config', message: /needs hostKeys/ }] })
  t.match(await faulty({ transport: 'directory' }), { errors: [{ message: /A directory has no host, port/ }] })
  t.match(await faulty({ paths: { outgoing: '../out', incoming: 'in' } }), {
    errors: [{ field: '/config/paths/outgoing' }],
  })
  const made = await make({ config, credentials: { privateKey: server.privateKey } })
  t.match(made, { status: 201, body: { credentialsSet: true, capabilities: { bulk: true, statementsCamt053: true } } })
  const { id } = made.body
  t.notMatch(made.text, /PRIVATE KEY/)
  t.match((await admin.post(`${PATH}/${id}/verify`)).body, { status: 'verified', lastHealth: { ok: true } })
  t.match((await proven(admin, `${PATH}/${id}/activate`)).body, { status: 'active', role: 'primary' })

  // ── What the bank and the poller do
  const leave = async (name: string, text: string): Promise<void> => {
    await writeFile(join(server.directory, 'in', `.${name}`), text)
    await rename(join(server.directory, 'in', `.${name}`), join(server.directory, 'in', name))
  }
  /** Lets the poller look for files once more, and waits for what comes of it. */
  const polled = async <Value>(what: string, condition: () => Promise<Value>) => {
    world.advance(MINUTE_MS)
    const from = new Date(world.now())
    await until('a poll', async () => {
      const polls = await world.query('select from provider_poll where connection_id = $1 and polled_at >= $2', [
        id,
        from,
      ])
      return polls.length === 1
    })
    return await until(what, condition)
  }
  const events = async () =>
    (await operations.get<PageBody<ProviderEventView>>(`/provider-events?filter[connectionId]=${id}&limit=100`)).body
      .data

  // ── Money comes in
  const incoming: Entry = {
    amount: '500.00',
    direction: 'CRDT',
    bankRef: 'IN-1',
    day,
    transactions: [{ debtorName: 'Max Mustermann', debtorIban: 'DE02120300000000202051', remittance: 'Capital' }],
  }
  const balance = (await owner.post<Balance>('/balances', { currency: 'EUR', name: 'By files' })).body
  await leave('in-1.xml', notification('N1', ACCOUNT, [incoming]))
  const item = await polled('the credit', async () =>
    (await operations.get<PageBody<SuspenseItem>>('/incoming-suspense')).body.data.find(
      ({ amount }) => amount.amountMinor === '50000',
    ),
  )
  const allocated = await operations.post(`/incoming-suspense/${item.id}/allocate`, {
    balanceId: balance.id,
    reason: 'The first money.',
  })
  t.equal(allocated.status, 200, allocated.text)

  // ── Payments go out
  const pay = async (amount: number) =>
    (await client.createPayment(paymentBody(balance.id, recipients.EUR, amount))).body.id
  const [paid, refused] = [await pay(123_45), await pay(10_00)]
  const sent = await until('both payments at the bank', async () => {
    const names = (await readdir(join(server.directory, 'out'))).filter((name) => name.endsWith('.xml'))
    const texts = await Promise.all(names.map((name) => readFile(join(server.directory, 'out', name), 'utf8')))
    const orders = texts.flatMap(ordersOf)
    return orders.length === 2 && orders
  })
  const orderOf = (payment: string) => sent.find(({ instructionId }) => instructionId === payment.replaceAll('-', ''))!
  t.match(orderOf(paid), { amount: '123.45', currency: 'EUR' })
  for (const name of await readdir(join(server.directory, 'out'))) await rm(join(server.directory, 'out', name))

  // ── The bank answers
  const read = async (payment: string) => (await client.get<Payment>(`/payments/${payment}`)).body
  const { messageId } = orderOf(refused)
  await leave(
    's-1.xml',
    statusReport('S1', { messageId, orders: [{ order: orderOf(refused), status: 'RJCT', reason: 'AC04' }] }),
  )
  await leave('s-2.xml', statusReport('S2', { messageId: orderOf(paid).messageId, group: 'ACSP' }))
  await polled('the rejection', async () => (await read(refused)).status === 'failed')
  t.match(await read(refused), { failure: { code: 'account_closed' } })
  t.equal((await read(paid)).status, 'processing')
  const { instructionId, endToEndId } = orderOf(paid)
  const outgoing: Entry = {
    amount: '123.45',
    direction: 'DBIT',
    bankRef: 'OUT-1',
    day,
    transactions: [{ instructionId, endToEndId, bankRef: 'BANK-4711' }],
  }
  await leave('n-2.xml', notification('N2', ACCOUNT, [outgoing]))
  await polled('the settlement', async () => (await read(paid)).status === 'completed')
  t.match((await client.get<Balance>(`/balances/${balance.id}`)).body, { availableBalance: { amountMinor: '37655' } })

  // ── The day ends
  await leave(
    'c-1.xml',
    statement('C1', ACCOUNT, { day, opening: '0.00', closing: '376.55', entries: [incoming, outgoing] }),
  )
  await polled('the statement', async () => (await readdir(join(server.directory, 'archive'))).length === 5)
  t.equal(endDay(world), day)
  const reconciled = await until('the reconciliation', async () =>
    (
      await world.operator.get<PageBody<Reconciliation>>(
        `/reconciliations?filter[currency]=EUR&filter[dayFrom]=${day}&filter[dayTo]=${day}`,
      )
    ).body.data.find((found) => found.connectionId === id && found.finishedAt !== null),
  )
  const eur = (amountMinor: string) => ({ amountMinor, currency: 'EUR' })
  t.match(reconciled, {
    status: 'matched',
    error: null,
    matched: 2,
    breaks: 0,
    timing: 0,
    difference: eur('0'),
    unexplained: eur('0'),
    statement: { entries: 2, openingBalance: eur('0'), closingBalance: eur('37655') },
    nostro: { openingBalance: eur('0'), closingBalance: eur('37655') },
  })

  // ── A contradiction is shown: the bank had rejected the payment, and books it all the same.
  const wrong: Entry = {
    ...outgoing,
    amount: '10.00',
    bankRef: 'OUT-2',
    transactions: [{ instructionId: orderOf(refused).instructionId }],
  }
  await leave('n-3.xml', notification('N3', ACCOUNT, [wrong]))
  // The night has ended the session.
  await operations.signIn()
  const fault = await polled('the contradiction', async () =>
    (await events()).find(({ status }) => status === 'failed'),
  )
  t.equal(fault.source, 'file')
  t.equal((await read(refused)).status, 'failed')
  const kept = await world.query<{ contradiction: string }>(
    'select contradiction from provider_file_order where contradiction is not null',
  )
  t.match(kept, [{ contradiction: /rejected/ }])
  const secrets = [server.privateKey.split('\n')[2]!]
  for (const secret of secrets) t.notOk(world.logged.some((line) => line.includes(secret)))
})

/** The adapter of files: orders go out once, and what the bank's files tell comes in once. */
import { randomUUID } from 'node:crypto'
import { mkdir, rename, symlink, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { InboxMessage } from '../../../actors/providers/adapters/adapter.ts'
import {
  PlaceUnreachable,
  type FileSession,
  type PartnerFiles,
} from '../../../actors/providers/adapters/partner-files.ts'
import type { StatementEntry } from '../../../lib/reconciliation/statement.ts'
import { notification, statement, statusReport, type ReceivedOrder } from '../../support/bank-answers.ts'
import {
  ACCOUNT,
  createFilesDatabase,
  DAY,
  openFilesConnection,
  type FilesConnection,
} from '../../support/files-connection.ts'
import { createStatementReader } from '../../../workers/reconciliation/statement-reader.ts'
import { runKit, type AdapterHarness, type ProviderOutcome } from './adapter-kit.ts'

/** One database for all: each connection sees its own rows. */
const shared = await createFilesDatabase()
t.teardown(() => shared[Symbol.asyncDispose]())
const statementReader = createStatementReader()
t.teardown(() => statementReader.close())

t.test('the kit passes', (t) => runKit(t, kitHarness))

t.test('a file gathers orders, and is sent once when its time has come', async (t) => {
  await using files = await openFilesConnection(shared, { config: { ordersMax: 3 } })
  const { connection, clock, order } = files
  const references = Array.from({ length: 5 }, () => randomUUID())
  for (const reference of references) await connection.submit!([order(reference)], clock.now())
  await files.carryOut()
  const full = [...(await files.sent()).values()]
  t.same(
    full.map((orders) => orders.length),
    [3],
    'a full file waits for no more',
  )
  clock.advance(59_000)
  await files.carryOut()
  t.equal((await files.sent()).size, 1)
  clock.advance(1_000)
  await files.carryOut()
  await files.carryOut()
  const sent = await files.sent()
  t.same([...sent.values()].map((orders) => orders.length).sort(), [2, 3])
  const all = [...sent.values()].flat()
  t.same(all.map(({ instructionId }) => instructionId).sort(), references.map(bare).sort())
  t.same(new Set(all.map(({ amount }) => amount)), new Set(['12.34']))
  t.equal(new Set(all.map(({ messageId }) => messageId)).size, 2, 'each file has a message id of its own')
  for (const name of sent.keys()) t.match(name, /^pain\.001-sepa-EUR-2026-11-23-[0-9A-Z]{26}\.xml$/)
  const status = await connection.status!(
    references.map((reference) => question(files, reference)),
    clock.now(),
  )
  t.same(
    [...status.values()].map(({ kind }) => kind),
    Array.from({ length: 5 }, () => 'pending'),
  )
  t.match(
    await connection.status!([question(files, randomUUID())], clock.now()),
    new Map([[String, { kind: 'unknown' }]]),
  )
})

t.test('an order that no file can carry is refused before it is taken', async (t) => {
  await using files = await openFilesConnection(shared)
  const { connection, clock, order } = files
  const [dollars, nowhere] = [randomUUID(), randomUUID()]
  const without = order(nowhere)
  const submissions = await connection.submit!(
    [
      { ...order(dollars), currency: 'USD' },
      { ...without, parties: { ...without.parties!, creditor: { ...without.parties!.creditor, account: {} } } },
    ],
    clock.now(),
  )
  t.same(submissions.get(dollars), { kind: 'refused', schemeCode: 'AM03', beforeAcceptance: true })
  t.same(submissions.get(nowhere), { kind: 'refused', schemeCode: 'AC03', beforeAcceptance: true })
  t.same(await files.rows('*', 'provider_file_order'), [])
})

t.test('a crash at any point neither loses nor doubles a file', async (t) => {
  const points: readonly (keyof FileSession)[] = ['write', 'rename']
  for (const point of points)
    for (const isDone of [false, true])
      await t.test(`${isDone ? 'after' : 'before'} ${point}`, async (t) => {
        await using files = await openFilesConnection(shared)
        const { connection, clock, order } = files
        const reference = randomUUID()
        await connection.submit!([order(reference)], clock.now())
        clock.advance(60_000)
        const crashing = files.open((ways) => breaking(ways, point, isDone))
        await t.rejects(files.carryOut(crashing), PlaceUnreachable)
        clock.advance(60_000)
        await files.carryOut()
        t.same(
          [...(await files.sent()).values()].map((orders) => orders.length),
          [1],
        )
        t.same(await files.rows('status, error', 'provider_file'), [{ status: 'sent', error: null }])
        t.same(await files.rows('status', 'provider_file_order'), [{ status: 'sent' }])
      })
  await t.test('after rename, when the bank has fetched the file since', async (t) => {
    await using files = await openFilesConnection(shared)
    const { connection, clock, order } = files
    await connection.submit!([order(randomUUID())], clock.now())
    clock.advance(60_000)
    await t.rejects(files.carryOut(files.open((ways) => breaking(ways, 'rename', true))), PlaceUnreachable)
    t.equal((await files.sent()).size, 1)
    await files.fetch()
    clock.advance(60_000)
    await files.carryOut()
    t.equal((await files.sent()).size, 0, 'it is not sent again')
    t.same(await files.rows('status', 'provider_file'), [{ status: 'sent' }])
  })
  await t.test('a place that is not the same, or not there, proves nothing', async (t) => {
    await using files = await openFilesConnection(shared)
    const { connection, clock, order, directory } = files
    await connection.submit!([order(randomUUID())], clock.now())
    clock.advance(60_000)
    await t.rejects(files.carryOut(files.open((ways) => breaking(ways, 'rename', false))), PlaceUnreachable)
    clock.advance(60_000)
    await rename(join(directory, 'out'), join(directory, 'unmounted'))
    await t.rejects(files.carryOut(), /cannot be used \(ENOENT\)/)
    await rename(join(directory, 'unmounted'), join(directory, 'out'))
    clock.advance(60_000)
    const moved = (ways: PartnerFiles): PartnerFiles => ({
      ...ways,
      place: (endpoint) => ways.place({ ...endpoint, paths: { ...endpoint.paths, outgoing: 'archive' } }),
    })
    await t.rejects(files.carryOut(files.open(moved)), /may be at .*out, and the connection is at .*archive now/)
    t.match(await files.rows('status, error', 'provider_file'), [{ status: 'handing_over', error: /may be at/ }])
    clock.advance(60_000)
    await files.carryOut()
    t.same(
      [...(await files.sent()).values()].map((orders) => orders.length),
      [1],
    )
  })
  await t.test('an attempt that stalled and wakes up after another one', async (t) => {
    await using files = await openFilesConnection(shared)
    const { connection, clock, order } = files
    await connection.submit!([order(randomUUID())], clock.now())
    clock.advance(60_000)
    const stalled = files.open((ways) => ({
      ...ways,
      place: (endpoint) => {
        const place = ways.place(endpoint)
        return {
          ...place,
          use: (work) =>
            place.use((session) =>
              work({
                ...session,
                async write(...args) {
                  await session.write(...args)
                  // Another node takes the file meanwhile.
                  await files.carryOut()
                },
              }),
            ),
        }
      },
    }))
    await t.rejects(files.carryOut(stalled), /Another attempt/)
    t.same(
      [...(await files.sent()).values()].map((orders) => orders.length),
      [1],
    )
    t.same(await files.left(), [], 'its temporary file is gone')
  })
})

t.test('a partly rejected file: each order has its own end', async (t) => {
  await using files = await openFilesConnection(shared)
  const orders = await sentOrders(files, 3)
  const [paid, rejected] = orders as [ReceivedOrder, ReceivedOrder, ReceivedOrder]
  const { messageId } = paid
  await files.leave(
    'status.xml',
    statusReport('S1', { messageId, group: 'PART', orders: [{ order: rejected, status: 'RJCT', reason: 'AC04' }] }),
  )
  const [first] = bankMessages(files, await files.events())
  t.match(first, { type: 'rejected', schemeCode: 'AC04', reference: uuid(rejected) })
  t.same(await statuses(files), {
    [uuid(orders[0]!)]: 'sent',
    [uuid(rejected)]: 'rejected',
    [uuid(orders[2]!)]: 'sent',
  })

  // The bank books the block as one, without the order that it rejected.
  await files.leave(
    'debit.xml',
    notification('N1', ACCOUNT, [
      { amount: '24.68', direction: 'DBIT', bankRef: 'B1', day: DAY, batch: { blockId: paid.blockId, count: 2 } },
    ]),
  )
  const told = bankMessages(files, await files.events()).slice(1)
  t.same(
    told.map(({ type, reference }) => [type, reference]).sort(),
    [
      ['settled', uuid(orders[0]!)],
      ['settled', uuid(orders[2]!)],
    ].sort(),
  )
})

t.test('a whole file that is rejected; a report on a file that is none of ours', async (t) => {
  await using files = await openFilesConnection(shared)
  const orders = await sentOrders(files, 2)
  await files.leave('foreign.xml', statusReport('S0', { messageId: 'NOBODYS', group: 'ACCP' }))
  t.match(messages(files, await files.events()), [{ port: 'none', isFault: true, reason: /none of ours/ }])
  await files.leave('accepted.xml', statusReport('S1', { messageId: orders[0]!.messageId, group: 'ACTC' }))
  await files.events()
  t.same(Object.values(await statuses(files)), ['accepted', 'accepted'])
  await files.leave('rejected.xml', statusReport('S2', { messageId: orders[0]!.messageId, group: 'RJCT' }))
  t.same(
    bankMessages(files, await files.events()).map(({ type }) => type),
    ['rejected', 'rejected'],
  )
})

t.test('the statement wins over the status, and the contradiction is shown', async (t) => {
  await using files = await openFilesConnection(shared)
  const orders = await sentOrders(files, 3)
  const [rejected, settled, wrong] = orders as [ReceivedOrder, ReceivedOrder, ReceivedOrder]
  const { messageId } = rejected
  await files.leave(
    'a.xml',
    statusReport('S1', { messageId, orders: [{ order: rejected, status: 'RJCT', reason: 'AC01' }] }),
  )
  await files.events()
  const debit = (order: ReceivedOrder, amount: string, bankRef: string) => ({
    amount,
    direction: 'DBIT' as const,
    bankRef,
    day: DAY,
    transactions: [{ instructionId: order.instructionId, endToEndId: order.endToEndId }],
  })
  const entries = [debit(rejected, '12.34', 'B1'), debit(settled, '12.34', 'B2'), debit(wrong, '12.30', 'B3')]
  await files.leave('b.xml', statement('C1', ACCOUNT, { day: DAY, opening: '100.00', closing: '63.02', entries }))
  await files.events()
  await files.leave(
    'c.xml',
    statusReport('S2', { messageId, orders: [{ order: settled, status: 'RJCT', reason: 'AC01' }] }),
  )
  const told = messages(files, await files.events())
  const faults = told.filter((message) => message.port === 'none' && message.isFault)
  t.match(
    faults.map((fault) => (fault.port === 'none' ? fault.reason : '')),
    [
      /as settled that the bank had rejected/,
      /debited with 1230, the order was for 1234/,
      /reported rejected for an order that was settled/,
    ],
  )
  t.match(
    bankMessages(files, await files.events()).map(({ type, reference }) => [type, reference]),
    [
      ['rejected', uuid(rejected)],
      ['settled', uuid(rejected)],
      ['settled', uuid(settled)],
    ],
    'the wrong amount settles nothing, and the late rejection changes nothing',
  )
  const kept = await files.rows<{ reference: string }>(
    'reference',
    'provider_file_order',
    'and contradiction is not null',
  )
  t.equal(kept.length, 3)
})

t.test('each file counts once, whatever its name, and the two ways of telling are one message', async (t) => {
  await using files = await openFilesConnection(shared, { config: { paths: { outgoing: 'out', incoming: 'in' } } })
  const [order] = (await sentOrders(files, 1)) as [ReceivedOrder]
  const transactions = [{ instructionId: order.instructionId }]
  const credit = {
    amount: '55.00',
    direction: 'CRDT' as const,
    bankRef: 'C-77',
    day: DAY,
    transactions: [{ endToEndId: 'RENT', debtorName: 'Max', debtorIban: 'DE02120300000000202051', remittance: 'Rent' }],
  }
  const debit = { amount: '12.34', direction: 'DBIT' as const, bankRef: 'B1', day: DAY, transactions }
  const text = notification('N1', ACCOUNT, [debit, credit])
  await files.leave('one.xml', text)
  t.equal((await files.events()).length, 2)
  await files.leave('copy.xml', text)
  t.equal((await files.events()).length, 2, 'the same bytes under another name')
  t.equal((await files.events()).length, 2, 'files that stay are not read again')
  await files.leave(
    'day.xml',
    statement('C1', ACCOUNT, { day: DAY, opening: '0.00', closing: '42.66', entries: [debit, credit] }),
  )
  const all = messages(files, await files.events())
  const ids = all.flatMap((message) => (message.port === 'none' ? [] : [message.message.id]))
  t.equal(ids.length, 4)
  t.equal(new Set(ids).size, 2, 'the notification and the statement tell the same two things')
  t.match(
    all.find(({ port }) => port === 'credit'),
    {
      message: {
        type: 'account.credited',
        account: null,
        credit: {
          amount: 55_00n,
          payerName: 'Max',
          payerIdentifier: 'DE02****2051',
          remittance: 'Rent',
          endToEndId: 'RENT',
        },
      },
    },
  )
})

t.test('the statement of a day agrees with the bank, order by order', async (t) => {
  await using files = await openFilesConnection(shared)
  const orders = await sentOrders(files, 2)
  const batch = { blockId: orders[0]!.blockId, count: 2 }
  const fee = { amount: '0.50', direction: 'DBIT' as const, bankRef: 'FEE', day: DAY }
  const debit = { amount: '24.68', direction: 'DBIT' as const, bankRef: 'B1', day: DAY, batch }
  t.equal(
    await files.connection.statement!({ connectionId: files.id, currency: 'EUR', day: DAY }, files.clock.now()),
    null,
  )
  await files.leave(
    'a.xml',
    statement('C1', ACCOUNT, { day: DAY, opening: '100.00', closing: '74.82', entries: [debit, fee] }),
  )
  await files.leave(
    'b.xml',
    statement('C2', ACCOUNT, { day: '2026-11-26', opening: '74.82', closing: '74.82', entries: [] }),
  )
  await files.events()
  const read = await readDay(files, DAY)
  t.match(read.head, { opening: 100_00n, closing: 74_82n, currency: 'EUR' })
  t.same(
    read.entries.map(({ reference, amount, direction }) => [reference, amount, direction]).sort(),
    [...orders.map((order) => [uuid(order), 12_34n, 'DBIT']), [null, 50n, 'DBIT']].sort(),
  )
  const quiet = await readDay(files, '2026-11-24')
  t.match(quiet.head, { opening: 74_82n, closing: 74_82n })
  t.same(quiet.entries, [], 'a day without a statement is proved by the next one')
  t.equal(
    await files.connection.statement!(
      { connectionId: files.id, currency: 'EUR', day: '2026-11-27' },
      files.clock.now(),
    ),
    null,
  )
})

t.test('a batch that does not come to its orders settles none of them', async (t) => {
  await using files = await openFilesConnection(shared)
  const orders = await sentOrders(files, 2)
  const batch = { blockId: orders[0]!.blockId, count: 2 }
  await files.leave(
    'a.xml',
    notification('N1', ACCOUNT, [{ amount: '24.00', direction: 'DBIT', bankRef: 'B1', day: DAY, batch }]),
  )
  const told = messages(files, await files.events())
  t.match(told, [
    { port: 'none', isFault: true, reason: /is not the sum of its orders/ },
    { port: 'none', isFault: true, reason: /of no order of ours/ },
  ])
  t.same(Object.values(await statuses(files)), ['sent', 'sent'])
})

t.test('a return of an order; pending and foreign entries', async (t) => {
  await using files = await openFilesConnection(shared)
  const [order] = (await sentOrders(files, 1)) as [ReceivedOrder]
  const base = { direction: 'DBIT' as const, day: DAY }
  await files.leave(
    'a.xml',
    notification('N1', ACCOUNT, [
      {
        ...base,
        amount: '12.34',
        bankRef: 'P1',
        status: 'PDNG',
        transactions: [{ instructionId: order.instructionId }],
      },
    ]),
  )
  t.same(await files.events(), [], 'what is pending moves no money')
  await files.leave(
    'b.xml',
    notification('N2', { iban: 'DE89370400440532013000', currency: 'EUR' }, [
      { ...base, amount: '1.00', bankRef: 'X' },
    ]),
  )
  t.match(messages(files, await files.events()), [{ port: 'none', isFault: true, reason: /not one of the connection/ }])
  const refs = { instructionId: order.instructionId, endToEndId: order.endToEndId }
  await files.leave(
    'c.xml',
    notification('N3', ACCOUNT, [
      { ...base, amount: '12.34', bankRef: 'B1', transactions: [refs] },
      {
        amount: '10.00',
        direction: 'CRDT',
        bankRef: 'B2',
        day: DAY,
        transactions: [{ ...refs, returnReason: 'AC04' }],
      },
    ]),
  )
  t.match(bankMessages(files, await files.events()), [
    { type: 'settled', reference: uuid(order) },
    { type: 'returned', reference: uuid(order), amount: 10_00n, schemeCode: 'AC04' },
  ])
  const [outcome] = (await files.connection.status!([question(files, uuid(order))], files.clock.now())).values()
  t.match(outcome, { kind: 'returned', amount: 10_00n, schemeCode: 'AC04' })
})

t.test('a file that cannot be read is told when it has not changed since', async (t) => {
  await using files = await openFilesConnection(shared)
  await files.leave('half.xml', '<?xml version="1.0"?><Document>')
  t.same(await files.events(), [], 'the bank may still be writing it')
  t.match(messages(files, await files.events()), [{ port: 'none', isFault: true, reason: /half\.xml cannot be read/ }])
  t.equal((await files.events()).length, 1, 'once')
  await files.leave('later.xml', 'n')
  await files.events()
  await files.leave('later.xml', statusReport('S', { messageId: 'NOBODYS', group: 'ACCP' }))
  t.match(messages(files, await files.events()).slice(1), [{ reason: /none of ours/ }], 'it was finished meanwhile')
  t.same(
    (await files.rows<{ status: string }>('status', 'provider_file', 'order by created_at, id')).map(
      ({ status }) => status,
    ),
    ['unreadable', 'superseded', 'read'],
  )
})

t.test('a directory keeps to itself', async (t) => {
  await using files = await openFilesConnection(shared)
  const directory = files.directory
  await writeFile(join(directory, '..', 'secret.xml'), 'secret')
  await symlink(join(directory, '..', 'secret.xml'), join(directory, 'in', 'link.xml'))
  t.same(await files.events(), [], 'links are not read')
  const elsewhere = join(directory, '..', 'elsewhere')
  await mkdir(elsewhere)
  await rename(join(directory, 'in'), join(directory, 'old'))
  await symlink(elsewhere, join(directory, 'in'))
  await t.rejects(files.events(), /leads out of the directory/)
  t.match(await files.connection.probe(files.clock.now()), { ok: false, message: /leads out/ })
  await unlink(join(directory, 'in'))
  t.match(await files.connection.probe(files.clock.now()), { ok: false, message: /cannot be used \(ENOENT\)/ })
  await rename(join(directory, 'old'), join(directory, 'in'))
  t.match(await files.connection.probe(files.clock.now()), { ok: true, message: null })
})

// ── What the tests share
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

const bare = (id: string): string => id.replaceAll('-', '')
const uuid = ({ instructionId: hex }: ReceivedOrder): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')

const question = ({ id, clock }: FilesConnection, reference: string) => ({
  reference,
  connectionId: id,
  providerRef: null,
  rail: 'sepa' as const,
  currency: 'EUR',
  amount: 12_34n,
  sentAt: clock.now(),
})

/** Sends orders in one file. */
async function sentOrders(files: FilesConnection, count: number): Promise<readonly ReceivedOrder[]> {
  const orders = Array.from({ length: count }, () => files.order(randomUUID()))
  await files.connection.submit!(orders, files.clock.now())
  files.clock.advance(60_000)
  await files.carryOut()
  return [...(await files.sent()).values()].flat()
}

const messages = ({ connection }: FilesConnection, events: Awaited<ReturnType<FilesConnection['events']>>) =>
  events.flatMap((event) => connection.translate(event)).filter((each) => each.port !== 'none' || each.isFault)

const bankMessages = (files: FilesConnection, events: Parameters<typeof messages>[1]) =>
  messages(files, events).flatMap((each: InboxMessage) => (each.port === 'bank' ? [each.message] : []))

const statuses = async (files: FilesConnection): Promise<Record<string, string>> =>
  Object.fromEntries(
    (
      await files.rows<{ reference: string; status: string }>(
        'reference, status',
        'provider_file_order',
        'order by place',
      )
    ).map(({ reference, status }) => [reference, status]),
  )

/** A way out whose session fails once at a step: before it is done, or after. */
function breaking(ways: PartnerFiles, point: keyof FileSession, isDone: boolean): PartnerFiles {
  return {
    ...ways,
    place(endpoint) {
      const place = ways.place(endpoint)
      const broken = (session: FileSession): FileSession => ({
        ...session,
        [point]: async (...args: never[]) => {
          if (isDone) await (session[point] as (...of: never[]) => Promise<unknown>)(...args)
          throw new PlaceUnreachable('The test crashes here.')
        },
      })
      return { ...place, use: (work) => place.use((session) => work(broken(session))) }
    },
  }
}

/** Reads a statement as reconciliation does. */
async function readDay(files: FilesConnection, day: string) {
  const entries: StatementEntry[] = []
  const pieces = await files.connection.statement!({ connectionId: files.id, currency: 'EUR', day }, files.clock.now())
  const { head, error } = await statementReader.read(pieces!, async (some) => {
    entries.push(...some)
  })
  t.equal(error, null)
  return { head, entries }
}

async function kitHarness(): Promise<AdapterHarness> {
  const files = await openFilesConnection(shared, { config: { gatherSeconds: 0 }, eventsMax: 3 })
  const { connection, clock } = files
  let reports = 0
  const find = async (reference: string): Promise<ReceivedOrder | undefined> =>
    [...(await files.sent()).values()].flat().find(({ instructionId }) => instructionId === bare(reference))
  let carried = new Map<string, number>()
  return {
    // The contract wants to see at once what the tasks of the service do later.
    connection: {
      ...connection,
      async submit(orders, now) {
        const submissions = await connection.submit!(orders, now)
        clock.advance(300_000)
        await files.carryOut()
        clock.advance(-300_000)
        carried = new Map()
        for (const { instructionId } of [...(await files.sent()).values()].flat())
          carried.set(instructionId, (carried.get(instructionId) ?? 0) + 1)
        return submissions
      },
    },
    now: clock.now(),
    order: (reference) => files.order(reference),
    troubles: new Set(),
    trouble: () => undefined,
    carried: (reference) => carried.get(bare(reference)) ?? 0,
    rows: 7,
    secrets: ['no-secret-is-needed-for-a-directory'],
    recorded: async () => [],
    async end(reference, { kind, code }: ProviderOutcome) {
      const order = await find(reference)
      if (order === undefined) throw new Error('The bank has no such order.')
      reports += 1
      const before = (await files.events()).length
      const direction = kind === 'returned' ? ('CRDT' as const) : ('DBIT' as const)
      const { instructionId, endToEndId, messageId } = order
      const returned = kind === 'returned' && code !== null ? { returnReason: code } : {}
      const transactions = [{ instructionId, endToEndId, ...returned }]
      const entries = [{ amount: '12.34', direction, bankRef: `B${reports}`, day: DAY, transactions }]
      if (kind === 'rejected') {
        const status = { order, status: 'RJCT', ...(code === null ? {} : { reason: code }) }
        await files.leave(`s${reports}.xml`, statusReport(`S${reports}`, { messageId, orders: [status] }))
      } else {
        await files.leave(`n${reports}.xml`, notification(`N${reports}`, ACCOUNT, entries))
        const [opening, closing] = direction === 'DBIT' ? ['100.00', '87.66'] : ['87.66', '100.00']
        await files.leave(`c${reports}.xml`, statement(`C${reports}`, ACCOUNT, { day: DAY, opening, closing, entries }))
      }
      const found = (await files.events()).slice(before)
      return found.filter((event) =>
        connection.translate(event).some((each) => each.port === 'bank' && each.message.reference === reference),
      )
    },
    close: async () => await files[Symbol.asyncDispose](),
  }
}

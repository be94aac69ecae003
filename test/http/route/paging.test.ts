import { randomUUID } from 'node:crypto'

import t from 'tap'
import type { Test } from 'tap'

import type { ListDeclaration } from '../../../lib/contract/list.ts'
import { balanceList, type Balance } from '../../../lib/balances/balance-schema.ts'
import { holdList, type Hold } from '../../../lib/balances/hold-schema.ts'
import { journalList, type JournalLine } from '../../../lib/balances/journal-line-schema.ts'
import { paymentList, type Payment } from '../../../lib/payments/payment-schema.ts'
import { recipientList, type Recipient } from '../../../lib/recipients/recipient-schema.ts'
import type { Client, PageBody } from '../../support/client.ts'
import { createWorld, paymentBody, transferBody } from '../../support/world.ts'

type Parameters = Readonly<Record<string, string | number | boolean>>

/** Every page from the first on; `between` runs after each. */
async function* pages<Row>(client: Client, path: string, parameters: Parameters = {}): AsyncGenerator<PageBody<Row>> {
  let cursor: string | null = null
  do {
    const { body }: { body: PageBody<Row> } = await client.list<Row>(
      path,
      cursor === null ? parameters : { ...parameters, cursor },
    )
    yield body
    cursor = body.page.nextCursor
  } while (cursor !== null)
}

async function everything<Row>(client: Client, path: string, parameters: Parameters = {}): Promise<Row[]> {
  const rows: Row[] = []
  for await (const { data } of pages<Row>(client, path, { limit: 100, ...parameters })) rows.push(...data)
  return rows
}

/** Asks for one filter at a time and compares with the same question asked of all rows here. */
function filterTest<Row extends { readonly id: string }>(
  t: Test,
  client: Client,
  path: string,
  declaration: ListDeclaration,
  defaults: Parameters = {},
) {
  const asked = new Set<string>()
  return {
    /** `some`: the filter must let some rows through and hold others back, or the test would prove nothing. */
    async expect(
      filters: Readonly<Record<string, string>>,
      matches: (row: Row) => boolean,
      expected: 'some' | 'all' | 'none' = 'some',
    ) {
      const all = await everything<Row>(client, path, defaults)
      const parameters = Object.fromEntries(Object.entries(filters).map(([name, value]) => [`filter[${name}]`, value]))
      const rows = await everything<Row>(client, path, { ...defaults, ...parameters })
      const wanted = all.filter(matches)
      const what = `${path} ${JSON.stringify(filters)}`
      t.strictSame(
        rows.map(({ id }) => id),
        wanted.map(({ id }) => id),
        what,
      )
      if (expected === 'some')
        t.ok(
          wanted.length > 0 && wanted.length < all.length,
          `${what}: ${wanted.length} of ${all.length}, so the filter matters`,
        )
      else t.equal(wanted.length, expected === 'all' ? all.length : 0, what)
      const counted = (await client.list(path, { ...defaults, ...parameters, withTotal: true, limit: 1 })).body
      t.equal(counted.page.total, wanted.length, `${what}: the total`)
      for (const name of Object.keys(filters)) asked.add(name)
    },
    allAsked(except: readonly string[] = []) {
      t.strictSame(
        Object.keys(declaration.filters).filter((name) => !asked.has(name) && !except.includes(name)),
        [],
        `${path}: every filter was asked for`,
      )
    },
  }
}

/** Rows compare as the sort promises: by the key, ties by id, and no row twice. */
function isSorted<Row extends { readonly id: string }>(
  t: Test,
  rows: readonly Row[],
  key: (row: Row) => bigint | string,
  descending: boolean,
  what: string,
) {
  t.equal(new Set(rows.map(({ id }) => id)).size, rows.length, `${what}: no row twice`)
  for (let index = 1; index < rows.length; index++) {
    const [before, after] = [rows[index - 1]!, rows[index]!]
    const [left, right] = descending ? [after, before] : [before, after]
    const ordered = key(left) < key(right) || (key(left) === key(right) && left.id < right.id)
    if (!ordered) t.fail(`${what}: rows ${index - 1} and ${index} are out of order`, { left, right })
  }
  t.ok(rows.length > 1, `${what}: ${rows.length} rows`)
}

const minor = ({ amount }: { readonly amount: { readonly amountMinor: string } }) => BigInt(amount.amountMinor)

t.test('pages of payments forward and back, while new ones arrive', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, balances, recipients } = world.seeded
  const pay = async (amount: number) =>
    (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, amount))).body
  const original: string[] = []
  for (let nth = 0; nth < 64; nth += 8) {
    original.push(
      ...(await Promise.all(Array.from({ length: 8 }, (_, index) => pay(1000 + (((nth + index) * 7) % 13))))).map(
        ({ id }) => id,
      ),
    )
  }
  const newestFirst = original.sort().reverse()
  const arrivals: string[] = []

  await t.test('newest first', async (t) => {
    const seen: PageBody<Payment>[] = []
    for await (const body of pages<Payment>(client, '/payments', { limit: 7 })) {
      t.equal(body.page.limit, 7)
      t.notOk('total' in body.page, 'a total only when it is asked for')
      t.equal(body.page.prevCursor === null, seen.length === 0, 'only the first page has none before it')
      seen.push(body)
      arrivals.push((await pay(2000 + seen.length)).id)
    }
    t.strictSame(
      seen.map(({ data }) => data.length),
      [7, 7, 7, 7, 7, 7, 7, 7, 7, 1],
    )
    t.strictSame(
      seen.flatMap(({ data }) => data.map(({ id }) => id)),
      newestFirst,
      'each of the first ones once, in order, and none that came later',
    )
    // And back again, from the last page to before the first.
    let back: PageBody<Payment> = seen.at(-1)!
    const backwards: string[] = []
    while (back.page.prevCursor !== null) {
      back = (await client.list<Payment>('/payments', { limit: 7, cursor: back.page.prevCursor })).body
      t.ok(back.page.nextCursor !== null || back.data.length === 0)
      backwards.unshift(...back.data.map(({ id }) => id))
    }
    t.strictSame(
      backwards,
      [...arrivals.toReversed(), ...newestFirst.slice(0, 63)],
      'going back shows the same rows, then those that came meanwhile',
    )
    const forth = await client.list<Payment>('/payments', { limit: 100, cursor: seen[3]!.page.nextCursor! })
    t.strictSame(
      forth.body.data.map(({ id }) => id),
      newestFirst.slice(28),
      'a cursor stays good, with any limit',
    )
  })

  await t.test('oldest first meets the new ones at the end', async (t) => {
    const ids: string[] = []
    let late: string | undefined
    for await (const { data } of pages<Payment>(client, '/payments', { limit: 20, sort: 'createdAt' })) {
      ids.push(...data.map(({ id }) => id))
      late ??= (await pay(3000)).id
    }
    t.strictSame(ids, [...newestFirst.toReversed(), ...arrivals, late])
  })

  await t.test('other sorts, with ties, a row at a time', async (t) => {
    const byAmount: Payment[] = []
    for await (const { data } of pages<Payment>(client, '/payments', { limit: 9, sort: '-amount' }))
      byAmount.push(...data)
    t.equal(byAmount.length, original.length + arrivals.length + 1)
    isSorted(t, byAmount, minor, true, 'by amount')
    await world.query('update payment set execution_date = execution_date - (amount % 5)::int')
    const byDate: Payment[] = []
    for await (const { data } of pages<Payment>(client, '/payments', { limit: 9, sort: '-executionDate' }))
      byDate.push(...data)
    t.equal(byDate.length, byAmount.length)
    isSorted(t, byDate, ({ executionDate }) => executionDate!, true, 'by execution date')
    let page: PageBody<Payment> | undefined
    for await (const body of pages<Payment>(client, '/payments', { limit: 9, sort: '-executionDate' })) page = body
    const backwards: Payment[] = [...page!.data]
    while (page!.page.prevCursor !== null) {
      page = (
        await client.list<Payment>('/payments', { limit: 9, sort: '-executionDate', cursor: page!.page.prevCursor })
      ).body
      backwards.unshift(...page.data)
    }
    t.strictSame(
      backwards.map(({ id }) => id),
      byDate.map(({ id }) => id),
      'and back',
    )
  })

  await t.test('limits and totals', async (t) => {
    const count = original.length + arrivals.length + 1
    t.equal((await client.list('/payments')).body.data.length, 25)
    t.equal((await client.list('/payments', { limit: 100 })).body.data.length, count)
    t.equal((await client.list('/payments', { limit: 1 })).body.data.length, 1)
    for (const limit of ['0', '101', '-1', 'ten', '1.5', '']) {
      const { problem } = await client.list('/payments', { limit })
      t.match(problem, { status: 400, code: 'malformed-request', errors: [{ field: 'query.limit' }] }, `limit=${limit}`)
    }
    const counted = await client.list('/payments', { limit: 1, withTotal: true })
    t.equal(counted.body.page.total, count)
    t.notOk(
      'total' in
        (await client.list('/payments', { limit: 1, withTotal: true, cursor: counted.body.page.nextCursor! })).body
          .page,
      'not behind a cursor',
    )
    t.notOk('total' in (await client.list('/payments', { limit: 1, withTotal: false })).body.page)
  })

  await t.test('a cursor fits only its own question', async (t) => {
    const stranger = await world.customer({ balances: [{ currency: 'EUR', amount: 1n }] })
    const cursor = (await client.list('/payments', { limit: 2 })).body.page.nextCursor!
    const filtered = (await client.list('/payments', { limit: 2, 'filter[currency]': 'EUR' })).body.page.nextCursor!
    const journalled = (await client.list(`/balances/${balances.EUR}/holds`, { limit: 2 })).body.page.nextCursor!
    const flipped = cursor.slice(0, -1) + (cursor.endsWith('A') ? 'B' : 'A')
    for (const [what, caller, path, parameters] of [
      ['another sort', client, '/payments', { cursor, sort: 'createdAt' }],
      ['another filter', client, '/payments', { cursor, 'filter[currency]': 'EUR' }],
      ['another value', client, '/payments', { cursor: filtered, 'filter[currency]': 'GBP' }],
      ['no filter', client, '/payments', { cursor: filtered }],
      ['another metadata filter', client, '/payments', { cursor, 'filter[metadata.a]': '1' }],
      ['another list', client, '/balances', { cursor }],
      ['the list of another balance', client, `/balances/${balances.GBP}/holds`, { cursor: journalled }],
      ['another tenant', stranger.client, '/payments', { cursor }],
      ['a flipped character', client, '/payments', { cursor: flipped }],
      ['a shorter one', client, '/payments', { cursor: cursor.slice(0, -4) }],
      ['nonsense', client, '/payments', { cursor: 'nonsense' }],
      ['not base64url', client, '/payments', { cursor: '§' }],
      ['nothing', client, '/payments', { cursor: '' }],
    ] as const) {
      const { problem } = await caller.list(path, parameters)
      t.match(problem, { status: 400, code: 'invalid-cursor' }, `${what}: ${JSON.stringify(problem)}`)
    }
    t.equal(
      (await client.list('/payments', { cursor, sort: '-createdAt' })).status,
      200,
      'the default by its name is the same question',
    )
    await world.restart()
    t.equal((await client.list('/payments', { cursor })).status, 200, 'a restart does not spoil it')
  })

  await t.test('what did not change is not sent again', async (t) => {
    // A queued payment shows an estimate that moves with time, so the bank takes them all first.
    await world.restart({ dispatch: true })
    await client.paymentsSettled()
    for (const path of [
      '/payments?limit=5',
      `/payments/${newestFirst[0]}`,
      '/balances',
      `/balances/${balances.EUR}`,
      `/balances/${balances.EUR}/journal`,
      `/balances/${balances.EUR}/holds`,
      '/recipients',
      `/recipients/${recipients.EUR}`,
    ]) {
      const first = await client.get(path)
      const etag = first.headers.get('etag')!
      t.match(
        etag,
        path.startsWith('/payments/') || path === `/balances/${balances.EUR}` || path.startsWith('/recipients/')
          ? /^W\/"\d+-[0-9a-f]{12}"$/
          : /^W\/"[0-9a-f]{24}"$/,
        path,
      )
      t.match(first.headers.get('cache-control'), 'private, no-cache', path)
      for (const known of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
        const again = await client.get(path, { 'if-none-match': known })
        t.equal(again.status, 304, `${path} ${known}`)
        t.equal(again.text, '')
        t.equal(again.headers.get('etag'), etag)
        t.notOk(again.headers.get('content-type'))
      }
      t.equal((await client.get(path, { 'if-none-match': '"other"' })).status, 200, path)
    }
    const before = await client.get(`/balances/${balances.EUR}`)
    await client.paymentReaching((await pay(4000)).id, 'completed')
    t.equal(
      (await client.get(`/balances/${balances.EUR}`, { 'if-none-match': before.headers.get('etag')! })).status,
      200,
      'what changed is',
    )
  })
})

t.test('every filter of every list', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const pay = async (body: Parameters | object, key?: string) => (await client.createPayment(body as never, key)).body
  const early = await Promise.all([
    ...Array.from({ length: 6 }, (_, nth) =>
      pay({
        ...paymentBody(balances.EUR, recipients.EUR, 2000 + nth * 100),
        externalId: `early-${nth}`,
        metadata: { run: '1', nth: String(nth) },
      }),
    ),
    pay(paymentBody(balances.GBP, recipients.GBP, 2500, 'GBP')),
    pay(paymentBody(balances.EUR, recipients.EUR, 1301)),
  ])
  await Promise.all(
    early.map(({ id, amount }) => client.paymentReaching(id, amount.amountMinor === '1301' ? 'failed' : 'completed')),
  )
  const middle = new Date(world.now()).toISOString()
  await world.restart({ dispatch: false })
  const late = await Promise.all([
    pay({ ...paymentBody(balances.EUR, recipients.EUR, 2600), requestedRail: 'sepa', metadata: { run: '2' } }),
    pay(paymentBody(balances.USD, recipients.USD, 2700, 'USD')),
    pay(paymentBody(balances.EUR, recipients.EUR, 9000)),
  ])
  await world.query('update payment set execution_date = execution_date - 3 where amount = 9000')
  const day = (offset: number) => new Date(world.now() + offset * 86_400_000).toISOString().slice(0, 10)
  const created = late[0]!.createdAt

  await t.test('payments', async (t) => {
    const list = filterTest<Payment>(t, client, '/payments', paymentList)
    await list.expect({ status: 'completed' }, ({ status }) => status === 'completed')
    await list.expect({ status: 'failed,processing' }, ({ status }) => status === 'failed' || status === 'processing')
    await list.expect({ rail: 'sepa,faster_payments' }, ({ rail }) => rail === 'sepa' || rail === 'faster_payments')
    await list.expect({ currency: 'EUR' }, ({ amount }) => amount.currency === 'EUR')
    await list.expect(
      { recipientId: `${recipients.GBP},${recipients.USD.toUpperCase()}` },
      ({ recipientId }) => recipientId !== recipients.EUR,
    )
    await list.expect({ sourceBalanceId: balances.EUR }, ({ sourceBalanceId }) => sourceBalanceId === balances.EUR)
    await list.expect({ bulkPaymentId: randomUUID() }, () => false, 'none')
    await list.expect({ scheduledPaymentId: randomUUID() }, () => false, 'none')
    await list.expect({ createdVia: 'api_key' }, () => true, 'all')
    await list.expect({ createdVia: 'web,bulk' }, () => false, 'none')
    await list.expect(
      { externalId: 'early-1,early-4' },
      ({ externalId }) => externalId === 'early-1' || externalId === 'early-4',
    )
    await list.expect({ number: late[1]!.number }, ({ number }) => number === late[1]!.number)
    await list.expect(
      { currency: 'EUR', amountFrom: '2200' },
      (payment) => payment.amount.currency === 'EUR' && minor(payment) >= 2200n,
    )
    await list.expect(
      { currency: 'EUR', amountFrom: '2100', amountTo: '2400' },
      (payment) => payment.amount.currency === 'EUR' && minor(payment) >= 2100n && minor(payment) <= 2400n,
    )
    await list.expect({ executionTo: day(-2) }, ({ executionDate }) => executionDate! <= day(-2))
    await list.expect({ executionFrom: day(-1) }, ({ executionDate }) => executionDate! >= day(-1))
    await list.expect({ completedFrom: '2020-01-01' }, ({ completedAt }) => completedAt !== null)
    await list.expect({ completedTo: early[0]!.createdAt }, () => false, 'none')
    await list.expect({ createdFrom: middle }, ({ createdAt }) => createdAt >= middle)
    await list.expect({ createdTo: middle }, ({ createdAt }) => createdAt <= middle)
    await list.expect({ createdFrom: created, createdTo: created }, ({ createdAt }) => createdAt === created)
    await list.expect({ createdFrom: day(-1), createdTo: day(0) }, () => true, 'all')
    await list.expect({ 'metadata.run': '1' }, ({ metadata }) => metadata['run'] === '1')
    await list.expect(
      { 'metadata.run': '1', 'metadata.nth': '3' },
      ({ metadata }) => metadata['run'] === '1' && metadata['nth'] === '3',
    )
    await list.expect({ 'metadata.run': '3' }, () => false, 'none')
    await list.expect(
      { status: 'completed', currency: 'GBP' },
      ({ status, amount }) => status === 'completed' && amount.currency === 'GBP',
    )
    list.allAsked()
    t.match((await client.list('/payments', { 'filter[amountFrom]': '1' })).problem, {
      status: 400,
      errors: [{ field: 'query.filter[amountFrom]' }],
    })
    t.match((await client.list('/payments', { 'filter[currency]': 'EUR,GBP', 'filter[amountFrom]': '1' })).problem, {
      status: 400,
    })
    t.match((await client.list('/payments', { q: 'Invoice' })).problem, { status: 400, errors: [{ field: 'query.q' }] })
  })

  await t.test('the journal', async (t) => {
    const path = `/balances/${balances.EUR}/journal`
    const list = filterTest<JournalLine>(t, client, path, journalList)
    const lines = await everything<JournalLine>(client, path)
    const at = lines[Math.floor(lines.length / 2)]!.bookedAt
    await list.expect({ direction: 'credit' }, ({ direction }) => direction === 'credit')
    await list.expect({ direction: 'debit,credit' }, () => true, 'all')
    await list.expect({ type: 'incoming_payment' }, ({ type }) => type === 'incoming_payment')
    await list.expect({ type: 'outgoing_payment' }, ({ type }) => type === 'outgoing_payment')
    await list.expect({ type: 'fee,interest' }, () => false, 'none')
    await list.expect({ bookedFrom: at }, ({ bookedAt }) => bookedAt >= at)
    await list.expect({ bookedTo: at }, ({ bookedAt }) => bookedAt <= at, lines[0]!.bookedAt === at ? 'all' : 'some')
    await list.expect({ bookedFrom: '0001-01-01', bookedTo: '9999-12-31' }, () => true, 'all')
    await list.expect({ bookedTo: '0001-01-01' }, () => false, 'none')
    await list.expect({ valueFrom: day(-2), valueTo: day(1) }, () => true, 'all')
    await list.expect({ valueTo: day(-3) }, () => false, 'none')
    await list.expect({ amountFrom: '2100', amountTo: '2400' }, (line) => minor(line) >= 2100n && minor(line) <= 2400n)
    await list.expect({ transactionId: randomUUID() }, () => false, 'none')
    list.allAsked()
    const ascending = await everything<JournalLine>(client, path, { sort: 'sequence', limit: 2 })
    t.strictSame(
      ascending.map(({ sequence }) => sequence),
      lines.map((_, index) => index + 1),
      'a page of two at a time, in order, without a gap',
    )
    t.strictSame(lines, ascending.toReversed())
    let running = 0n
    for (const line of ascending) {
      running += line.direction === 'credit' ? minor(line) : -minor(line)
      t.equal(line.runningBalance.amountMinor, String(running), `the running balance after line ${line.sequence}`)
    }
    t.equal((await client.balance(balances.EUR)).bookBalance.amountMinor, String(running))
    t.equal((await client.list(`/balances/${randomUUID()}/journal`)).problem.code, 'not-found')
  })

  await t.test('holds', async (t) => {
    const path = `/balances/${balances.EUR}/holds`
    const active = (await client.list<Hold>(path)).body.data
    t.ok(active.length === 2 && active.every(({ status }) => status === 'active'), 'active ones unless asked otherwise')
    const list = filterTest<Hold>(t, client, path, holdList, { 'filter[status]': 'active,captured,released,expired' })
    await list.expect({ status: 'active' }, ({ status }) => status === 'active')
    await list.expect({ status: 'captured' }, ({ status }) => status === 'captured')
    await list.expect({ status: 'released,expired' }, () => false, 'none')
    await list.expect({ subjectType: 'payment' }, () => true, 'all')
    await list.expect({ subjectType: 'exchange,recall' }, () => false, 'none')
    await list.expect(
      { subjectId: `${late[0]!.id},${early[0]!.id}` },
      ({ subjectId }) => subjectId === late[0]!.id || subjectId === early[0]!.id,
    )
    await list.expect({ createdFrom: middle }, ({ createdAt }) => createdAt >= middle)
    await list.expect({ createdTo: middle }, ({ createdAt }) => createdAt <= middle)
    list.allAsked()
    const all = { 'filter[status]': 'active,captured', limit: 2 }
    isSorted(t, await everything<Hold>(client, path, { ...all, sort: '-amount' }), minor, true, 'holds by amount')
    isSorted(t, await everything<Hold>(client, path, all), ({ createdAt }) => createdAt, true, 'holds by creation')
    t.equal((await client.list(`/balances/${randomUUID()}/holds`)).problem.code, 'not-found')
  })

  await t.test('balances', async (t) => {
    await world.query(`update balance set metadata = '{"team":"blue","region":"eu"}' where id = $1`, [balances.EUR])
    await world.query(`update balance set metadata = '{"team":"blue"}', name = 'Zürich réserve' where id = $1`, [
      balances.GBP,
    ])
    const child = (
      await world.query<{ id: string }>(
        `insert into balance (id, customer_id, operator_id, connection_id, shard, currency, name, type, parent_balance_id, status, is_default, created_at, updated_at)
       select $2, customer_id, operator_id, connection_id, shard, currency, 'Taxes', 'sub', id, 'frozen', false, $3, $3 from balance where id = $1 returning id`,
        [balances.EUR, randomUUID(), new Date(world.now())],
      )
    )[0]!.id
    const stranger = await world.customer({ balances: [{ currency: 'EUR', amount: 5n }] })
    const list = filterTest<Balance>(t, client, '/balances', balanceList)
    await list.expect({ status: 'frozen' }, ({ id }) => id === child)
    await list.expect({ currency: 'EUR,JPY' }, ({ currency }) => currency === 'EUR' || currency === 'JPY')
    await list.expect({ type: 'sub' }, ({ type }) => type === 'sub')
    await list.expect({ parentBalanceId: balances.EUR }, ({ parentBalanceId }) => parentBalanceId === balances.EUR)
    await list.expect(
      { id: `${balances.EUR},${balances.USD.toUpperCase()},${stranger.balanceIds[0]},${randomUUID()}` },
      ({ id }) => id === balances.EUR || id === balances.USD,
    )
    const opened = (await client.balance(child)).createdAt
    await list.expect({ createdFrom: opened }, ({ createdAt }) => createdAt >= opened)
    await list.expect({ createdTo: early[0]!.createdAt }, ({ createdAt }) => createdAt <= early[0]!.createdAt)
    await list.expect({ 'metadata.team': 'blue' }, ({ metadata }) => metadata['team'] === 'blue')
    await list.expect({ 'metadata.team': 'blue', 'metadata.region': 'eu' }, ({ id }) => id === balances.EUR)
    list.allAsked(['customerId'])
    t.match(
      (await client.list('/balances', { 'filter[customerId]': client.tenantId })).problem,
      { status: 400 },
      'the filter for operators is closed to customers',
    )
    const operators = filterTest<Balance>(t, world.operator, '/balances', balanceList)
    await operators.expect({ customerId: stranger.id }, ({ customerId }) => customerId === stranger.id)
    await operators.expect({ customerId: `${stranger.id},${client.tenantId}` }, () => true, 'all')
    t.ok(
      (await world.operator.list<Balance>('/balances')).body.data.every(
        ({ connectionId }) => typeof connectionId === 'string',
      ),
      'operators see the connection',
    )
    t.ok(
      (await client.list<Balance>('/balances')).body.data.every((balance) => !('connectionId' in balance)),
      'customers do not',
    )
    isSorted(
      t,
      await everything<Balance>(client, '/balances', { limit: 2 }),
      ({ currency }) => currency,
      false,
      'balances by currency',
    )
    isSorted(
      t,
      await everything<Balance>(client, '/balances', { limit: 2, sort: '-createdAt' }),
      ({ id }) => id,
      true,
      'balances by creation',
    )
    const names = (await everything<Balance>(client, '/balances', { limit: 2, sort: 'name' })).map(({ name }) => name)
    t.strictSame(names, ['EUR account', 'JPY account', 'Taxes', 'USD account', 'Zürich réserve'])
    for (const [q, found] of [
      ['zurich', ['Zürich réserve']],
      ['RESERVE zür', ['Zürich réserve']],
      ['tax', ['Taxes']],
      ['acc', ['EUR account', 'JPY account', 'USD account']],
      ['acc usd', ['USD account']],
      ['xes', []],
      ['zurich tax', []],
    ] as const) {
      t.strictSame(
        (await everything<Balance>(client, '/balances', { q, sort: 'name' })).map(({ name }) => name),
        found,
        `q=${q}`,
      )
    }
    for (const q of ['a', ' a ', ''])
      t.match(
        (await client.list('/balances', { q })).problem,
        { status: 400, errors: [{ field: 'query.q' }] },
        `q=${q}`,
      )
    const many = Array.from({ length: 101 }, () => randomUUID()).join(',')
    t.match((await client.list('/balances', { 'filter[id]': many })).problem, {
      status: 400,
      code: 'too_many_filter_values',
      max: 100,
    })
    const six = Object.fromEntries(Array.from({ length: 6 }, (_, nth) => [`filter[metadata.k${nth}]`, 'x']))
    t.match((await client.list('/balances', six)).problem, { status: 400, code: 'too_many_filter_values', max: 5 })
    // Rows that the test wrote by hand do not agree with the books.
    await world.query('delete from balance where id = $1', [child])
  })

  await t.test('recipients', async (t) => {
    await world.query(
      `update recipient set metadata = '{"tier":"1"}', nickname = 'Amsti', last_paid_at = '2026-01-02T00:00:00Z' where id = $1`,
      [recipients.EUR],
    )
    await world.query(
      `update recipient set type = 'individual', email = 'pay@london.example', last_paid_at = '2026-02-02T00:00:00Z' where id = $1`,
      [recipients.GBP],
    )
    const list = filterTest<Recipient>(t, client, '/recipients', recipientList)
    const [one] = await everything<Recipient>(client, '/recipients')
    await list.expect({ status: 'pending_approval' }, ({ status }) => status === 'pending_approval')
    await list.expect({ type: 'individual' }, ({ type }) => type === 'individual')
    await list.expect({ currency: 'EUR' }, ({ currency }) => currency === 'EUR')
    await list.expect({ country: 'GB,US' }, ({ bank }) => bank.bankCountry === 'GB' || bank.bankCountry === 'US')
    await list.expect({ verificationOutcome: 'match' }, ({ verification }) => verification?.outcome === 'match', 'none')
    await list.expect({ approvalStatus: 'approved' }, ({ approval }) => approval?.status === 'approved', 'none')
    await list.expect({ createdBy: one!.createdBy }, () => true, 'all')
    await list.expect({ createdBy: randomUUID() }, () => false, 'none')
    await list.expect(
      { id: `${recipients.EUR},${recipients.USD}` },
      ({ id }) => id === recipients.EUR || id === recipients.USD,
    )
    await list.expect(
      { lastPaidFrom: '2026-02-01' },
      ({ lastPaidAt }) => lastPaidAt !== null && lastPaidAt >= '2026-02-01',
    )
    await list.expect({ lastPaidTo: '2026-01-02' }, ({ id }) => id === recipients.EUR)
    await list.expect({ createdFrom: day(-1) }, () => true, 'all')
    await list.expect({ createdTo: day(-2) }, () => false, 'none')
    await list.expect({ 'metadata.tier': '1' }, ({ id }) => id === recipients.EUR)
    list.allAsked()
    const names = (rows: readonly Recipient[]) => rows.map(({ name }) => name)
    t.strictSame(
      names(await everything(client, '/recipients', { limit: 1 })),
      ['Amsterdam Trading BV', 'London Supplies Ltd', 'New York Services Inc', 'Rotterdam Freight BV'],
      'by name',
    )
    t.strictSame(
      names(await everything(client, '/recipients', { limit: 1, sort: '-lastPaidAt' })).slice(0, 2),
      ['London Supplies Ltd', 'Amsterdam Trading BV'],
      'by last payment, those never paid last',
    )
    isSorted(
      t,
      await everything<Recipient>(client, '/recipients', { limit: 1, sort: '-createdAt' }),
      ({ id }) => id,
      true,
      'recipients by creation',
    )
    for (const [q, found] of [
      ['amst', ['Amsterdam Trading BV']],
      ['trading AMST', ['Amsterdam Trading BV']],
      ['amsti', ['Amsterdam Trading BV']],
      ['pay@london.example', ['London Supplies Ltd']],
      ['nobody', []],
    ] as const) {
      t.strictSame(names(await everything(client, '/recipients', { q })), found, `q=${q}`)
    }
  })

  await t.test('account numbers are shown to who reads one recipient, and masked in lists', async (t) => {
    const listed = new Map(
      (await everything<Recipient>(client, '/recipients')).map((recipient) => [recipient.id, recipient]),
    )
    const [euro, pound, dollar] = await Promise.all(
      [recipients.EUR, recipients.GBP, recipients.USD].map((id) => client.recipient(id)),
    )
    t.match(euro, {
      bank: { iban: 'NL77SBOX0100000001', bic: 'SBOXNL2A', bankCountry: 'NL' },
      maskedIdentifier: 'NL77****0001',
    })
    t.match(pound, { bank: { accountNumber: '10000001', sortCode: '990001' }, maskedIdentifier: '****0001' })
    t.match(dollar, { bank: { accountNumber: '1000000001', routingNumber: '099000011' }, maskedIdentifier: '****0001' })
    for (const full of [euro!, pound!, dollar!]) {
      const row = listed.get(full.id)!
      t.strictSame(
        [row.bank.iban, row.bank.accountNumber, row.bank.clabe, row.bank.bankgiro, row.bank.fpsId],
        [null, null, null, null, null],
      )
      t.equal(row.maskedIdentifier, full.maskedIdentifier)
      t.strictSame({ ...row, bank: null }, { ...full, bank: null }, 'the rest is the same')
      t.notMatch(JSON.stringify(row), /SBOX01|10000001|1000000001/)
    }
  })
})

t.test('lists of one tenant never show rows of another', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const mine = await world.customer({
    balances: [
      { currency: 'EUR', amount: 5000n },
      { currency: 'EUR', amount: 0n },
    ],
  })
  const theirs = await world.customer({ balances: [{ currency: 'EUR', amount: 5000n }] })
  t.equal((await mine.client.createPayment(paymentBody(mine.balanceIds[0]!, mine.recipients.EUR, 1000))).status, 201)
  t.equal((await mine.client.createTransfer(transferBody(mine.balanceIds[0]!, mine.balanceIds[1]!, 1000))).status, 201)
  t.strictSame((await theirs.client.list('/payments', { withTotal: true })).body.page.total, 0)
  t.strictSame(
    (await everything<Balance>(theirs.client, '/balances')).map(({ id }) => id),
    theirs.balanceIds,
  )
  t.ok((await everything<Recipient>(theirs.client, '/recipients')).every(({ customerId }) => customerId === theirs.id))
  for (const path of [
    `/balances/${mine.balanceIds[0]}`,
    `/balances/${mine.balanceIds[0]}/journal`,
    `/balances/${mine.balanceIds[0]}/holds`,
    `/recipients/${mine.recipients.EUR}`,
  ]) {
    t.match((await theirs.client.get(path)).problem, { status: 404, code: 'not-found' }, path)
  }
})

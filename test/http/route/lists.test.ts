import t from 'tap'
import { createCursors } from '../../../lib/contract/cursor.ts'
import { BALANCE, CUSTOMER, fakeWorld, OPERATOR, startFake } from '../server/fake-world.ts'

const world = fakeWorld()
const service = await startFake(world)
t.teardown(service.stop)

const last = () => world.lists.at(-1) as unknown as Record<string, unknown> & { filters: Record<string, unknown> }

t.test('without parameters a list has its defaults', async (t) => {
  const response = await service.get('/v1/payments')
  t.same(await response.json(), { data: [], page: { nextCursor: null, prevCursor: null, limit: 25 } })
  t.match(last(), {
    sort: '-createdAt',
    limit: 25,
    position: null,
    withTotal: false,
    q: null,
    metadata: [],
    tenant: { id: CUSTOMER },
  })
  await service.get('/v1/balances')
  t.equal(last()['sort'], 'currency')
})

t.test('filters are parsed by their kinds', async (t) => {
  const query = new URLSearchParams({
    'filter[status]': 'completed,failed',
    'filter[currency]': 'EUR',
    'filter[recipientId]': BALANCE.toUpperCase(),
    'filter[amountFrom]': '100',
    'filter[amountTo]': '200',
    'filter[executionFrom]': '2026-01-01',
    'filter[createdFrom]': '2026-01-01',
    'filter[createdTo]': '2026-01-31',
    'filter[completedTo]': '2026-01-31T12:00:00+02:00',
    'filter[metadata.costCentre]': '47,11',
    limit: '100',
    sort: '-amount',
    withTotal: 'true',
  })
  const response = await service.get(`/v1/payments?${query}`)
  t.equal(response.status, 200, await response.clone().text())
  t.match(last(), { limit: 100, sort: '-amount', withTotal: true, metadata: [['costCentre', '47,11']] })
  t.same(last().filters, {
    status: ['completed', 'failed'],
    currency: ['EUR'],
    recipientId: [BALANCE],
    amountFrom: 100n,
    amountTo: 200n,
    executionFrom: '2026-01-01',
    createdFrom: '2026-01-01T00:00:00.000Z',
    createdTo: { before: '2026-02-01T00:00:00.000Z' },
    completedTo: { before: '2026-01-31T10:00:00.001Z' },
  })
  t.equal((await response.json()).page.total, 0)
})

t.test('what a list does not know or cannot read is 400 by name', async (t) => {
  for (const [query, field, code] of [
    ['nonsense=1', 'nonsense', 'unknown_field'],
    ['filter[nonsense]=1', 'filter[nonsense]', 'unknown_field'],
    ['filter[constructor]=1', 'filter[constructor]', 'unknown_field'],
    ['filter=1', 'filter', 'unknown_field'],
    ['q=abc', 'q', 'unknown_field'],
    ['limit=0', 'limit', 'too_small'],
    ['limit=101', 'limit', 'too_large'],
    ['limit=ten', 'limit', 'invalid_type'],
    ['limit=5&limit=6', 'limit', 'invalid_value'],
    ['sort=amount', 'sort', 'invalid_value'],
    ['withTotal=1', 'withTotal', 'invalid_type'],
    ['filter[status]=done', 'filter[status]', 'invalid_value'],
    ['filter[status]=', 'filter[status]', 'too_short'],
    ['filter[recipientId]=x', 'filter[recipientId]', 'invalid_format'],
    ['filter[createdFrom]=yesterday', 'filter[createdFrom]', 'invalid_format'],
    ['filter[createdFrom]=2026-02-30', 'filter[createdFrom]', 'invalid_format'],
    ['filter[createdFrom]=0000-01-01', 'filter[createdFrom]', 'invalid_format'],
    ['filter[createdTo]=9999-12-31T23:59:59-12:00', 'filter[createdTo]', 'invalid_format'],
    ['filter[executionFrom]=0000-01-01', 'filter[executionFrom]', 'invalid_format'],
    ['filter[executionFrom]=2026-01-01T00:00:00Z', 'filter[executionFrom]', 'invalid_format'],
    ['filter[createdFrom]=2026-02-02&filter[createdTo]=2026-02-01', 'filter[createdFrom]', 'invalid_value'],
    ['filter[currency]=EUR&filter[amountFrom]=1.5', 'filter[amountFrom]', 'invalid_format'],
    ['filter[amountFrom]=5', 'filter[amountFrom]', 'invalid_value'],
    ['filter[externalId]=a%00b', 'filter[externalId]', 'invalid_characters'],
    ['filter[metadata.a]=%00', 'filter[metadata.a]', 'invalid_characters'],
    ['filter[metadata.bad key]=x', 'filter[metadata.bad key]', 'invalid_format'],
  ] as const) {
    const response = await service.get(`/v1/payments?${query}`)
    t.equal(response.status, 400, query)
    t.match(await response.json(), { code: 'malformed-request', errors: [{ field: `query.${field}`, code }] }, query)
  }
})

t.test('a range may end on the last day of all', async (t) => {
  for (const end of ['9999-12-31', '9999-12-31T23:59:59.999Z']) {
    t.equal((await service.get(`/v1/payments?filter[createdTo]=${end}`)).status, 200, end)
    t.same(last().filters['createdTo'], { before: '9999-12-31T23:59:59.999Z' }, 'no year that storage cannot read')
  }
})

t.test('a range of one day is not reversed', async (t) => {
  t.equal((await service.get('/v1/payments?filter[createdFrom]=2026-02-01&filter[createdTo]=2026-02-01')).status, 200)
})

t.test('text is compared as it is stored: composed, and as long as bodies may have it', async (t) => {
  const landmarks = '\u{1f3e6}'.repeat(64)
  const query = new URLSearchParams({
    'filter[externalId]': `Bu\u0308ro,${landmarks}`,
    'filter[metadata.site]': 'Zu\u0308rich',
  })
  const response = await service.get(`/v1/payments?${query}`)
  t.equal(response.status, 200, await response.clone().text())
  t.match(last(), { filters: { externalId: ['B\u00fcro', landmarks] }, metadata: [['site', 'Z\u00fcrich']] })
  t.match(await (await service.get(`/v1/payments?filter[externalId]=${'x'.repeat(65)}`)).json(), {
    errors: [{ field: 'query.filter[externalId]', code: 'too_long' }],
  })
})

t.test('searches have two to a hundred characters', async (t) => {
  t.equal((await service.get('/v1/balances?q=%20ab%20')).status, 200)
  t.equal(last()['q'], 'ab')
  for (const q of ['a', '%20%20a', 'a'.repeat(101)]) {
    const response = await service.get(`/v1/balances?q=${q}`)
    t.equal(response.status, 400)
    t.equal((await response.json()).errors[0].field, 'query.q')
  }
})

t.test('too many values are their own problem', async (t) => {
  const ids = (count: number) => Array(count).fill(BALANCE).join(',')
  t.equal((await service.get(`/v1/balances?filter[id]=${ids(100)}`)).status, 200)
  const response = await service.get(`/v1/balances?filter[id]=${ids(101)}`)
  t.equal(response.status, 400)
  t.match(await response.json(), { code: 'too_many_filter_values', filter: 'id', max: 100 })
  const metadata = Array.from({ length: 6 }, (_, index) => `filter[metadata.k${index}]=x`).join('&')
  t.match(await (await service.get(`/v1/balances?${metadata}`)).json(), { code: 'too_many_filter_values', max: 5 })
})

t.test('filters for operators are closed to customers', async (t) => {
  t.equal((await service.get(`/v1/balances?filter[customerId]=${CUSTOMER}`)).status, 400)
  const key = world.addKey({ level: 'operator', tenantId: OPERATOR })
  const response = await service.get(`/v1/balances?filter[customerId]=${CUSTOMER}`, {
    authorization: `Bearer ${key}`,
    'x-tenant-id': OPERATOR,
  })
  t.equal(response.status, 200)
})

t.test('operations that are no lists take no parameters', async (t) => {
  const response = await service.get(`/v1/payments/${BALANCE}?expand=1`)
  t.equal(response.status, 400)
  t.match(await response.json(), { errors: [{ field: 'query.expand', code: 'unknown_field' }] })
  const path = await service.get('/v1/payments/nonsense')
  t.equal(path.status, 400)
  t.match(await path.json(), { errors: [{ field: 'path.paymentId', code: 'invalid_format' }] })
})

t.test('pages are walked forwards and backwards', async (t) => {
  world.rows = Array.from({ length: 7 }, (_, index) => ({ id: `row-${index}` }))
  t.teardown(() => (world.rows = []))
  const read = async (cursor: string | null) => {
    const response = await service.get(`/v1/payments?limit=3${cursor === null ? '' : `&cursor=${cursor}`}`)
    const { data, page } = await response.json()
    return { ids: data.map((row: { id: string }) => row.id.slice(4)).join(''), ...page }
  }
  const first = await read(null)
  t.match(first, { ids: '012', prevCursor: null })
  const second = await read(first.nextCursor)
  t.equal(second.ids, '345')
  const third = await read(second.nextCursor)
  t.match(third, { ids: '6', nextCursor: null })
  const back = await read(third.prevCursor)
  t.equal(back.ids, '345')
  const start = await read(back.prevCursor)
  t.match(start, { ids: '012', prevCursor: null })
  t.equal((await read(start.nextCursor)).ids, '345')
})

t.test('a cursor fits only the question it came from', async (t) => {
  world.rows = Array.from({ length: 7 }, (_, index) => ({ id: `row-${index}` }))
  t.teardown(() => (world.rows = []))
  const response = await service.get('/v1/payments?limit=3&filter[status]=failed')
  const { nextCursor } = (await response.json()).page
  const using = (query: string, headers = {}) => service.get(`/v1/payments?cursor=${nextCursor}&${query}`, headers)
  t.equal((await using('filter[status]=failed&limit=5&withTotal=true')).status, 200, 'the size of pages may change')
  const other = world.addKey({ tenantId: OPERATOR })
  const flipped = (nextCursor[0] === 'A' ? 'B' : 'A') + nextCursor.slice(1)
  for (const [name, refused] of [
    ['other filter', await using('filter[status]=completed')],
    ['no filter', await using('')],
    ['other sort', await using('filter[status]=failed&sort=createdAt')],
    ['other list', await service.get(`/v1/balances?cursor=${nextCursor}`)],
    [
      'other tenant',
      await using('filter[status]=failed', { authorization: `Bearer ${other}`, 'x-tenant-id': OPERATOR }),
    ],
    ['tampered', await service.get(`/v1/payments?filter[status]=failed&cursor=${flipped}`)],
    ['truncated', await service.get(`/v1/payments?filter[status]=failed&cursor=${nextCursor.slice(0, -4)}`)],
    ['invented', await service.get('/v1/payments?cursor=e30')],
    ['empty', await service.get('/v1/payments?cursor=')],
    ['not base64url', await service.get('/v1/payments?cursor=%00%2B')],
  ] as const) {
    t.equal(refused.status, 400, name)
    t.equal((await refused.json()).code, 'invalid-cursor', name)
  }
})

t.test('totals are counted on the first page only', async (t) => {
  world.rows = Array.from({ length: 4 }, (_, index) => ({ id: `row-${index}` }))
  t.teardown(() => (world.rows = []))
  const first = await (await service.get('/v1/payments?limit=1&withTotal=true')).json()
  t.equal(first.page.total, 4)
  const second = await (await service.get(`/v1/payments?limit=1&withTotal=true&cursor=${first.page.nextCursor}`)).json()
  t.equal(second.page.total, undefined)
})

t.test('cursors under another secret are refused', async (t) => {
  const position = { direction: 'after', keys: ['2026-01-01T00:00:00.000001Z', null, 5] } as const
  const cursor = createCursors(new Uint8Array(32).fill(1)).encode('b', position)
  t.same(createCursors(new Uint8Array(32).fill(1)).decode('b', cursor), position)
  t.throws(() => createCursors(new Uint8Array(32).fill(2)).decode('b', cursor))
})

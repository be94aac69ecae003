import { randomUUID } from 'node:crypto'

import t from 'tap'

import type { Transfer } from '../../../lib/transfers/transfer-schema.ts'
import { createWorld, transferBody } from '../../support/world.ts'

const FIELDS = [
  'amount',
  'completedAt',
  'createdAt',
  'createdBy',
  'createdVia',
  'customerId',
  'externalId',
  'failure',
  'fromBalanceId',
  'id',
  'metadata',
  'number',
  'reference',
  'status',
  'toBalanceId',
  'transactionIds',
  'updatedAt',
]
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

const eur = (amountMinor: number | bigint) => ({ amountMinor: String(amountMinor), currency: 'EUR' })
const TWO_BALANCES = {
  balances: [
    { currency: 'EUR' as const, amount: 50_000n },
    { currency: 'EUR' as const, amount: 20_000n, name: 'Savings' },
  ],
}

t.test('a transfer is complete at once, in both journals', async (t) => {
  await using world = await createWorld()
  const { client, balanceIds } = await world.customer(TWO_BALANCES)
  const [from, to] = balanceIds as [string, string]
  const key = randomUUID()
  const body = {
    ...transferBody(from, to, 12_500),
    reference: 'To savings',
    externalId: 'T-1',
    metadata: { zone: 'a', id: '7' },
  }
  const created = await client.createTransfer(body, key)
  t.equal(created.status, 201, created.text)
  const transfer = created.body
  t.strictSame(Object.keys(transfer).sort(), FIELDS, 'every documented field is there, and no other')
  t.match(transfer, {
    customerId: client.tenantId,
    number: /^TRF[0-9A-HJKMNP-TV-Z]{10}$/,
    externalId: 'T-1',
    status: 'completed',
    fromBalanceId: from,
    toBalanceId: to,
    amount: eur(12_500),
    reference: 'To savings',
    failure: null,
    createdVia: 'api_key',
    completedAt: TIMESTAMP,
    createdAt: TIMESTAMP,
    updatedAt: TIMESTAMP,
    metadata: { zone: 'a', id: '7' },
  })
  t.equal(created.headers.get('location'), `/v1/transfers/${transfer.id}`)
  t.match(created.headers.get('etag'), /^W\/"1-[0-9a-f]{12}"$/)

  const read = await client.get<Transfer>(`/transfers/${transfer.id}`)
  t.strictSame(read.body, transfer)
  t.equal(read.headers.get('etag'), created.headers.get('etag'), 'the same version of the same thing has the same tag')

  const [out] = await client.journal(from)
  const [into] = await client.journal(to)
  const source = { object: 'transfer', id: transfer.id }
  t.match(out, {
    sequence: 2,
    direction: 'debit',
    type: 'transfer_out',
    amount: eur(12_500),
    runningBalance: eur(37_500),
    source,
    reference: 'To savings',
  })
  t.match(into, {
    sequence: 2,
    direction: 'credit',
    type: 'transfer_in',
    amount: eur(12_500),
    runningBalance: eur(32_500),
    source,
    reference: 'To savings',
  })
  t.equal(out!.entryId, into!.entryId, 'two lines of one entry')
  t.not(out!.id, into!.id)
  t.match(await client.balance(from), { bookBalance: eur(37_500), heldBalance: eur(0), availableBalance: eur(37_500) })
  t.match(await client.balance(to), { bookBalance: eur(32_500), heldBalance: eur(0), availableBalance: eur(32_500) })

  for (const restart of [false, true]) {
    if (restart) await world.restart()
    const again = await client.createTransfer(body, key)
    t.equal(again.status, 201)
    t.equal(again.text, created.text, 'the same key is the same bytes')
    t.equal(again.headers.get('idempotency-replayed'), 'true')
    t.equal(again.headers.get('location'), created.headers.get('location'))
  }
  t.match((await client.createTransfer({ ...body, amount: eur(1) }, key)).problem, {
    status: 422,
    code: 'idempotency-key-reused',
    firstUsedAt: TIMESTAMP,
  })
  t.match((await client.createTransfer(body)).problem, {
    status: 409,
    code: 'duplicate-external-id',
    existingId: transfer.id,
  })
  t.equal((await client.balance(to)).bookBalance.amountMinor, '32500', 'it has moved once')
  t.equal((await client.get(`/transfers/${randomUUID()}`)).problem.code, 'not-found')
  t.equal(
    (await world.seeded.client.get(`/transfers/${transfer.id}`)).problem.code,
    'not-found',
    "a stranger's transfer does not exist",
  )
})

t.test('what a transfer may not do is refused by name and moves nothing', async (t) => {
  await using world = await createWorld()
  const mine = await world.customer({ balances: [...TWO_BALANCES.balances, { currency: 'GBP', amount: 10_000n }] })
  const stranger = await world.customer(TWO_BALANCES)
  const { client } = mine
  const [a, b, pounds] = mine.balanceIds as [string, string, string]
  // About midnight (UTC) a recorded refusal moves the version of the balance, and with it the time of its change.
  const balanceOf = async (of: typeof client, id: string) => ({ ...(await of.balance(id)), updatedAt: null })
  const state = async () => ({
    mine: await Promise.all(
      mine.balanceIds.flatMap((id): Promise<unknown>[] => [balanceOf(client, id), client.journal(id)]),
    ),
    theirs: await Promise.all(
      stranger.balanceIds.flatMap((id): Promise<unknown>[] => [
        balanceOf(stranger.client, id),
        stranger.client.journal(id),
      ]),
    ),
    rows: await world.query(
      'select (select count(*) from transfer) as transfers, (select count(*) from posting) as postings, (select count(*) from outbox) as events',
    ),
  })
  const before = await state()
  const good = transferBody(a, b, 1000)
  for (const [name, body, status, code, error] of [
    ['the same balance twice', transferBody(a, a, 1000), 422, 'validation-error', ['/toBalanceId', 'invalid_value']],
    [
      'another currency on the other side',
      transferBody(a, pounds, 1000),
      422,
      'validation-error',
      ['/toBalanceId', 'currency_mismatch'],
    ],
    [
      'another currency on this side',
      transferBody(pounds, a, 1000),
      422,
      'validation-error',
      ['/amount/currency', 'currency_mismatch'],
    ],
    [
      'an amount in a third currency',
      transferBody(a, b, 1000, 'USD'),
      422,
      'validation-error',
      [/^\/(toBalanceId|amount\/currency)$/, 'currency_mismatch'],
    ],
    [
      "to a stranger's balance",
      transferBody(a, stranger.balanceIds[0]!, 1000),
      422,
      'validation-error',
      ['/toBalanceId', 'not_found'],
    ],
    [
      "from a stranger's balance",
      transferBody(stranger.balanceIds[0]!, a, 1000),
      422,
      'validation-error',
      ['/fromBalanceId', 'not_found'],
    ],
    ['to nowhere', transferBody(a, randomUUID(), 1000), 422, 'validation-error', ['/toBalanceId', 'not_found']],
    ['from nowhere', transferBody(randomUUID(), a, 1000), 422, 'validation-error', ['/fromBalanceId', 'not_found']],
    ['nothing at all', transferBody(a, b, 0), 422, 'validation-error', ['/amount/amountMinor', 'too_small']],
    ['less than nothing', transferBody(a, b, -1), 422, 'validation-error', ['/amount/amountMinor', 'too_small']],
    [
      'a JSON number',
      { ...good, amount: { amountMinor: 1000, currency: 'EUR' } },
      422,
      'validation-error',
      ['/amount/amountMinor', 'invalid_type'],
    ],
    ['an unknown field', { ...good, fee: null }, 422, 'validation-error', ['/fee', 'unknown_field']],
    ['a read-only field', { ...good, number: 'TRF1' }, 422, 'validation-error', ['/number', 'read_only_field']],
    ['no amount', { fromBalanceId: a, toBalanceId: b }, 422, 'validation-error', ['/amount', 'required']],
    [
      'a reference of 141 characters',
      { ...good, reference: 'x'.repeat(141) },
      422,
      'validation-error',
      ['/reference', 'too_long'],
    ],
    ['more than the limit', transferBody(a, b, 10n ** 15n + 1n), 422, 'limit-exceeded', null],
    ['more than there is', transferBody(a, b, 50_001), 409, 'insufficient-funds', null],
  ] as const) {
    const reply = await client.post('/transfers', body)
    t.equal(reply.status, status, `${name}: ${reply.text}`)
    t.match(reply.problem, { code, instance: '/v1/transfers' }, name)
    if (error !== null)
      t.match(
        reply.problem.errors?.map(({ field, code }) => [field, code]),
        [error],
        `${name}: ${JSON.stringify(reply.problem.errors)}`,
      )
    t.strictSame(await state(), before, `${name}: nothing has changed`)
  }
  t.match((await client.post('/transfers', transferBody(a, b, 50_001))).problem, {
    available: eur(50_000),
    required: eur(50_001),
  })
  t.equal((await client.createTransfer(transferBody(a, b, 50_000))).status, 201, 'all of it is not too much')
})

t.test('a refused transfer stays refused under its key', async (t) => {
  await using world = await createWorld()
  const { client, balanceIds } = await world.customer(TWO_BALANCES)
  const [a, b] = balanceIds as [string, string]
  const key = randomUUID()
  const no = await client.createTransfer(transferBody(a, b, 60_000), key)
  t.equal(no.problem.code, 'insufficient-funds')
  t.equal((await client.createTransfer(transferBody(b, a, 20_000))).status, 201)
  const again = await client.createTransfer(transferBody(a, b, 60_000), key)
  t.equal(again.text, no.text)
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.equal((await client.createTransfer(transferBody(a, b, 60_000))).status, 201, 'another key is another question')
})

t.test('transfers in opposite directions at once neither lose nor make money', async (t) => {
  await using world = await createWorld()
  const { client, balanceIds } = await world.customer({
    balances: [
      { currency: 'EUR', amount: 3000n },
      { currency: 'EUR', amount: 3000n },
      { currency: 'EUR', amount: 0n },
    ],
  })
  const [a, b, c] = balanceIds as [string, string, string]
  const ways = [
    [a, b],
    [b, a],
    [b, c],
    [c, a],
    [a, c],
    [c, b],
  ] as const
  const replies = await Promise.all(
    Array.from({ length: 180 }, async (_, nth) => {
      const [from, to] = ways[nth % ways.length]!
      const key = randomUUID()
      const body = transferBody(from, to, 700 + nth)
      // Each is sent twice at once, as an impatient client does.
      const pair = await Promise.all([client.createTransfer(body, key), client.createTransfer(body, key)])
      const decided = pair.filter((reply) => reply.status === 201 || reply.problem.code === 'insufficient-funds')
      t.ok(decided.length > 0, pair.map(({ text }) => text).join(' '))
      t.equal(new Set(decided.map(({ text }) => text)).size, 1, 'one key has one answer')
      return { from, to, amount: BigInt(700 + nth), reply: decided[0]! }
    }),
  )
  const done = replies.filter(({ reply }) => reply.status === 201)
  t.ok(done.length > 20, `${done.length} of 180 were possible`)
  t.ok(done.length < 180, 'and not all of them')
  for (const id of balanceIds) {
    const { bookBalance, heldBalance } = await client.balance(id)
    const book = BigInt(bookBalance.amountMinor)
    const opening = id === c ? 0n : 3000n
    const change = done.reduce(
      (sum, { from, to, amount }) => sum + (to === id ? amount : 0n) - (from === id ? amount : 0n),
      0n,
    )
    t.equal(book, opening + change, 'what was acknowledged is what has moved')
    t.ok(book >= 0n, 'nothing went below zero')
    t.equal(heldBalance.amountMinor, '0')
    const lines: number[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const { data, page } = (
        await client.list<{ sequence: number }>(`/balances/${id}/journal`, {
          sort: 'sequence',
          limit: 100,
          ...(cursor === undefined ? {} : { cursor }),
        })
      ).body
      lines.push(...data.map(({ sequence }) => sequence))
      cursor = page.nextCursor
    }
    t.strictSame(
      lines,
      lines.map((_, index) => index + 1),
      'the sequence has no gap',
    )
  }
})

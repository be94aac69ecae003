/**
 * Transactions: that every movement is one, what each says while it is under way and afterwards, and how they are
 * found.
 */
import t from 'tap'
import type { JournalLine } from '../../../lib/balances/journal-line-schema.ts'
import type { Transaction, TransactionDetail, TransactionUpdate } from '../../../lib/transactions/transaction-schema.ts'
import { pdfText } from '../../support/pdf-text.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, transferBody } from '../../support/world.ts'

const MISSING_ID = '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f'

t.test('transactions', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const list = async (parameters: Readonly<Record<string, string | number | boolean>> = {}) =>
    (await client.list<Transaction>('/transactions', { limit: 100, ...parameters })).body
  const one = async (id: string) => (await client.get<TransactionDetail>(`/transactions/${id}`)).body

  await t.test('opening credits are there, each with its line and the balance after it', async (t) => {
    const { data, page } = await list({ withTotal: true })
    t.equal(page.total, 3)
    for (const row of data) {
      t.match(row, {
        type: 'incoming_payment',
        status: 'completed',
        direction: 'in',
        fee: null,
        orderId: null,
        amount: { amountMinor: '10000000' },
        runningBalance: { amountMinor: '10000000' },
        hasAttachments: row.amount.currency === 'EUR',
      })
      const { journalLines, source, updates } = await one(row.id)
      t.equal(journalLines.length, 1)
      t.match(journalLines[0], {
        transactionId: row.id,
        amount: row.amount,
        direction: 'credit',
        type: 'incoming_payment',
        source,
      })
      t.match(updates, [{ status: 'completed', previousStatus: null }])
    }
  })

  const payment = (
    await client.createPayment({ ...paymentBody(balances.EUR, recipients.EUR, 123_456), reference: 'Rechnung Lodz 77' })
  ).body
  await t.test('a payment is there as soon as it is made, and says what becomes of it', async (t) => {
    const { data } = await list({ 'filter[sourceId]': payment.id })
    t.match(data, [
      {
        id: payment.id,
        type: 'outgoing_payment',
        status: 'pending',
        direction: 'out',
        amount: payment.amount,
        orderId: payment.number,
        description: `Payment to ${payment.recipient.name}`,
        counterparty: {
          name: payment.recipient.name,
          maskedIdentifier: payment.recipient.maskedIdentifier,
          recipientId: recipients.EUR,
        },
        reference: 'Rechnung Lodz 77',
        rail: payment.rail,
        source: { object: 'payment', id: payment.id },
        runningBalance: null,
        bookedAt: null,
        valueDate: null,
      },
    ])
    const before = await one(payment.id)
    t.match(before, {
      holds: [{ subjectId: payment.id, amount: payment.totalDebit }],
      references: { endToEndId: payment.endToEndId },
      related: [],
      failure: null,
      return: null,
    })
    world.advance(5_000)
    const { completedAt } = await client.paymentReaching(payment.id, 'completed')
    const after = await one(payment.id)
    const [last] = await client.journal(balances.EUR, { limit: 1 })
    t.match(after, {
      status: 'completed',
      runningBalance: last!.runningBalance,
      holds: [{ status: 'captured' }],
      fee: payment.fee,
    })
    t.ok(after.bookedAt !== null && completedAt !== null && after.bookedAt <= completedAt)
    t.strictSame(
      after.journalLines.map(({ transactionId }) => transactionId),
      after.journalLines.map(() => payment.id),
    )
    t.match(after.updates.at(0), { status: 'completed', previousStatus: 'pending', actor: 'partner' })
    t.match(after.updates.at(-1), { status: 'pending', previousStatus: null })
    const updates = (
      await client.list<TransactionUpdate>(`/transactions/${payment.id}/updates`, { sort: 'at', limit: 2 })
    ).body
    t.strictSame(updates.data, after.updates.toReversed().slice(0, 2))
    t.strictSame(
      (
        await client.list<TransactionUpdate>(`/transactions/${payment.id}/updates`, {
          sort: 'at',
          limit: 2,
          cursor: updates.page.nextCursor!,
        })
      ).body.data,
      after.updates.toReversed().slice(2, 4),
    )
    t.equal(
      (await client.list<JournalLine>(`/balances/${balances.EUR}/journal`, { 'filter[transactionId]': payment.id }))
        .body.data.length,
      after.journalLines.length,
    )
  })

  await t.test('what comes back is a transaction of its own', async (t) => {
    const returned = (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 1401))).body
    world.advance(15_000)
    await client.paymentReaching(returned.id, 'completed').catch(() => null)
    await until('the payment has come back', async () => {
      world.advance(5_000)
      return (await client.payment(returned.id)).status === 'returned' ? true : null
    })
    const { data } = await list({ 'filter[sourceId]': returned.id, sort: 'createdAt' })
    t.match(data, [
      { id: returned.id, type: 'outgoing_payment', status: 'returned', direction: 'out' },
      {
        type: 'payment_return',
        status: 'completed',
        direction: 'in',
        amount: returned.amount,
        orderId: returned.number,
        counterparty: { name: returned.recipient.name, recipientId: recipients.EUR },
        rail: returned.rail,
      },
    ])
    const back = data[1]!
    t.strictSame((await one(back.id)).related, [
      { object: 'payment', id: returned.id, relation: 'return_of' },
      { object: 'transaction', id: returned.id, relation: 'return_of' },
    ])
    t.match(await one(returned.id), {
      return: { transactionId: back.id, reasonCode: 'AC04' },
      related: [{ object: 'transaction', id: back.id, relation: 'counterpart' }],
    })
    t.equal((await client.payment(returned.id)).return?.transactionId, back.id)
  })

  await t.test('a payment that fails is one that nothing came of', async (t) => {
    const failed = (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 1301))).body
    await until('the payment has failed', async () => {
      world.advance(5_000)
      return (await client.payment(failed.id)).status === 'failed' ? true : null
    })
    const { status, journalLines, failure, runningBalance } = await one(failed.id)
    t.match(
      { status, runningBalance, failure },
      { status: 'failed', runningBalance: null, failure: { code: 'invalid_account_details' } },
    )
    t.equal(
      journalLines.reduce(
        (sum, { direction, amount }) => sum + (direction === 'debit' ? -1n : 1n) * BigInt(amount.amountMinor),
        0n,
      ),
      0n,
    )
  })

  await t.test('a transfer is two, one on each side', async (t) => {
    const owner = await world.customer({
      balances: [
        { currency: 'EUR', amount: 5_000n, name: 'Main' },
        { currency: 'EUR', amount: 0n, name: 'Savings' },
      ],
    })
    const transfer = (
      await owner.client.createTransfer({
        ...transferBody(owner.balanceIds[0]!, owner.balanceIds[1]!, 1_200),
        reference: 'Put aside',
      })
    ).body
    t.equal(transfer.transactionIds.length, 2)
    const { data } = (await owner.client.list<Transaction>('/transactions', { 'filter[sourceId]': transfer.id })).body
    const [out, into] = transfer.transactionIds.map((id) => data.find((row) => row.id === id))
    t.match(out, {
      type: 'transfer_out',
      balanceId: owner.balanceIds[0],
      direction: 'out',
      counterparty: { name: 'Savings' },
      orderId: transfer.number,
      runningBalance: { amountMinor: '3800' },
    })
    t.match(into, {
      type: 'transfer_in',
      balanceId: owner.balanceIds[1],
      direction: 'in',
      counterparty: { name: 'Main' },
      runningBalance: { amountMinor: '1200' },
      reference: 'Put aside',
    })
    const detail = (await owner.client.get<TransactionDetail>(`/transactions/${into!.id}`)).body
    t.strictSame(detail.related, [{ object: 'transaction', id: out!.id, relation: 'counterpart' }])
    t.equal(detail.journalLines.length, 1)
    t.match((await client.get(`/transactions/${out!.id}`)).problem, { status: 404, code: 'not-found' }, "nobody else's")
    const staff = world.person('operations')
    await staff.signIn()
    const forOwner = { 'x-tenant-id': owner.client.tenantId }
    const path = `/transactions/${out!.id}`
    t.match((await staff.send('GET', path, undefined, forOwner)).body, { id: out!.id }, 'staff look at it')
    t.match(
      (await staff.send('POST', `${path}/annotations`, { text: 'Ours.' }, forOwner)).problem,
      { status: 403, code: 'tenant-forbidden' },
      'and change nothing',
    )
    t.match((await staff.send('GET', '/transactions')).problem, { status: 403 })
  })

  await t.test('they are found by words, without regard to accents and case, and by filters', async (t) => {
    const found = async (parameters: Readonly<Record<string, string>>) =>
      (await list(parameters)).data.map(({ id }) => id)
    t.strictSame(await found({ q: 'Réchnung łódź' }), [payment.id])
    t.strictSame(await found({ q: payment.number.toLowerCase() }), [payment.id])
    t.strictSame(await found({ q: 'lodzer' }), [])
    t.ok((await found({ q: payment.recipient.name.slice(0, 5) })).includes(payment.id))
    t.match((await client.get('/transactions?q=x')).problem, {
      status: 400,
      errors: [{ field: 'query.q', code: 'too_short' }],
    })
    const all = (await list()).data
    for (const [parameters, fits] of [
      [
        { 'filter[status]': 'failed,returned' },
        (row: Transaction) => row.status === 'failed' || row.status === 'returned',
      ],
      [{ 'filter[type]': 'payment_return' }, (row: Transaction) => row.type === 'payment_return'],
      [{ 'filter[direction]': 'in' }, (row: Transaction) => row.direction === 'in'],
      [{ 'filter[balanceId]': balances.GBP }, (row: Transaction) => row.balanceId === balances.GBP],
      [{ 'filter[currency]': 'USD' }, (row: Transaction) => row.amount.currency === 'USD'],
      [{ 'filter[rail]': payment.rail! }, (row: Transaction) => row.rail === payment.rail],
      [
        { 'filter[recipientId]': recipients.EUR },
        (row: Transaction) => row.counterparty?.recipientId === recipients.EUR,
      ],
      [
        { 'filter[amountFrom]': '1401', 'filter[amountTo]': '200000' },
        (row: Transaction) => BigInt(row.amount.amountMinor) >= 1401n && BigInt(row.amount.amountMinor) <= 200_000n,
      ],
      [{ 'filter[hasAttachments]': 'true' }, (row: Transaction) => row.hasAttachments],
      [{ 'filter[hasAttachments]': 'false' }, (row: Transaction) => !row.hasAttachments],
      [{ 'filter[hasAnnotations]': 'true' }, (row: Transaction) => row.annotationCount > 0],
      [{ 'filter[cardId]': MISSING_ID }, () => false],
      [
        { 'filter[bookedFrom]': '2000-01-01', 'filter[bookedTo]': '2100-01-01' },
        (row: Transaction) => row.bookedAt !== null,
      ],
    ] as const) {
      t.strictSame(
        await found(parameters),
        all.filter(fits).map(({ id }) => id),
        JSON.stringify(parameters),
      )
    }
    t.match((await client.get('/transactions?filter[nonsense]=1')).problem, {
      status: 400,
      errors: [{ code: 'unknown_field' }],
    })
  })

  await t.test('every sort pages forwards and backwards without a gap', async (t) => {
    const by: Readonly<Record<string, (row: Transaction) => string>> = {
      '-createdAt': ({ createdAt }) => createdAt,
      createdAt: ({ createdAt }) => createdAt,
      '-bookedAt': ({ bookedAt }) => bookedAt ?? '9999',
      '-amount': ({ amount }) => amount.amountMinor.padStart(20, '0'),
    }
    for (const [sort, key] of Object.entries(by)) {
      const { data } = await list({ sort })
      const keys = data.map(key)
      t.strictSame(keys, sort.startsWith('-') ? keys.toSorted().reverse() : keys.toSorted(), sort)
      const seen: string[] = []
      let cursor: string | null = null
      do {
        const { data: rows, page }: { data: readonly Transaction[]; page: { nextCursor: string | null } } = await list({
          sort,
          limit: 2,
          ...(cursor === null ? {} : { cursor }),
        })
        seen.push(...rows.map(({ id }) => id))
        cursor = page.nextCursor
      } while (cursor !== null)
      t.strictSame(
        seen,
        data.map(({ id }) => id),
        `${sort}, page by page`,
      )
    }
  })

  await t.test('unchanged they need not be sent again', async (t) => {
    const first = await client.get(`/transactions/${payment.id}`)
    t.equal(
      (await client.get(`/transactions/${payment.id}`, { 'if-none-match': first.headers.get('etag')! })).status,
      304,
    )
    t.match((await client.get(`/transactions/${MISSING_ID}`)).problem, { status: 404, code: 'not-found' })
    t.match((await client.get(`/transactions/${MISSING_ID}/updates`)).problem, { status: 404, code: 'not-found' })
  })

  await t.test('a booked one is confirmed', async (t) => {
    const { customer } = world.service.sandbox!
    const ask = async (id: string) =>
      await fetch(`${world.url}/v1/transactions/${id}/confirmation`, {
        headers: { authorization: `Bearer ${customer.apiKey}`, 'x-tenant-id': customer.id },
      })
    const reply = await ask(payment.id)
    t.equal(reply.headers.get('content-disposition'), `attachment; filename="transaction-${payment.number}.pdf"`)
    const text = pdfText(new Uint8Array(await reply.arrayBuffer())).join('\n')
    for (const words of ['Transaction confirmation', '1,234.56 EUR', payment.number, payment.recipient.name])
      t.ok(text.includes(words), words)
    const waiting = (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 1701))).body
    t.match(await (await ask(waiting.id)).json(), { code: 'confirmation-not-available' })
    t.equal((await ask(MISSING_ID)).status, 404)
  })

  await t.test('the follower comes to the same without anybody reading', async (t) => {
    const { data } = await list()
    await world.query('truncate account_transaction')
    await world.query(
      `insert into transaction_backfill (object, after_id) select object, '00000000-0000-0000-0000-000000000000'::uuid from unnest(array['payment', 'transfer', 'incoming_payment', 'exchange']) object`,
    )
    await until('all is made again', async () =>
      (await world.query('select from transaction_backfill')).length === 0 ? true : null,
    )
    const rows = (await list()).data
    await world.query(
      `update account_transaction t set attachment_count = (select count(*) from document d where d.transaction_id = t.id), annotation_count = (select count(*) from annotation a where a.transaction_id = t.id)`,
    )
    const plain = (row: Transaction) => ({ ...row, attachmentCount: 0, annotationCount: 0, hasAttachments: false })
    t.strictSame(rows.map(plain), data.map(plain))
  })
})

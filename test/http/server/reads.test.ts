import { hash } from 'node:crypto'
import { Compile } from 'typebox/compile'
import t from 'tap'
import type { Test } from 'tap'
import type { TSchema } from 'typebox'

import { balanceList, Balance } from '../../../lib/balances/balance-schema.ts'
import { Hold } from '../../../lib/balances/hold-schema.ts'
import { JournalLine } from '../../../lib/balances/journal-line-schema.ts'
import { Payment } from '../../../lib/payments/payment-schema.ts'
import { Recipient } from '../../../lib/recipients/recipient-schema.ts'
import { Transfer } from '../../../lib/transfers/transfer-schema.ts'
import type { createBalanceReads } from '../../../actors/balances/balance-reads.ts'
import type { createIncomingPaymentReads } from '../../../actors/incoming-payments/incoming-payment-reads.ts'
import type { createPaymentReads } from '../../../actors/payments/payment-reads.ts'
import type { createRecipientReads } from '../../../actors/recipients/recipient-reads.ts'
import type { createTransferReads } from '../../../actors/transfers/transfer-reads.ts'
import type { ReadServices } from '../../../http/route/services.ts'
import { accountOf } from '../../../lib/ledger/chart.ts'
import {
  JOURNAL_TYPES,
  journalLineId,
  journalMark,
  journalMarks,
  journalType,
} from '../../../lib/ledger/journal-line.ts'
import { post, RULE_IDS, type RuleId } from '../../../lib/ledger/postings.ts'
import { balanceBranch } from '../../../storage/balances/balance-queries.ts'
import { journalBranches } from '../../../storage/balances/journal-queries.ts'
import type { CursorKey, ListResult, Position } from '../../../lib/contract/list.ts'
import { pageStatement, type Branch } from '../../../storage/db/page.ts'
import { readDatabase } from '../../../storage/db/read-database.ts'
import { recipientBranch } from '../../../storage/recipients/recipient-queries.ts'
import { openBooks, START, type Books } from '../../support/books.ts'

const NOTHING = { filters: {}, metadata: [], limit: 100, position: null, withTotal: false, q: null } as const

/** Walks a list to its end and back again, page by page, and returns the rows on the way there. */
async function walk<Row extends { readonly id: string }>(
  t: Test,
  read: (position: Position | null) => Promise<ListResult<Row> | null>,
): Promise<Row[]> {
  const pages: Row[][] = []
  let keys: readonly CursorKey[] = []
  let position: Position | null = null
  for (;;) {
    const page: ListResult<Row> = (await read(position))!
    t.equal(page.keys.length, page.rows.length)
    pages.push([...page.rows])
    if (!page.hasMore) break
    // As a cursor carries them.
    keys = JSON.parse(JSON.stringify(page.keys.at(-1))) as CursorKey[]
    position = { direction: 'after', keys }
  }
  const there = pages.flat()
  t.equal(new Set(there.map(({ id }) => id)).size, there.length, 'no row twice')
  let first: ListResult<Row> = (await read(position))!
  const back: Row[] = [...first.rows]
  for (;;) {
    const page: ListResult<Row> = (await read({ direction: 'before', keys: first.keys[0]! }))!
    back.unshift(...page.rows)
    if (!page.hasMore) break
    first = page
  }
  t.strictSame(
    back.map(({ id }) => id),
    there.map(({ id }) => id),
    'the way back shows the same rows',
  )
  return there
}

function matches(t: Test, schema: TSchema, view: unknown): void {
  const check = Compile(schema)
  const json: unknown = JSON.parse(JSON.stringify(view))
  t.ok(check.Check(json), JSON.stringify([...check.Errors(json)].slice(0, 3)))
}

t.test('the reads are what the API asks for', async (t) => {
  const { reads } = await openBooks(t)
  const queries: ReturnType<typeof createBalanceReads> &
    ReturnType<typeof createIncomingPaymentReads> &
    ReturnType<typeof createPaymentReads> &
    ReturnType<typeof createRecipientReads> &
    ReturnType<typeof createTransferReads> = reads
  const findApiKey: ReadServices['findApiKey'] = reads.findApiKey
  t.ok(queries.listBalances)
  t.ok(findApiKey)
  t.same(Object.keys(balanceList.filters).sort(), [
    'createdFrom',
    'createdTo',
    'currency',
    'customerId',
    'id',
    'parentBalanceId',
    'status',
    'type',
  ])
})

t.test('what is read has the shape of the API', async (t) => {
  const books = await openBooks(t)
  const { reads, tenant, sandbox } = books
  const payment = await books.pay()
  const transfer = await books.transfer(await books.openBalance('Savings'), 100n)
  const balanceId = sandbox.customer.balances.EUR
  const balance = await reads.getBalance(tenant, balanceId)
  matches(t, Balance, balance?.view)
  t.equal(balance?.version, 1, 'movements are no change of what people change')
  t.match(balance?.view, {
    bookBalance: { amountMinor: '9999900', currency: 'EUR' },
    heldBalance: { amountMinor: '1015' },
    availableBalance: { amountMinor: '9998885' },
  })
  matches(t, Payment, (await reads.getPayment(tenant, payment))?.view)
  matches(t, Transfer, (await reads.getTransfer(tenant, transfer))?.view)
  t.match((await reads.getTransfer(tenant, transfer))?.view, {
    amount: { amountMinor: '100' },
    metadata: { costCentre: '4711' },
    completedAt: '2026-05-04T09:30:00.002Z',
  })
  matches(t, Recipient, (await reads.getRecipient(tenant, sandbox.customer.recipients.USD))?.view)
  for (const row of (await reads.listBalances({ ...NOTHING, tenant, sort: 'currency' })).rows) matches(t, Balance, row)
  for (const row of (await reads.listRecipients({ ...NOTHING, tenant, sort: 'name' })).rows) {
    matches(t, Recipient, row)
    for (const member of ['iban', 'accountNumber', 'clabe', 'bankgiro', 'fpsId'] as const)
      t.equal(row.bank[member], null, `lists hide ${member}`)
  }
  for (const row of (await reads.listPayments({ ...NOTHING, tenant, sort: '-createdAt' })).rows)
    matches(t, Payment, row)
  for (const row of (await reads.listJournal({ ...NOTHING, tenant, balanceId, sort: 'sequence' }))!.rows)
    matches(t, JournalLine, row)
  for (const row of (await reads.listHolds({ ...NOTHING, tenant, balanceId, sort: '-createdAt' }))!.rows)
    matches(t, Hold, row)
})

t.test('a tenant sees its own rows only', async (t) => {
  const books = await openBooks(t)
  const { reads, sandbox } = books
  const payment = await books.pay()
  const transfer = await books.transfer(await books.openBalance('Savings'), 100n)
  const balanceId = sandbox.customer.balances.EUR
  const operator = { id: sandbox.operator.id, kind: 'operator' } as const
  for (const tenant of [{ id: books.ids.next(), kind: 'customer' }, operator] as const) {
    t.equal(await reads.getBalance(tenant, balanceId), null)
    t.equal(await reads.getPayment(tenant, payment), null)
    t.equal(await reads.getTransfer(tenant, transfer), null)
    t.equal(await reads.getRecipient(tenant, sandbox.customer.recipients.EUR), null)
    t.equal(await reads.listJournal({ ...NOTHING, tenant, balanceId, sort: 'sequence' }), null)
    t.equal(await reads.listHolds({ ...NOTHING, tenant, balanceId, sort: '-createdAt' }), null)
    t.strictSame(await reads.listPayments({ ...NOTHING, tenant, sort: '-createdAt', withTotal: true }), {
      rows: [],
      keys: [],
      hasMore: false,
      total: 0,
    })
    t.strictSame((await reads.listRecipients({ ...NOTHING, tenant, sort: 'name', q: 'amsterdam' })).rows, [])
  }
  const all = await reads.listBalances({ ...NOTHING, tenant: operator, sort: 'currency', withTotal: true })
  t.equal(all.total, 5)
  t.ok(
    all.rows.every(({ connectionId }) => connectionId !== undefined),
    'staff see the connection',
  )
  const own = await reads.listBalances({
    ...NOTHING,
    tenant: operator,
    sort: 'currency',
    filters: { customerId: [sandbox.customer.id] },
    q: 'savings',
  })
  t.strictSame(
    own.rows.map(({ name }) => name),
    ['Savings'],
  )
  t.equal(
    (await reads.listBalances({ ...NOTHING, tenant: { id: books.ids.next(), kind: 'operator' }, sort: 'currency' }))
      .rows.length,
    0,
  )
})

t.test('every sort of every list pages to its end and back, ties and all', async (t) => {
  const books = await openBooks(t)
  const { reads, tenant, client, sandbox, clock } = books
  const balanceId = sandbox.customer.balances.EUR
  for (let n = 0; n < 7; n += 1) await books.openBalance(n % 2 === 0 ? 'Same' : `Name ${n}`)
  const savings = await books.openBalance('Savings')
  for (let n = 0; n < 11; n += 1) {
    clock.advance(1_000)
    const id = await books.pay({ amount: BigInt(100 * (1 + (n % 3))) })
    // Those for a later day would hold and book nothing yet.
    await client.query('update payment set execution_date = $2 where id = $1', [
      id,
      `2026-05-${String(4 + (n % 4)).padStart(2, '0')}`,
    ])
    if (n % 3 === 0) await books.handOver(id)
    await books.transfer(savings, 10n)
  }
  await client.query(
    `insert into recipient (id, customer_id, type, name, currency, bank_country, bank, masked_identifier, status, last_paid_at, created_by, created_at, updated_at)
    select uuidv7(), $1, 'individual', 'Same', 'EUR', 'DE', '{}', 'DE12****' || i, 'active',
      case when i > 5 then '2026-05-04T10:00:00.123456Z'::timestamptz + interval '1 microsecond' * (i / 2) end, $1, now(), now() from generate_series(1, 10) i`,
    [tenant.id],
  )
  const limits = [1, 3, 100]
  for (const limit of limits) {
    for (const sort of ['currency', '-createdAt', 'name'] as const) {
      const rows = await walk(t, (position) => reads.listBalances({ ...NOTHING, tenant, sort, limit, position }))
      t.equal(rows.length, 12, `balances by ${sort}, ${limit} a page`)
    }
    for (const sort of ['name', '-createdAt', '-lastPaidAt'] as const) {
      const rows = await walk(t, (position) => reads.listRecipients({ ...NOTHING, tenant, sort, limit, position }))
      t.equal(rows.length, 14, `recipients by ${sort}`)
      if (sort === '-lastPaidAt')
        t.strictSame(
          rows.map(({ lastPaidAt }) => lastPaidAt !== null),
          rows.map((_, index) => index < 5),
          'those never paid come last',
        )
    }
    for (const sort of ['-createdAt', 'createdAt', '-executionDate', '-amount'] as const) {
      const rows = await walk(t, (position) => reads.listPayments({ ...NOTHING, tenant, sort, limit, position }))
      t.equal(rows.length, 11, `payments by ${sort}`)
      const shown = rows.map((row) =>
        sort === '-amount'
          ? Number(row.amount.amountMinor)
          : sort === '-executionDate'
            ? Date.parse(row.executionDate!)
            : Date.parse(row.createdAt),
      )
      t.strictSame(
        shown,
        shown.toSorted((a, b) => (sort === 'createdAt' ? a - b : b - a)),
      )
    }
    for (const sort of ['-sequence', 'sequence'] as const) {
      const rows = await walk(t, (position) =>
        reads.listJournal({ ...NOTHING, tenant, balanceId, sort, limit, position }),
      )
      // One opening credit, eleven transfers, and four payments with a fee each.
      const sequences = Array.from({ length: 1 + 11 + 8 }, (_, index) => index + 1)
      t.strictSame(
        rows.map(({ sequence }) => sequence),
        sort === 'sequence' ? sequences : sequences.toReversed(),
      )
    }
    for (const sort of ['-createdAt', '-amount'] as const) {
      const filters = { status: ['active', 'captured'] }
      t.equal(
        (await walk(t, (position) => reads.listHolds({ ...NOTHING, tenant, balanceId, sort, limit, position }))).length,
        7,
        'active by default',
      )
      t.equal(
        (
          await walk(t, (position) =>
            reads.listHolds({ ...NOTHING, tenant, balanceId, sort, limit, position, filters }),
          )
        ).length,
        11,
        'merged from two indexes',
      )
    }
  }
})

t.test('filters narrow, and totals count what is left', async (t) => {
  const books = await openBooks(t)
  const { reads, tenant, sandbox, clock } = books
  const balanceId = sandbox.customer.balances.EUR
  const early = await books.pay({ externalId: 'INV-1', metadata: { costCentre: '1' } })
  clock.advance(3_600_000 * 5)
  const late = await books.pay({ amount: 77n })
  await books.handOver(late)
  await books.settle(late)
  const payments = async (
    filters: Parameters<typeof reads.listPayments>[0]['filters'],
    metadata: readonly (readonly [string, string])[] = [],
  ) => {
    const { rows, total } = await reads.listPayments({
      ...NOTHING,
      tenant,
      sort: 'createdAt',
      filters,
      metadata,
      withTotal: true,
    })
    t.equal(total, rows.length)
    return rows.map(({ id }) => id)
  }
  t.strictSame(await payments({}), [early, late])
  t.strictSame(await payments({ status: ['completed', 'failed'] }), [late])
  t.strictSame(await payments({ externalId: ['INV-1'] }), [early])
  t.strictSame(await payments({ currency: ['USD'] }), [])
  t.strictSame(await payments({ currency: ['EUR'], amountTo: 77n }), [late])
  t.strictSame(await payments({ amountFrom: 78n }), [early])
  t.strictSame(await payments({ createdFrom: '2026-05-04T10:00:00.000Z' }), [late])
  t.strictSame(await payments({ createdTo: { before: '2026-05-04T10:00:00.000Z' } }), [early])
  t.strictSame(await payments({ completedFrom: '2026-05-04T10:00:00.000Z' }), [late])
  t.strictSame(await payments({ executionFrom: '2026-05-04', executionTo: '2026-05-04' }), [early, late])
  t.strictSame(await payments({ executionFrom: '2026-05-05' }), [])
  t.strictSame(await payments({ bulkPaymentId: [early] }), [])
  t.strictSame(await payments({}, [['costCentre', '1']]), [early])
  t.strictSame(await payments({}, [['costCentre', '2']]), [])
  t.strictSame(
    await payments({
      recipientId: [sandbox.customer.recipients.EUR],
      sourceBalanceId: [balanceId],
      rail: ['sepa'],
      createdVia: ['api_key'],
    }),
    [early, late],
  )

  const lines = async (filters: Parameters<typeof reads.listJournal>[0]['filters']) => {
    const { rows, total } = (await reads.listJournal({
      ...NOTHING,
      tenant,
      balanceId,
      sort: 'sequence',
      filters,
      withTotal: true,
    }))!
    t.equal(total, rows.length)
    return rows.map(({ sequence, type }) => `${sequence} ${type}`)
  }
  t.strictSame(await lines({}), ['1 incoming_payment', '2 outgoing_payment', '3 fee'])
  t.strictSame(await lines({ direction: ['credit'] }), ['1 incoming_payment'])
  t.strictSame(await lines({ type: ['fee', 'incoming_payment'] }), ['1 incoming_payment', '3 fee'])
  t.strictSame(await lines({ type: ['exchange_in'] }), [])
  t.strictSame(await lines({ bookedFrom: '2026-05-04T10:00:00.000Z' }), ['2 outgoing_payment', '3 fee'])
  t.strictSame(await lines({ bookedTo: { before: '2026-05-04T10:00:00.000Z' } }), ['1 incoming_payment'])
  t.strictSame(await lines({ bookedFrom: '2027-01-01T00:00:00.000Z' }), [])
  t.strictSame(await lines({ valueFrom: '2026-05-04', valueTo: '2026-05-04', amountFrom: 15n, amountTo: 77n }), [
    '2 outgoing_payment',
    '3 fee',
  ])
  t.strictSame(await lines({ transactionId: [early] }), [])
})

t.test('a rejected payment shows what came back as a return and a refunded fee', async (t) => {
  const books = await openBooks(t)
  const id = await books.pay()
  await books.handOver(id)
  await books.reject(id)
  const { rows } = (await books.reads.listJournal({
    ...NOTHING,
    tenant: books.tenant,
    balanceId: books.sandbox.customer.balances.EUR,
    sort: 'sequence',
  }))!
  t.strictSame(
    rows.map(({ type, direction, runningBalance }) => [type, direction, runningBalance.amountMinor]),
    [
      ['incoming_payment', 'credit', '10000000'],
      ['outgoing_payment', 'debit', '9999000'],
      ['fee', 'debit', '9998985'],
      ['payment_return', 'credit', '9999985'],
      ['fee_refund', 'credit', '10000000'],
    ],
  )
  t.equal(new Set(rows.map((row) => row.id)).size, rows.length)
  t.match(rows[1], {
    source: { object: 'payment', id },
    counterpartyName: 'Amsterdam Trading BV',
    reference: 'Invoice 1',
    valueDate: '2026-05-04',
  })
  const view = (await books.reads.getPayment(books.tenant, id))?.view
  t.match(view, {
    status: 'failed',
    failure: { code: 'account_closed', schemeCode: 'AC04' },
    statusReason: { code: 'account_closed' },
  })
  t.notOk('processing' in view!)
})

t.test('search ignores case and accents, and all words must begin some word', async (t) => {
  const books = await openBooks(t)
  const { reads, tenant, client } = books
  const names = ['Łódź Spółka', 'Søren Ærø ApS', 'Straße & Söhne', 'ÉCLAIR Traiteur', "O'Brien-Müller", '株式会社']
  for (const [index, name] of names.entries()) {
    await client.query(
      `insert into recipient (id, customer_id, type, name, nickname, email, currency, bank_country, bank, masked_identifier, status, created_by, created_at, updated_at)
      values (uuidv7(), $1, 'business', $2, $3, $4, 'EUR', 'DE', '{}', $5, 'active', $1, now(), now())`,
      [tenant.id, name, `nick${index}`, `person${index}@example.com`, `DE12****990${index}`],
    )
    await client.query(
      `insert into balance (id, customer_id, operator_id, connection_id, shard, currency, name, type, status, is_default, created_at, updated_at)
      select uuidv7(), customer_id, operator_id, connection_id, shard, currency, $1, 'main', 'active', false, now(), now() from balance where id = $2`,
      [name, books.sandbox.customer.balances.EUR],
    )
  }
  const find = async (q: string) => {
    const recipients = await reads.listRecipients({ ...NOTHING, tenant, sort: 'name', q, withTotal: true })
    t.equal(recipients.total, recipients.rows.length)
    return recipients.rows.map(({ name }) => name)
  }
  const cases: readonly (readonly [q: string, found: readonly string[]])[] = [
    ['lodz', ['Łódź Spółka']],
    ['ŁÓDŹ sp', ['Łódź Spółka']],
    ['sp lo', ['Łódź Spółka']],
    ['odz', []],
    ['lodz xy', []],
    ['soren aero', ['Søren Ærø ApS']],
    ['strasse', ['Straße & Söhne']],
    ['SOHNE', ['Straße & Söhne']],
    ['éclair', ['ÉCLAIR Traiteur']],
    ['e\u0301clair', ['ÉCLAIR Traiteur']],
    ['muller', ["O'Brien-Müller"]],
    ["o'brien", ["O'Brien-Müller"]],
    ['株式', ['株式会社']],
    ['nick3', ['ÉCLAIR Traiteur']],
    ['person4@example', ["O'Brien-Müller"]],
    ['DE12****9905', ['株式会社']],
    ['amst', ['Amsterdam Trading BV']],
    ['--', []],
    [`'; drop table payment; --`, []],
    ['%%', []],
    ['lodz & ! | ( ) :* \\', ['Łódź Spółka']],
  ]
  for (const [q, found] of cases) t.strictSame(await find(q), found, q)
  t.strictSame(
    (await reads.listBalances({ ...NOTHING, tenant, sort: 'name', q: 'AERO' })).rows.map(({ name }) => name),
    ['Søren Ærø ApS'],
  )
})

t.test('queued payments show their place, and lose it once they are handed over', async (t) => {
  const books = await openBooks(t)
  const { reads, tenant, clock } = books
  const ids: string[] = []
  for (let n = 0; n < 25; n += 1) ids.push(await books.pay())
  await books.handOver(ids[0]!)
  const processing = async (id: string) => (await reads.getPayment(tenant, id))?.view.processing
  t.equal(await processing(ids[0]!), undefined)
  t.strictSame(await processing(ids[1]!), {
    status: 'queued',
    position: 1,
    etaSeconds: 1,
    estimatedAt: new Date(clock.now() + 1000).toISOString(),
  })
  t.match(await processing(ids[24]!), { position: 24, etaSeconds: 3 })
  const { rows } = await reads.listPayments({ ...NOTHING, tenant, sort: 'createdAt' })
  t.strictSame(
    rows.map(({ processing: place }) => place?.position),
    [undefined, ...Array.from({ length: 24 }, (_, index) => index + 1)],
  )
  // A page that begins in the middle of the queue counts those before it, too.
  const newest = await reads.listPayments({ ...NOTHING, tenant, sort: '-createdAt', limit: 3 })
  t.strictSame(
    newest.rows.map(({ processing: place }) => place?.position),
    [24, 23, 22],
  )
})

t.test('what the customer must not learn of a hold is not in it', async (t) => {
  const books = await openBooks(t)
  const { reads, tenant, client, sandbox } = books
  const balanceId = sandbox.customer.balances.EUR
  const payment = await books.pay()
  await client.query(
    `insert into hold (id, balance_id, customer_id, amount, status, subject_type, subject_id, description, created_at)
    values (uuidv7(), $1, $2, 5, 'active', 'legal_order', gen_random_uuid(), 'Order of the court', now())`,
    [balanceId, tenant.id],
  )
  const find = async (filters: object) =>
    (await reads.listHolds({ ...NOTHING, tenant, balanceId, sort: '-createdAt', filters }))!.rows
  const [hold] = await find({ subjectType: ['payment_review'] })
  t.match(hold, {
    subjectType: 'payment_review',
    subjectId: hold!.id,
    description: 'Payment under review',
    amount: { amountMinor: '5' },
  })
  t.strictSame(await find({ subjectType: ['legal_order'] }), [])
  t.equal((await find({ subjectId: [hold!.id] })).length, 1)
  t.equal((await find({ subjectId: [payment] })).length, 1)
  t.equal((await find({ status: ['released'] })).length, 0)
})

t.test('a recorded command is found with what its answer is made of, for a day', async (t) => {
  const books = await openBooks(t)
  const key = { id: books.ids.next(), fingerprint: books.ids.next() }
  const id = await books.pay({ key })
  const found = await books.reads.findIdempotencyRecord(key.id)
  t.match(found, {
    fingerprint: key.fingerprint,
    status: 201,
    answer: null,
    createdAt: new Date(START + 1).toISOString(),
    resource: { kind: 'payment', payment: { id } },
  })
  t.equal(await books.reads.findIdempotencyRecord(books.ids.next()), null)
  books.clock.advance(24 * 3_600_000 + 1)
  t.equal(await books.reads.findIdempotencyRecord(key.id), null)
  t.equal(await books.reads.findApiKey(hash('sha256', 'nothing', 'hex')), null)
})

t.test('every line that a rule can make has a type, and is found by it', (t) => {
  const amounts = { A: 90n, F: 10n, T: 2n, R: 80n, S: 70n, B: 60n, Sp: 65n, Bp: 55n, D: 50n, P: 40n, C: 30n }
  const currencies = { c: 'EUR', s: 'EUR', b: 'USD' }
  for (const rule of RULE_IDS) {
    for (const pair of post(rule, amounts, currencies)) {
      const sides = [
        ['debit', pair.debit, pair.credit, pair.debitType],
        ['credit', pair.credit, pair.debit, pair.creditType],
      ] as const
      for (const [side, own, counterpart, type] of sides) {
        if (accountOf(own).per !== 'balance') continue
        const source = { rule, side, counterpart, sourceObject: 'transfer' as const }
        t.equal(journalType(source), type, journalMark(source))
        t.ok(journalMarks([type!]).includes(journalMark(source)))
      }
    }
  }
  t.ok(JOURNAL_TYPES.size > 30)
  t.equal(journalType({ rule: 'L20', side: 'debit', counterpart: 'cust', sourceObject: 'payment' }), 'outgoing_payment')
  t.throws(() => journalType({ rule: 'L99' as RuleId, side: 'debit', counterpart: 'cust', sourceObject: 'transfer' }))
  t.end()
})

t.test('the lines of an entry have ids of their own', (t) => {
  const entry = '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f'
  const ids = Array.from({ length: 128 }, (_, ordinal) => [
    journalLineId(entry, ordinal, 'debit'),
    journalLineId(entry, ordinal, 'credit'),
  ]).flat()
  t.equal(new Set(ids).size, 256)
  t.equal(ids[0], entry)
  t.equal(ids[1], '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5e')
  t.throws(() => journalLineId(entry, 128, 'debit'), RangeError)
  t.end()
})

t.test('lists read ranges of indexes', async (t) => {
  const books = await openBooks(t)
  const { tenant, client, sandbox } = books
  await fill(books)
  const db = readDatabase(books.database)
  const {
    rows: [middle],
  } = await client.query<{ id: string }>(
    'select id from recipient where customer_id = $1 order by id offset 500 limit 1',
    [tenant.id],
  )
  const { id } = middle!
  const plan = async (branches: readonly Branch[], position: Position | null): Promise<string> => {
    const { sql, parameters } = pageStatement(branches, 26, position).compile(db.kysely)
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${sql}`, [...parameters])
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }
  const deep = (keys: readonly CursorKey[]): Position => ({ direction: 'after', keys })
  const journal = await plan(
    journalBranches({ ...NOTHING, tenant, sort: '-sequence', balanceId: sandbox.customer.balances.EUR }),
    deep(['500']),
  )
  t.match(journal, /Index Scan Backward using posting_debit/)
  t.match(journal, /Index Scan Backward using posting_credit/)
  t.match(journal, /Merge Append/)
  const sorts = [
    ['name', ['m', id], 'recipient_customer'],
    ['-createdAt', [id], 'recipient_created'],
    ['-lastPaidAt', ['-infinity', id], 'recipient_last_paid'],
  ] as const
  for (const [sort, keys, index] of sorts) {
    for (const position of [null, deep(keys)]) {
      const text = await plan([recipientBranch({ ...NOTHING, tenant, sort })], position)
      t.match(text, new RegExp(`Index Scan( Backward)? using ${index}`), sort)
      t.notMatch(text, /Sort/)
    }
  }
  t.match(
    await plan([recipientBranch({ ...NOTHING, tenant, sort: 'name', q: 'name 7770' })], null),
    /Bitmap Index Scan on recipient_search/,
  )
  t.match(await plan([balanceBranch({ ...NOTHING, tenant, sort: 'name' })], null), /using balance_customer_name/)
})

/** Enough rows that an index is worth its while. */
async function fill({ client, tenant, sandbox }: Books): Promise<void> {
  await client.query(
    `insert into recipient (id, customer_id, type, name, currency, bank_country, bank, masked_identifier, status, created_by, created_at, updated_at)
    select uuidv7(), case when i % 50 = 0 then $1::uuid else md5((i % 50)::text)::uuid end, 'business', 'Name ' || i, 'EUR', 'DE', '{}', 'DE12****' || i, 'active',
      $1, now(), now() from generate_series(1, 60000) i`,
    [tenant.id],
  )
  await client.query(
    `insert into balance (id, customer_id, operator_id, connection_id, shard, currency, name, type, status, is_default, created_at, updated_at)
    select uuidv7(), customer_id, operator_id, connection_id, shard, currency, 'Name ' || i, 'main', 'active', false, now(), now()
    from balance, generate_series(1, 5000) i where balance.id = $1`,
    [sandbox.customer.balances.EUR],
  )
  await client.query(
    `insert into posting (entry_id, ordinal, customer_id, rule, occurrence, source_object, source_id, currency, amount, debit_account, credit_account,
      debit_sequence, debit_balance, credit_sequence, credit_balance, booked_at, value_date)
    select uuidv7(), 0, $1, 'L20', 1, 'transfer', uuidv7(), 'EUR', 1, case when i % 2 = 0 then $2::uuid else $3 end, case when i % 2 = 0 then $3::uuid else $2 end,
      i + 1, 0, i + 1, 0, now(), now() from generate_series(1, 20000) i`,
    [tenant.id, sandbox.customer.balances.EUR, sandbox.customer.balances.GBP],
  )
  await client.query('analyze')
}

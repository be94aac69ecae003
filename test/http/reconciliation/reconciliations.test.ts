/** The partner's statement and the ledger, compared day by day; the differences and their resolution. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type {
  Reconciliation,
  ReconciliationBreak,
  TrialBalance,
} from '../../../lib/reconciliation/reconciliation-schema.ts'
import type { SuspenseItem } from '../../../lib/incoming-payments/incoming-payment-schema.ts'
import type { PageBody } from '../../support/client.ts'
import type { Person } from '../../support/person.ts'
import { createWorld } from '../../support/world.ts'
import { eur, pay } from '../compliance/staff.ts'
import { becomes, exchange, quote } from '../exchange/support.ts'
import { bankBooks, breaksOf, endDay, onAccount, reconcile } from './support.ts'

const world = await createWorld()
t.teardown(() => world[Symbol.asyncDispose]())
const { client, balances } = world.seeded
const OPENING = 10_000_000

/** The sandbox has no treasurer of its own, so somebody becomes one. */
async function treasurer(): Promise<Person> {
  await world.query(
    `update membership m set role = 'treasury' from platform_user u where u.id = m.user_id and u.email like 'compliance@%'`,
  )
  return await world.person('compliance').signIn()
}

t.test('a day on which everything arrived is matched, line by line', async (t) => {
  const paid = [await pay(world, 5_000), await pay(world, 7_050)]
  for (const { id } of paid) {
    await client.paymentReaching(id, 'completed')
  }
  const day = endDay(world)
  // The opening credits were booked by the clock of the machine, which TEST_START may have left days behind.
  const [seeded] = await world.query<{ day: string }>(
    `select (min(p.booked_at) at time zone 'UTC')::date::text as day from posting p where p.credit_account = $1`,
    [balances.EUR],
  )
  const isFirstDay = seeded!.day === day
  const opening = isFirstDay ? 0 : OPENING
  const done = await reconcile(world, day)
  t.match(done, {
    status: 'matched',
    error: null,
    currency: 'EUR',
    day,
    matched: isFirstDay ? 3 : 2,
    timing: 0,
    breaks: 0,
    difference: eur(0),
    unexplained: eur(0),
    statement: {
      entries: isFirstDay ? 3 : 2,
      openingBalance: eur(opening),
      closingBalance: eur(OPENING - 12_050),
      sha256: /^[0-9a-f]{64}$/,
    },
    nostro: { openingBalance: eur(opening), closingBalance: eur(OPENING - 12_050) },
  })
  t.strictSame(await breaksOf(world, done), [])
  t.strictSame(
    (await world.operator.post('/reconciliations', { currency: 'EUR', until: day })).body,
    { until: day, queued: 0 },
    'a day is compared once',
  )
  t.match((await world.operator.post('/reconciliations', { connectionId: randomUUID() })).problem, {
    status: 422,
    errors: [{ field: '/connectionId', code: 'not_found' }],
  })
  const gbp = await reconcile(world, day, 'GBP')
  t.match(gbp, { status: 'matched', matched: isFirstDay ? 1 : 0 }, 'each currency by itself')
})

t.test('what midnight divides is timing, and matched the day after', async (t) => {
  await bankBooks(world, 'DBIT', 100, (await late()).id)
  const late1 = await breaksAfter()
  t.match(late1.breaks, [
    {
      kind: 'missing_with_us',
      status: 'timing',
      direction: 'debit',
      partnerAmount: eur(100),
      ourAmount: null,
      difference: eur(-100),
      ageDays: 1,
      allowedOutcomes: ['explained'],
    },
  ])
  t.match(late1.done, { status: 'matched', timing: 1, breaks: 0, difference: eur(-100), unexplained: eur(0) })

  /** A payment that the ledger settles tomorrow only, while the bank has debited it today. */
  async function late() {
    const payment = await pay(world, 100)
    await client.paymentReaching(payment.id, 'completed')
    // The bank's own line of it is made tomorrow's, ours today's; the other way round would be the same.
    await world.query(
      `update posting set booked_at = booked_at + interval '1 day' where source_id = $1 and rule = 'L11'`,
      [payment.id],
    )
    await world.query('update sandbox_order set connection_id = null where reference = $1', [payment.id])
    return payment
  }
  async function breaksAfter() {
    const done = await reconcile(world, endDay(world))
    return { done, breaks: await breaksOf(world, done) }
  }
  const next = await breaksAfter()
  t.match(next.done, { status: 'matched', timing: 0, breaks: 0, difference: eur(0), unexplained: eur(0), matched: 1 })
  t.strictSame(next.breaks, [])
  const [before] = await breaksOf(world, late1.done)
  t.match(before, { status: 'matched', clearedOn: next.done.day })
})

t.test('what only the partner has goes to suspense a day later, and is explained by people', async (t) => {
  await bankBooks(world, 'DBIT', 250)
  const credit = await bankBooks(world, 'CRDT', 900)
  t.match(await reconcile(world, endDay(world)), {
    status: 'matched',
    timing: 2,
    breaks: 0,
    difference: eur(650),
    unexplained: eur(0),
  })
  const opened = await reconcile(world, endDay(world))
  t.match(opened, { status: 'breaks', timing: 0, breaks: 2, difference: eur(650), unexplained: eur(0) })
  const [credited, debit] = (await breaksOf(world, opened)).toSorted((one, other) =>
    one.direction < other.direction ? -1 : 1,
  )
  t.match(debit, {
    status: 'in_suspense',
    direction: 'debit',
    partnerAmount: eur(250),
    allowedOutcomes: ['charge'],
    suspenseItemId: null,
  })
  t.match(credited, {
    status: 'in_suspense',
    direction: 'credit',
    partnerAmount: eur(900),
    allowedOutcomes: [],
    suspenseItemId: credit,
  })
  t.equal(await onAccount(world, 'nostro_suspense'), 250n)
  t.equal(await onAccount(world, 'unallocated'), 900n)
  await world.audit()
  t.match(
    (await world.query<{ title: string }>(`select title from notification where type = 'reconciliation_breaks'`)).map(
      ({ title }) => title,
    ),
    [`Reconciliation of EUR for ${opened.day}`],
  )

  const [treasury, admin, operations] = [
    await treasurer(),
    await world.person('operator_admin').signIn(),
    await world.person('operations').signIn(),
  ]
  // The credit finds its owner like any other money without one; the late message of the bank changes nothing then.
  const item = (await operations.get<SuspenseItem>(`/incoming-suspense/${credit}`)).body
  t.match(item, { amount: eur(900), reason: 'owner_unknown' })
  t.equal(
    (
      await operations.post(`/incoming-suspense/${credit}/allocate`, {
        balanceId: balances.EUR,
        reason: 'They called.',
      })
    ).status,
    200,
  )

  const path = `/reconciliations/${opened.id}/breaks/${debit!.id}/resolve`
  const charge = { outcome: 'charge', evidence: 'Tariff, page 3.' }
  t.match((await operations.post(path, charge)).problem, { status: 403, requiredCapability: 'treasury.manage' })
  t.equal((await world.operator.post(path, charge)).status, 403, 'not for keys')
  t.match((await treasury.post(path, { outcome: 'charge' })).problem, {
    status: 422,
    errors: [{ field: '/evidence', code: 'required' }],
  })
  t.match((await treasury.post(path, { outcome: 'explained', evidence: 'x' })).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'in_suspense',
    allowed: ['timing', 'open'],
  })
  t.equal((await treasury.post(`/reconciliations/${opened.id}/breaks/${randomUUID()}/resolve`, charge)).status, 404)
  const first = await treasury.post<ReconciliationBreak>(path, charge)
  t.equal(first.status, 202, first.text)
  t.match(first.body.proposal, { outcome: 'charge', evidence: 'Tariff, page 3.', byName: String })
  t.equal((await treasury.post(path, charge)).status, 202, 'one person twice is one person')
  const second = await admin.post<ReconciliationBreak>(path, { outcome: 'charge', evidence: 'Seen it.' })
  t.equal(second.status, 200, second.text)
  t.match(second.body, {
    status: 'resolved',
    outcome: 'charge',
    evidence: 'Seen it.',
    resolvedByName: String,
    allowedOutcomes: [],
  })
  t.match((await admin.post(path, charge)).problem, { status: 409, code: 'invalid-transition' })
  t.equal(await onAccount(world, 'nostro_suspense'), 0n)
  t.equal(await onAccount(world, 'exp_partner'), 250n)
  t.equal(await onAccount(world, 'unallocated'), 0n)

  const after = await reconcile(world, endDay(world))
  t.match(after, { status: 'matched', difference: eur(0), unexplained: eur(0), breaks: 0 })
  t.strictSame((await breaksOf(world, opened)).map(({ status, outcome }) => `${status}: ${outcome}`).toSorted(), [
    'resolved: allocated',
    'resolved: charge',
  ])
})

t.test('an amount that differs, a line said twice, and money the partner never saw', async (t) => {
  const payment = await pay(world, 4_000)
  await client.paymentReaching(payment.id, 'completed')
  await world.query('update sandbox_order set amount = amount + 15 where reference = $1', [payment.id])
  const twice = await pay(world, 600)
  await client.paymentReaching(twice.id, 'completed')
  await bankBooks(world, 'DBIT', 600, twice.id)
  const lost = await pay(world, 800)
  await client.paymentReaching(lost.id, 'completed')
  await world.query('delete from sandbox_order where reference = $1', [lost.id])
  const found = await reconcile(world, endDay(world))
  const seen = Object.fromEntries((await breaksOf(world, found)).map((each) => [each.kind, each]))
  t.match(found, { status: 'breaks', breaks: 2, timing: 1, unexplained: eur(0), difference: eur(-15 - 600 + 800) })
  t.match(seen['amount_differs'], {
    status: 'open',
    ourAmount: eur(4_000),
    partnerAmount: eur(4_015),
    difference: eur(-15),
    reference: payment.id,
    sourceObject: 'payment',
    allowedOutcomes: ['explained', 'charge'],
  })
  t.match(seen['duplicate'], { status: 'in_suspense', partnerAmount: eur(600), reference: twice.id })
  t.match(seen['missing_with_partner'], {
    status: 'timing',
    ourAmount: eur(800),
    partnerAmount: null,
    difference: eur(800),
    reference: lost.id,
    entryId: String,
  })
  const [one, other] = [await treasurer(), await world.person('operator_admin').signIn()]
  for (const person of [one, other])
    await person.post(`/reconciliations/${found.id}/breaks/${seen['amount_differs']!.id}/resolve`, {
      outcome: 'charge',
      evidence: 'A fee.',
    })
  const explained = await one.post<ReconciliationBreak>(
    `/reconciliations/${found.id}/breaks/${seen['missing_with_partner']!.id}/resolve`,
    { outcome: 'explained', evidence: 'It was sent by the other bank.' },
  )
  t.equal(explained.status, 200, 'nothing is booked, so one person is enough')
  const later = await reconcile(world, endDay(world))
  t.match(later, { breaks: 0, timing: 0, difference: eur(800), unexplained: eur(0) }, 'what is explained still differs')
  await world.query(
    "insert into sandbox_booking (id, connection_id, currency, reference, direction, amount, booked_at, code) select gen_random_uuid(), connection_id, currency, $1, 'DBIT', 800, $2, 'TEST' from payment where id = $1",
    [lost.id, new Date(world.now())],
  )
  t.match(
    await reconcile(world, endDay(world)),
    { difference: eur(0), unexplained: eur(0), matched: 1 },
    'until the partner has it after all',
  )
})

t.test('a payment whose outcome nobody knew is completed by the statement', async (t) => {
  const payment = await pay(world, 1_503)
  await client.paymentReaching(payment.id, 'exception')
  await world.query('update sandbox_order set settled_at = $2 where reference = $1', [
    payment.id,
    new Date(world.now()),
  ])
  t.match(await reconcile(world, endDay(world)), { timing: 1, breaks: 0 })
  await client.paymentReaching(payment.id, 'completed')
  t.match(
    await world.query('select type from provider_event where object_id = $1', [payment.id]),
    [{ type: 'settled' }],
    'what it rests on is kept',
  )
  t.match(await reconcile(world, endDay(world)), {
    status: 'matched',
    timing: 0,
    breaks: 0,
    difference: eur(0),
    unexplained: eur(0),
  })
})

t.test('a statement that does not add up is refused, and tried again when asked', async (t) => {
  await bankBooks(world, 'CRDT', 10)
  const earlier = endDay(world)
  // The bank's statement of the day before has changed since it was read.
  await world.query(
    `update sandbox_booking set amount = amount + 1 where text = 'Opening balance' and currency = 'EUR'`,
  )
  const failed = await reconcile(world, earlier)
  t.match(failed, { status: 'failed', error: /begins with .* the one before ended with/, statement: null })
  await world.query(
    `update sandbox_booking set amount = amount - 1 where text = 'Opening balance' and currency = 'EUR'`,
  )
  t.match(await reconcile(world, earlier), { status: 'matched', error: null, timing: 1 })
})

t.test('an exchange is on both statements, as the partner did it', async (t) => {
  const priced = await quote(client)
  const made = await exchange(client, priced.body.id)
  await becomes(world, client, made.body.id, 'completed')
  const day = endDay(world)
  for (const currency of ['EUR', 'USD']) {
    const done = await reconcile(world, day, currency)
    t.equal(done.unexplained?.amountMinor, '0', currency)
    t.ok(done.matched >= 1, currency)
    t.strictSame(
      (await breaksOf(world, done)).filter(({ reference }) => reference === made.body.id),
      [],
      currency,
    )
  }
  t.match(
    await world.query<{ n: number }>(
      `select count(*)::int as n from bank_statement_entry where reference = $1 and code = 'FORX'`,
      [made.body.id],
    ),
    [{ n: 2 }],
  )
})

t.test('the audit finds a result that was changed, and suspense that is not the breaks', async (t) => {
  for (const [check, sql, undo] of [
    [
      'reconciliations',
      `update reconciliation set nostro_closing = nostro_closing + 1 where currency = 'GBP'`,
      `update reconciliation set nostro_closing = nostro_closing - 1 where currency = 'GBP'`,
    ],
    [
      'reconciliations',
      `update bank_statement_entry set amount = amount + 1 where reconciliation_id in (select id from reconciliation where currency = 'USD')`,
      `update bank_statement_entry set amount = amount - 1 where reconciliation_id in (select id from reconciliation where currency = 'USD')`,
    ],
    [
      'suspense of statements',
      `update reconciliation_item set status = 'matched' where kind = 'duplicate'`,
      `update reconciliation_item set status = 'in_suspense' where kind = 'duplicate'`,
    ],
    [
      'suspense of statements',
      `update reconciliation_item set partner_amount = partner_amount + 1 where suspense_id is not null`,
      `update reconciliation_item set partner_amount = partner_amount - 1 where suspense_id is not null`,
    ],
  ] as const) {
    await world.query(sql)
    await t.rejects(world.audit(), new RegExp(`"${check}"`), sql)
    await world.query(undo)
  }
  await world.audit()
})

t.test('who may read, and the trial balance', async (t) => {
  const page = (await world.operator.get<PageBody<Reconciliation>>('/reconciliations?filter[currency]=EUR&limit=2'))
    .body
  t.equal(page.data.length, 2)
  t.ok(page.data[0]!.day > page.data[1]!.day)
  t.equal((await world.operator.get(`/reconciliations/${page.data[0]!.id}`)).status, 200)
  t.equal((await world.operator.get(`/reconciliations/${randomUUID()}`)).status, 404)
  t.equal((await world.operator.get(`/reconciliations/${randomUUID()}/breaks`)).status, 404)
  t.equal((await client.get('/reconciliations')).status, 403, 'not for customers')
  const { rows, totals, asOf } = (await world.operator.get<TrialBalance>('/ledger/trial-balance')).body
  t.equal(asOf, null)
  for (const { currency, debits, credits, difference } of totals) {
    t.strictSame(debits, credits)
    t.equal(difference.amountMinor, '0')
    const sum = (classes: readonly string[]) =>
      rows
        .filter((row) => row.currency === currency && classes.includes(row.class))
        .reduce((total, { balance }) => total + BigInt(balance.amountMinor), 0n)
    t.equal(sum(['asset']) + sum(['expense']), sum(['liability', 'equity', 'income']), currency)
  }
  const cust = rows.find(({ account, currency }) => account === 'cust' && currency === 'GBP')
  t.match(cust, {
    code: 2000,
    class: 'liability',
    accounts: 1,
    debits: { amountMinor: '0' },
    credits: { amountMinor: '10000000' },
    balance: { amountMinor: '10000000' },
  })
  t.strictSame(
    (await world.operator.get<TrialBalance>('/ledger/trial-balance?asOf=2020-01-01T00:00:00Z')).body.rows,
    [],
  )
  t.match((await world.operator.get('/ledger/trial-balance?asOf=yesterday')).problem, { status: 400 })
  t.match(
    (await world.operator.get<TrialBalance>('/ledger/trial-balance?asOf=2020-01-01T02:00:00%2B02:00')).body,
    { asOf: '2020-01-01T00:00:00.000Z' },
    'in UTC, whatever the offset it was asked with',
  )
  const [first] = page.data.slice(-1)
  t.match(await world.operator.get<TrialBalance>(`/ledger/trial-balance?asOf=${first!.day}T00:00:00Z`), { status: 200 })
  await world.audit()
})

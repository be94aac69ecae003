/** Entries that the operator's treasury makes by hand: asked for by one person, approved by another. */
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import type { Adjustment, AdjustmentCreate } from '../../../lib/adjustments/adjustment-schema.ts'
import type { JournalLine } from '../../../lib/balances/journal-line-schema.ts'
import type { LedgerEntry } from '../../../lib/ledger/ledger-schema.ts'
import type { Transaction } from '../../../lib/transactions/transaction-schema.ts'
import type { PageBody } from '../../support/client.ts'
import type { Person } from '../../support/person.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import { eur, pay } from '../compliance/staff.ts'
import { bankBooks, breaksOf, endDay, onAccount, reconcile } from '../reconciliation/support.ts'

const world = await createWorld()
t.teardown(() => world[Symbol.asyncDispose]())
const { client, balances } = world.seeded
const PATH = '/ledger/adjustments'

// The sandbox has no treasurer of its own, so one of its people becomes one.
await world.query(
  `update membership m set role = 'treasury' from platform_user u where u.id = m.user_id and u.email like 'compliance@%'`,
)
const first = await world.person('compliance').signIn()
const second = await world.person('operator_admin').signIn()
const [connection] = await world.query<{ id: string }>('select connection_id as id from balance where id = $1', [
  balances.EUR,
])
const connectionId = connection!.id

/** Sessions end with the days that a test lets pass. */
async function signIn(): Promise<void> {
  await first.signIn()
  await second.signIn()
}

const ask = (body: AdjustmentCreate, key: string = randomUUID(), by: Person = first) =>
  by.post<Adjustment>(PATH, body, { 'idempotency-key': key })
const approve = (id: string, by: Person = second) => by.post<Adjustment>(`${PATH}/${id}/approve`)

/** Has both people make an adjustment. */
async function adjusted(t: Test, body: AdjustmentCreate): Promise<Adjustment> {
  const asked = await ask(body)
  t.equal(asked.status, 202, asked.text)
  const approved = await approve(asked.body.id)
  t.equal(approved.status, 200, approved.text)
  return approved.body
}

const entryOf = async (id: string | undefined): Promise<LedgerEntry> =>
  (await first.get<LedgerEntry>(`/ledger/entries/${id}`)).body

const bookOf = async (id: string): Promise<number> => Number((await client.balance(id)).bookBalance.amountMinor)

t.test('the operator funds its own account', async (t) => {
  const asked = await ask({ kind: 'house_funding', connectionId, amount: eur(100_000), reason: 'Wire of 3 May.' })
  t.equal(asked.status, 202, asked.text)
  t.equal(asked.headers.get('location'), `/v1${PATH}/${asked.body.id}`)
  t.match(asked.body, {
    kind: 'house_funding',
    status: 'pending_approval',
    rule: 'L94',
    amount: eur(100_000),
    connectionId,
    balanceId: null,
    entryIds: [],
    decidedBy: null,
    reason: 'Wire of 3 May.',
  })
  t.equal(await onAccount(world, 'house'), 0n, 'one person books nothing')
  t.match((await approve(asked.body.id, first)).problem, { status: 403, code: 'insufficient-scope' })
  t.match((await first.post(`${PATH}/${asked.body.id}/reject`, { reason: 'x' })).problem, { status: 403 })
  const done = await approve(asked.body.id)
  t.match(done.body, { status: 'posted', entryIds: [String], decidedByName: String })
  t.equal(await onAccount(world, 'house'), 100_000n)
  t.match((await approve(asked.body.id)).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'posted',
    allowed: ['pending_approval'],
  })
  t.match(await entryOf(done.body.entryIds[0]), {
    rule: 'L94',
    source: { object: 'adjustment', id: asked.body.id },
    customerId: null,
    lines: [
      { key: 'nostro', direction: 'debit', amount: eur(100_000), connectionId },
      { key: 'house', direction: 'credit' },
    ],
  })
  t.strictSame((await first.get(`${PATH}/${asked.body.id}`)).body, done.body)
})

t.test('net settlements with the card scheme, in both directions', async (t) => {
  const before = await onAccount(world, 'card_payable')
  const paid = await adjusted(t, {
    kind: 'card_settlement_paid',
    connectionId,
    amount: eur(7_000),
    reason: 'Advice of the scheme, 3 May.',
  })
  t.equal(await onAccount(world, 'card_payable'), before - 7_000n, 'less is owed to the scheme')
  t.match(await entryOf(paid.entryIds[0]), {
    rule: 'L74',
    lines: [
      { key: 'card_payable', direction: 'debit', amount: eur(7_000), connectionId },
      { key: 'nostro', direction: 'credit' },
    ],
  })
  const received = await adjusted(t, {
    kind: 'card_settlement_received',
    connectionId,
    amount: eur(2_000),
    reason: 'Refunds above purchases.',
  })
  t.match(await entryOf(received.entryIds[0]), {
    rule: 'L74',
    lines: [{ key: 'nostro', direction: 'debit' }, { key: 'card_payable' }],
  })
  await adjusted(t, { kind: 'reversal', entryId: received.entryIds[0]!, reason: 'Advised twice.' })
  await adjusted(t, { kind: 'reversal', entryId: paid.entryIds[0]!, reason: 'Advised twice.' })
  t.equal(await onAccount(world, 'card_payable'), before)
  t.match((await ask({ kind: 'card_settlement_paid', connectionId, reason: 'x' })).problem, { status: 422 })
})

t.test('a correction is in the journal, the transactions and the balance of the customer', async (t) => {
  const before = await bookOf(balances.EUR)
  const done = await adjusted(t, {
    kind: 'correction_credit',
    balanceId: balances.EUR,
    amount: eur(1_250),
    description: 'Fee charged twice',
    reason: 'Ticket 4711',
  })
  t.equal(await bookOf(balances.EUR), before + 1_250)
  const [line] = (await client.get<PageBody<JournalLine>>(`/balances/${balances.EUR}/journal?limit=1`)).body.data
  t.match(line, {
    entryId: done.entryIds[0],
    direction: 'credit',
    type: 'adjustment',
    amount: eur(1_250),
    description: 'Fee charged twice',
    source: { object: 'adjustment', id: done.id },
    reversalOfEntryId: null,
  })
  const [transaction] = (await client.get<PageBody<Transaction>>(`/transactions?filter[type]=adjustment&limit=1`)).body
    .data
  t.match(transaction, { amount: eur(1_250), direction: 'in', status: 'completed', description: 'Fee charged twice' })
  t.notMatch(JSON.stringify(transaction), /4711/, 'the reason is for staff')

  const reversed = await adjusted(t, {
    kind: 'reversal',
    entryId: done.entryIds[0]!,
    reason: 'It was not charged twice.',
  })
  t.match(reversed, { rule: 'L90', amount: eur(1_250), balanceId: balances.EUR, entryId: done.entryIds[0] })
  t.equal(await bookOf(balances.EUR), before)
  t.match(await entryOf(reversed.entryIds[0]), {
    rule: 'L90',
    reversalOfEntryId: done.entryIds[0],
    lines: [
      { key: 'cust', direction: 'debit', amount: eur(1_250) },
      { key: 'exp_loss', direction: 'credit' },
    ],
  })
  t.match((await ask({ kind: 'reversal', entryId: done.entryIds[0]!, reason: 'Again.' })).problem, {
    status: 422,
    errors: [{ field: '/entryId', code: 'invalid_value' }],
  })
  t.match((await ask({ kind: 'reversal', entryId: reversed.entryIds[0]!, reason: 'Back.' })).problem, {
    status: 422,
    errors: [{ field: '/entryId', code: 'invalid_value' }],
  })
  t.equal(await onAccount(world, 'exp_loss'), 0n)
})

t.test('interest, a correction below zero, and its write-off', async (t) => {
  const customer = await world.customer({ balances: [{ currency: 'EUR', amount: 1_000n }] })
  const [balanceId] = customer.balanceIds as [string]
  const book = async () => Number((await customer.client.balance(balanceId)).bookBalance.amountMinor)
  const interest = await adjusted(t, { kind: 'interest', balanceId, amount: eur(17), reason: 'May' })
  t.equal(await book(), 1_017)
  t.match((await customer.client.journal(balanceId))[0], { type: 'interest', description: 'Interest' })
  t.match((await ask({ kind: 'write_off', balanceId, amount: eur(1), reason: 'x' })).problem, {
    status: 422,
    errors: [{ field: '/balanceId', code: 'invalid_value' }],
  })
  await adjusted(t, { kind: 'correction_debit', balanceId, amount: eur(1_500), reason: 'Credited by mistake' })
  t.equal(await book(), -483)
  t.match(
    (
      await customer.client.createPayment({
        sourceBalanceId: balanceId,
        recipientId: customer.recipients.EUR,
        amount: eur(1),
        reference: 'x',
      })
    ).problem,
    { code: 'insufficient-funds' },
    'a negative balance pays nothing',
  )
  t.match(
    (await ask({ kind: 'reversal', entryId: interest.entryIds[0]!, reason: 'x' })).problem,
    {
      status: 409,
      code: 'insufficient-funds',
    },
    'the reversal of interest may not take it further down (G3)',
  )
  t.match((await ask({ kind: 'write_off', balanceId, amount: eur(484), reason: 'x' })).problem, {
    status: 422,
    errors: [{ field: '/amount', code: 'too_large' }],
  })
  await adjusted(t, { kind: 'write_off', balanceId, amount: eur(483), reason: 'Insolvent' })
  t.equal(await book(), 0)
  t.equal(await onAccount(world, 'exp_loss'), BigInt(483 - 1_500))
})

t.test('what is wrong is refused before another person is asked', async (t) => {
  const correction = { kind: 'correction_credit', balanceId: balances.EUR, amount: eur(10), reason: 'x' } as const
  const refused = async (body: object, field: string, code: string) =>
    t.match((await ask(body as AdjustmentCreate)).problem, { status: 422, errors: [{ field, code }] })
  await refused({ ...correction, amount: eur(0) }, '/amount/amountMinor', 'too_small')
  await refused(
    { ...correction, amount: { amountMinor: '10', currency: 'GBP' } },
    '/amount/currency',
    'currency_mismatch',
  )
  await refused({ ...correction, balanceId: randomUUID() }, '/balanceId', 'not_found')
  await refused({ ...correction, period: '2026-01' }, '/period', 'not_applicable')
  await refused({ kind: 'correction_credit', balanceId: balances.EUR, reason: 'x' }, '/amount', 'required')
  await refused(
    { kind: 'house_funding', connectionId: randomUUID(), amount: eur(1), reason: 'x' },
    '/connectionId',
    'not_found',
  )
  await refused({ kind: 'reversal', entryId: randomUUID(), reason: 'x' }, '/entryId', 'not_found')
  await refused({ ...correction, documentIds: [randomUUID()] }, '/documentIds/0', 'not_found')
  const payment = await pay(world, 1_000)
  await client.paymentReaching(payment.id, 'completed')
  const [handed] = (await first.get<PageBody<LedgerEntry>>(`/ledger/entries?filter[sourceId]=${payment.id}`)).body.data
  await refused({ kind: 'reversal', entryId: handed!.id, reason: 'x' }, '/entryId', 'invalid_value')

  t.match((await first.post(PATH, correction)).problem, { status: 400, errors: [{ field: 'header.Idempotency-Key' }] })
  t.equal((await world.operator.post(PATH, correction)).status, 403, 'not for keys')
  const support = await world.person('support').signIn()
  t.match((await ask(correction, randomUUID(), support)).problem, {
    status: 403,
    requiredCapability: 'treasury.manage',
  })

  const key = randomUUID()
  const asked = await ask(correction, key)
  const again = await ask(correction, key)
  t.strictSame([again.status, again.body], [202, asked.body], 'a repeat is the same adjustment')
  t.match((await ask({ ...correction, amount: eur(11) }, key)).problem, { status: 422, code: 'idempotency-key-reused' })

  // Another operator finds nothing of it.
  const foreign = '01980d6e-0000-7000-8000-00000000ffff'
  await world.query('insert into operator (id, name, created_at) values ($1, $2, now())', [foreign, 'Another operator'])
  await world.query('update adjustment set operator_id = $1 where id = $2', [foreign, asked.body.id])
  t.equal((await first.get(`${PATH}/${asked.body.id}`)).status, 404)
  t.equal((await approve(asked.body.id)).status, 404)
  await world.query('update adjustment set operator_id = $1 where id = $2', [first.tenantId, asked.body.id])

  const rejected = await second.post<Adjustment>(`${PATH}/${asked.body.id}/reject`, { reason: 'No ticket.' })
  t.match(rejected.body, { status: 'rejected', decisionReason: 'No ticket.', entryIds: [] })
  const listed = (await first.get<PageBody<Adjustment>>(`${PATH}?filter[status]=rejected`)).body.data
  t.strictSame(listed, [rejected.body])
  t.match((await approve(asked.body.id)).problem, { status: 409, currentStatus: 'rejected' })
})

t.test('a balance that has closed meanwhile, and own money that does not suffice', async (t) => {
  const customer = await world.customer({ balances: [{ currency: 'EUR', amount: 0n }] })
  const [balanceId] = customer.balanceIds as [string]
  const asked = await ask({ kind: 'interest', balanceId, amount: eur(5), reason: 'June' })
  t.equal(asked.status, 202, asked.text)
  await world.query(`update balance set status = 'frozen', version = version + 1 where id = $1`, [balanceId])
  t.match((await ask({ kind: 'correction_debit', balanceId, amount: eur(5), reason: 'x' })).problem, {
    status: 409,
    currentStatus: 'frozen',
  })
  await world.query(`update balance set status = 'closing', version = version + 1 where id = $1`, [balanceId])
  t.match((await approve(asked.body.id)).problem, { status: 409, currentStatus: 'closing' })
  await world.query(
    `update balance set status = 'closed', version = version + 1, closed_at = now(), is_default = false where id = $1`,
    [balanceId],
  )
  await world.query(`update account_details set status = 'closed' where balance_id = $1`, [balanceId])
  t.match((await approve(asked.body.id)).problem, { status: 409, code: 'invalid-transition', currentStatus: 'closed' })
  t.match((await ask({ kind: 'interest', balanceId, amount: eur(5), reason: 'x' })).problem, { status: 409 })

  const house = Number(await onAccount(world, 'house'))
  const large = await ask({ kind: 'correction_credit', balanceId: balances.EUR, amount: eur(house * 10), reason: 'x' })
  t.match((await approve(large.body.id)).problem, {
    status: 409,
    code: 'insufficient-funds',
    required: eur(house * 10),
  })
  t.equal((await first.get<Adjustment>(`${PATH}/${large.body.id}`)).body.status, 'pending_approval')
  const notices = () =>
    world.query<{ title: string }>(`select distinct title from notification where type = 'own_funds_low'`)
  t.strictSame(await notices(), [])
  const most = await adjusted(t, {
    kind: 'correction_credit',
    balanceId: balances.EUR,
    amount: eur(Math.floor(house * 0.9)),
    reason: 'Settlement',
  })
  t.strictSame(await notices(), [{ title: 'Little of the own money in EUR is left' }])
  await adjusted(t, { kind: 'reversal', entryId: most.entryIds[0]!, reason: 'Only a test' })
})

t.test('an account is compared on its first day: its opening balance is an item, which can be own money', async (t) => {
  // A connection that has two accounts by its settings, on which nothing is booked yet; the bank has money on one of them.
  const other = randomUUID()
  const now = world.now()
  const settlementAccounts = ['CHF', 'NOK'].map((currency) => ({ currency, accountRef: `${currency} 1` }))
  await world.query(
    `insert into provider_connection (id, operator_id, provider, environment, role, status, name, settings, created_at, activated_at)
     select $1, operator_id, provider, environment, 'fallback', 'active', 'Second', $2, $3, $3 from provider_connection where id = $4`,
    [other, JSON.stringify({ settlementAccounts }), new Date(now), connectionId],
  )
  await world.query(
    `insert into sandbox_booking (id, connection_id, currency, reference, direction, amount, booked_at, code, text)
     values (gen_random_uuid(), $1, 'NOK', gen_random_uuid(), 'CRDT', 70000, $2, 'TEST', 'Before')`,
    [other, new Date(now - 3 * 86_400_000)],
  )
  const nok = (minor: number) => ({ amountMinor: String(minor), currency: 'NOK' })
  const zero = { amountMinor: '0' }
  const day = endDay(world)
  t.match(await reconcile(world, day, 'CHF'), {
    day,
    status: 'matched',
    statement: { openingBalance: zero },
    nostro: { openingBalance: zero, closingBalance: zero },
    unexplained: zero,
  })
  const found = await reconcile(world, day, 'NOK')
  t.match(found, { status: 'matched', timing: 1, breaks: 0, difference: nok(70_000), unexplained: zero })
  const [opening] = await breaksOf(world, found)
  t.match(opening, {
    kind: 'missing_with_us',
    status: 'timing',
    direction: 'credit',
    partnerAmount: nok(70_000),
    text: 'Opening balance of the account',
  })
  await signIn()
  const funding = { kind: 'house_funding', connectionId: other, breakId: opening!.id, reason: 'It was ours' } as const
  t.match((await ask({ ...funding, amount: nok(70_001) })).problem, {
    status: 422,
    errors: [{ field: '/breakId', code: 'invalid_value' }],
  })
  await adjusted(t, { ...funding, amount: nok(70_000) })
  const next = await reconcile(world, endDay(world), 'NOK')
  t.match(next, { status: 'matched', timing: 0, breaks: 0, difference: zero, unexplained: zero })
  await signIn()
})

t.test('a debit in suspense is explained by two people, once', async (t) => {
  await bankBooks(world, 'DBIT', 250)
  await bankBooks(world, 'DBIT', 75)
  await reconcile(world, endDay(world))
  const opened = await reconcile(world, endDay(world))
  await signIn()
  const found = await breaksOf(world, opened)
  const of = (minor: number) => found.find(({ partnerAmount }) => partnerAmount?.amountMinor === String(minor))!
  t.equal(await onAccount(world, 'nostro_suspense'), 325n)
  const before = await bookOf(balances.EUR)
  await adjusted(t, {
    kind: 'suspense_direct_debit',
    breakId: of(75).id,
    balanceId: balances.EUR,
    description: 'Direct debit of Energy Ltd',
    reason: 'Mandate on file',
  })
  t.equal(await bookOf(balances.EUR), before - 75)
  const asked = await ask({ kind: 'suspense_charge', breakId: of(250).id, reason: 'Tariff, page 3' })
  t.match((await ask({ kind: 'suspense_charge', breakId: of(250).id, reason: 'Again' })).problem, {
    status: 422,
    errors: [{ field: '/breakId', code: 'invalid_value' }],
  })
  t.equal((await approve(asked.body.id)).status, 200)
  t.equal(await onAccount(world, 'nostro_suspense'), 0n)
  t.equal(await onAccount(world, 'exp_partner'), 250n)
  t.match((await ask({ kind: 'suspense_charge', breakId: of(75).id, reason: 'x' })).problem, { status: 422 })
  t.match(
    (await breaksOf(world, opened)).map(({ status, outcome }) => `${status}: ${outcome}`).toSorted(),
    found.length === 2 ? ['resolved: charge', 'resolved: explained'] : [/.*/],
  )
})

t.test('an expense that is no adjustment raises the alert when its day has ended', async (t) => {
  // The own money of another currency, of which a partner takes nearly all.
  const usd = (minor: number) => ({ amountMinor: String(minor), currency: 'USD' })
  await adjusted(t, { kind: 'house_funding', connectionId, amount: usd(70_000), reason: 'Wire' })
  const taken = 63_000
  await bankBooks(world, 'DBIT', taken, randomUUID(), 'USD')
  await reconcile(world, endDay(world), 'USD')
  const opened = await reconcile(world, endDay(world), 'USD')
  await signIn()
  const debit = (await breaksOf(world, opened)).find(
    ({ status, direction }) => status === 'in_suspense' && direction === 'debit',
  )
  t.match(debit, { partnerAmount: usd(taken) })
  const path = `/reconciliations/${opened.id}/breaks/${debit!.id}/resolve`
  const charge = { outcome: 'charge', evidence: 'Tariff' }
  t.equal((await first.post(path, charge)).status, 202)
  t.equal((await second.post(path, charge)).status, 200)
  endDay(world)
  const notice = await until('the notice', async () => {
    const [found] = await world.query<{ text: string }>(
      `select text from notification where type = 'own_funds_low' and title like '% USD %'`,
    )
    return found
  })
  t.match(notice, { text: /less than a fifth/ })
  await signIn()
})

t.test('a month is closed once, and again after its reversal', async (t) => {
  const period = new Date(world.now()).toISOString().slice(0, 7)
  const close = { kind: 'period_close', currency: 'EUR', period, reason: 'Monthly close' } as const
  t.match((await ask(close)).problem, { status: 422, errors: [{ field: '/period', code: 'too_far_ahead' }] })
  world.advanceTo(Date.parse(`${period}-28T00:00:00Z`) + 8 * 86_400_000)
  await signIn()
  t.match((await ask({ ...close, currency: 'JPY' })).problem, { status: 422, errors: [{ field: '/period' }] })
  const own = async () => {
    const sums = await Promise.all(
      ['house', 'inc_fee', 'inc_fx', 'exp_partner', 'exp_fx', 'exp_loss', 'exp_interest'].map(async (key) => [
        key,
        await onAccount(world, key),
      ]),
    )
    return Object.fromEntries(sums) as Record<string, bigint>
  }
  const before = await own()
  const [asked, parallel] = [await ask(close), await ask(close)]
  const done = await approve(asked.body.id)
  t.match(done.body, { status: 'posted', period, rule: 'L95' }, done.text)
  t.match((await approve(parallel.body.id)).problem, {
    status: 422,
    errors: [{ field: '/period', code: 'invalid_value' }],
  })
  t.match((await ask(close)).problem, { status: 422, errors: [{ field: '/period', code: 'invalid_value' }] })
  const after = await own()
  const expenses = (sums: Record<string, bigint>) =>
    sums['exp_partner']! + sums['exp_fx']! + sums['exp_loss']! + sums['exp_interest']!
  t.strictSame(
    { ...after, house: after['house'] },
    {
      house: before['house']! + before['inc_fee']! + before['inc_fx']! - expenses(before),
      inc_fee: 0n,
      inc_fx: 0n,
      exp_partner: 0n,
      exp_fx: 0n,
      exp_loss: 0n,
      exp_interest: 0n,
    },
    'to the cent',
  )
  for (const entryId of done.body.entryIds) {
    t.match(await entryOf(entryId), { rule: 'L95', source: { object: 'period_close' } })
    await adjusted(t, { kind: 'reversal', entryId, reason: 'A charge was missing' })
  }
  t.strictSame(await own(), before)
  await adjusted(t, close)
  t.strictSame(await own(), after)
})

t.test('the audit finds what does not fit', async (t) => {
  await world.audit()
  const posted = `(select id from adjustment where status = 'posted' and kind = 'interest' order by id limit 1)`
  const reversal = `(select id from adjustment where status = 'posted' and kind = 'reversal' order by id limit 1)`
  const faults = [
    [`set decided_by = null, version = version + 1 where id = ${posted}`, /"name": "adjustments"/],
    [`set entry_ids = '{}' where id = ${posted}`, /"name": "entries by hand"/],
    [`set amount = amount + 1 where id = ${posted}`, /"name": "adjustments and their entries"/],
    [`set status = 'rejected' where id = ${posted}`, /"name": "postings and their source"/],
    [
      `set entry_id = (select entry_ids[1] from adjustment where id = ${posted}) where id = ${reversal}`,
      /"name": "reversals by hand"/,
    ],
  ] as const
  await world.query('create table kept as select * from adjustment')
  for (const [fault, message] of faults) {
    await world.query(`update adjustment ${fault}`)
    await t.rejects(world.audit(), { message }, fault)
    await world.query(`update adjustment a set decided_by = k.decided_by, entry_ids = k.entry_ids, amount = k.amount, status = k.status, entry_id = k.entry_id, version = k.version
      from kept k where k.id = a.id`)
  }
  await world.query('drop table kept')
  await world.audit()
})

/** The operator's ledger as staff read it: accounts with their balances, and entries by filters and pages. */
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import type { LedgerAccount, LedgerEntry } from '../../../lib/ledger/ledger-schema.ts'
import type { TrialBalance } from '../../../lib/reconciliation/reconciliation-schema.ts'
import type { PageBody } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import { eur, pay } from '../compliance/staff.ts'
import { endDay } from '../reconciliation/support.ts'

const world = await createWorld()
t.teardown(() => world[Symbol.asyncDispose]())
const { client, balances } = world.seeded
const treasury = await world.person('operator_admin').signIn()

/** Reads a page of a list; the parameters are encoded. */
function read<Row>(path: string, parameters: Readonly<Record<string, string | number | boolean>>) {
  const query = Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)])
  return treasury.get<PageBody<Row>>(`${path}?${new URLSearchParams(query)}`)
}

async function pages<Row>(path: string, parameters: Readonly<Record<string, string | number>>): Promise<Row[]> {
  const rows: Row[] = []
  let cursor: string | null = null
  do {
    const { body }: { body: PageBody<Row> } = await read<Row>(path, {
      ...parameters,
      ...(cursor === null ? {} : { cursor }),
    })
    rows.push(...body.data)
    cursor = body.page.nextCursor
  } while (cursor !== null)
  return rows
}

const accountsOf = (parameters: Readonly<Record<string, string>> = {}) =>
  pages<LedgerAccount>('/ledger/accounts', { limit: 100, ...parameters })
const entriesOf = (parameters: Readonly<Record<string, string | number>> = {}) =>
  pages<LedgerEntry>('/ledger/entries', { limit: 100, ...parameters })

/** The days of the ledger that have been added. */
async function daysAddedUntil(day: string): Promise<void> {
  await until('the days of the ledger', async () => {
    const [row] = await world.query<{ day: string }>('select day::text as day from ledger_day_last')
    return row !== undefined && row.day >= day
  })
}

/** Compares every account with the trial balance, which sums the postings themselves. */
async function agreesWithTrialBalance(t: Test): Promise<void> {
  const { rows } = (await world.operator.get<TrialBalance>('/ledger/trial-balance')).body
  const accounts = await accountsOf()
  const sums = new Map<string, bigint>()
  for (const { key, currency, connectionId, balance } of accounts) {
    const name = `${key} ${currency} ${connectionId}`
    sums.set(name, (sums.get(name) ?? 0n) + BigInt(balance.amountMinor))
  }
  for (const { account, currency, connectionId, balance } of rows)
    t.equal(sums.get(`${account} ${currency} ${connectionId}`), BigInt(balance.amountMinor), `${account} ${currency}`)
}

t.test('accounts have the balances of the books, on the day and once it has ended', async (t) => {
  const payment = await pay(world, 5_000)
  await client.paymentReaching(payment.id, 'completed')
  await agreesWithTrialBalance(t)
  const day = endDay(world)
  await treasury.signIn()
  await daysAddedUntil(day)
  await agreesWithTrialBalance(t)
  const later = await pay(world, 2_500)
  await client.paymentReaching(later.id, 'completed')
  await agreesWithTrialBalance(t)

  const [cust] = await accountsOf({ 'filter[id]': balances.EUR })
  const balance = await client.balance(balances.EUR)
  t.match(cust, {
    code: 2000,
    key: 'cust',
    class: 'liability',
    customerId: balance.customerId,
    name: balance.name,
    balance: balance.bookBalance,
    debits: null,
  })
  const nostro = await accountsOf({ 'filter[key]': 'nostro', 'filter[currency]': 'EUR' })
  t.equal(nostro.length, 1)
  t.equal(
    BigInt(nostro[0]!.debits!.amountMinor) - BigInt(nostro[0]!.credits!.amountMinor),
    BigInt(nostro[0]!.balance.amountMinor),
  )
  t.strictSame(await accountsOf({ 'filter[connectionId]': randomUUID() }), [])
  const own = await accountsOf({ 'filter[customerId]': balance.customerId })
  t.ok(own.length > 0 && own.every(({ customerId }) => customerId === balance.customerId))
})

t.test('pages of accounts have each account once, in both directions', async (t) => {
  const all = await accountsOf()
  const paged = await pages<LedgerAccount>('/ledger/accounts', { limit: 7 })
  t.strictSame(
    paged.map(({ id }) => id),
    all.map(({ id }) => id),
  )
  t.equal(new Set(paged.map(({ id }) => id)).size, paged.length)
  const back = await pages<LedgerAccount>('/ledger/accounts', { limit: 7, sort: '-createdAt' })
  t.strictSame(
    back.map(({ id }) => id),
    all.map(({ id }) => id).toReversed(),
  )
  const { body } = await read<LedgerAccount>('/ledger/accounts', { limit: 3, withTotal: true })
  t.equal(body.page.total, all.length)
})

t.test('entries are found by their source, rule, account, amount and time', async (t) => {
  const payment = await pay(world, 12_345)
  await client.paymentReaching(payment.id, 'completed')
  const ofPayment = await entriesOf({ 'filter[sourceId]': payment.id, sort: 'bookedAt' })
  t.match(ofPayment, [
    {
      rule: 'L10',
      event: 'Payment handed to the partner',
      source: { object: 'payment', id: payment.id },
      occurrence: 1,
      customerId: payment.customerId,
      amounts: [eur(12_345)],
      reversalOfEntryId: null,
      lines: [
        { accountId: balances.EUR, key: 'cust', direction: 'debit', amount: eur(12_345) },
        { key: 'out_transit', direction: 'credit', amount: eur(12_345) },
      ],
    },
    {
      rule: 'L11',
      lines: [
        { key: 'out_transit', direction: 'debit' },
        { key: 'nostro', direction: 'credit' },
      ],
    },
  ])
  const [handed] = ofPayment
  t.strictSame((await treasury.get(`/ledger/entries/${handed!.id}`)).body, handed)
  t.equal((await treasury.get(`/ledger/entries/${randomUUID()}`)).status, 404)

  const isOurs = ({ id }: LedgerEntry) => id === handed!.id
  const amount = { 'filter[amountFrom]': 12_345, 'filter[amountTo]': 12_345, 'filter[currency]': 'EUR' }
  t.equal((await entriesOf(amount)).filter(isOurs).length, 1)
  t.equal((await entriesOf({ ...amount, 'filter[rule]': 'L10' })).length, 1)
  t.equal((await entriesOf({ ...amount, 'filter[rule]': 'L95' })).length, 0)
  t.equal((await read('/ledger/entries', { 'filter[amountFrom]': 1 })).status, 400, 'amounts need a currency')
  t.equal((await entriesOf({ 'filter[accountId]': balances.EUR })).filter(isOurs).length, 1)
  t.equal((await entriesOf({ 'filter[accountId]': balances.GBP })).filter(isOurs).length, 0)
  t.equal((await entriesOf({ 'filter[key]': 'cust' })).filter(isOurs).length, 1)
  t.equal((await entriesOf({ 'filter[key]': 'house' })).length, 0)
  t.equal((await entriesOf({ 'filter[sourceObject]': 'transfer' })).filter(isOurs).length, 0)
  t.equal((await entriesOf({ 'filter[bookedFrom]': handed!.bookedAt })).filter(isOurs).length, 1)
  t.equal((await entriesOf({ 'filter[bookedTo]': '2020-01-01T00:00:00Z' })).length, 0)
  t.equal((await client.get('/ledger/entries')).status, 403, 'not for customers')
  const support = await world.person('support').signIn()
  for (const path of ['/ledger/accounts', '/ledger/entries', `/ledger/entries/${handed!.id}`])
    t.match((await support.get(path)).problem, { status: 403, requiredCapability: 'treasury.read' })
})

t.test('pages of entries have each entry once and in order, over days with and without entries', async (t) => {
  endDay(world)
  world.advance(40 * 86_400_000)
  const payment = await pay(world, 777)
  await client.paymentReaching(payment.id, 'completed')
  const day = endDay(world)
  await treasury.signIn()
  const all = await entriesOf()
  t.ok(all.length > 8)
  const expected = await world.query<{ entry_id: string }>(
    'select entry_id from posting group by entry_id, booked_at order by booked_at desc, entry_id desc',
  )
  const whole = expected.map(({ entry_id: id }) => id)
  const idsOf = (entries: readonly LedgerEntry[]) => entries.map(({ id }) => id)
  t.strictSame(idsOf(all), whole, 'the same as the postings')
  t.strictSame(idsOf(await entriesOf({ limit: 3 })), whole)
  t.strictSame(idsOf(await entriesOf({ limit: 3, sort: 'bookedAt' })), whole.toReversed())
  await daysAddedUntil(day)
  t.strictSame(idsOf(await entriesOf({ limit: 3 })), whole, 'days that have ended skip nothing')
  t.strictSame(idsOf(await entriesOf({ limit: 3, sort: 'bookedAt' })), whole.toReversed())
  const nostro = all.filter(({ lines }) =>
    lines.some(({ key, amount }) => key === 'nostro' && amount.currency === 'EUR'),
  )
  const [account] = await accountsOf({ 'filter[key]': 'nostro', 'filter[currency]': 'EUR' })
  t.strictSame(idsOf(await entriesOf({ limit: 2, 'filter[accountId]': account!.id })), idsOf(nostro))
  const ours = { 'filter[accountId]': `${balances.EUR},${account!.id}`, 'filter[rule]': 'L10' }
  t.strictSame(idsOf(await entriesOf({ limit: 1, ...ours })), idsOf(all.filter(({ rule }) => rule === 'L10')))

  const { body: first } = await read<LedgerEntry>('/ledger/entries', { limit: 2 })
  const { body: second } = await read<LedgerEntry>('/ledger/entries', {
    limit: 2,
    cursor: first.page.nextCursor!,
  })
  const { body: back } = await read<LedgerEntry>('/ledger/entries', {
    limit: 2,
    cursor: second.page.prevCursor!,
  })
  t.strictSame(back.data, first.data, 'and back')
})

/** Reports of the treasury: their figures agree with the ledger to the cent, in every format. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { DownloadLink } from '../../../lib/contract/download-link.ts'
import type { Adjustment } from '../../../lib/adjustments/adjustment-schema.ts'
import type { Job } from '../../../lib/jobs/job-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { Report, ReportCreate } from '../../../lib/reports/report-schema.ts'
import type { PageBody } from '../../support/client.ts'
import { pdfText } from '../../support/pdf-text.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody } from '../../support/world.ts'
import { eur } from '../compliance/staff.ts'
import { charge } from '../pricing/pricing.ts'
import { bankBooks, endDay, onAccount, reconcile } from '../reconciliation/support.ts'

const world = await createWorld()
t.teardown(() => world[Symbol.asyncDispose]())
const { admin } = await charge(world, [
  { kind: 'payment', currency: 'EUR', fixed: eur(120), taxBps: 2_000, refundable: true },
])
const treasury = admin

/** Asks for a report, and waits for its file. */
async function reported(body: ReportCreate): Promise<{ readonly report: Report; readonly bytes: Buffer }> {
  const asked = await treasury.post<Report>('/reports', body)
  if (asked.status !== 202) throw new Error(asked.text)
  const report = await until('the report has ended', async () => {
    const found = (await treasury.get<Report>(`/reports/${asked.body.id}`)).body
    return found.status !== 'queued' && found.status !== 'running' && found
  })
  const link = (await treasury.get<DownloadLink>(`/reports/${report.id}/download`)).body
  const response = await fetch(link.url)
  return { report, bytes: Buffer.from(await response.arrayBuffer()) }
}

/** The rows of a report as CSV, by their columns. None of these texts has a comma. */
async function rowsOf(body: Omit<ReportCreate, 'format'>): Promise<readonly Readonly<Record<string, string>>[]> {
  const { report, bytes } = await reported({ ...body, format: 'csv' })
  if (report.status !== 'succeeded') throw new Error(JSON.stringify(report))
  const [head, ...lines] = bytes
    .toString('utf8')
    .replace('\ufeff', '')
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','))
  return lines.map((cells) => Object.fromEntries(head!.map((name, index) => [name, cells[index]!])))
}

/** Minor units of an amount in euro. */
const minor = (text: string | undefined): bigint => BigInt((text ?? '').replace('.', ''))
const sum = (rows: readonly Readonly<Record<string, string>>[], column: string): bigint =>
  rows.reduce((total, row) => total + minor(row[column]), 0n)
const today = () => new Date(world.now()).toISOString().slice(0, 10)
/** The day on which the test has begun: it may go on after midnight. */
const begun = today()

const customer = await world.customer({ balances: [{ currency: 'EUR', amount: 500_000n }] })
const [balanceId] = customer.balanceIds as [string]
const pay = async (amount: number, to = customer.recipients.EUR): Promise<Payment> =>
  (await customer.client.createPayment(paymentBody(balanceId, to, amount))).body

t.test('fees by customer and rule, with their tax, are what the accounts have', async (t) => {
  const paid = [await pay(5_000), await pay(7_000)]
  for (const { id } of paid) await customer.client.paymentReaching(id, 'completed')
  // This one comes back, and its fee with it.
  await customer.client.paymentReaching((await pay(1_401)).id, 'returned')
  const period = { from: begun, to: today() }
  const rows = await rowsOf({ kind: 'fees', ...period })
  t.equal(sum(rows, 'net'), await onAccount(world, 'inc_fee'))
  t.equal(sum(rows, 'tax'), await onAccount(world, 'fee_tax'))
  t.equal(sum(rows, 'gross'), sum(rows, 'net') + sum(rows, 'tax'))
  t.match(
    rows.find(({ rule }) => rule === 'L10'),
    { customerId: customer.id, event: 'Payment handed to the partner', currency: 'EUR' },
  )
  t.ok(minor(rows.find(({ rule }) => rule === 'L10')!['tax']) > 0n)
  t.strictSame(await rowsOf({ kind: 'fees', ...period, customerId: customer.id }), rows)
  t.strictSame(await rowsOf({ kind: 'fees', ...period, currency: 'USD' }), [])

  // Midnight is that of the zone.
  const timezone = 'Pacific/Kiritimati'
  const there = new Date(world.now() + 14 * 3_600_000).toISOString().slice(0, 10)
  const [booked] = await world.query<{ net: string }>(
    `select coalesce(sum(case when p.credit_account = a.id then p.amount else -p.amount end), 0) as net
     from account a join posting p on a.id in (p.debit_account, p.credit_account) where a.key = 'inc_fee' and p.booked_at >= $1`,
    [`${there}T00:00:00+14:00`],
  )
  t.equal(sum(await rowsOf({ kind: 'fees', from: there, to: there, timezone }), 'net'), BigInt(booked!.net))
  const both = await rowsOf({ kind: 'fees', from: begun, to: there, timezone })
  t.equal(sum(both, 'gross'), sum(rows, 'gross'))
})

t.test('volumes by rail, customer, country and status are those of the payments', async (t) => {
  const rows = await rowsOf({ kind: 'volumes', from: begun, to: today() })
  const [counted] = await world.query<{ payments: string; amount: string; incoming: string }>(
    `select count(*) as payments, sum(amount) filter (where currency = 'EUR') as amount, (select count(*) from incoming_payment where received_at >= $1) as incoming from payment`,
    [`${begun}T00:00:00Z`],
  )
  const of = (direction: string) => rows.filter((row) => row['direction'] === direction)
  const count = (some: typeof rows) => some.reduce((total, row) => total + Number(row['count']), 0)
  t.equal(count(of('out')), Number(counted!.payments))
  t.equal(count(of('in')), Number(counted!.incoming))
  t.equal(
    sum(
      of('out').filter(({ currency }) => currency === 'EUR'),
      'amount',
    ),
    BigInt(counted!.amount),
  )
  t.match(
    of('out').find(({ status }) => status === 'completed'),
    { customerId: customer.id, currency: 'EUR', country: /^[A-Z]{2}$/, rail: /./ },
  )
})

t.test('safeguarding: money of customers against the books and the bank, day by day', async (t) => {
  const first = endDay(world)
  await reconcile(world, first)
  await bankBooks(world, 'DBIT', 90)
  const second = endDay(world)
  await reconcile(world, second)
  await treasury.signIn()
  const rows = await rowsOf({ kind: 'safeguarding', from: first, to: second, currency: 'EUR' })
  t.strictSame(
    rows.map(({ day }) => day),
    [first, second],
  )
  const [cust] = await world.query<{ total: string }>(`select sum(posted) as total from balance where currency = 'EUR'`)
  for (const row of rows) {
    t.equal(minor(row['booksDifference']), 0n, 'the internal reconciliation')
    t.equal(minor(row['balances']), BigInt(cust!.total))
    t.equal(minor(row['bankPerBooks']), await onAccount(world, 'nostro'))
    t.equal(minor(row['surplus']), minor(row['bankPerBooks']) - minor(row['customerMoney']))
    t.equal(
      minor(row['ownMoney']),
      (await onAccount(world, 'inc_fee')) + (await onAccount(world, 'fee_tax')),
      'fees and their tax are at the bank, and not customers’ money',
    )
  }
  t.match(rows[0], { reconciliation: 'matched', bankDifference: '0.00', unexplained: '0.00' })
  t.match(rows[1], { bankDifference: '-0.90', unexplained: '0.00' })
  const [connection] = await world.query<{ id: string }>('select id from provider_connection')
  t.strictSame(
    await rowsOf({ kind: 'safeguarding', from: first, to: second, currency: 'EUR', connectionId: connection!.id }),
    rows,
  )
})

t.test('a swept period is not in the fees, and every format has the same figures', async (t) => {
  const asked = await treasury.post<Adjustment>(
    '/ledger/adjustments',
    { kind: 'correction_credit', balanceId, amount: eur(1), reason: 'x' },
    { 'idempotency-key': randomUUID() },
  )
  t.equal(asked.status, 202, asked.text)
  const from = new Date(world.now() - 20 * 86_400_000).toISOString().slice(0, 10)
  const period = { kind: 'fees', from, to: today() } as const
  const rows = await rowsOf(period)
  const xlsx = await reported({ ...period, format: 'xlsx' })
  t.equal(xlsx.bytes.subarray(0, 2).toString(), 'PK')
  t.match(xlsx.report, { status: 'succeeded', rows: rows.length, fileName: `fees-${from}-${period.to}.xlsx` })
  const pdf = await reported({ ...period, format: 'pdf' })
  const text = pdfText(pdf.bytes).join('\n')
  t.match(text, /Fees/)
  t.notMatch(text, new RegExp(customer.id), 'names, and no ids')
  for (const { gross = '' } of rows) t.ok(text.includes(gross), gross)
})

t.test('who may ask, and for what', async (t) => {
  const day = today()
  const refused = async (body: object, field: string, code: string) =>
    t.match((await treasury.post('/reports', body)).problem, { status: 422, errors: [{ field, code }] })
  const fees = { kind: 'fees', format: 'csv', from: day, to: day } as const
  await refused({ ...fees, to: '2999-01-01' }, '/to', 'too_large')
  await refused({ ...fees, from: '2020-01-02', to: '2020-01-01' }, '/to', 'invalid_value')
  await refused({ ...fees, timezone: 'Mars/Olympus' }, '/timezone', 'invalid_value')
  await refused({ ...fees, kind: 'safeguarding' }, '/to', 'too_far_ahead')
  await refused({ ...fees, kind: 'safeguarding', timezone: 'Europe/Amsterdam' }, '/timezone', 'not_applicable')
  await refused({ ...fees, connectionId: randomUUID() }, '/connectionId', 'not_applicable')
  t.equal((await world.operator.post('/reports', fees)).status, 403, 'keys read reports, and ask for none')
  t.equal((await customer.client.get('/reports')).status, 403)
  const support = await world.person('support').signIn()
  t.match((await support.post('/reports', fees)).problem, { status: 403, requiredCapability: 'reports.read' })
  const listed = (await world.operator.get<PageBody<Report>>('/reports?filter[kind]=fees&limit=100')).body.data
  t.ok(listed.length > 3 && listed.every(({ kind }) => kind === 'fees'))
  t.equal((await world.operator.get(`/reports/${listed[0]!.id}/download`)).status, 200)
  const job = (await treasury.get<Job>(`/jobs/${listed[0]!.id}`)).body
  t.match(job, { kind: 'report', result: { fileName: String, download: null } }, 'the scope of jobs opens no report')
  t.equal((await treasury.get(`/reports/${randomUUID()}`)).status, 404)
  t.equal((await treasury.get(`/reports/${randomUUID()}/download`)).status, 404)
  const headers = { 'idempotency-key': randomUUID() }
  const asked = await treasury.post<Report>('/reports', fees, headers)
  const again = await treasury.post<Report>('/reports', fees, headers)
  t.strictSame([again.status, again.body], [202, asked.body])
  t.equal(asked.headers.get('location'), `/v1/reports/${asked.body.id}`)
})

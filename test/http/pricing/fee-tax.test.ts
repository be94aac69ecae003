/** The tax within the fees of payments: posted with the fee, and shown wherever the fee is. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { AccountDetails } from '../../../lib/accounts/account-details-schema.ts'
import type { DownloadLink } from '../../../lib/contract/download-link.ts'
import type { Job } from '../../../lib/jobs/job-schema.ts'
import type { PaymentCheck } from '../../../lib/payments/payment-schema.ts'
import type { TrialBalance } from '../../../lib/reconciliation/reconciliation-schema.ts'
import type { Transaction } from '../../../lib/transactions/transaction-schema.ts'
import { timestamp } from '../../../lib/base/clock.ts'
import type { Client } from '../../support/client.ts'
import { pdfText } from '../../support/pdf-text.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'
import { rowsOf, table, uploaded } from '../bulk-payments/support.ts'
import { submitted } from '../bulk-payments/submitting.ts'
import { createByKey } from '../recipients/support.ts'
import { charge } from './pricing.ts'

const eur = (minor: number) => ({ amountMinor: String(minor), currency: 'EUR' })

const MIGRATION = join(import.meta.dirname, '../../../storage/migrations/0053_fee_refunds.sql')

/** The lines of an object's entries on the account of taxes, as signed amounts by rule: credits are positive. */
async function taxOf(world: World, id: string): Promise<readonly string[]> {
  const rows = await world.query<{ rule: string; change: string }>(
    `select p.rule, case when a.id = p.credit_account then p.amount else -p.amount end as change from posting p
      join account a on a.key = 'fee_tax' and a.id in (p.debit_account, p.credit_account) where p.source_id = $1 order by p.rule`,
    [id],
  )
  return rows.map(({ rule, change }) => `${rule} ${change}`)
}

async function file({ url }: DownloadLink): Promise<Buffer> {
  const response = await fetch(url)
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
  return Buffer.from(await response.arrayBuffer())
}

async function ended(client: Client, id: string): Promise<Job> {
  return await until('the job has ended', async () => {
    const job = (await client.get<Job>(`/jobs/${id}`)).body
    return job.status !== 'queued' && job.status !== 'running' && job
  })
}

const pdf = async (client: Client, path: string): Promise<string> =>
  pdfText((await client.download(path)).bytes).join('\n')

t.test('tax in fees', async (t) => {
  await using world = await createWorld()
  const { template, admin } = await charge(world, [
    { kind: 'payment', currency: 'EUR', fixed: eur(120), taxBps: 2_000, refundable: true },
  ])
  t.match(template.rules, [{ kind: 'payment', fixed: eur(120), taxBps: 2_000 }])
  const customer = await world.customer({ balances: [{ currency: 'EUR', amount: 100_000n }] })
  const { client, recipients } = customer
  const [balanceId] = customer.balanceIds as [string]
  const pay = async (minor: number) => (await client.createPayment(paymentBody(balanceId, recipients.EUR, minor))).body

  t.match((await client.post<PaymentCheck>('/payments/validate', paymentBody(balanceId, recipients.EUR, 5_000))).body, {
    fee: eur(120),
    feeTax: eur(20),
    totalDebit: eur(5_120),
  })
  const payment = await pay(5_000)
  t.match(payment, { fee: eur(120), feeTax: eur(20), totalDebit: eur(5_120) })

  await t.test('it leaves with the fee, and keeps the rate of the submission', async (t) => {
    await admin.send(
      'PATCH',
      `/pricing-templates/${template.id}`,
      { rules: [{ kind: 'payment', currency: 'EUR', fixed: eur(120), taxBps: 1_000, refundable: true }] },
      { 'if-match': '*' },
    )
    t.match(await client.paymentReaching(payment.id, 'completed'), { fee: eur(120), feeTax: eur(20) })
    t.strictSame(await taxOf(world, payment.id), ['L10 20'])
    t.match(await client.balance(balanceId), { bookBalance: eur(94_880) })
    await admin.send('PATCH', `/pricing-templates/${template.id}`, { rules: template.rules }, { 'if-match': '*' })
    t.match(
      (await client.journal(balanceId, { sort: 'sequence' }))
        .slice(-3)
        .map(({ type, amount, description }) => [type, amount.amountMinor, description]),
      [
        ['outgoing_payment', '5000', `Payment ${payment.number}`],
        ['fee', '100', `Payment ${payment.number}`],
        ['fee', '20', `Payment ${payment.number}, tax in the fee`],
      ],
    )
    const { rows } = (await world.operator.get<TrialBalance>('/ledger/trial-balance')).body
    t.match(
      rows.find(({ account, currency }) => account === 'fee_tax' && currency === 'EUR'),
      { code: 2700, class: 'liability', credits: eur(20), balance: eur(20) },
    )
  })

  await t.test('a payment that fails gives it back', async (t) => {
    const failing = await pay(1_302)
    await client.paymentReaching(failing.id, 'failed')
    t.strictSame(await taxOf(world, failing.id), ['L10 20', 'L12 -20'])
  })

  await t.test('a payment that is returned gives it back with a fee that is refunded', async (t) => {
    const returned = await pay(6_000)
    await client.paymentReaching(returned.id, 'completed')
    t.equal((await client.post(`/simulations/payments/${returned.id}/return`, { amount: eur(6_000) })).status, 202)
    await client.paymentReaching(returned.id, 'returned')
    t.strictSame(await taxOf(world, returned.id), ['L10 20', 'L14 -20'])
    t.match(await client.balance(balanceId), { bookBalance: eur(94_880) })
    const refunds = async () =>
      (await client.list<Transaction>('/transactions', { 'filter[type]': 'fee_refund' })).body.data
    const [refund, ...others] = await refunds()
    t.match(refund, { amount: eur(120), description: `Payment ${returned.number}, fee given back` })
    t.strictSame(others, [], 'the whole fee is one transaction')
    const lines = (await client.journal(balanceId, { 'filter[type]': 'fee_refund', sort: 'sequence' })).filter(
      ({ source }) => source.id === returned.id,
    )
    t.strictSame(
      lines.map(({ amount, transactionId }) => [amount.amountMinor, transactionId]),
      [
        ['100', refund!.id],
        ['20', refund!.id],
      ],
    )
    t.equal(refund!.runningBalance?.amountMinor, lines[1]!.runningBalance.amountMinor)

    await t.test('the tax of a refund from before is joined with it by the migration', async (t) => {
      // Before, the second line was a transaction of its own.
      const [tax] = await world.query<{ id: string }>(
        `insert into account_transaction select r.* from posting p join account_transaction w on w.id = marked_id(p.entry_id, 1),
          jsonb_populate_record(w, jsonb_build_object('id', marked_id(p.entry_id, 3), 'amount', p.amount, 'annotation_count', 1)) r
          where p.source_id = $1 and p.rule = 'L14' and p.ordinal = 1 returning id`,
        [returned.id],
      )
      await world.query(
        'update account_transaction set amount = amount - 20, running_balance = running_balance - 20 where id = $1',
        [refund!.id],
      )
      await world.query(
        `insert into annotation (id, transaction_id, customer_id, text, author_id, author_name, created_at, updated_at)
          select gen_random_uuid(), id, customer_id, 'VAT', customer_id, 'Someone', now(), now() from account_transaction where id = $1`,
        [tax!.id],
      )
      t.equal((await refunds()).length, 2)
      await world.query(await readFile(MIGRATION, 'utf8'))
      t.strictSame(await refunds(), [{ ...refund, annotationCount: 1 }])
      t.match((await client.list(`/transactions/${refund!.id}/annotations`)).body.data, [{ text: 'VAT' }])
    })
  })

  await t.test('a payment within the platform takes it in the same entry', async (t) => {
    const payee = await world.customer({ balances: [{ currency: 'EUR', amount: 0n }] })
    const [account] = (await payee.client.list<AccountDetails>(`/balances/${payee.balanceIds[0]}/details`)).body.data
    const made = await createByKey(client, {
      name: account!.accountHolderName,
      currency: 'EUR',
      bank: { iban: account!.iban },
    })
    await world.query('delete from outbox where object_id in (select id from approval where subject_id = $1)', [
      made.body.id,
    ])
    await world.query('delete from approval where subject_id = $1', [made.body.id])
    await world.query(`update recipient set status = 'active', approval = null, version = version + 1 where id = $1`, [
      made.body.id,
    ])
    const within = (await client.createPayment(paymentBody(balanceId, made.body.id, 1_000))).body
    t.match(within, { rail: 'internal', fee: eur(120), feeTax: eur(20) })
    await client.paymentReaching(within.id, 'completed')
    t.strictSame(await taxOf(world, within.id), ['L20 20'])
    t.match(await client.balance(balanceId), { bookBalance: eur(93_760) })
    t.match(await payee.client.balance(payee.balanceIds[0]!), { bookBalance: eur(1_000) })
  })

  await t.test('transactions, confirmations and exports show it', async (t) => {
    const transaction = (await client.get<Transaction>(`/transactions/${payment.id}`)).body
    t.match(transaction, { amount: eur(5_000), fee: eur(120), feeTax: eur(20) })
    for (const path of [`/payments/${payment.id}/confirmation`, `/transactions/${payment.id}/confirmation`])
      t.match(await pdf(client, path), /Tax in the fee\nEUR 0\.20|Tax in the fee\n0\.20 EUR/, path)
    const job = (
      await client.post<Job>('/transactions/exports', {
        format: 'csv',
        columns: ['id', 'fee', 'feeTax'],
        filter: { balanceId, createdFrom: timestamp(world.now() - 86_400_000) },
      })
    ).body
    t.match((await file(job.result!.download!)).toString('utf8'), `${payment.id},1.20,0.20`)
  })

  await t.test('statements have it as a line in every format', async (t) => {
    const day = timestamp(world.now()).slice(0, 10)
    const formats = ['pdf', 'csv', 'camt053', 'mt940']
    const asked = await client.post<Job>(`/balances/${balanceId}/statements`, {
      from: `${day.slice(0, 8)}01`,
      to: day,
      formats,
    })
    const { result } = await ended(client, asked.body.id)
    for (const format of formats) {
      const path = `/balances/${balanceId}/statements/${result!.statementId}/download?format=${format}`
      const bytes = await file((await client.get<DownloadLink>(path)).body)
      const text = format === 'pdf' ? pdfText(bytes).join('\n') : bytes.toString('utf8').replaceAll('\r\n', '')
      t.match(text, new RegExp(`Payment ${payment.number}, tax in\\s+the fee`), format)
    }
  })

  await t.test('files of payments and their reports have it by row', async (t) => {
    const bulk = await uploaded(
      client,
      table(
        ['recipient_id', 'currency', 'amount', 'reference'],
        [recipients.EUR, 'EUR', '10.00', 'Invoice 1'],
        [recipients.EUR, 'EUR', '50000.00', 'Invoice 2'],
      ),
    )
    t.match(await rowsOf(client, bulk), [
      { fee: eur(120), feeTax: eur(20) },
      { fee: eur(120), feeTax: eur(20) },
    ])
    await submitted(client, bulk.id)
    const link = (await client.get<DownloadLink>(`/bulk-payments/${bulk.id}/report?format=csv`)).body
    const [head, ...rows] = (await file(link)).toString('utf8').trimEnd().split('\r\n')
    const at = head!.split(',').indexOf('fee_tax')
    t.ok(at > 0)
    t.strictSame(
      rows.map((row) => row.split(',')[at]),
      ['0.20', '0.20'],
    )
  })
})

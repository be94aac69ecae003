/** Exports of transactions: every format, what narrows them, what is refused, and what a repeat gets. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { DownloadLink } from '../../../lib/contract/download-link.ts'
import type { Job } from '../../../lib/jobs/job-schema.ts'
import { timestamp } from '../../../lib/base/clock.ts'
import { until } from '../../support/until.ts'
import { CSV, PDF, PNG, upload } from '../documents/upload.ts'
import { createWorld, paymentBody, transferBody } from '../../support/world.ts'

const download = async ({ url }: DownloadLink): Promise<Buffer> => {
  const response = await fetch(url)
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
  return Buffer.from(await response.arrayBuffer())
}

/** The files of a package that packs nothing: its directory says where each begins. */
function unzipped(zip: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>()
  for (let at = zip.indexOf('PK\x01\x02', 0, 'latin1'); at >= 0; at = zip.indexOf('PK\x01\x02', at + 4, 'latin1')) {
    const [size, local] = [zip.readUInt32LE(at + 24), zip.readUInt32LE(at + 42)]
    const from = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
    files.set(zip.toString('utf8', at + 46, at + 46 + zip.readUInt16LE(at + 28)), zip.subarray(from, from + size))
  }
  return files
}

interface Row {
  readonly id: string
  readonly type: string
  readonly status: string
  readonly reference: string | null
  readonly amount: { readonly amountMinor: string }
  readonly annotations?: readonly { readonly text: string }[]
}

t.test('exports', async (t) => {
  await using world = await createWorld()
  const customer = await world.customer({
    balances: [
      { currency: 'EUR', amount: 50_000n },
      { currency: 'EUR', amount: 20_000n },
    ],
  })
  const { client } = customer
  const [a, b] = customer.balanceIds as [string, string]
  await client.createTransfer({ ...transferBody(a, b, 1_000), reference: '+49 30; "quoted"' })
  await client.createTransfer(transferBody(b, a, 250))
  const payment = (await client.createPayment(paymentBody(a, customer.recipients.EUR, 12_345))).body
  world.advance(3_000)
  await client.paymentReaching(payment.id, 'completed')
  const { data: listed } = (await client.list<Row>('/transactions', { 'filter[balanceId]': a, sort: 'createdAt' })).body
  const day = timestamp(world.now()).slice(0, 10)
  const filter = { balanceId: a, createdFrom: '2026-01-01' < day ? timestamp(world.now() - 86_400_000) : day }
  const ask = (body: object, key?: string) => client.post<Job>('/transactions/exports', body, key)

  await t.test('a small one is over when it is answered', async (t) => {
    const reply = await ask({ format: 'json', filter })
    t.equal(reply.status, 202, reply.text)
    const { id, result } = reply.body
    t.match(reply.body, {
      kind: 'transaction_export',
      status: 'succeeded',
      progress: { processed: listed.length, total: listed.length },
      subject: { object: 'balance', id: a },
      result: { rows: listed.length, contentType: 'application/json' },
    })
    t.equal(reply.headers.get('location'), `/v1/jobs/${id}`)
    const file = await download(result!.download!)
    t.equal(file.length, result!.sizeBytes)
    t.strictSame(JSON.parse(file.toString('utf8')), listed, 'the same as the list')
    t.match((await client.get<Job>(`/jobs/${id}`)).body, { status: 'succeeded', result: { rows: listed.length } })
    t.strictSame(
      await world.query(`select status, previous_status from outbox where object = 'job' and object_id = $1`, [id]),
      [{ status: 'succeeded', previous_status: 'running' }],
    )
  })

  await t.test('in tables text stays text, and amounts have the separator that was asked for', async (t) => {
    const columns = ['reference', 'amount', 'currency', 'createdAt', 'type']
    const csv = (
      await download(
        (
          await ask({ format: 'csv', filter, columns, timezone: 'Asia/Tokyo', decimalSeparator: ',' })
        ).body.result!.download!,
      )
    ).toString('utf8')
    const lines = csv.trimEnd().split('\r\n')
    t.equal(lines[0], '\ufeffreference;amount;currency;createdAt;type')
    t.equal(lines.length, listed.length + 1)
    const transfer = listed.find(({ amount }) => amount.amountMinor === '1000') as Row & { readonly createdAt: string }
    const local = Temporal.Instant.from(transfer.createdAt)
      .toZonedDateTimeISO('Asia/Tokyo')
      .toPlainDateTime()
      .toString({ fractionalSecondDigits: 3 })
    t.ok(lines.includes(`"'+49 30; ""quoted""";-10,00;EUR;${local};transfer_out`), csv)
    const xlsx = (await ask({ format: 'xlsx', filter })).body
    t.match(xlsx.result, {
      rows: listed.length,
      contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    })
    t.equal((await download(xlsx.result!.download!)).subarray(0, 2).toString(), 'PK')
  })

  await t.test('statements of one balance', async (t) => {
    const journal = await client.journal(a, { sort: 'sequence' })
    const camt = (await ask({ format: 'camt053', filter: { balanceId: a } })).body
    t.match(camt, { status: 'succeeded', result: { rows: journal.length, statementId: null } })
    const text = (await download(camt.result!.download!)).toString('utf8')
    t.equal(text.match(/<Ntry>/g)!.length, journal.length)
    t.notMatch(text, /ElctrncSeqNb/, 'it has no number')
    const ahead = (await ask({ format: 'camt053', filter: { balanceId: a, bookedTo: '2999-12-31' } })).body
    const closing = (await download(ahead.result!.download!)).toString('utf8').match(/CLBD.*?<Dt><Dt>(.*?)<\/Dt>/)![1]
    t.equal(closing, new Date(world.now()).toISOString().slice(0, 10), 'no balance of days that are still to come')
    const mt940 = (await ask({ format: 'mt940', filter: { balanceId: a, bookedFrom: day, bookedTo: day } })).body
    t.match(
      (await download(mt940.result!.download!)).toString('latin1'),
      /^:20:[0-9A-F]{16}\r\n:25:.*\r\n:28C:00000\/00001\r\n:60F:C/,
    )
  })

  await t.test('what does not fit is refused', async (t) => {
    const field = async (body: object) => {
      const { status, problem } = await ask(body)
      return [status, problem.errors?.[0]?.field, problem.errors?.[0]?.code]
    }
    t.strictSame(await field({ format: 'csv', filter: { colour: 'red' } }), [422, '/filter/colour', 'unknown_field'])
    t.strictSame(await field({ format: 'csv', filter: { status: 'lost' } }), [422, '/filter/status', 'invalid_value'])
    t.strictSame(await field({ format: 'csv', filter: { bookedFrom: '2026-05-02', bookedTo: '2026-05-01' } }), [
      422,
      '/filter/bookedFrom',
      'invalid_value',
    ])
    t.strictSame(await field({ format: 'csv', filter: { bookedFrom: '2020-01-01', bookedTo: '2021-12-31' } }), [
      422,
      '/filter',
      'too_large',
    ])
    t.strictSame(await field({ format: 'csv', columns: ['amount', 'secret'] }), [422, '/columns/1', 'invalid_value'])
    t.strictSame(await field({ format: 'json', columns: ['amount'] }), [422, '/columns', 'not_applicable'])
    t.strictSame(await field({ format: 'csv', timezone: 'Mars/Base' }), [422, '/timezone', 'invalid_value'])
    t.strictSame(await field({ format: 'camt053' }), [422, '/filter/balanceId', 'required'])
    t.strictSame(await field({ format: 'camt053', filter: { balanceId: world.seeded.balances.EUR } }), [
      422,
      '/filter/balanceId',
      'not_found',
    ])
    t.strictSame(await field({ format: 'mt940', filter: { balanceId: a, status: 'completed' } }), [
      422,
      '/filter/status',
      'not_applicable',
    ])
    t.strictSame((await field({ format: 'pdf' })).slice(0, 2), [422, '/format'])
    t.strictSame(
      JSON.parse(
        (
          await download(
            (
              await ask({ format: 'json', filter: { balanceId: world.seeded.balances.EUR } })
            ).body.result!.download!,
          )
        ).toString('utf8'),
      ),
      [],
      'nothing of others',
    )
  })

  await t.test('the same key gets the same answer, and does the work once', async (t) => {
    const key = randomUUID()
    const first = await ask({ format: 'csv', filter }, key)
    const [before] = await world.query('select count(*) from stored_file')
    const second = await ask({ format: 'csv', filter }, key)
    t.equal(second.text, first.text)
    t.equal(second.headers.get('idempotency-replayed'), 'true')
    t.strictSame((await world.query('select count(*) from stored_file'))[0], before)
    t.match((await ask({ format: 'xlsx', filter }, key)).problem, { code: 'idempotency-key-reused' })
  })

  await t.test('the sandbox can let one fail, and a result goes after seven days', async (t) => {
    const { id } = (await ask({ format: 'csv', columns: ['SBX:FAIL'] })).body
    const failed = await until('it has failed', async () => {
      const job = (await client.get<Job>(`/jobs/${id}`)).body
      return job.status === 'failed' && job
    })
    t.match(failed.error, { code: 'internal-error' })
    const done = (await ask({ format: 'csv', filter })).body
    world.advance(7 * 86_400_000 + 60_000)
    const expired = await until(
      'it has expired',
      async () => {
        const job = (await client.get<Job>(`/jobs/${done.id}`)).body
        return job.status === 'expired' && job
      },
      { deadlineMs: 120_000 },
    )
    t.match(expired, { result: null, expiresAt: null })
    t.equal((await fetch(done.result!.download!.url)).status, 410)
  })

  await t.test('people prove themselves for everything, and not for a part', async (t) => {
    const person = await world.person('owner').signIn()
    const some = {
      format: 'csv',
      filter: { balanceId: world.seeded.balances.EUR, createdFrom: timestamp(world.now() - 30 * 86_400_000) },
    }
    t.equal((await person.post('/transactions/exports', some)).status, 202)
    for (const body of [{ format: 'csv' }, { ...some, includeAttachments: true }]) {
      t.match((await person.post('/transactions/exports', body)).problem, {
        code: 'step-up-required',
        action: 'statement.full_export',
      })
    }
    await person.stepUp('statement.full_export')
    const {
      data: [paid],
    } = (await world.seeded.client.list<Row>('/transactions', { 'filter[balanceId]': world.seeded.balances.EUR })).body
    const attach = async (fileName: string, bytes: Uint8Array) =>
      (await upload<{ id: string }>(world, person, `/transactions/${paid!.id}/attachments`, { bytes, fileName })).body
        .id
    const attached = [
      await attach('Rechnung Łódź.pdf', PDF),
      await attach('../scan.png', PNG),
      await attach('SBX:INFECTED.csv', CSV),
    ]
    for (const [nth, status] of ['clean', 'clean', 'infected'].entries()) {
      await until(`attachment ${nth} is ${status}`, async () => {
        world.advance(1_000)
        return (
          (await world.seeded.client.get<{ status: string }>(`/attachments/${attached[nth]}`)).body.status === status
        )
      })
    }
    const { id } = (await person.post<Job>('/transactions/exports', { ...some, includeAttachments: true })).body
    const job = await until(
      'the package is there',
      async () => {
        const job = (await world.seeded.client.get<Job>(`/jobs/${id}`)).body
        return job.status === 'succeeded' && job
      },
      { deadlineMs: 120_000 },
    )
    t.match(job.result, { contentType: 'application/zip' })
    const zip = await download(job.result!.download!)
    const files = unzipped(zip)
    const names = [
      `transactions-${timestamp(world.now()).slice(0, 10)}.csv`,
      ...['1-opening-balance.pdf', '2-Rechnung Łódź.pdf', '3-scan.png'].map(
        (name) => `attachments/${paid!.id}/${name}`,
      ),
    ]
    t.strictSame([...files.keys()].sort(), names.toSorted(), 'the table and what is clean')
    t.ok(files.get(names[2]!)?.equals(PDF) && files.get(names[3]!)?.equals(PNG), 'byte by byte')
    t.match(files.get(names[0]!)?.toString('utf8'), paid!.id)
  })
})

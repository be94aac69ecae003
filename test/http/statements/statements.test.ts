/** Statements: of any period and of months, in every format, and that they all say the same. */
import t from 'tap'
import { inflateRawSync } from 'node:zlib'
import type { DownloadLink } from '../../../lib/contract/download-link.ts'
import type { Job } from '../../../lib/jobs/job-schema.ts'
import type { Statement } from '../../../lib/statements/statement-schema.ts'
import { timestamp } from '../../../lib/base/clock.ts'
import { mailsOf } from '../../support/mails.ts'
import { pdfText } from '../../support/pdf-text.ts'
import type { Client } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, transferBody } from '../../support/world.ts'

const ALL = ['pdf', 'csv', 'xlsx', 'camt053', 'mt940'] as const
const today = (ms: number): string => timestamp(ms).slice(0, 10)

async function ended(client: Client, id: string): Promise<Job> {
  return await until(
    'the job is over',
    async () => {
      const job = (await client.get<Job>(`/jobs/${id}`)).body
      return job.status !== 'queued' && job.status !== 'running' && job
    },
    { deadlineMs: 120_000 },
  )
}

const download = async ({ url }: DownloadLink): Promise<Buffer> => {
  const response = await fetch(url)
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
  return Buffer.from(await response.arrayBuffer())
}

/** A part of a package whose sizes are in its directory. */
function unzipped(zip: Buffer, name: string): string {
  for (let at = zip.indexOf('PK\x01\x02', 0, 'latin1'); at >= 0; at = zip.indexOf('PK\x01\x02', at + 4, 'latin1')) {
    const length = zip.readUInt16LE(at + 28)
    if (zip.toString('utf8', at + 46, at + 46 + length) !== name) continue
    const [size, local] = [zip.readUInt32LE(at + 20), zip.readUInt32LE(at + 42)]
    const from = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
    return inflateRawSync(zip.subarray(from, from + size)).toString('utf8')
  }
  throw new Error(`There is no ${name}.`)
}

/** Opening, the signed amounts and closing of a statement, in minor units, as each format tells them. */
const READERS: Readonly<Record<(typeof ALL)[number], (file: Buffer) => readonly bigint[]>> = {
  csv: (file) => {
    const rows = file
      .toString('utf8')
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((row) =>
        Array.from(row.matchAll(/(?:"((?:[^"]|"")*)"|([^,]*))(?:,|$)/g), ([, quoted, plain]) => quoted ?? plain),
      )
    return [minor(rows[0]![9]!), ...rows.slice(1, -1).map((row) => minor(row[8]!)), minor(rows.at(-1)![9]!)]
  },
  xlsx: (file) => {
    const rows = Array.from(unzipped(file, 'xl/worksheets/sheet1.xml').matchAll(/<row>(.*?)<\/row>/g), ([, row]) =>
      Array.from(row!.matchAll(/<c(?:\/>|[^>]*>(.*?)<\/c>)/g), ([, cell]) => /<v>(.*)<\/v>/.exec(cell ?? '')?.[1]),
    ).slice(1)
    return [minor(rows[0]![9]!), ...rows.slice(1, -1).map((row) => minor(row[8]!)), minor(rows.at(-1)![9]!)]
  },
  camt053: (file) => {
    const text = file.toString('utf8')
    const amounts = (pattern: RegExp) =>
      Array.from(text.matchAll(pattern), ([, amount, way]) => (way === 'DBIT' ? -minor(amount!) : minor(amount!)))
    const [opening, closing] = amounts(/<Bal>.*?<Amt Ccy="EUR">([\d.]+)<\/Amt><CdtDbtInd>(\w+)<\/CdtDbtInd>.*?<\/Bal>/g)
    return [
      opening!,
      ...amounts(/<Ntry><NtryRef>\d+<\/NtryRef><Amt Ccy="EUR">([\d.]+)<\/Amt><CdtDbtInd>(\w+)</g),
      closing!,
    ]
  },
  mt940: (file) =>
    Array.from(
      file.toString('latin1').matchAll(/^:(?:60F|62F):([CD])\d{6}EUR([\d,]+)|^:61:\d{10}(R?[CD])([\d,]+)N/gm),
      ([, way, balance, sign, amount]) => {
        const value = minor((balance ?? amount)!.replace(',', '.'))
        return way === 'D' || sign === 'D' || sign === 'RC' ? -value : value
      },
    ),
  pdf: (file) => {
    const text = pdfText(file)
    const opening = text.indexOf('Opening balance')
    const closing = text.indexOf('Closing balance')
    // Lines are: date, details, what was booked, balance. What was booked is what the balance moved by.
    const balances = text
      .slice(opening, closing + 2)
      .filter((piece) => /^-?[\d,]+\.\d\d$/.test(piece))
      .map((piece) => minor(piece.replaceAll(',', '')))
    const lines: bigint[] = []
    for (let at = 1; at + 1 < balances.length - 3; at += 2) {
      const moved = balances[at + 1]! - (at === 1 ? balances[0]! : balances[at - 1]!)
      if (moved !== balances[at] && moved !== -balances[at]!)
        throw new Error(`A line of ${balances[at]} moves the balance by ${moved}.`)
      lines.push(moved)
    }
    return [balances[0]!, ...lines, balances.at(-1)!]
  },
}

function minor(text: string): bigint {
  const [whole, fraction] = text.split('.') as [string, string]
  return BigInt(`${whole}${fraction}`)
}

t.test('statements', async (t) => {
  await using world = await createWorld()
  const customer = await world.customer({
    balances: [
      { currency: 'EUR', amount: 50_000n },
      { currency: 'EUR', amount: 20_000n },
      { currency: 'JPY', amount: 0n },
    ],
  })
  const { client } = customer
  const [a, b, yen] = customer.balanceIds as [string, string, string]
  for (const amount of [1_000, 2_050, 7])
    await client.createTransfer({ ...transferBody(a, b, amount), reference: '=SUM(A1:A9)' })
  await client.createTransfer({ ...transferBody(b, a, 333), reference: 'Łódź, „Rechnung“; 1 < 2 & 3' })
  const payment = (
    await client.createPayment({ ...paymentBody(a, customer.recipients.EUR, 12_345), reference: 'Invoice 42' })
  ).body
  world.advance(3_000)
  await client.paymentReaching(payment.id, 'completed')
  const journal = await client.journal(a, { sort: 'sequence' })
  const day = today(world.now())
  let statement: Statement
  /** The checks of the audit that disagree. */
  const broken = async () =>
    await world.audit().then(
      () => [],
      ({ message }: Error) => Array.from(message.matchAll(/^ {4}"name": "(.*)"/gm), ([, name]) => name),
    )

  await t.test('one that is asked for is made by a job, in all formats, and they agree', async (t) => {
    const reply = await client.post<Job>(`/balances/${a}/statements`, {
      from: day.slice(0, 8) + '01',
      to: day,
      formats: ALL,
    })
    t.equal(reply.status, 202, reply.text)
    t.equal(reply.headers.get('location'), `/v1/jobs/${reply.body.id}`)
    t.match(reply.headers.get('etag'), /^W\/"1-/)
    t.match(reply.body, {
      kind: 'statement',
      status: 'queued',
      result: null,
      error: null,
      subject: { object: 'balance', id: a },
      finishedAt: null,
    })
    const job = await ended(client, reply.body.id)
    t.match(job, {
      status: 'succeeded',
      progress: { processed: journal.length, total: journal.length },
      result: { rows: journal.length },
    })
    statement = (await client.get<Statement>(`/balances/${a}/statements/${job.result!.statementId}`)).body
    t.match(statement, {
      kind: 'custom',
      sequenceNumber: 1,
      from: day.slice(0, 8) + '01',
      to: day,
      status: 'ready',
      formats: ALL,
      lineCount: journal.length,
      jobId: job.id,
      currency: 'EUR',
      openingBalance: { amountMinor: '0' },
      closingBalance: journal.at(-1)!.runningBalance,
    })
    t.equal(
      BigInt(statement.openingBalance.amountMinor) +
        BigInt(statement.totalCredits.amountMinor) -
        BigInt(statement.totalDebits.amountMinor),
      BigInt(statement.closingBalance.amountMinor),
    )
    const wanted = [
      0n,
      ...journal.map(({ direction, amount }) => BigInt(amount.amountMinor) * (direction === 'debit' ? -1n : 1n)),
      BigInt(statement.closingBalance.amountMinor),
    ]
    for (const format of ALL) {
      const link = await client.get<DownloadLink>(`/balances/${a}/statements/${statement.id}/download?format=${format}`)
      t.equal(link.status, 200, link.text)
      const file = await download(link.body)
      t.strictSame(READERS[format](file), wanted, format)
    }
  })

  await t.test('text of others is neither a formula nor markup', async (t) => {
    const file = async (format: string) =>
      await download(
        (await client.get<DownloadLink>(`/balances/${a}/statements/${statement.id}/download?format=${format}`)).body,
      )
    t.match((await file('csv')).toString('utf8'), /,'=SUM\(A1:A9\),/)
    t.match(unzipped(await file('xlsx'), 'xl/worksheets/sheet1.xml'), /<t xml:space="preserve">'=SUM\(A1:A9\)<\/t>/)
    t.match((await file('camt053')).toString('utf8'), '<Ustrd>Łódź, „Rechnung“; 1 &lt; 2 &amp; 3</Ustrd>')
    t.match((await file('camt053')).toString('utf8'), `<EndToEndId>${payment.endToEndId}</EndToEndId>`)
    t.match((await file('mt940')).toString('latin1').replaceAll('\r\n', ''), 'Lodz, .Rechnung.. 1 . 2 + 3')
    const pdf = pdfText(await file('pdf'))
    for (const shown of ['Account statement', 'Page 1 of 1', 'Total']) t.ok(pdf.includes(shown), shown)
  })

  await t.test('what cannot be asked for is refused, and nothing is left of it', async (t) => {
    const ask = (body: object, balance = a) => client.post<Job>(`/balances/${balance}/statements`, body)
    const [{ count: before }] = (await world.query<{ count: string }>('select count(*) from job')) as [
      { count: string },
    ]
    const field = async (body: object) => {
      const { status, problem } = await ask(body)
      return [status, problem.errors?.[0]?.field, problem.errors?.[0]?.code]
    }
    t.strictSame(await field({ from: day, to: today(world.now() + 86_400_000), formats: ['pdf'] }), [
      422,
      '/to',
      'too_far_ahead',
    ])
    t.strictSame(await field({ from: day, to: '2026-01-01', formats: ['pdf'] }), [422, '/from', 'invalid_value'])
    t.strictSame(await field({ from: '2020-01-01', to: '2021-01-01', formats: ['pdf'] }), [422, '/from', 'too_large'])
    t.strictSame(await field({ from: day, to: day, formats: [] }), [422, '/formats', 'too_short'])
    t.strictSame((await field({ from: day, to: day, formats: ['doc'] })).slice(0, 2), [422, '/formats/0'])
    t.strictSame(await field({ from: day, to: day, formats: ['pdf'], language: 'fr' }), [
      422,
      '/language',
      'invalid_value',
    ])
    t.match(
      (await ask({ from: day, to: day, formats: ['pdf'] }, world.seeded.balances.EUR)).problem,
      { status: 404, code: 'not-found' },
      'a balance of others',
    )
    t.strictSame((await world.query('select count(*) from job'))[0], { count: before })
    t.match((await world.seeded.client.get(`/balances/${a}/statements/${statement.id}`)).problem, { code: 'not-found' })
    t.match((await world.seeded.client.get(`/balances/${a}/statements/${statement.id}/download`)).problem, {
      code: 'not-found',
    })
    t.match(
      (await client.get(`/balances/${b}/statements/${statement.id}`)).problem,
      { code: 'not-found' },
      'of another balance',
    )
    t.match((await client.get(`/balances/${a}/statements/${statement.id}/download?format=doc`)).problem, {
      status: 400,
    })
  })

  await t.test('the sandbox can let one fail', async (t) => {
    const { id } = (
      await client.post<Job>(`/balances/${a}/statements`, {
        from: day,
        to: day,
        formats: ['csv'],
        language: 'SBX:FAIL',
      })
    ).body
    const job = await ended(client, id)
    t.match(job, {
      status: 'failed',
      result: null,
      error: { code: 'internal-error', status: 500, instance: `/v1/jobs/${id}` },
    })
    t.match((await client.post(`/jobs/${id}/cancel`, {})).problem, {
      status: 409,
      code: 'not-cancellable',
      currentStatus: 'failed',
    })
    const events = await world.query<{ status: string; previous_status: string }>(
      `select status, previous_status from outbox where object = 'job' and object_id = $1`,
      [id],
    )
    t.strictSame(events, [{ status: 'failed', previous_status: 'running' }])
  })

  await t.test('jobs are listed, read with a tag, and theirs alone', async (t) => {
    const { data } = (await client.list<Job>('/jobs')).body
    t.strictSame(
      data.map(({ kind, status }) => [kind, status]),
      [
        ['statement', 'failed'],
        ['statement', 'succeeded'],
      ],
    )
    t.strictSame(
      (await client.list<Job>('/jobs', { 'filter[status]': 'failed' })).body.data.map(({ id }) => id),
      [data[0]!.id],
    )
    const read = await client.get<Job>(`/jobs/${data[0]!.id}`)
    t.equal((await client.get(`/jobs/${data[0]!.id}`, { 'if-none-match': read.headers.get('etag')! })).status, 304)
    t.match((await world.seeded.client.get(`/jobs/${data[0]!.id}`)).problem, { code: 'not-found' })
    t.strictSame((await world.seeded.client.list('/jobs')).body.data, [])
  })

  await t.test('a session has to prove itself first', async (t) => {
    const person = await world.person('owner').signIn()
    const path = `/balances/${world.seeded.balances.EUR}/statements`
    const body = { from: day, to: day, formats: ['csv'] }
    t.match((await person.post(path, body)).problem, {
      status: 403,
      code: 'step-up-required',
      action: 'statement.full_export',
    })
    await person.stepUp('statement.full_export')
    const { id } = (await person.post<Job>(path, body)).body
    t.equal((await ended(world.seeded.client, id)).status, 'succeeded')
  })

  await t.test('whoever has asked for one is told that it is ready', async (t) => {
    const told = await world.query(
      `select n.object, n.title, u.email is not null as known from notification n join platform_user u on u.id = n.user_id where n.type = 'statement_ready'`,
    )
    t.match(told, [{ object: 'statement', title: /^The statement of .+ is ready$/, known: true }], 'people, not keys')
    const mails = await until('it is mailed', async () => {
      const all = (await mailsOf(world)).filter((mail) => / is ready$/m.test(mail))
      return all.length > 0 && all
    })
    t.equal(mails.length, 1)
  })

  await t.test('the audit finds a statement that is not what it was', async (t) => {
    t.strictSame(await broken(), [])
    const change = () =>
      world.query(
        `update stored_file_piece set bytes = set_byte(bytes, 0, get_byte(bytes, 0) # 1)
      where file_id = (select file_id from statement_file where statement_id = $1 and format = 'mt940')`,
        [statement.id],
      )
    await change()
    t.strictSame(await broken(), ['files of statements'], 'a byte of a file')
    await change()
    await world.query('update statement set credits = credits + 1, closing = closing + 1 where id = $1', [statement.id])
    t.strictSame(await broken(), ['statements'], 'a sum')
    await world.query('update statement set credits = credits - 1, closing = closing - 1 where id = $1', [statement.id])
  })

  await t.test('those of a month are made by themselves, once, and follow on one another', async (t) => {
    const next = Temporal.PlainDate.from(day).with({ day: 1 }).add({ months: 1 })
    world.advance(next.toZonedDateTime({ timeZone: 'UTC', plainTime: '06:00:01' }).epochMilliseconds - world.now())
    const monthly = async (balance: string, count: number) =>
      await until(
        'its monthly statement',
        async () => {
          const { data } = (
            await client.list<Statement>(`/balances/${balance}/statements`, {
              'filter[kind]': 'monthly',
              'filter[status]': 'ready',
            })
          ).body
          return data.length === count && data
        },
        { deadlineMs: 120_000 },
      )
    const [first] = (await monthly(a, 1)) as [Statement]
    t.match(first, {
      sequenceNumber: 1,
      to: next.subtract({ days: 1 }).toString(),
      lineCount: journal.length,
      closingBalance: statement.closingBalance,
      formats: ALL,
    })
    t.match(
      (await monthly(yen, 1))[0],
      { lineCount: 0, closingBalance: { amountMinor: '0', currency: 'JPY' }, formats: ALL },
      'also of a balance on which nothing happened',
    )
    const yenFiles = await Promise.all(
      ALL.map(
        async (format) =>
          await download(
            (
              await client.get<DownloadLink>(
                `/balances/${yen}/statements/${(await monthly(yen, 1))[0]!.id}/download?format=${format}`,
              )
            ).body,
          ),
      ),
    )
    t.ok(yenFiles.every(({ length }) => length > 0))
    t.strictSame(await broken(), [])
    // Booked late: what a correction does to a month whose statement is out.
    await client.createTransfer(transferBody(a, b, 11))
    const late = (await client.journal(a)).at(0)!
    await world.query(`update posting set booked_at = $2::timestamptz where entry_id = $1`, [
      late.entryId,
      timestamp(Temporal.Instant.from(`${first.to}T23:59:00Z`).epochMilliseconds),
    ])
    world.advance(
      next.add({ months: 1 }).toZonedDateTime({ timeZone: 'UTC', plainTime: '06:00:01' }).epochMilliseconds -
        world.now(),
    )
    const [second] = (await monthly(a, 2)) as [Statement]
    t.match(
      second,
      {
        sequenceNumber: 2,
        from: next.toString(),
        lineCount: 1,
        openingBalance: first.closingBalance,
        totalDebits: { amountMinor: '11' },
      },
      'is in the next one',
    )
    t.strictSame(await broken(), [], 'the one begins where the other ended')
    await world.query(
      'update statement set first_sequence = first_sequence + 1, debit_count = 0, debits = 0, closing = opening where id = $1',
      [second.id],
    )
    t.strictSame(await broken(), ['statements', 'statements in a row'], 'a line that was left out')
    await world.query(
      'update statement set first_sequence = first_sequence - 1, debit_count = 1, debits = 11, closing = opening - 11 where id = $1',
      [second.id],
    )
    const [{ count }] = (await world.query<{ count: string }>(
      `select count(*) from statement where balance_id = $1 and kind = 'monthly'`,
      [a],
    )) as [{ count: string }]
    t.equal(count, '2')
  })

  await t.test('a statement of last month can be simulated', async (t) => {
    const { client, balances } = world.seeded
    const reply = await client.post<{ kind: string; details: { statementId: string } }>('/simulations/statements', {
      balanceId: balances.EUR,
    })
    t.equal(reply.status, 202, reply.text)
    const { statementId } = reply.body.details
    const found = await until('it is ready', async () => {
      const { body } = await client.get<Statement>(`/balances/${balances.EUR}/statements/${statementId}`)
      return body.status === 'ready' && body
    })
    t.equal(found.kind, 'monthly')
    t.strictSame(
      (await client.post<{ details: { statementId: string } }>('/simulations/statements', { balanceId: balances.EUR }))
        .body.details.statementId,
      statementId,
      'the same again',
    )
    const events = await world.query(`select type, object_id, sandbox from outbox where type = 'statement.available'`)
    t.strictSame(
      events,
      [1, 2].map(() => ({ type: 'statement.available', object_id: statementId, sandbox: true })),
    )
    t.match((await client.post('/simulations/statements', { balanceId: a })).problem, { code: 'not-found' })
  })

  await t.test('results go after seven days, statements stay', async (t) => {
    world.advance(8 * 86_400_000)
    const file = (await client.get<DownloadLink>(`/balances/${a}/statements/${statement.id}/download?format=csv`)).body
    t.equal(READERS.csv(await download(file)).at(-1), BigInt(statement.closingBalance.amountMinor))
  })
})

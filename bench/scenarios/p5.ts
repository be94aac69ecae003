/**
 * P5: a file of a hundred thousand payments. Its rows are read and checked, against a CSV parser alone on the same
 * file; they are made payments, against what one connection to Postgres can do; and another customer pays meanwhile,
 * against the same payments while nobody else is there.
 */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parse } from 'csv-parse'
import type { Payer } from '../database.ts'
import { median } from '../measurement.ts'
import { judge, type Bench, type Result, type Scenario } from '../scenario.ts'
import { paymentOperation, startService, type Subject } from '../subject.ts'
import { startSide } from './p4.ts'

const ROWS = 100_000
const ROWS_MIN = 500
/** Of another customer: what a few clerks and a shop send. */
const OTHERS_PER_SECOND = 50
const OTHER_CONNECTIONS = 16
/** Times the parser reads the file alone, before and after. */
const PARSES = 3
const PIECE_BYTES = 64 * 1024
const POLL_MS = 50
const PATIENCE_MS = 1_800_000

interface Bulk {
  readonly id: string
  readonly status: string
  readonly counts: {
    readonly total: number
    readonly valid: number
    readonly submitted: number
    readonly failed: number
  }
}

export const p5: Scenario = {
  id: 'P5',
  title: 'a bulk payment of 100 000 rows',
  async run(bench) {
    const rows = Math.max(ROWS_MIN, Math.round(ROWS * bench.scale))
    const [payer, other] = [
      bench.databases.payers[0]!,
      bench.databases.payers.find(({ customerId }) => customerId !== bench.databases.payers[0]!.customerId)!,
    ]
    await using service = await startService(bench, { dispatch: false })
    await using ceiling = await startSide(
      bench,
      'ceiling',
      join(import.meta.dirname, '..', 'baselines', 'ceiling.ts'),
      [payer],
    )
    const others = {
      operations: [paymentOperation(other)],
      connections: OTHER_CONNECTIONS,
      arrivalsPerSecond: OTHERS_PER_SECOND,
    }
    await service.heat({ operations: bench.databases.payers.map(paymentOperation), connections: OTHER_CONNECTIONS })
    const idle = await service.measure({ ...others, seconds: bench.seconds })
    const most = (await ceiling.measure(bench.seconds / 2)).rate

    const file = fileOf(payer, rows)
    const parsing = await parseAlone(file)
    const [checked, checkedPerSecond] = await timed(bench, service, 'checked', rows, () =>
      validate(service.url, payer, file),
    )
    const [paid, paidPerSecond] = await timed(bench, service, 'paid', rows, () => submit(service.url, payer, checked))

    // The same again with somebody beside; the second file has other rows, so it is no duplicate.
    const beside = await validate(service.url, payer, fileOf(payer, rows, 'Again'))
    const running = submit(service.url, payer, beside)
    const busy = await service.measure({ ...others, seconds: bench.seconds })
    const underWay = (await read(service.url, payer, beside.id)).status === 'submitting'
    const ended = await running
    const mostAfter = (await ceiling.measure(bench.seconds / 2)).rate
    const clean = await service.conditions()
    return results({
      rows,
      parsing,
      checked,
      checkedPerSecond,
      paid,
      paidPerSecond,
      ended,
      idle,
      busy,
      underWay,
      ceiling: (most + mostAfter) / 2,
      clean: clean.filter(({ name }) => name.endsWith('clean audit')),
    })
  },
}

function results({
  rows,
  parsing,
  checked,
  checkedPerSecond,
  paid,
  paidPerSecond,
  ended,
  idle,
  busy,
  underWay,
  ceiling,
  clean,
}: {
  readonly rows: number
  readonly parsing: number
  readonly checked: Bulk
  readonly checkedPerSecond: number
  readonly paid: Bulk
  readonly paidPerSecond: number
  readonly ended: Bulk
  readonly idle: Report
  readonly busy: Report
  readonly underWay: boolean
  readonly ceiling: number
  readonly clean: Result['conditions']
}): Result[] {
  const shared = { id: 'P5', p50Ms: null, p99Ms: null }
  return [
    judge({
      ...shared,
      scenario: `${rows} rows read and checked`,
      value: checkedPerSecond,
      unit: 'rows/s',
      baselines: { csvParse: parsing },
      targets: [{ baseline: 'csvParse', times: 0.2, direction: 'atLeast' }],
      conditions: [
        { name: 'all valid', holds: checked.counts.valid === rows, found: `${checked.counts.valid} of ${rows}` },
      ],
    }),
    judge({
      ...shared,
      scenario: `${rows} rows made payments`,
      value: paidPerSecond,
      unit: 'payments/s',
      baselines: { ceiling },
      targets: [{ baseline: 'ceiling', times: 0.3, direction: 'atLeast' }],
      conditions: [
        { name: 'all made', holds: paid.counts.submitted === rows, found: `${paid.counts.submitted} of ${rows}` },
        ...clean,
      ],
    }),
    judge({
      ...shared,
      scenario: `another customer's ${OTHERS_PER_SECOND} payments/s meanwhile: p99`,
      value: busy.p99Ms,
      unit: 'ms',
      p50Ms: busy.p50Ms,
      p99Ms: busy.p99Ms,
      baselines: { idle: idle.p99Ms },
      targets: [{ baseline: 'idle', times: 3, direction: 'atMost' }],
      conditions: [
        {
          name: 'no failed request',
          holds: busy.failures + idle.failures === 0,
          found: `${busy.failures + idle.failures}`,
        },
        {
          name: 'submitted all the while',
          holds: underWay && ended.counts.submitted === rows,
          found: `${ended.counts.submitted} of ${rows}${underWay ? '' : ', over before the measurement was'}`,
        },
      ],
    }),
  ]
}

type Report = Awaited<ReturnType<Subject['measure']>>

function fileOf({ balanceId, recipient }: Payer, rows: number, reference = 'Invoice'): Buffer {
  const lines = ['recipient_id,currency,amount,reference,source_balance_id']
  for (let nth = 1; nth <= rows; nth++) lines.push(`${recipient.id},EUR,1.00,${reference} ${nth},${balanceId}`)
  return Buffer.from(lines.join('\n'))
}

/** Rows a second that the parser reads with nothing to do for them. */
async function parseAlone(file: Buffer): Promise<number> {
  const rates: number[] = []
  for (let nth = 0; nth < PARSES; nth++) {
    const begun = performance.now()
    let rows = 0
    for await (const _ of Readable.from(pieces(file)).pipe(parse())) rows += 1
    rates.push((rows / (performance.now() - begun)) * 1_000)
  }
  return median(rates)
}

function* pieces(file: Buffer): Generator<Buffer> {
  for (let at = 0; at < file.length; at += PIECE_BYTES) yield file.subarray(at, at + PIECE_BYTES)
}

const headersOf = ({ apiKey, customerId }: Payer) => ({ authorization: `Bearer ${apiKey}`, 'x-tenant-id': customerId })

async function validate(url: string, payer: Payer, file: Buffer): Promise<Bulk> {
  const body = new FormData()
  body.append('file', new Blob([new Uint8Array(file)]), 'payments.csv')
  const { id } = (await answered(
    fetch(`${url}/v1/bulk-payments`, {
      method: 'POST',
      headers: { ...headersOf(payer), 'idempotency-key': randomUUID() },
      body,
    }),
  )) as Bulk
  return await over(url, payer, id, 'validating')
}

async function submit(url: string, payer: Payer, { id }: Bulk): Promise<Bulk> {
  await answered(
    fetch(`${url}/v1/bulk-payments/${id}/submit`, {
      method: 'POST',
      headers: { ...headersOf(payer), 'idempotency-key': randomUUID() },
    }),
  )
  return await over(url, payer, id, 'submitting')
}

const read = async (url: string, payer: Payer, id: string): Promise<Bulk> =>
  (await answered(fetch(`${url}/v1/bulk-payments/${id}`, { headers: headersOf(payer) }))) as Bulk

async function over(url: string, payer: Payer, id: string, status: string): Promise<Bulk> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const bulk = await read(url, payer, id)
    if (bulk.status !== status) return bulk
    if (performance.now() > deadline) throw new Error(`The bulk payment is still ${status}.`)
    await pause(POLL_MS)
  }
}

async function answered(asked: Promise<Response>): Promise<unknown> {
  const response = await asked
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.status}: ${text}`)
  return JSON.parse(text) as unknown
}

async function timed(
  bench: Bench,
  service: Subject,
  what: string,
  rows: number,
  work: () => Promise<Bulk>,
): Promise<[Bulk, number]> {
  await service.database?.checkpoint()
  const begun = performance.now()
  const bulk = await work()
  const seconds = (performance.now() - begun) / 1_000
  bench.log(`  ${rows} rows ${what} in ${seconds.toFixed(1)} s: ${(rows / seconds).toFixed(0)}/s, ${bulk.status}`)
  return [bulk, rows / seconds]
}

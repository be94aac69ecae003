/**
 * P5: a file of a hundred thousand payments. Its rows are read and checked, against a CSV parser alone on the same
 * file; they are made payments, against what one connection to Postgres can do; and another customer pays meanwhile,
 * against the same payments while nobody else is there.
 */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { parse } from 'csv-parse'
import type { Payer } from '../database.ts'
import { cpuText, meanCpu, type CpuPerOperation } from '../cpu-shares.ts'
import { median, mergeConditions, ROUNDS, summarise, type Sample, type Summary } from '../measurement.ts'
import { judge, type Bench, type Condition, type Figures, type Result, type Scenario } from '../scenario.ts'
import { cleanAudit, paymentOperation, startService, type Measurement, type Subject } from '../subject.ts'
import { measureSide } from './p4.ts'

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
    const payer = bench.databases.payers[0]!
    const ceilings: Sample[] = []
    const rounds: Round[] = []
    for (let round = 0; round < ROUNDS; round++) {
      ceilings.push(await measureSide(bench, 'ceiling', [payer], bench.seconds / ROUNDS))
      rounds.push(await bulk(bench, payer, rows))
    }
    return [checkedResult(rows, rounds), paidResult(rows, rounds, summarise(ceilings)), besideResult(rows, rounds)]
  },
}

/** What a process came to. */
interface Round {
  /** Rows a second of the parser alone. */
  readonly parsing: number
  readonly checked: Timed
  readonly paid: Timed
  /** The second file, which was paid while another customer paid. */
  readonly ended: Bulk
  readonly underWay: boolean
  readonly idle: Measurement
  readonly busy: Measurement
  readonly clean: readonly Condition[]
}

/** A step of a bulk payment. */
interface Timed {
  readonly bulk: Bulk
  readonly perSecond: number
  readonly cpu: CpuPerOperation | null
}

/** A fresh service: another customer alone, a file alone, and both. */
async function bulk(bench: Bench, payer: Payer, rows: number): Promise<Round> {
  const other = bench.databases.payers.find(({ customerId }) => customerId !== payer.customerId)!
  await using service = await startService(bench, { dispatch: false })
  const { url } = service
  const others = {
    operations: [paymentOperation(other)],
    connections: OTHER_CONNECTIONS,
    arrivalsPerSecond: OTHERS_PER_SECOND,
    seconds: bench.seconds / ROUNDS,
  }
  await service.heat({ operations: bench.databases.payers.map(paymentOperation), connections: OTHER_CONNECTIONS })
  await service.rest()
  const idle = await service.measure(others)

  const file = fileOf(payer, rows)
  const parsing = await parseAlone(file)
  const checked = await timed(bench, service, 'checked', rows, () => validate(url, payer, file))
  const paid = await timed(bench, service, 'paid', rows, () => submit(url, payer, checked.bulk))

  // The same again with somebody beside; the second file has other rows, so it is no duplicate.
  const beside = await validate(url, payer, fileOf(payer, rows, 'Again'))
  const running = submit(url, payer, beside)
  const busy = await service.measure(others)
  const underWay = (await read(url, payer, beside.id)).status === 'submitting'
  const ended = await running
  const clean = [await cleanAudit('service', service.database!)]
  return { parsing, checked, paid, ended, underWay, idle, busy, clean }
}

const figuresOf = (steps: readonly Timed[]): Figures => ({
  each: steps.map(({ perSecond }) => perSecond),
  cpu: meanCpu(steps.map(({ cpu }) => cpu)),
})

const p99sOf = (measured: readonly Measurement[]): Figures => ({
  each: measured.map(({ p99Ms }) => p99Ms),
  cpu: meanCpu(measured.map(({ cpu }) => cpu)),
})

const SHARED = { id: 'P5', p50Ms: null, p99Ms: null } as const

function checkedResult(rows: number, rounds: readonly Round[]): Result {
  const own = figuresOf(rounds.map(({ checked }) => checked))
  const parsing = rounds.map((round) => round.parsing)
  return judge({
    ...SHARED,
    scenario: `${rows} rows read and checked`,
    value: median(own.each),
    unit: 'rows/s',
    baselines: { csvParse: median(parsing) },
    figures: { own, csvParse: { each: parsing, cpu: null } },
    targets: [{ baseline: 'csvParse', times: 0.2, direction: 'atLeast' }],
    conditions: mergeConditions(
      rounds.map(
        ({
          checked: {
            bulk: { counts },
          },
        }) => [{ name: 'all valid', holds: counts.valid === rows, found: `${counts.valid} of ${rows}` }],
      ),
    ),
  })
}

function paidResult(rows: number, rounds: readonly Round[], ceiling: Summary): Result {
  const own = figuresOf(rounds.map(({ paid }) => paid))
  return judge({
    ...SHARED,
    scenario: `${rows} rows made payments`,
    value: median(own.each),
    unit: 'payments/s',
    baselines: { ceiling: ceiling.rate },
    figures: { own, ceiling: ceiling.rates },
    targets: [{ baseline: 'ceiling', times: 0.3, direction: 'atLeast' }],
    conditions: mergeConditions(
      rounds.map(
        ({
          paid: {
            bulk: { counts },
          },
          clean,
        }) => [
          { name: 'all made', holds: counts.submitted === rows, found: `${counts.submitted} of ${rows}` },
          ...clean,
        ],
      ),
    ),
  })
}

function besideResult(rows: number, rounds: readonly Round[]): Result {
  const own = p99sOf(rounds.map(({ busy }) => busy))
  const idle = p99sOf(rounds.map((round) => round.idle))
  return judge({
    id: 'P5',
    scenario: `another customer's ${OTHERS_PER_SECOND} payments/s meanwhile: p99`,
    value: median(own.each),
    unit: 'ms',
    p50Ms: median(rounds.map(({ busy }) => busy.p50Ms)),
    p99Ms: median(own.each),
    baselines: { idle: median(idle.each) },
    figures: { own, idle },
    targets: [{ baseline: 'idle', times: 3, direction: 'atMost' }],
    conditions: mergeConditions(
      rounds.map(({ busy, idle: alone, underWay, ended: { counts } }) => [
        {
          name: 'no failed request',
          holds: busy.failures + alone.failures === 0,
          found: `${busy.failures + alone.failures}`,
        },
        {
          name: 'submitted all the while',
          holds: underWay && counts.submitted === rows,
          found: `${counts.submitted} of ${rows}${underWay ? '' : ', over before the measurement was'}`,
        },
      ]),
    ),
  })
}

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
): Promise<Timed> {
  await service.database?.checkpoint()
  const watch = service.watchCpu()
  watch.onMoment('begin')
  const begun = performance.now()
  const bulk = await work()
  const seconds = (performance.now() - begun) / 1_000
  watch.onMoment('end')
  const cpu = await watch.perOperation(rows)
  const text = `${rows} rows ${what} in ${seconds.toFixed(1)} s: ${(rows / seconds).toFixed(0)}/s, ${bulk.status}`
  bench.log(`  ${text}${cpu === null ? '' : `  CPU ${cpuText(cpu)} µs`}`)
  return { bulk, perSecond: rows / seconds, cpu }
}

/**
 * YEAR: a year of a million lines on one balance. Paging it costs the same at both ends, what few lines have is found
 * soon, and its exports and statements are written in memory that does not grow with it and agree to the cent.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { EXPORT_COLUMNS } from '../../lib/transactions/transaction-table.ts'
import { STATEMENT_COLUMNS } from '../../lib/statements/statement-table.ts'
import type { Payer } from '../database.ts'
import { loadHistory, RARE } from '../history.ts'
import { median } from '../measurement.ts'
import { judge, type Condition, type Result, type Scenario } from '../scenario.ts'
import { downloadTo, sumsOf, type SummedFormat, type Sums } from '../statement-sums.ts'
import { startService, type Subject } from '../subject.ts'

const LINES = 1_000_000
const DAYS = 365
const PAGE = 100
/** Pages at each end whose median is compared. */
const EDGE_PAGES = 100
const SAMPLES = 5
/** Of one export. */
const EXPORT_ROWS_MAX = 500_000
/** The most memory that the process may add while it writes, the threads' own memory included. */
const MEMORY_MB_MAX = 500
const POLL_MS = 50
const TRIES_MAX = 10
const RETRY_MS = 1_000
const DAY_MS = 86_400_000
const dayAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)

interface Page {
  readonly data: readonly { readonly amount: { readonly amountMinor: string }; readonly direction: string }[]
  readonly page: { readonly nextCursor: string | null }
}

interface Job {
  readonly id: string
  readonly status: string
  readonly error: unknown
  readonly result: {
    readonly rows: number
    readonly statementId: string | null
    readonly download: { readonly url: string } | null
  } | null
}

/** A customer of the service, who asks one thing after the other. */
class Treasurer {
  readonly #url: string
  readonly #headers: Readonly<Record<string, string>>

  constructor({ url }: Subject, { customerId, apiKey }: Payer) {
    this.#url = `${url}/v1`
    this.#headers = { Authorization: `Bearer ${apiKey}`, 'X-Tenant-Id': customerId }
  }

  async get<Body>(path: string): Promise<Body> {
    return await this.#ask<Body>(path, {})
  }

  async post<Body>(path: string, body: object): Promise<Body> {
    return await this.#ask<Body>(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': crypto.randomUUID() },
    })
  }

  /** Waits for a job. @throws when it comes to nothing */
  async ended(job: Job): Promise<Job> {
    for (let now = job; ; now = await this.get<Job>(`/jobs/${job.id}`)) {
      if (now.status === 'succeeded') return now
      if (now.status !== 'queued' && now.status !== 'running')
        throw new Error(`The job is ${now.status}: ${JSON.stringify(now.error)}`)
      await pause(POLL_MS)
    }
  }

  /** A machine that is busy with something else may turn one away for a moment. */
  async #ask<Body>(path: string, { headers, ...init }: RequestInit): Promise<Body> {
    for (let tries = 1; ; tries++) {
      const response = await fetch(`${this.#url}${path}`, {
        ...init,
        headers: { ...this.#headers, ...(headers as Record<string, string>) },
      })
      if (response.ok) return (await response.json()) as Body
      const text = await response.text()
      if (response.status !== 503 || tries === TRIES_MAX) throw new Error(`${path}: ${response.status} ${text}`)
      await pause(RETRY_MS)
    }
  }
}

async function timed<Value>(work: () => Promise<Value>): Promise<{ readonly value: Value; readonly ms: number }> {
  const begin = performance.now()
  const value = await work()
  return { value, ms: performance.now() - begin }
}

/** The most memory that a subject had while something was done, megabytes beyond what it had before. */
async function growth<Value>(
  { residentMb }: Subject,
  work: () => Promise<Value>,
): Promise<{ readonly value: Value; readonly ms: number; readonly grownMb: number }> {
  const before = residentMb()
  let peak = before
  const timer = setInterval(() => {
    peak = Math.max(peak, residentMb())
  }, POLL_MS)
  try {
    return { ...(await timed(work)), grownMb: peak - before }
  } finally {
    clearInterval(timer)
  }
}

/** Reads a list to its end. */
async function walk(treasurer: Treasurer, name: string, path: string): Promise<Result & { readonly rows: number }> {
  const times: number[] = []
  let [rows, total] = [0, 0n]
  for (let cursor: string | null = ''; cursor !== null; ) {
    const {
      value: { data, page },
      ms,
    }: { value: Page; ms: number } = await timed(() =>
      treasurer.get<Page>(`${path}${cursor === '' ? '' : `&cursor=${cursor}`}`),
    )
    times.push(ms)
    rows += data.length
    for (const { amount, direction } of data)
      total += BigInt(amount.amountMinor) * (direction === 'debit' || direction === 'out' ? -1n : 1n)
    cursor = page.nextCursor
  }
  const [first, last] = [median(times.slice(1, EDGE_PAGES + 1)), median(times.slice(-EDGE_PAGES - 1, -1))]
  const sorted = times.toSorted((one, other) => one - other)
  return {
    rows,
    ...judge({
      id: 'YEAR',
      scenario: `${name} of ${rows} read to the end, ${PAGE} a page: the last pages`,
      value: last,
      unit: 'ms',
      p50Ms: sorted[sorted.length >> 1]!,
      p99Ms: sorted[Math.floor(sorted.length * 0.99)]!,
      baselines: { firstPage: first },
      targets: [{ baseline: 'firstPage', times: 2, direction: 'atMost' }],
      conditions: [{ name: 'lines', holds: rows > 0, found: `${rows}, ${total} in all` }],
    }),
  }
}

/** Something asked several times: how long its median takes, against a first page without filters. */
async function find(
  treasurer: Treasurer,
  name: string,
  path: string,
  { firstPage, rows }: { readonly firstPage: number; readonly rows: boolean },
): Promise<Result> {
  const times: number[] = []
  let found = 0
  for (let nth = 0; nth < SAMPLES; nth++) {
    const { value, ms } = await timed(() => treasurer.get<Page>(path))
    times.push(ms)
    found = value.data.length
  }
  return judge({
    id: 'YEAR',
    scenario: name,
    value: median(times),
    unit: 'ms',
    p50Ms: null,
    p99Ms: null,
    baselines: { firstPage },
    targets: [],
    conditions: [{ name: rows ? 'found' : 'nothing found', holds: found > 0 === rows, found: `${found} rows` }],
  })
}

/** The conditions on the sums of a file. */
function agrees(
  { opening, lines, total, closing }: Sums,
  wanted: { readonly lines: number; readonly total: bigint; readonly opening: bigint | null },
): Condition {
  const holds =
    lines === wanted.lines &&
    total === wanted.total &&
    opening === wanted.opening &&
    (opening === null || opening + total === closing)
  return {
    name: 'opening and lines come to closing',
    holds,
    found: `${lines} lines, ${opening} + ${total} = ${closing}, wanted ${wanted.lines} lines, ${wanted.opening} + ${wanted.total}`,
  }
}

export const year: Scenario = {
  id: 'YEAR',
  title: 'a year of a million lines on one balance',
  async run(bench) {
    const lines = LINES * bench.scale
    const payer = bench.databases.payers[0]!
    await using database = await bench.databases.clone('year')
    // The balance at the other end has as many.
    const loaded = await loadHistory(database, { lines: lines * 2, days: DAYS, pairs: 1 }, bench.log)
    await using service = await startService(bench, { dispatch: false, database })
    const directory = await mkdtemp(join(bench.databases.directory, 'year-'))
    await using _ = { [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) }
    const [owner] = await service.database!.query<{ id: string; customer_id: string; posted: string }>(
      'select id, customer_id, posted from balance order by sequence desc, id limit 1',
    )
    const treasurer = new Treasurer(
      service,
      bench.databases.payers.find(({ customerId }) => customerId === owner!.customer_id) ?? payer,
    )
    const { id } = owner!
    const ofBalance = loaded / 2
    const results: Result[] = []
    const say = (result: Result): void => {
      results.push(result)
      bench.log(
        `  ${result.scenario}: ${result.value.toFixed(1)} ${result.unit}${result.conditions.map(({ name, holds, found }) => (holds ? '' : `  NOT ${name}: ${found}`)).join('')}`,
      )
    }

    const journal = `/balances/${id}/journal?limit=${PAGE}`
    const transactions = `/transactions?filter[balanceId]=${id}&limit=${PAGE}`
    say(await walk(treasurer, 'journal', journal))
    say(await walk(treasurer, 'transactions', transactions))
    const firstLines = median(await repeat(() => treasurer.get(journal)))
    const firstTransactions = median(await repeat(() => treasurer.get(transactions)))
    const amounts = (amount: number) => `filter[amountFrom]=${amount}&filter[amountTo]=${amount}`
    const bookedThen = `filter[bookedFrom]=${dayAgo(183)}&filter[bookedTo]=${dayAgo(183)}`
    /** The filters of each list, and whether any row matches. */
    const finds: readonly (readonly [list: string, filter: string, path: string, rows: boolean])[] = [
      ['journal', 'an amount of one in 5 000', `${journal}&${amounts(RARE.amount)}`, true],
      ['journal', 'an amount that none has', `${journal}&${amounts(RARE.amount + 1)}`, false],
      ['journal', 'a type that none has', `${journal}&filter[type]=fee`, false],
      ['journal', 'a day half a year ago', `${journal}&${bookedThen}`, true],
      ['transactions', 'an amount of one in 5 000', `${transactions}&${amounts(RARE.amount)}`, true],
      ['transactions', 'an amount that none has', `${transactions}&${amounts(RARE.amount + 1)}`, false],
      ['transactions', 'a type that none has', `${transactions}&filter[type]=fee`, false],
      ['transactions', 'a rail that none has', `${transactions}&filter[rail]=sepa_instant`, false],
      ['search', 'a word that all have', '/transactions?q=invoice', true],
      ['search', 'a word of one in 5 000', `/transactions?q=${RARE.word}`, true],
      ['search', 'a word that none has', '/transactions?q=zeppelin', false],
    ]
    for (const [list, filter, path, rows] of finds) {
      const firstPage = list === 'journal' ? firstLines : firstTransactions
      say(await find(treasurer, `${list}: ${filter}`, path, { firstPage, rows }))
    }

    const memory = (grownMb: number): Condition => ({
      name: `at most ${MEMORY_MB_MAX} MB more memory`,
      holds: grownMb <= MEMORY_MB_MAX,
      found: `${grownMb.toFixed(0)} MB`,
    })

    /** Exports the older half of the year, which an export has room for. */
    async function exported(format: SummedFormat): Promise<void> {
      const filter = {
        balanceId: id,
        bookedFrom: dayAgo(DAYS + 1),
        bookedTo: dayAgo(Math.ceil(DAYS * (1 - (EXPORT_ROWS_MAX - 10_000) / LINES))),
      }
      const {
        value: job,
        ms,
        grownMb,
      } = await growth(
        service,
        async () => await treasurer.ended(await treasurer.post<Job>('/transactions/exports', { format, filter })),
      )
      const path = join(directory, format)
      const bytes = await downloadTo(job.result!.download!.url, path)
      const [whole] = await service.database!.query<{
        lines: string
        total: string
      }>(`select count(*) as lines, coalesce(sum(case direction when 'out' then -amount else amount end), 0) as total
        from account_transaction where balance_id = '${id}' and booked_at >= '${filter.bookedFrom}' and booked_at < date '${filter.bookedTo}' + 1`)
      const isStatement = format === 'camt053' || format === 'mt940'
      const sums = await sumsOf(path, format, { amount: EXPORT_COLUMNS.indexOf('amount'), balance: null })
      say(
        judge({
          id: 'YEAR',
          scenario: `export as ${format}: ${job.result!.rows} rows in ${(ms / 1000).toFixed(1)} s, ${(bytes / 1e6).toFixed(0)} MB, ${grownMb.toFixed(0)} MB more memory`,
          value: (job.result!.rows / ms) * 1000,
          unit: 'rows/s',
          p50Ms: null,
          p99Ms: null,
          baselines: {},
          targets: [],
          conditions: [
            memory(grownMb),
            agrees(sums, {
              lines: Number(whole!.lines),
              total: BigInt(whole!.total),
              opening: isStatement ? BigInt(owner!.posted) : null,
            }),
          ],
        }),
      )
    }
    for (const format of ['csv', 'json', 'xlsx', 'camt053', 'mt940'] as const) await exported(format)

    const period = { from: dayAgo(DAYS), to: dayAgo(0) }
    for (const format of ['csv', 'xlsx', 'camt053', 'mt940', 'pdf'] as const) {
      const {
        value: job,
        ms,
        grownMb,
      } = await growth(
        service,
        async () =>
          await treasurer.ended(
            await treasurer.post<Job>(`/balances/${id}/statements`, { ...period, formats: [format] }),
          ),
      )
      const statement = `/balances/${id}/statements/${job.result!.statementId}`
      const path = join(directory, format)
      const bytes = await downloadTo(
        (await treasurer.get<{ url: string }>(`${statement}/download?format=${format}`)).url,
        path,
      )
      const told = await treasurer.get<{
        openingBalance: { amountMinor: string }
        closingBalance: { amountMinor: string }
        lineCount: number
      }>(statement)
      const opening = BigInt(told.openingBalance.amountMinor)
      // A PDF is for people; its writer counts its lines, and a test reads one.
      const conditions =
        format === 'pdf'
          ? []
          : [
              agrees(
                await sumsOf(path, format, {
                  amount: STATEMENT_COLUMNS.indexOf('amount'),
                  balance: STATEMENT_COLUMNS.indexOf('runningBalance'),
                }),
                { lines: told.lineCount, total: BigInt(told.closingBalance.amountMinor) - opening, opening },
              ),
            ]
      say(
        judge({
          id: 'YEAR',
          scenario: `statement as ${format}: ${told.lineCount} lines in ${(ms / 1000).toFixed(1)} s, ${(bytes / 1e6).toFixed(0)} MB, ${grownMb.toFixed(0)} MB more memory`,
          value: (told.lineCount / ms) * 1000,
          unit: 'lines/s',
          p50Ms: null,
          p99Ms: null,
          baselines: {},
          targets: [],
          conditions: [
            memory(grownMb),
            {
              name: 'all lines',
              holds: Math.abs(told.lineCount - ofBalance) <= ofBalance / 100,
              found: `${told.lineCount}`,
            },
            ...conditions,
          ],
        }),
      )
    }
    const audited = await service.conditions()
    return results.map((result, nth) =>
      nth < results.length - 1 ? result : judge({ ...result, conditions: [...result.conditions, ...audited] }),
    )
  },
}

async function repeat(work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  for (let nth = 0; nth < SAMPLES; nth++) times.push((await timed(work)).ms)
  return times
}

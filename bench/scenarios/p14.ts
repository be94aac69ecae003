/**
 * P14: `POST /collections` by a thousand mandates that collect for one balance, against `POST /payments` from that balance
 * in turn; and 100 000 pending collections, whose cut-off comes, into one file of pain.008: submitted by their mandates,
 * written by a thread, and kept. Their time is from the opening of the file until it is `generated`.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { copyCollections } from '../collections.ts'
import type { Payer } from '../database.ts'
import { FRESH_KEY, type Operation } from '../load-plan.ts'
import { alternate } from '../measurement.ts'
import { judge, type Bench, type Condition, type Result, type Scenario } from '../scenario.ts'
import { cleanAudit, measureFresh, paymentOperation, startService, type Subject } from '../subject.ts'

const MANDATES = 1_000
const CONNECTIONS = 64
const COLLECTIONS = 100_000
/** The most memory that the process may add, the threads' own memory included; as documents of that many lines. */
const MEMORY_MB_MAX = 500
const POLL_MS = 200
const AMOUNT = { amountMinor: '2500', currency: 'EUR' }
/** Within the half hour before the cut-off in which files are made. */
const CUT_OFF = `now() + interval '20 minutes'`

interface FileRow {
  readonly lines: number
  readonly sum: string
  readonly seconds: number
  readonly bytes: number
}

export const p14: Scenario = {
  id: 'P14',
  title: 'collections, accepted and to a file',
  run: async (bench) => [await accepted(bench), await toFile(bench)],
}

async function accepted(bench: Bench): Promise<Result> {
  const payer = bench.databases.payers[0] as Payer
  let missing = 0
  const measured = (operationsOf: (subject: Subject) => Promise<readonly Operation[]>) => async (seconds: number) => {
    let operations: readonly Operation[] = []
    return await measureFresh(
      async () => {
        const subject = await startService(bench, { dispatch: false })
        operations = await operationsOf(subject)
        return subject
      },
      async (subject) => {
        const measurement = await subject.measure({ operations, connections: CONNECTIONS, seconds })
        missing += await missingOf(subject)
        return measurement
      },
    )
  }
  const { collections, payments } = await alternate(bench.seconds, {
    payments: measured(async () => [paymentOperation(payer)]),
    collections: measured(async (subject) => await collectionOperations(subject, payer)),
  })
  const failures = collections.failures + payments.failures
  return judge({
    id: 'P14',
    scenario: `POST /collections, ${MANDATES} mandates of one balance, ${CONNECTIONS} connections`,
    value: collections.rate,
    unit: 'collections/s',
    p50Ms: collections.p50Ms,
    p99Ms: collections.p99Ms,
    baselines: { payments: payments.rate },
    figures: { own: collections.rates, payments: payments.rates },
    targets: [{ baseline: 'payments', times: 0.9, direction: 'atLeast' }],
    conditions: [
      { name: 'no failed request', holds: failures === 0, found: `${failures}` },
      { name: 'a collection or payment for every 201', holds: missing === 0, found: `${missing} are missing` },
      ...collections.conditions.filter(({ name }) => !name.endsWith('a payment for every 201')),
      ...payments.conditions,
    ],
  })
}

/** The answers 201 of a subject for which nothing is in the database. Its first collection was made beside the load. */
async function missingOf({ accepted, database }: Subject): Promise<number> {
  const [made] = await database!.query<{ count: number }>(
    `select (select count(*) from payment where created_via = 'api_key')::int + (select count(*) from collection where number not like 'COLB%')::int as count`,
  )
  return Math.max(0, accepted - made!.count)
}

/** Makes the mandates of a balance, and the request of a collection by each. */
async function collectionOperations(
  { url, database }: Pick<Subject, 'url' | 'database'>,
  payer: Payer,
): Promise<readonly Operation[]> {
  const { mandateId, collectionId } = await firstOf(url, payer)
  await copyCollections((text) => database!.query(text), { mandateId, collectionId, count: MANDATES - 1 })
  const mandates = await database!.query<{ id: string }>('select id from mandate')
  const { apiKey, customerId } = payer
  return mandates.map(({ id }) => [
    {
      method: 'POST',
      path: '/v1/collections',
      headers: { Authorization: `Bearer ${apiKey}`, 'X-Tenant-Id': customerId, 'Idempotency-Key': FRESH_KEY },
      body: JSON.stringify({ mandateId: id, amount: AMOUNT, reference: 'Membership' }),
      expect: 201,
    },
  ])
}

async function toFile(bench: Bench): Promise<Result> {
  await using database = await bench.databases.clone('collections')
  const payer = bench.databases.payers[0] as Payer
  const settings = {
    transport: 'directory',
    paths: { outgoing: 'out', incoming: 'in' },
    settlementAccounts: [
      { currency: 'EUR', accountRef: 'NL02ABNA0123456789', bic: 'ABNANL2A', creditorId: 'DE98ZZZ09999999999' },
    ],
    initiatingParty: { name: 'Bench' },
  }
  await database.query(
    `update provider_connection set provider = 'files', settings = '${JSON.stringify(settings)}' where id = (select connection_id from balance where id = '${payer.balanceId}')`,
  )
  await using service = await startService(bench, { dispatch: false, database })
  const count = Math.max(1, Math.round(COLLECTIONS * bench.scale)) - 1
  const { mandateId, collectionId } = await firstOf(service.url, payer)
  await copyCollections((text) => database.query(text), {
    mandateId,
    collectionId,
    count,
  })
  await database.checkpoint()
  const before = service.residentMb()
  let peak = before
  // The peak counts from here: the file is opened within a minute.
  await database.query(`update collection set submission_deadline = ${CUT_OFF}`)
  let file: FileRow | undefined
  while (file === undefined) {
    await pause(POLL_MS)
    peak = Math.max(peak, service.residentMb())
    ;[file] = await database.query<FileRow>(
      `select f.line_count as lines, f.control_sum::text as sum, extract(epoch from f.generated_at - f.created_at)::float8 as seconds, s.size_bytes::float8 as bytes
          from collection_file f join stored_file s on s.id = f.stored_file_id where f.status = 'generated'`,
    )
  }
  const { lines, sum, seconds, bytes } = file
  const grownMb = peak - before
  const conditions: readonly Condition[] = [
    {
      name: 'each collection in the file',
      holds: lines === count + 1 && sum === String((count + 1) * Number(AMOUNT.amountMinor)),
      found: `${lines} lines of ${sum}`,
    },
    {
      name: `at most ${MEMORY_MB_MAX} MB more memory`,
      holds: grownMb <= MEMORY_MB_MAX,
      found: `${grownMb.toFixed(0)} MB`,
    },
    await cleanAudit('service', database),
  ]
  const rate = lines / seconds
  const text = `${lines} collections in ${seconds.toFixed(1)} s, ${(bytes / 1e6).toFixed(0)} MB, ${grownMb.toFixed(0)} MB more memory`
  bench.log(`  ${text}`)
  return judge({
    id: 'P14',
    scenario: text,
    value: rate,
    unit: 'rows/s',
    p50Ms: null,
    p99Ms: null,
    baselines: {},
    targets: [],
    conditions,
  })
}

/** Makes a mandate and a pending collection, of which the others are copies. */
async function firstOf(
  url: string,
  payer: Payer,
): Promise<{ readonly mandateId: string; readonly collectionId: string }> {
  const { id: mandateId } = await post(url, payer, '/mandates', {
    direction: 'collect',
    scheme: 'sepa_dd_core',
    reference: '',
    balanceId: payer.balanceId,
    counterparty: { name: 'Ada Payer', iban: 'NL50SBOX0100000002' },
    signedAt: new Date(Date.now() - 86_400_000).toISOString().slice(0, 10),
  })
  const { id: collectionId } = await post(url, payer, '/collections', {
    mandateId,
    amount: AMOUNT,
    reference: 'Membership',
  })
  return { mandateId, collectionId }
}

async function post(
  url: string,
  { customerId, apiKey }: Payer,
  path: string,
  body: object,
): Promise<{ readonly id: string }> {
  const response = await fetch(`${url}/v1${path}`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${apiKey}`,
      'X-Tenant-Id': customerId,
      'Content-Type': 'application/json',
      'Idempotency-Key': `bench${path}`,
    },
    body: JSON.stringify(body),
  })
  if (response.status !== 201) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as { readonly id: string }
}

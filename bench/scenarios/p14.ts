/**
 * P14: 100 000 pending collections, whose cut-off comes, into one file of pain.008: submitted by their mandates, written by
 * a thread, and kept. The time is from the opening of the file until it is `generated`.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { copyCollections } from '../collections.ts'
import type { Payer } from '../database.ts'
import { judge, type Condition, type Scenario } from '../scenario.ts'
import { cleanAudit, startService } from '../subject.ts'

const COLLECTIONS = 100_000
/** The most memory that the process may add, the threads' own memory included; as documents of that many lines. */
const MEMORY_MB_MAX = 500
const POLL_MS = 200
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
  title: 'collections to a file',
  async run(bench) {
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
    const mandate = await post(service.url, payer, '/mandates', {
      direction: 'collect',
      scheme: 'sepa_dd_core',
      reference: '',
      balanceId: payer.balanceId,
      counterparty: { name: 'Ada Payer', iban: 'NL50SBOX0100000002' },
      signedAt: new Date(Date.now() - 86_400_000).toISOString().slice(0, 10),
    })
    const amount = { amountMinor: '2500', currency: 'EUR' }
    const collection = await post(service.url, payer, '/collections', {
      mandateId: mandate.id,
      amount,
      reference: 'Membership',
    })
    await copyCollections((text) => database.query(text), {
      mandateId: mandate.id,
      collectionId: collection.id,
      count,
    })
    await database.checkpoint()
    const before = service.residentMb()
    let peak = before
    // From the first one on: the file is opened within a minute.
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
        holds: lines === count + 1 && sum === String((count + 1) * Number(amount.amountMinor)),
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
    return [
      judge({
        id: 'P14',
        scenario: text,
        value: rate,
        unit: 'rows/s',
        p50Ms: null,
        p99Ms: null,
        baselines: {},
        targets: [],
        conditions,
      }),
    ]
  },
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

/**
 * `npm run audit`: prints the findings of every check. Works beside a running service or without one, with the same
 * settings. Where the service would run its own Postgres and is stopped, Postgres is started for the audit and stopped
 * again.
 *
 * `--block=<number>:<hash>` compares a block of the journal's chain with the hash kept elsewhere; the option can be
 * repeated.
 *
 * Exits 0 when the books are right, 1 when rows disagree (they are printed), 2 when the books could not be read.
 */
import { parseArgs } from 'node:util'
import pg from 'pg'
import { readConfig } from '../../lib/config/config.ts'
import { StartError } from '../../lib/base/errors.ts'
import { audit, type AuditReport } from './audit.ts'
import type { KeptBlock } from './audit-chain.ts'
import { startEmbeddedPostgres } from '../embedded/embedded.ts'
import { unreachable } from '../schema/orm.ts'

try {
  const kept = keptBlocks()
  const config = readConfig(process.env)
  const server =
    config.databaseUrl === null
      ? await startEmbeddedPostgres({ dataDir: config.dataDir, log: () => undefined, claim: false })
      : null
  try {
    const report = await auditAt(server?.url ?? config.databaseUrl!, kept)
    process.stdout.write(reportText(report))
    process.exitCode = report.ok ? 0 : 1
  } finally {
    await server?.stop()
  }
} catch (error) {
  process.stderr.write(`${error instanceof StartError ? error.message : String((error as Error).stack ?? error)}\n`)
  process.exitCode = 2
}

function keptBlocks(): KeptBlock[] {
  const {
    values: { block: kept = [] },
  } = parseArgs({ options: { block: { type: 'string', multiple: true } } })
  return kept.map((text) => {
    const [, number, hash] = /^(\d+):([0-9a-f]{64})$/i.exec(text) ?? []
    if (number === undefined || hash === undefined)
      throw new StartError(`--block=${text} is not <number>:<hash of 64 hexadecimal digits>.`)
    return { number: BigInt(number), hash }
  })
}

async function auditAt(url: string, kept: readonly KeptBlock[]): Promise<AuditReport> {
  const client = new pg.Client({ connectionString: url, application_name: 'vostro audit' })
  // The query in flight rejects by itself; without a listener the same error would also end the process.
  client.on('error', () => undefined)
  await client.connect().catch((error: unknown) => {
    throw unreachable(url, error)
  })
  try {
    const {
      rows: [schema],
    } = await client.query<{ ready: boolean }>(`select to_regclass('posting') is not null as ready`)
    if (!schema!.ready) throw new StartError('The database has no ledger yet; start the service once.')
    return await audit(client, kept)
  } finally {
    await client.end()
  }
}

function reportText({ ok, checks, postings, block, milliseconds }: AuditReport): string {
  const width = Math.max(...checks.map(({ name }) => name.length))
  const lines: string[] = []
  for (const { name, promise, disagreeing, rows } of checks) {
    lines.push(
      `${disagreeing === 0 ? 'ok  ' : 'FAIL'}  ${name.padEnd(width)}  ${disagreeing === 0 ? promise : `${disagreeing} rows disagree: ${promise}`}`,
    )
    for (const row of rows) lines.push(`      ${JSON.stringify(row)}`)
    if (disagreeing > rows.length) lines.push(`      … and ${disagreeing - rows.length} more`)
  }
  if (block !== null) lines.push('', `newest block of the journal: --block=${block.number}:${block.hash}`)
  const broken = checks.filter(({ disagreeing }) => disagreeing > 0).length
  lines.push(
    '',
    `${postings} postings, ${checks.length} checks in ${(milliseconds / 1000).toFixed(1)} s: ${ok ? 'the books are right' : `${broken} checks FAILED`}`,
  )
  return `${lines.join('\n')}\n`
}

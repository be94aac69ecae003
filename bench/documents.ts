/**
 * The cost of writing documents, in time and in memory: a statement of so many lines through the threads, without a
 * database. `node bench/documents.ts 1000000 csv,camt053` prints one line per format.
 */
import type { StatementFormat, StatementHead, StatementLine } from '../lib/statements/statement.ts'
import { createDocumentPool } from '../workers/documents/pool.ts'

const BATCH = 1_000
const [lines = '100000', formats = 'csv,xlsx,camt053,mt940'] = process.argv.slice(2)
const count = Number(lines)
const AMOUNT = 1_250n
const ID = '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f'

const head: StatementHead = {
  id: ID,
  kind: 'custom',
  sequenceNumber: 1,
  from: '2026-01-01',
  to: '2026-12-31',
  currency: 'EUR',
  opening: 0n,
  closing: AMOUNT * BigInt(count),
  credits: AMOUNT * BigInt(count),
  debits: 0n,
  creditCount: count,
  debitCount: 0,
  createdAt: Date.UTC(2027, 0, 1, 6),
  holder: {
    operatorName: 'Example Bank',
    name: 'Example B.V.',
    address: [],
    balanceId: ID,
    balanceName: 'Main',
    iban: 'NL77ABNA0417164300',
    bic: null,
    accountNumber: null,
    bankName: null,
  },
}

function batch(from: number): StatementLine[] {
  return Array.from(
    { length: Math.min(BATCH, count - from) },
    (_, index): StatementLine => ({
      id: ID,
      entryId: ID,
      sequence: from + index + 1,
      direction: 'credit',
      amount: AMOUNT,
      running: AMOUNT * BigInt(from + index + 1),
      type: 'incoming_payment',
      description: 'Incoming payment',
      reference: `Invoice ${from + index}`,
      counterparty: 'Acme GmbH',
      endToEndId: `E2E-${from + index}`,
      bookedAt: Date.UTC(2026, 0, 1) + (from + index) * 30_000,
      valueDate: '2026-01-01',
      isReversal: false,
    }),
  )
}

const pool = createDocumentPool()
for (const format of formats.split(',') as StatementFormat[]) {
  const began = performance.now()
  let bytes = 0
  let peak = 0
  using stream = pool.open({
    kind: 'statement',
    head,
    formats: [format],
    style: { timezone: 'UTC', decimalSeparator: '.' },
  })
  for (let from = 0; from < count; from += BATCH) {
    for (const gained of await stream.write(batch(from))) bytes += gained.byteLength
    peak = Math.max(peak, process.memoryUsage.rss())
  }
  for (const gained of await stream.end()) bytes += gained.byteLength
  const seconds = (performance.now() - began) / 1_000
  process.stdout.write(
    `${format}: ${count} lines, ${bytes} bytes, ${Math.round(count / seconds)} lines/s, peak ${Math.round(peak / 1e6)} MB of the process\n`,
  )
}
await pool.close()

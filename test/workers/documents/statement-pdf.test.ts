/** A statement on several pages: each begins with what the one before ended with, and says how many there are. */
import t from 'tap'
import type { StatementHead, StatementLine } from '../../../lib/statements/statement.ts'
import { createDocumentPool } from '../../../workers/documents/pool.ts'
import { pagesOf, statementPdf } from '../../../workers/documents/statement-pdf.ts'
import { pdfText } from '../../support/pdf-text.ts'

const head: StatementHead = {
  id: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
  kind: 'custom',
  sequenceNumber: 7,
  from: '2026-01-01',
  to: '2026-01-31',
  currency: 'EUR',
  opening: 100_000n,
  closing: 0n,
  credits: 0n,
  debits: 0n,
  creditCount: 0,
  debitCount: 0,
  createdAt: Date.parse('2026-02-01T06:00:00Z'),
  holder: {
    operatorName: 'A Bank',
    name: 'Łódź Textiles',
    address: [],
    balanceId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e50',
    balanceName: 'Main',
    iban: null,
    bic: null,
    accountNumber: '12345678',
    bankName: null,
  },
}

async function pagesWith(lines: readonly StatementLine[]): Promise<string[]> {
  const pieces: Uint8Array[] = []
  const debits = lines.reduce((sum, { amount }) => sum + amount, 0n)
  const writer = statementPdf(
    (bytes) => {
      pieces.push(bytes)
    },
    { ...head, debits, debitCount: lines.length, closing: head.opening - debits },
  )
  await writer.write(lines)
  await writer.end()
  return pdfText(Buffer.concat(pieces))
}

const linesOf = (count: number, counterparty = 'Müller Ελλάς Москва'): StatementLine[] =>
  Array.from({ length: count }, (_, nth) => ({
    id: 'x',
    entryId: 'e',
    sequence: nth + 1,
    direction: 'debit',
    amount: 11n,
    running: head.opening - 11n * BigInt(nth + 1),
    type: 'transfer_out',
    description: 'Transfer',
    reference: `Invoice ${nth + 1}`,
    counterparty,
    endToEndId: null,
    bookedAt: Date.parse('2026-01-15T12:00:00Z'),
    valueDate: '2026-01-15',
    isReversal: false,
  }))

t.test('pages follow on one another', async (t) => {
  for (const count of [0, 1, 12, 13, 14, 40, 41, 90]) {
    const text = await pagesWith(linesOf(count))
    const pages = pagesOf(count)
    t.strictSame(
      text.filter((piece) => piece.startsWith('Page ')),
      Array.from({ length: pages }, (_, nth) => `Page ${nth + 1} of ${pages}`),
      `${count} lines`,
    )
    const after = (label: string) => text.flatMap((piece, at) => (piece === label ? [text[at + 1]] : []))
    t.equal(after('Carried forward').length, pages - 1)
    t.strictSame(after('Brought forward'), after('Carried forward'))
    t.equal(text.filter((piece) => piece === 'Müller Ελλάς Москва').length, count, 'letters of three alphabets')
    t.equal(text.includes('No bookings in this period'), count === 0)
    t.ok(text.includes('Closing balance'))
  }
})

t.test('what is too wide ends in an ellipsis, and what is not plain is drawn all the same', async (t) => {
  const long = (await pagesWith(linesOf(1, 'W'.repeat(200)))).find((piece) => piece.startsWith('WW'))!
  t.ok(long.endsWith('…') && long.length < 60, long)
  t.ok((await pagesWith(linesOf(1, 'e\u0301 combined'))).some((piece) => piece.includes('combined')))
})

t.test('full pages leave at once, also a thread that sleeps between two steps', async (t) => {
  const pool = createDocumentPool()
  t.teardown(() => pool.close())
  const lines = linesOf(1_000)
  const debits = lines.reduce((sum, { amount }) => sum + amount, 0n)
  using stream = pool.open({
    kind: 'statement',
    formats: ['pdf'],
    style: { timezone: 'UTC', decimalSeparator: '.' },
    head: { ...head, debits, debitCount: lines.length, closing: head.opening - debits },
  })
  const [pages] = await stream.write(lines)
  t.ok(pages!.byteLength > 50_000, `${pages!.byteLength} bytes of some forty pages`)
  const [rest] = await stream.end()
  t.same(
    pdfText(Buffer.concat([pages!, rest!])).filter((piece) => piece.startsWith('Page ')).length,
    pagesOf(lines.length),
  )
})

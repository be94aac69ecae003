import t from 'tap'
import { bulkReader, pain001, sheetRow, spreadsheet } from '../../support/bulk-file.ts'
import { HOSTILE_FILES } from '../../support/hostile-files.ts'

const reader = bulkReader()
t.teardown(() => reader[Symbol.asyncDispose]())
const GOOD = 'recipient_name,currency,amount\nA,EUR,1\n'
/** The most memory of a thread beside the file itself; it must not grow with the size that a file claims to have. */
const MEMORY_MAX = 300 * 1024 * 1024

t.test('each is refused whole, in bounded memory, and the next file is read', async (t) => {
  await reader.read(GOOD)
  for (const { name, code, content } of HOSTILE_FILES) {
    const file = await content()
    const before = process.memoryUsage().rss
    let most = before
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss)
    }, 10)
    const { errors, rows } = await reader.read(file)
    clearInterval(watch)
    t.strictSame([errors[0]?.code, rows.length], [code, 0], name)
    t.ok(errors[0]?.message !== undefined && errors[0].message.length < 300, `${name}: a sentence`)
    t.ok(most - before < MEMORY_MAX, `${name}: ${Math.round((most - before) / 1e6)} MB`)
  }
  t.equal((await reader.read(GOOD)).rows.length, 1)
})

t.test('a file of another kind than it was said to be is refused', async (t) => {
  for (const [content, format, code] of [
    [GOOD, 'xlsx', 'not_well_formed'],
    [GOOD, 'pain001', 'not_well_formed'],
    ['<Document/>', 'csv', 'unknown_column'],
    [Buffer.from('PK\u0003\u0004\u0000\u0001'), 'csv', 'bad_encoding'],
    ['%PDF-1.7\n%…', 'csv', 'unknown_column'],
  ] as const)
    t.equal(
      (await reader.read(content, { format })).errors[0]?.code,
      code,
      `${String(content).slice(0, 8)} as ${format}`,
    )
})

t.test('a sheet with a million empty rows is read as what it has', async (t) => {
  const rows = Array.from(
    { length: 1_000_000 },
    (_, nth) => `<row r="${nth + 3}"><c r="A${nth + 3}" s="1"/></row>`,
  ).join('')
  t.equal(
    (
      await reader.read(
        await spreadsheet(sheetRow('recipient_name', 'currency', 'amount') + sheetRow('A', 'EUR', '1') + rows),
      )
    ).rows.length,
    1,
  )
})

t.test('what is wrong with one row is said so often and no more', async (t) => {
  const transfer = `<CdtTrfTxInf><PmtId><EndToEndId>E</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">1</InstdAmt>${'<EqvtAmt/>'.repeat(10_000)}</Amt>${'<RgltryRptg/>'.repeat(10_000)}</CdtTrfTxInf>`
  const {
    rows: [row],
  } = await reader.read(pain001(`<PmtInf><PmtMtd>TRF</PmtMtd>${transfer}</PmtInf>`))
  t.strictSame([row!.faults.length, row!.warnings.length], [100, 100])
  const {
    rows: [, wide],
  } = await reader.read(`${GOOD}A,EUR,1${',x'.repeat(250)}\n`)
  t.strictSame(
    wide!.faults.map(({ code }) => code),
    ['unknown_field'],
  )
})

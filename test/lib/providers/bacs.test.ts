import fc from 'fast-check'
import t from 'tap'

import { BacsReportReading } from '../../../lib/providers/bacs/bacs-report.ts'
import type { BacsHead, BacsItem, BacsReportItem, BacsTotals } from '../../../lib/providers/bacs/messages.ts'
import { BACS_AMOUNT_MAX, writeStandard18 } from '../../../lib/providers/bacs/standard18.ts'
import { BankFileError } from '../../../lib/providers/iso20022/bank-file-error.ts'
import { OrderFileError } from '../../../lib/providers/iso20022/order-file.ts'
import { CHARACTERS } from '../../../lib/rails/reference.ts'
import { addacs, arudd, auddis, claim, ddica, returned } from '../../support/bacs-reports.ts'

// ── Submissions
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

const HEAD: BacsHead = {
  serialNumber: '00A1B2',
  fileNumber: 1,
  serviceUserNumber: '123456',
  userName: 'Norden & Söhne',
  account: { sortCode: '200000', accountNumber: '11223344', name: 'Norden Bank' },
  createdOn: '2026-11-23',
  processingDay: '2026-11-24',
}
const debit = (given: Partial<BacsItem> = {}): BacsItem => ({
  reference: 'R-1',
  code: '17',
  amount: 12_345n,
  payer: { sortCode: '400515', accountNumber: '87654321', name: 'Amélie Clarke-Whittington' },
  text: 'MEMBER0001',
  ...given,
})

async function written(items: readonly BacsItem[], head = HEAD): Promise<{ lines: string[]; totals: BacsTotals }> {
  const file = writeStandard18(head, items)
  let text = ''
  for (;;) {
    const { done, value } = await file.next()
    if (done === true) return { lines: text.split('\r\n'), totals: value }
    text += Buffer.from(value).toString('latin1')
  }
}

t.test('a submission has its labels, a contra record and its sums', async (t) => {
  const { lines, totals } = await written([debit({ code: '01', amount: 1n }), debit(), debit({ code: '19' })])
  t.strictSame(
    lines.map((line) => line.slice(0, 4)),
    ['VOL1', 'HDR1', 'HDR2', 'UHL1', '4005', '4005', '4005', '2000', 'EOF1', 'EOF2', 'UTL1', ''],
  )
  t.strictSame(
    lines.map(({ length }) => length),
    [80, 80, 80, 80, 100, 100, 100, 100, 80, 80, 80, 0],
  )
  t.equal(lines[0], `VOL100A1B2${' '.repeat(31)}123456${' '.repeat(32)}1`)
  t.equal(lines[1], `HDR1A123456S  112345600A1B200010001       26327 26329 000000${' '.repeat(20)}`)
  t.equal(lines[3], `UHL1 26328999999    00      1 DAILY  001${' '.repeat(40)}`)
  t.equal(
    lines[4],
    '40051587654321001200000112233440000'.replace(/0000$/, '    ') +
      '00000000001NORDEN & SOHNE    MEMBER0001        AMELIE CLARKE-WHIT',
  )
  t.equal(
    lines[7],
    '20000011223344099200000112233440000'.replace(/0000$/, '    ') +
      '00000024691NORDEN & SOHNE    CONTRA            NORDEN BANK       ',
  )
  t.equal(lines[8], (lines[1] as string).replace('HDR1', 'EOF1'))
  t.equal(lines[9], (lines[2] as string).replace('HDR2', 'EOF2'))
  t.equal(lines[10], `UTL10000000024691000000002469100000030000001        0000000${' '.repeat(21)}`)
  t.strictSame(totals, { debits: 3, debitSum: 24_691n, instructions: 0 })
})

t.test('a file of instructions moves no money and has no contra record', async (t) => {
  const { lines, totals } = await written([debit({ code: '0N', amount: 0n }), debit({ code: '0C', amount: 0n })])
  t.equal(lines.length, 4 + 2 + 3 + 1)
  t.equal(lines[4]?.slice(15, 17), '0N')
  t.equal(lines.at(-2), `UTL1${'0'.repeat(40)}        0000002${' '.repeat(21)}`)
  t.strictSame(totals, { debits: 0, debitSum: 0n, instructions: 2 })
})

t.test('what Bacs cannot carry is refused, with our reference', async (t) => {
  const faultOf = async (items: readonly BacsItem[], head = HEAD): Promise<[string | null, string] | null> => {
    try {
      await written(items, head)
      return null
    } catch (error) {
      if (!(error instanceof OrderFileError)) throw error
      return [error.reference, error.fault.field]
    }
  }
  const payer = debit().payer
  for (const [given, field] of [
    [{ amount: 0n }, 'amount'],
    [{ amount: BACS_AMOUNT_MAX + 1n }, 'amount'],
    [{ code: '0N', amount: 1n }, 'amount'],
    [{ payer: { ...payer, sortCode: '40-05-15' } }, 'payer.sortCode'],
    [{ payer: { ...payer, accountNumber: '1234567' } }, 'payer.accountNumber'],
    [{ payer: { ...payer, name: '…' } }, 'payer.name'],
    [{ text: 'lower case' }, 'text'],
    [{ text: 'NINETEEN CHARACTERS' }, 'text'],
  ] as const)
    t.strictSame(await faultOf([debit(given)]), ['R-1', field])
  t.strictSame(await faultOf([]), [null, 'items'])
  t.strictSame(await faultOf([debit({ amount: BACS_AMOUNT_MAX }), debit()]), [null, 'items'])
  t.strictSame(await faultOf([debit()], { ...HEAD, serviceUserNumber: '12345' }), [null, 'serviceUserNumber'])
  t.strictSame(await faultOf([debit()], { ...HEAD, serialNumber: 'a' }), [null, 'serialNumber'])
  t.strictSame(await faultOf([debit()], { ...HEAD, fileNumber: 1_000 }), [null, 'fileNumber'])
})

t.test('every file of sound items has records of their length, in the characters of Bacs', async (t) => {
  const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).map((each) => `A${each}`)
  const items = fc.array(
    fc.record({
      code: fc.constantFrom('01', '17', '18', '19'),
      amount: fc.bigInt({ min: 1n, max: 10_000_000n }),
      name: text,
    }),
    { minLength: 1, maxLength: 20 },
  )
  await fc.assert(
    fc.asyncProperty(items, async (rows) => {
      const { lines } = await written(
        rows.map(({ code, amount, name }) => debit({ code: code as '01', amount, payer: { ...debit().payer, name } })),
      )
      const records = lines.slice(4, -4)
      return (
        records.length === rows.length + 1 &&
        records.every((record) => record.length === 100 && CHARACTERS.bacs.test(record)) &&
        records.slice(0, -1).reduce((sum, record) => sum + BigInt(record.slice(35, 46)), 0n) ===
          BigInt((records.at(-1) as string).slice(35, 46))
      )
    }),
    { numRuns: 100 },
  )
  t.pass()
})

// ── Reports
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

function read(text: string | Buffer, size = 101): BacsReportItem[] {
  const reading = new BacsReportReading()
  const bytes = Buffer.from(text)
  const items: BacsReportItem[] = []
  for (let at = 0; at < bytes.length; at += size) items.push(...reading.write(bytes.subarray(at, at + size)))
  return [...items, ...reading.end()]
}

function faultOf(text: string | Buffer): string | null {
  try {
    read(text)
    return null
  } catch (error) {
    if (!(error instanceof BankFileError)) throw error
    return error.fault
  }
}

t.test('ARUDD lists returned debits', (t) => {
  t.strictSame(
    read(arudd([returned(), returned({ ref: 'MEMBER0002', code: 'B', value: '1,200.50' })], '2', '1,265.50')),
    [
      { kind: 'head', report: 'ARUDD', serviceUserNumber: '123456' },
      {
        kind: 'returned_debit',
        reference: 'MEMBER0001',
        code: '1',
        text: 'INSTRUCTION CANCELLED',
        amount: 6_500n,
        originalDay: '2026-11-24',
        processedOn: '2026-11-26',
        payer: { sortCode: '400515', accountNumber: '87654321' },
      },
      {
        kind: 'returned_debit',
        reference: 'MEMBER0002',
        code: 'B',
        text: 'INSTRUCTION CANCELLED',
        amount: 120_050n,
        originalDay: '2026-11-24',
        processedOn: '2026-11-26',
        payer: { sortCode: '400515', accountNumber: '87654321' },
      },
    ],
  )
  t.end()
})

t.test('ADDACS and AUDDIS differ by the record type', (t) => {
  t.strictSame(read(addacs('reason-code="3" payer-new-sort-code="20-00-00" payer-new-account-number="11112222"')), [
    { kind: 'head', report: 'ADDACS', serviceUserNumber: '123456' },
    {
      kind: 'instruction_advice',
      report: 'ADDACS',
      reference: 'MEMBER0001',
      code: '3',
      effectiveOn: '2026-11-25',
      payer: { sortCode: '400515', accountNumber: '87654321' },
      newPayer: { sortCode: '200000', accountNumber: '11112222' },
    },
  ])
  const [head, file, advice] = read(
    auddis(
      '<MessagingAdvice user-number="123456" record-type="N" vol-serial-number="00A1B2" originator-file-number="001" accepted-ddi="9" rejected-ddi="1"/>',
      '<MessagingAdvice user-number="123456" record-type="D" reference="MEMBER0001" reason-code="5" payer-sort-code="400515" payer-account-number="87654321" payer-new-sort-code=" " payer-new-account-number=""/>',
    ),
  )
  t.strictSame(head, { kind: 'head', report: 'AUDDIS', serviceUserNumber: '123456' })
  t.strictSame(file, {
    kind: 'instruction_file',
    serialNumber: '00A1B2',
    fileNumber: '001',
    accepted: 9,
    rejected: 1,
    isRejected: false,
  })
  t.match(advice, { kind: 'instruction_advice', report: 'AUDDIS', code: '5', effectiveOn: null, newPayer: null })
  t.end()
})

t.test('DDICA lists claims with the debits that they are about', (t) => {
  const found = read(ddica([claim()], { total: '130.00' }))
  t.strictSame(found.slice(1), [
    {
      kind: 'indemnity_claim',
      reference: 'MEMBER0001',
      code: '2',
      text: 'No instruction',
      claimRef: 'PB-77',
      isCancelled: false,
      amount: 13_000n,
      debits: [
        { day: '2026-10-25', amount: 6_500n },
        { day: '2026-11-25', amount: 6_500n },
      ],
      payer: { sortCode: '400515', accountNumber: '87654321' },
      debitedOn: '2026-12-15',
    },
  ])
  t.match(read(ddica([claim()], { total: '130.00', group: 'CancelledAdvices' }))[1], { isCancelled: true })
  t.end()
})

t.test('a report that cannot be used says why', (t) => {
  const one = arudd([returned()], '1', '65.00')
  for (const [fault, text] of [
    ['empty_file', ''],
    ['not_well_formed', one.slice(0, -40)],
    ['not_well_formed', one.replace('<BACSDocument', '<!DOCTYPE b [<!ENTITY a "b">]><BACSDocument')],
    ['not_well_formed', one.replace('INSTRUCTION CANCELLED', '&a;')],
    ['sum_mismatch', arudd([returned()], '2', '65.00')],
    ['sum_mismatch', arudd([returned()], '1', '65.01')],
    ['missing_element', one.replace(/<Totals.*<\/Totals>/, '')],
    ['missing_element', one.replace(/<Header.*<\/Header>/, '')],
    ['missing_element', one.replace(' ref="MEMBER0001" transCode', ' transCode')],
    ['invalid_value', one.replace('valueOf="65.00" currency="GBP">', 'valueOf="-65.00" currency="GBP">')],
    ['invalid_value', one.replace('2026-11-24', '2026-02-30')],
    ['invalid_value', one.replace('number="87654321"', 'number="8765432"')],
    ['invalid_value', one.replace('currency="GBP"', 'currency="EUR"')],
    ['invalid_value', one.replace('returnCode="1012"', 'returnCode="10123"')],
    ['too_large', one.replace('INSTRUCTION CANCELLED', 'A'.repeat(141))],
    ['too_large', one.replace('INSTRUCTION CANCELLED', 'A'.repeat(300_000))],
    ['bad_encoding', Buffer.from(one.replace('FRED', 'FR\u00c9D'), 'latin1')],
    ['unsupported_message', '<Other/>'],
    ['missing_element', '<BACSDocument><Data><InputReport/></Data></BACSDocument>'],
    ['contradiction', one.replace('</Data>', `${/<ARUDD>.*<\/ARUDD>/s.exec(one)?.[0] ?? ''}</Data>`)],
    ['contradiction', auddis('<MessagingAdvice user-number="654321" record-type="D" reference="A" reason-code="1"/>')],
    [
      'contradiction',
      auddis(
        '<MessagingAdvice user-number="123456" record-type="D" reference="A" reason-code="1"/>',
        '<MessagingAdvice user-number="123456" record-type="A" reference="A" reason-code="1"/>',
      ),
    ],
    ['invalid_value', auddis('<MessagingAdvice user-number="123456" record-type="Q" reference="A"/>')],
    ['missing_element', auddis()],
    ['sum_mismatch', ddica([claim()], { total: '65.00' })],
    ['sum_mismatch', ddica([claim({ total: '131.00' })], { total: '131.00' })],
    ['missing_element', ddica([claim({ ref: '' })], { total: '130.00' })],
    ['not_well_formed', ddica([claim()], { total: '130.00' }).replace('</NewAdvices>', '')],
  ] as const)
    t.equal(faultOf(text), fault, text.slice(0, 60).toString())
  t.end()
})

t.test('a report that is cut off anywhere is never taken for a whole one', (t) => {
  for (const text of [
    arudd([returned()], '1', '65.00'),
    addacs('reason-code="1"'),
    ddica([claim()], { total: '130.00' }),
  ])
    for (let length = 0; length < text.trimEnd().length; length += 23)
      if (faultOf(text.slice(0, length)) === null) return t.fail(`A report of ${length} characters was read.`)
  t.end()
})

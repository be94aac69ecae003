import writeXlsxFile from 'write-excel-file/node'
import t from 'tap'
import { BULK_ROWS_MAX } from '../../../lib/bulk-payments/limits.ts'
import { archive, bulkReader, pain001, sheetRow, spreadsheet } from '../../support/bulk-file.ts'

const reader = bulkReader()
t.teardown(() => reader[Symbol.asyncDispose]())
const HEADER = 'recipient_id,currency,amount,reference'
const codes = async (content: string | Uint8Array) => (await reader.read(content)).errors.map(({ code }) => code)

t.test('CSV as it is written in different countries is read alike', async (t) => {
  const want = [
    {
      rowNumber: 1,
      instruction: {
        recipientName: 'Müller, Söhne',
        currency: 'EUR',
        amountMinor: '123450',
        reference: 'say "hello"',
        metadata: { cost: '7' },
      },
      faults: [],
    },
    { rowNumber: 2, instruction: { recipientName: 'B', currency: 'JPY', amountMinor: '1500' }, faults: [] },
  ]
  const files = {
    'comma, LF':
      'Recipient_Name,CURRENCY,amount,reference,metadata.cost\n"Müller, Söhne",eur,1234.50,"say ""hello""",7\n\nB,JPY,1500,,\n',
    'semicolon, CR LF and mark':
      '\ufeffrecipient_name;currency;amount;reference;metadata.cost\r\nMüller, Söhne;EUR;1234.5;"say ""hello""";7\r\n;;;;\r\nB;JPY;1500.00;;\r\n',
    'tab, no newline at the end':
      'recipient_name\tcurrency\tamount\treference\tmetadata.cost\n"Müller, Söhne"\tEUR\t1234.50\t"say ""hello"""\t7\nB\tJPY\t1500',
  }
  for (const [name, content] of Object.entries(files)) {
    for (const pieceSize of [1, 7, 65_536])
      t.match((await reader.read(content, { pieceSize })).rows, want, `${name}, in pieces of ${pieceSize}`)
  }
  const european = await reader.read('recipient_name;currency;amount\r\nA;EUR;1234,50\r\nB;EUR;1234.50\r\n', {
    decimalSeparator: ',',
  })
  t.match(european.rows, [
    { instruction: { amountMinor: '123450' } },
    { faults: [{ column: 'amount', code: 'invalid_format' }] },
  ])
  t.match(
    (await reader.read('"recipient_name";currency;"amount"\n"a;b";EUR;1\n')).rows,
    [{ line: 2, instruction: { recipientName: 'a;b' } }],
    'quotes do not count as delimiters',
  )
})

t.test('each wrong cell is named with its row, and the others are read on', async (t) => {
  const { rows } = await reader.read(
    [
      'recipient_name,currency,amount,execution_date,notify_recipient,recipient_email',
      'A,EUR,1.234,2026-12-01,true,',
      'B,XXX,1,2026-02-30,maybe,',
      `${'x'.repeat(141)},EUR,0,,FALSE,`,
      '"line\nbreak",EUR,"1,000.00",,,',
      'E,BHD,1.2345,,,',
      'F,,,,,',
      'G,EUR,99999999999999999,,,',
      'H,EUR,5,,,,,"more"',
      'I,EUR,-5,,,',
      'J,EUR,1e3,,,',
      'K,KWD,1.2340,,,',
    ].join('\n'),
  )
  t.strictSame(
    rows.map(({ line, faults }) => [line, ...faults.map(({ column, code }) => `${column} ${code}`)]),
    [
      [2, 'amount invalid_value'],
      [3, 'notify_recipient invalid_value', 'currency invalid_value', 'execution_date invalid_format'],
      [4, 'recipient_name too_long', 'amount too_small'],
      [6, 'recipient_name invalid_characters', 'amount invalid_format'],
      [7, 'amount invalid_value'],
      [8, 'currency required', 'amount required'],
      [9, 'amount too_large'],
      [10, ' unknown_field'],
      [11, 'amount invalid_format'],
      [12, 'amount invalid_format'],
      [13],
    ],
  )
  t.match(rows.at(-1), { instruction: { amountMinor: '1234' } }, 'three decimals, and a zero that says nothing')
})

t.test('a file that cannot be used says so, and gives no row', async (t) => {
  t.strictSame(await codes(''), ['empty_file'])
  t.strictSame(await codes(`${HEADER}\n\n,,,\n`), ['empty_file'])
  t.strictSame(await codes('recipient_id,currency,amount,colour,currency\n'), ['unknown_column', 'duplicate_column'])
  t.strictSame(await codes('reference\nx\n'), ['missing_column', 'missing_column', 'missing_column'])
  t.strictSame(await codes('recipient_id,currency,amount,\n'), ['unknown_column'], 'a column without a name')
  t.strictSame(
    await codes(Buffer.concat([Buffer.from(`${HEADER}\n`), Buffer.from([0xe9, 0x74, 0xe9, 0x0a])])),
    ['bad_encoding'],
    'Latin-1',
  )
  t.strictSame(await codes(Buffer.from(`\ufeff${HEADER}\n`, 'utf16le')), ['bad_encoding'], 'UTF-16')
  t.strictSame(await codes(`${HEADER}\na,b\0,c,d\n`), ['bad_encoding'])
  t.strictSame(await codes(`${HEADER}\n"never closed,EUR,1,x\n`), ['not_well_formed'])
  t.strictSame(await codes(`${HEADER}\n"${'x'.repeat(300_000)}"\n`), ['too_large'])
  t.strictSame(
    await codes(`${Array.from({ length: 10_000 }, (_, nth) => `c${nth}`).join(',')}\n`),
    ['unknown_column'],
    'ten thousand columns',
  )
  t.strictSame(await codes(`${HEADER},${Array.from({ length: 51 }, (_, nth) => `metadata.k${nth}`).join(',')}\nx\n`), [
    'unknown_column',
  ])
  t.strictSame(await codes(`${HEADER},metadata.__proto__\na,EUR,1,x,y\n`), [], 'a key like any other')
  t.equal(({} as { y?: string }).y, undefined)
  t.strictSame(await codes(`${HEADER}\n${'a,EUR,1,x\n'.repeat(BULK_ROWS_MAX + 1)}`), ['too_many_rows'])
})

t.test('spreadsheets of other software', async (t) => {
  const made = await (
    writeXlsxFile([
      [
        'recipient_name',
        'currency',
        'amount',
        'reference',
        'execution_date',
        'account_number',
        'notify_recipient',
        'metadata.cost',
      ],
      [
        'Lumen GmbH',
        'EUR',
        1234.56,
        'Ümläut & <tag>',
        { type: Date, value: new Date(Date.UTC(2026, 11, 1)), format: 'yyyy-mm-dd' },
        12345678,
        true,
        null,
      ],
      [null, null, null, null, null, null, null, null],
      ['B', 'EUR', '0.10', null, null, '00123456', false, 'x'],
    ]) as unknown as { toBuffer(): Promise<Buffer> }
  ).toBuffer()
  t.match((await reader.read(made)).rows, [
    {
      rowNumber: 1,
      line: 2,
      faults: [],
      instruction: {
        recipientName: 'Lumen GmbH',
        amountMinor: '123456',
        reference: 'Ümläut & <tag>',
        executionDate: '2026-12-01',
        bank: { accountNumber: '12345678' },
        notifyRecipient: true,
      },
    },
    {
      rowNumber: 2,
      line: 4,
      faults: [],
      instruction: {
        amountMinor: '10',
        bank: { accountNumber: '00123456' },
        notifyRecipient: false,
        metadata: { cost: 'x' },
      },
    },
  ])
  const comma = await reader.read(made, { decimalSeparator: ',' })
  t.match(
    comma.rows,
    [{ instruction: { amountMinor: '123456' } }, { faults: [{ column: 'amount', code: 'invalid_format' }] }],
    'a number is a number, a text follows the separator',
  )
})

t.test('spreadsheets in all the ways the standard allows', async (t) => {
  const header =
    '<row r="3"><c r="B3" t="s"><v>0</v></c><c r="C3" t="s"><v>1</v></c><c r="E3" t="str"><v>amount</v></c><c r="A3" t="inlineStr"><is><t>execution_date</t></is></c><c r="D3" t="s"><v>2</v></c></row>'
  const shared =
    '<si><t>recipient_name</t></si><si><r><t>cur</t></r><r><t>rency</t></r><rPh sb="0" eb="1"><t>noise</t></rPh></si><si><t xml:space="preserve"> reference </t></si>'
  const book = await spreadsheet(
    `${header}<row r="9"><c r="A9"><v>44925</v></c><c r="B9" t="str"><v>A</v></c><c r="C9" t="str"><v>EUR</v></c><c r="E9"><v>1234.5599999999999</v></c></row>
    <row r="10"><c r="C10" t="str"><v>EUR</v></c><c r="E10" t="e"><v>#REF!</v></c></row>`,
    { shared, workbook: '<workbookPr date1904="1"/>' },
  )
  t.match((await reader.read(book, { pieceSize: 100 })).rows, [
    {
      line: 9,
      instruction: { executionDate: '2026-12-31', recipientName: 'A', currency: 'EUR', amountMinor: '123456' },
    },
    {
      line: 10,
      faults: [
        { column: 'amount', code: 'invalid_value' },
        { column: 'amount', code: 'required' },
      ],
    },
  ])
})

t.test('cells without a reference stand right of one another, the empty ones too', async (t) => {
  const {
    rows: [first],
  } = await reader.read(
    await spreadsheet(
      `${sheetRow('recipient_name', 'bic', 'currency', 'amount')}<row><c t="inlineStr"><is><t>A</t></is></c><c/><c t="str"><v>EUR</v></c><c><v>7</v></c></row>`,
    ),
  )
  t.match(first, { faults: [], instruction: { recipientName: 'A', currency: 'EUR', amountMinor: '700', bank: {} } })
})

t.test('hostile spreadsheets are refused whole', async (t) => {
  const rows = sheetRow('recipient_name', 'currency', 'amount') + sheetRow('A', 'EUR', '1')
  t.strictSame(await codes(await spreadsheet(rows)), [])
  t.strictSame(await codes(await spreadsheet(`${rows}<row><c><f>SUM(A1)</f><v>1</v></c></row>`)), [
    'formula_not_allowed',
  ])
  t.match(
    (await reader.read(await spreadsheet(rows + sheetRow('=HYPERLINK("http://x")', 'EUR', '1')))).rows[1],
    { instruction: { recipientName: '=HYPERLINK("http://x")' } },
    'a text that looks like a formula is a text',
  )
  t.strictSame(await codes(await spreadsheet(rows, { parts: { 'xl/vbaProject.bin': 'x' } })), ['formula_not_allowed'])
  t.strictSame(await codes(await spreadsheet('')), ['empty_file'])
  t.strictSame(await codes(await archive({ 'word/document.xml': '<w/>' })), ['not_well_formed'])
  t.strictSame(await codes(Buffer.from('PK\u0003\u0004 and then nothing')), ['not_well_formed'])
  const whole = await spreadsheet(rows)
  t.strictSame(await codes(whole.subarray(0, whole.length - 40)), ['not_well_formed'], 'cut short')
  t.strictSame(
    await codes(await spreadsheet(rows, { parts: { 'xl/media/zeros.bin': '\0'.repeat(8_000_000) } })),
    ['too_large'],
    'a bomb: a thousand times its packed size',
  )
  const slip = Buffer.from(
    (await archive({ ...{ 'xl/aa/aa/aa/etc/passwd': 'x' }, 'xl/workbook.xml': '<w/>' }))
      .toString('latin1')
      .replaceAll('xl/aa/aa/aa/etc', '../../../../etc'),
    'latin1',
  )
  t.strictSame(await codes(slip), ['not_well_formed'], 'a name that leads out of the archive')
  const lying = Buffer.from(whole)
  for (
    let at = lying.indexOf('PK\u0001\u0002', 'latin1');
    at !== -1;
    at = lying.indexOf('PK\u0001\u0002', at + 4, 'latin1')
  )
    lying.writeUInt32LE(20, at + 24)
  t.strictSame(await codes(lying), ['not_well_formed'], 'a size that is a lie')
  t.strictSame(await codes(await spreadsheet(rows, { shared: '<si><t>&lol;</t></si>' })), ['not_well_formed'])
  const laughs = '<!DOCTYPE sst [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;">]>'
  t.strictSame(
    await codes(
      await spreadsheet(rows, { parts: { 'xl/sharedStrings.xml': `${laughs}<sst><si><t>&b;</t></si></sst>` } }),
    ),
    ['not_well_formed'],
  )
  t.strictSame(
    await codes(
      await spreadsheet(rows, {
        parts: {
          'xl/_rels/workbook.xml.rels':
            '<R><Relationship Id="rId7" TargetMode="External" Target="file:///etc/passwd"/></R>',
        },
      }),
    ),
    ['not_well_formed'],
  )
})

const TRANSFER = `<CdtTrfTxInf><PmtId><InstrId>I-1</InstrId><EndToEndId>E-1</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">10.50</InstdAmt></Amt>
  <CdtrAgt><FinInstnId><BIC>SBOXNL2A</BIC></FinInstnId></CdtrAgt><Cdtr><Nm>Lumen GmbH</Nm><PstlAdr><StrtNm>Herengracht</StrtNm><BldgNb>1</BldgNb><PstCd>1015 AB</PstCd><TwnNm>Amsterdam</TwnNm><Ctry>NL</Ctry></PstlAdr></Cdtr>
  <CdtrAcct><Id><IBAN>NL77SBOX0100000001</IBAN></Id></CdtrAcct><RgltryRptg/><RmtInf><Ustrd>Invoice 42</Ustrd><Ustrd>more</Ustrd></RmtInf></CdtTrfTxInf>`
const block = (
  transactions: string,
  more = '',
  count = 1,
): string => `<PmtInf><PmtInfId>P-1</PmtInfId><PmtMtd>TRF</PmtMtd><NbOfTxs>${count}</NbOfTxs>${more}
  <PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl></PmtTpInf><ReqdExctnDt>2026-12-01</ReqdExctnDt><Dbtr><Nm>We</Nm></Dbtr><DbtrAcct><Id><IBAN>NL50SBOX0100000002</IBAN></Id></DbtrAcct>
  <DbtrAgt><FinInstnId/></DbtrAgt><ChrgBr>SLEV</ChrgBr>${transactions}</PmtInf>`

t.test('pain.001 of both versions', async (t) => {
  const three = await reader.read(pain001(block(TRANSFER), { sum: '10.5' }), { pieceSize: 33 })
  t.strictSame(three.facts, { messageId: 'MSG-1' })
  t.match(three.rows, [
    {
      rowNumber: 1,
      faults: [],
      warnings: [{ column: 'RgltryRptg', code: 'ignored_element' }],
      instruction: {
        recipientName: 'Lumen GmbH',
        currency: 'EUR',
        amountMinor: '1050',
        reference: 'Invoice 42',
        endToEndId: 'E-1',
        externalId: 'I-1',
        executionDate: '2026-12-01',
        chargeBearer: 'shared',
        sourceAccount: 'NL50SBOX0100000002',
        service: { level: 'SEPA' },
        bank: { iban: 'NL77SBOX0100000001', bic: 'SBOXNL2A' },
        address: { line1: 'Herengracht 1', postalCode: '1015 AB', city: 'Amsterdam', country: 'NL' },
      },
    },
  ])
  const foreign = `<CdtTrfTxInf><PmtId><EndToEndId>NOTPROVIDED</EndToEndId><UETR>eb6305c9-1f7f-49de-aed0-16487c27b42d</UETR></PmtId><PmtTpInf><CtgyPurp><Cd>SALA</Cd></CtgyPurp></PmtTpInf>
    <Amt><InstdAmt Ccy="CAD">7</InstdAmt></Amt><ChrgBr>DEBT</ChrgBr><IntrmyAgt1><FinInstnId><BICFI>SBOXUS33</BICFI></FinInstnId></IntrmyAgt1>
    <CdtrAgt><FinInstnId><BICFI>SBOXCATT</BICFI><ClrSysMmbId><ClrSysId><Cd>CACPA</Cd></ClrSysId><MmbId>000112345</MmbId></ClrSysMmbId></FinInstnId></CdtrAgt>
    <Cdtr><Nm>North Ltd</Nm><PstlAdr><AdrLine>1 King St</AdrLine><AdrLine>Toronto</AdrLine></PstlAdr></Cdtr><CdtrAcct><Id><Othr><Id>1234567</Id></Othr></Id></CdtrAcct>
    <RmtInf><Strd><CdtrRefInf><Ref>RF18539007547034</Ref></CdtrRefInf></Strd></RmtInf></CdtTrfTxInf>`
  const nine = await reader.read(
    pain001(
      block(TRANSFER + foreign, '<CtrlSum>17.50</CtrlSum>', 2).replace(
        '<ReqdExctnDt>2026-12-01</ReqdExctnDt>',
        '<ReqdExctnDt><Dt>2026-12-02</Dt></ReqdExctnDt>',
      ),
      { version: '09', count: '2', sum: '17.5' },
    ),
  )
  t.match(nine.rows[1], {
    rowNumber: 2,
    faults: [],
    instruction: {
      executionDate: '2026-12-02',
      chargeBearer: 'sender',
      purposeCode: 'SALA',
      reference: 'RF18539007547034',
      uetr: 'eb6305c9-1f7f-49de-aed0-16487c27b42d',
      amountMinor: '700',
      bank: {
        bic: 'SBOXCATT',
        institutionNumber: '001',
        transitNumber: '12345',
        accountNumber: '1234567',
        intermediaryBic: 'SBOXUS33',
      },
      address: { line1: '1 King St', line2: 'Toronto' },
    },
  })
  t.notOk('endToEndId' in nine.rows[1]!.instruction)
  const cheque = await reader.read(
    pain001(block(TRANSFER.replace(/<InstdAmt.*<\/InstdAmt>/, '<EqvtAmt><Amt Ccy="EUR">5</Amt></EqvtAmt>'))),
  )
  t.match(cheque.rows[0]!.faults, [{ column: 'Amt/EqvtAmt', code: 'not_applicable' }])
})

t.test('messages that lie, or are none, are refused whole', async (t) => {
  t.strictSame(await codes(pain001(block(TRANSFER), { sum: '10.51' })), ['control_sum_mismatch'])
  t.strictSame(await codes(pain001(block(TRANSFER), { count: '2' })), ['control_sum_mismatch'])
  t.strictSame(await codes(pain001(block(TRANSFER, '<CtrlSum>1</CtrlSum>'))), ['control_sum_mismatch'])
  t.strictSame(await codes(pain001(block(TRANSFER), { version: '02' })), ['unsupported_version'])
  t.strictSame(await codes('<Document xmlns="urn:other"><A/></Document>'), ['unsupported_version'])
  t.strictSame(await codes(pain001(block(TRANSFER).replace('TRF', 'CHK'))), ['unsupported_version'])
  t.strictSame(await codes(pain001('', { count: '0' })), ['empty_file'])
  t.strictSame(await codes(pain001(block(TRANSFER)).slice(0, -20)), ['not_well_formed'])
  t.strictSame(await codes(pain001(block(TRANSFER)).replace('<Nm>We', '<Nm>&we;')), ['not_well_formed'])
  const outside = pain001(block(TRANSFER))
    .replace('<Document', '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]><Document')
    .replace('Lumen GmbH', '&x;')
  t.strictSame(await codes(outside), ['not_well_formed'])
  t.strictSame(await codes(pain001('<A>'.repeat(5_000))), ['not_well_formed'], 'five thousand deep')
  t.strictSame(await codes(pain001(block(TRANSFER.replace('Invoice 42', 'x'.repeat(40_000))))), ['too_large'])
  t.strictSame(await codes(Buffer.from(pain001(block(TRANSFER.replace('Lumen', 'L\u00fcmen'))), 'latin1')), [
    'bad_encoding',
  ])
})

t.test('who stops taking rows stops the reading, and a file that stops coming ends it', async (t) => {
  const many = Buffer.from(`${HEADER}\n${'a,EUR,1,x\n'.repeat(5_000)}`)
  const task = { format: 'csv', delimiter: null, decimalSeparator: '.' } as const
  let taken = 0
  await t.rejects(
    reader.files.read({
      task,
      bytes: (async function* () {
        yield many
      })(),
      onRows: async (rows) => {
        taken += rows.length
        throw new Error('enough')
      },
    }),
    { message: 'enough' },
  )
  t.equal(taken, 500)
  await t.rejects(
    reader.files.read({
      task,
      bytes: (async function* () {
        yield Buffer.from(HEADER)
        throw new Error('gone')
      })(),
      onRows: async () => undefined,
    }),
    { message: 'gone' },
  )
  t.match((await reader.read(many)).rows.length, 5_000, 'and the thread is there for the next')
})

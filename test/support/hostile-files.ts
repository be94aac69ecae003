/** Malicious payment files, and the error that each must get. */
import { randomBytes } from 'node:crypto'
import { crc32, deflateRawSync } from 'node:zlib'
import type { FileErrorCode } from '../../lib/bulk-payments/file-error.ts'
import { archive, pain001, sheetRow } from './bulk-file.ts'

export interface HostileFile {
  readonly name: string
  readonly fileName: string
  readonly code: FileErrorCode
  readonly content: () => Buffer | Promise<Buffer>
}

/** A part of an archive, and the sizes that the archive claims for it. */
interface Part {
  readonly name: string
  readonly data: Buffer
  readonly claims?: {
    readonly size?: number
    readonly checksum?: number
    readonly flags?: number
    readonly method?: number
    readonly offset?: number
  }
}

const part = (name: string, text: string, claims: Part['claims'] = {}): Part => ({
  name,
  data: Buffer.from(text),
  claims,
})

/** Builds a zip archive by hand, because libraries cannot write false sizes. */
function zip(parts: readonly Part[]): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const { name, data, claims = {} } of parts) {
    const packed = deflateRawSync(data)
    const path = Buffer.from(name)
    const about = Buffer.alloc(26)
    about.writeUInt16LE(20, 0)
    about.writeUInt16LE(claims.flags ?? 0, 2)
    about.writeUInt16LE(claims.method ?? 8, 4)
    about.writeUInt32LE(claims.checksum ?? crc32(data), 10)
    about.writeUInt32LE(packed.length, 14)
    about.writeUInt32LE(claims.size ?? data.length, 18)
    about.writeUInt16LE(path.length, 22)
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(claims.offset ?? at, 10)
    locals.push(Buffer.from('PK\u0003\u0004', 'latin1'), about, path, packed)
    directory.push(Buffer.from('PK\u0001\u0002\u0014\u0000', 'latin1'), about, tail, path)
    at += 30 + path.length + packed.length
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\u0005\u0006', 'latin1')
  end.writeUInt16LE(parts.length, 8)
  end.writeUInt16LE(parts.length, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...locals, central, end])
}

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const ROWS = sheetRow('recipient_name', 'currency', 'amount') + sheetRow('A', 'EUR', '1')
/** Random bytes, which cannot be compressed, so that an archive is large in comparison with its unpacked content. */
const BALLAST: Part = { name: 'xl/media/picture.png', data: randomBytes(1_500_000) }

function book(sheet: string, more: readonly Part[] = [], claims: Part['claims'] = {}): Buffer {
  return zip([
    part(
      'xl/workbook.xml',
      `<workbook xmlns="${MAIN}" xmlns:r="r"><sheets><sheet name="A" sheetId="1" r:id="rId7"/></sheets></workbook>`,
    ),
    part(
      'xl/_rels/workbook.xml.rels',
      '<Relationships><Relationship Id="rId7" Target="worksheets/first.xml"/></Relationships>',
    ),
    part('xl/worksheets/first.xml', `<worksheet xmlns="${MAIN}"><sheetData>${sheet}</sheetData></worksheet>`, claims),
    ...more,
  ])
}

const shared = (texts: string): readonly Part[] => [
  part('xl/sharedStrings.xml', `<sst xmlns="${MAIN}">${texts}</sst>`),
  BALLAST,
]
const xlsx = (name: string, code: FileErrorCode, content: HostileFile['content']): HostileFile => ({
  name,
  fileName: 'payments.xlsx',
  code,
  content,
})
const HEADER = 'recipient_name,currency,amount\n'
const csv = (name: string, code: FileErrorCode, content: () => string | Uint8Array): HostileFile => ({
  name,
  fileName: 'payments.csv',
  code,
  content: () => Buffer.from(content()),
})
const xml = (name: string, code: FileErrorCode, content: () => string | Uint8Array): HostileFile => ({
  name,
  fileName: 'payments.xml',
  code,
  content: () => Buffer.from(content()),
})
const bytes = (...codes: number[]): Buffer =>
  Buffer.concat([Buffer.from(`${HEADER}A,EUR,1`), Buffer.from(codes), Buffer.from('\n')])
const TRANSFER =
  '<CdtTrfTxInf><PmtId><EndToEndId>E</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">1</InstdAmt></Amt><Cdtr><Nm>A</Nm></Cdtr></CdtTrfTxInf>'
const message = (transfers = TRANSFER, options: Parameters<typeof pain001>[1] = {}): string =>
  pain001(`<PmtInf><PmtInfId>P</PmtInfId><PmtMtd>TRF</PmtMtd>${transfers}</PmtInf>`, options)
const laughs = `<!DOCTYPE l [<!ENTITY a "ha">${'bcdefghi'.replaceAll(/./g, (letter) => `<!ENTITY ${letter} "${`&${String.fromCharCode(letter.charCodeAt(0) - 1)};`.repeat(10)}">`)}]>`

export const HOSTILE_FILES: readonly HostileFile[] = [
  xlsx('a formula', 'formula_not_allowed', () => book(`${ROWS}<row><c><f>HYPERLINK("http://x")</f><v>1</v></c></row>`)),
  xlsx('macros', 'formula_not_allowed', () => book(ROWS, [part('xl/vbaProject.bin', 'x')])),
  xlsx('a bomb by its ratio', 'too_large', () => book(ROWS + ' '.repeat(20_000_000))),
  xlsx('a bomb by its size', 'too_large', () => book(ROWS, [part('xl/a', 'a', { size: 600_000_000 }), BALLAST])),
  xlsx('a bomb that says it is small', 'not_well_formed', () =>
    book(ROWS + ' '.repeat(20_000_000), [], { size: 1_000 }),
  ),
  xlsx(
    'a bomb in a bomb',
    'not_well_formed',
    async () => await archive({ 'xl/inner.xlsx': book(ROWS + ' '.repeat(2_000_000)) }),
  ),
  xlsx('parts that share their bytes', 'not_well_formed', () => book(ROWS, [], { offset: 0 })),
  xlsx('a thousand parts and one more', 'too_large', () =>
    zip(Array.from({ length: 1_001 }, (_, nth) => part(`xl/${nth}`, ''))),
  ),
  xlsx('two sheets of one name', 'not_well_formed', () =>
    book(ROWS, [part('xl/worksheets/first.xml', '<worksheet/>')]),
  ),
  xlsx('a name that leads out of the archive', 'not_well_formed', () =>
    book(ROWS, [part('../../../../etc/cron.d/x', 'x')]),
  ),
  xlsx('an absolute name', 'not_well_formed', () => book(ROWS, [part('/etc/passwd', 'x')])),
  xlsx('a password', 'not_well_formed', () => book(ROWS, [], { flags: 1 })),
  xlsx('a way of packing that nobody knows', 'not_well_formed', () => book(ROWS, [], { method: 99 })),
  xlsx('a wrong checksum', 'not_well_formed', () => book(ROWS, [], { checksum: 1 })),
  xlsx('an archive that is cut off', 'not_well_formed', () => book(ROWS).subarray(0, 500)),
  xlsx('shared texts without end', 'too_large', () =>
    book(ROWS, shared(`<si><t>${'x'.repeat(30_000)}</t></si>`.repeat(2_500))),
  ),
  xlsx('empty shared texts without end', 'too_large', () => book(ROWS, shared('<si/>'.repeat(4_200_000)))),
  xlsx('a shared text in runs without end', 'too_large', () =>
    book(ROWS, shared(`<si>${`<r><t>${'x'.repeat(30_000)}</t></r>`.repeat(2_000)}</si>`)),
  ),
  xlsx('a cell in runs without end', 'too_large', () =>
    book(`${ROWS}<row><c t="inlineStr"><is>${`<t>${'x'.repeat(30_000)}</t>`.repeat(2_000)}</is></c></row>`, [BALLAST]),
  ),
  xlsx('a million cells in one row', 'unknown_column', () =>
    book(`${ROWS}<row>${'<c><v>1</v></c>'.repeat(1_000_000)}</row>`, [BALLAST]),
  ),
  xlsx('a million times the same cell', 'not_well_formed', () =>
    book(`${ROWS}<row>${'<c r="A1"><v>1</v></c>'.repeat(1_000_000)}</row>`, [BALLAST]),
  ),
  xlsx('an attribute without end', 'too_large', () => book(`${ROWS}<row a="${'x'.repeat(20_000_000)}"/>`, [BALLAST])),
  xlsx('attributes without end', 'too_large', () =>
    book(`${ROWS}<row ${Array.from({ length: 50_000 }, (_, nth) => `a${nth}="1"`).join(' ')}/>`, [BALLAST]),
  ),
  xlsx('a comment without end', 'too_large', () => book(`${ROWS}<!--${'x'.repeat(20_000_000)}-->`, [BALLAST])),
  xlsx('laughs in its texts', 'not_well_formed', () =>
    book(ROWS, [part('xl/sharedStrings.xml', `${laughs}<sst><si><t>&i;</t></si></sst>`)]),
  ),
  xlsx('a sheet outside of it', 'not_well_formed', () =>
    zip([
      part('xl/workbook.xml', `<workbook xmlns="${MAIN}" xmlns:r="r"><sheets><sheet r:id="rId7"/></sheets></workbook>`),
      part(
        'xl/_rels/workbook.xml.rels',
        '<R><Relationship Id="rId7" TargetMode="External" Target="file:///etc/passwd"/></R>',
      ),
    ]),
  ),
  csv('a line without end', 'too_large', () => HEADER + 'x'.repeat(5_000_000)),
  csv('a first line without end', 'too_large', () => 'x'.repeat(5_000_000)),
  csv('blanks without end', 'too_large', () => ' '.repeat(5_000_000) + HEADER),
  csv('delimiters without end', 'unknown_column', () => HEADER + ','.repeat(5_000_000)),
  csv('a row that goes on over many lines', 'unknown_column', () => HEADER + `"\n"${','.repeat(60_000)}`.repeat(100)),
  csv('a quote that is left open', 'too_large', () => `${HEADER}"${'x\n'.repeat(2_500_000)}`),
  csv(
    'ten thousand columns',
    'unknown_column',
    () => `${Array.from({ length: 10_000 }, (_, nth) => `c${nth}`).join(',')}\n`,
  ),
  csv('a slip behind a thousand good rows', 'bad_encoding', () =>
    Buffer.concat([Buffer.from(HEADER + 'A,EUR,1\n'.repeat(1_200)), bytes(0xe9)]),
  ),
  csv('UTF-16', 'bad_encoding', () => Buffer.from(`\ufeff${HEADER}A,EUR,1\n`, 'utf16le')),
  csv('Latin-1', 'bad_encoding', () => bytes(0xe9)),
  csv('a slash in two bytes', 'bad_encoding', () => bytes(0xc0, 0xaf)),
  csv('half a surrogate', 'bad_encoding', () => bytes(0xed, 0xa0, 0x80)),
  csv('half a character at the end', 'bad_encoding', () =>
    Buffer.concat([Buffer.from(`${HEADER}A,EUR,1`), Buffer.from([0xe2, 0x82])]),
  ),
  csv('a zero', 'bad_encoding', () => bytes(0)),
  csv('a spreadsheet of old', 'bad_encoding', () => Buffer.from(`d0cf11e0a1b11ae1${'00'.repeat(500)}`, 'hex')),
  xml('laughs', 'not_well_formed', () =>
    message().replace('<Document', `${laughs}<Document`).replace('<Nm>A', '<Nm>&i;'),
  ),
  xml('a file of the machine', 'not_well_formed', () =>
    message()
      .replace('<Document', '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]><Document')
      .replace('<Nm>A', '<Nm>&x;'),
  ),
  xml('a document type', 'not_well_formed', () =>
    message().replace('<Document', '<!DOCTYPE d SYSTEM "http://x/d.dtd"><Document'),
  ),
  xml('depth without end', 'not_well_formed', () => message('<A>'.repeat(10_000))),
  xml('a text without end', 'too_large', () => message(TRANSFER.replace('<Nm>A', `<Nm>${'x'.repeat(5_000_000)}`))),
  xml('a tag without end', 'too_large', () => message(`<${'x'.repeat(5_000_000)}/>`)),
  xml('UTF-16 that says UTF-8', 'bad_encoding', () => Buffer.from(`\ufeff${message()}`, 'utf16le')),
  xml('Latin-1 that says UTF-8', 'bad_encoding', () =>
    Buffer.from(message(TRANSFER.replace('<Nm>A', '<Nm>Ü')), 'latin1'),
  ),
  xml('a lie about its number', 'control_sum_mismatch', () => message(TRANSFER, { count: '2' })),
  xml('a lie about its sum', 'control_sum_mismatch', () => message(TRANSFER, { sum: '0.99' })),
  xml('a sum in another notation', 'control_sum_mismatch', () => message(TRANSFER, { sum: '1e0' })),
  xml('an end in the middle', 'not_well_formed', () => message().slice(0, -30)),
]

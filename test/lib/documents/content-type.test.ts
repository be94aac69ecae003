import t from 'tap'
import { contentDisposition, fileNameOf } from '../../../lib/documents/file-name.ts'
import { contentTypeOf, fitsName } from '../../../lib/documents/content-type.ts'

const text = (value: string) => Buffer.from(value)
const zip = (...names: readonly string[]) =>
  Buffer.concat([Buffer.from([0x50, 0x4b, 0x03, 0x04]), text(names.join('\0'))])

t.test('a file is what its first bytes say', async (t) => {
  const xlsx = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
  const docx = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
  for (const [bytes, type] of [
    [text('%PDF-1.7\n'), 'application/pdf'],
    [text(' %PDF-1.7\n'), null],
    [Buffer.from([0xff, 0xd8, 0xff, 0xe0]), 'image/jpeg'],
    [Buffer.from([0xff, 0xd8]), null],
    [Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), 'image/png'],
    [Buffer.from([0x89, 0x50, 0x4e, 0x47]), null],
    [text('\0\0\0\x18ftypheic\0\0\0\0'), 'image/heic'],
    [text('\0\0\0\x18ftypisom\0\0\0\0'), null],
    [zip('[Content_Types].xml', '_rels/.rels', 'xl/workbook.xml'), xlsx],
    [zip('[Content_Types].xml', '_rels/.rels', 'word/document.xml'), docx],
    [zip('[Content_Types].xml', 'xl/workbook.xml', 'xl/vbaProject.bin'), null],
    [zip('xl/workbook.xml'), null],
    [zip('a.exe'), null],
    [text('name;amount\nŁódź;12\n'), 'text/csv'],
    [text('\ufeffname,amount\r\n'), 'text/csv'],
    [text('no columns here'), null],
    [text('<html>, <body>'), null],
    [text('#!/bin/sh\necho a,b'), null],
    [Buffer.from([0x61, 0x2c, 0xff, 0xfe]), null],
    [Buffer.from([0x61, 0x2c, 0x00]), null],
    [text('MZ\x90\0'), null],
    [Buffer.alloc(0), null],
  ] as const)
    t.equal(contentTypeOf(bytes, true), type, bytes.toString('latin1'))
  const cut = text('a,Ł').subarray(0, 3)
  t.equal(contentTypeOf(cut, false), 'text/csv', 'what is cut off may end within a letter')
  t.equal(contentTypeOf(cut, true), null)
})

t.test('a name has to promise what the bytes are', async (t) => {
  t.ok(fitsName('application/pdf', 'A.PDF'))
  t.ok(fitsName('image/jpeg', 'a.jpeg'))
  t.ok(fitsName('text/csv', 'a.csv'))
  for (const name of ['a.pdf.exe', 'a', 'pdf', 'a.pdf ', 'a.html']) t.notOk(fitsName('application/pdf', name), name)
})

t.test('names of files lose their paths and everything that deceives', async (t) => {
  for (const [sent, kept] of [
    ['invoice.pdf', 'invoice.pdf'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\a\\b.pdf', 'b.pdf'],
    ['/', null],
    ['..', null],
    ['', null],
    ['  ', null],
    ['a\0b.pdf', null],
    ['a\nb.pdf', null],
    ['a\u202efdp.exe', 'afdp.exe'],
    ['e\u0301.pdf', 'é.pdf'],
    ['\ud800.pdf', null],
  ] as const)
    t.equal(fileNameOf(sent), kept, JSON.stringify(sent))
  t.equal(Array.from(fileNameOf(`${'😀'.repeat(200)}.pdf`)!).length, 120)
  t.match(fileNameOf(`${'x'.repeat(200)}.pdf`), /x\.pdf$/)
})

t.test('a name is offered in a way that cannot break out of its header', async (t) => {
  t.equal(contentDisposition('invoice.pdf'), 'attachment; filename="invoice.pdf"')
  t.equal(
    contentDisposition('a"; x="b.pdf'),
    `attachment; filename="a_; x=_b.pdf"; filename*=UTF-8''a%22%3B%20x%3D%22b.pdf`,
  )
  t.equal(
    contentDisposition("Ménü*'.pdf"),
    `attachment; filename="Menu*'.pdf"; filename*=UTF-8''M%C3%A9n%C3%BC%2A%27.pdf`,
  )
  t.equal(contentDisposition('a\\b.pdf'), `attachment; filename="a_b.pdf"; filename*=UTF-8''a%5Cb.pdf`)
})

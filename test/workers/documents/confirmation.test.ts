/** Confirmations as pages: what they show, in which letters, and on how many of them. */
import t from 'tap'
import type { Confirmation } from '../../../lib/documents/confirmation-page.ts'
import render from '../../../workers/documents/confirmation.ts'
import { createWorkerPool } from '../../../workers/pool/pool.ts'
import { pdfText } from '../../support/pdf-text.ts'

const PAGE: Confirmation = {
  issuer: 'Example Bank',
  title: 'Payment confirmation',
  headline: '1,250.00 EUR',
  status: 'Completed on 4 May 2026',
  sections: [
    {
      title: 'Payer',
      lines: [
        ['Name', 'Łódź Handel Sp. z o.o.'],
        ['Reference', 'Ελλάς, Ивановъ, Søn & Fils'],
      ],
    },
  ],
  footer: 'Issued electronically.',
  createdAt: Date.UTC(2026, 4, 4, 9, 30),
}

t.test('everything is on the page, in the letters it was given in', async (t) => {
  const pdf = await render(PAGE)
  t.equal(Buffer.from(pdf).subarray(0, 5).toString(), '%PDF-')
  t.strictSame(pdfText(pdf), [
    'Example Bank',
    'Payment confirmation',
    '1,250.00 EUR',
    'Completed on 4 May 2026',
    'Payer',
    'Name',
    'Łódź Handel Sp. z o.o.',
    'Reference',
    'Ελλάς, Ивановъ, Søn & Fils',
    'Issued electronically.',
    'Page 1 of 1',
  ])
})

t.test('the same confirmation is the same bytes, another one is not', async (t) => {
  const pdf = await render(PAGE)
  t.strictSame(await render(PAGE), pdf)
  t.not(Buffer.compare(await render({ ...PAGE, status: 'Returned on 5 May 2026' }), pdf), 0)
})

t.test('what does not fit goes on overleaf', async (t) => {
  const lines = Array.from({ length: 90 }, (_, index): [string, string] => [
    `Line ${index}`,
    'long words '.repeat(20).trim(),
  ])
  const text = pdfText(await render({ ...PAGE, sections: [{ title: 'Many', lines }] }))
  const pages = text.filter((piece) => /^Page \d+ of \d+$/.test(piece))
  t.ok(pages.length > 1)
  t.strictSame(
    pages,
    pages.map((_, index) => `Page ${index + 1} of ${pages.length}`),
  )
  t.strictSame(
    text.filter((piece) => /^Line \d+$/.test(piece)),
    lines.map(([label]) => label),
    'nothing is lost between them',
  )
})

t.test('the pool renders in a thread', async (t) => {
  await using pool = createWorkerPool()
  t.strictSame(pdfText(await pool.renderConfirmation(PAGE)), pdfText(await render(PAGE)))
})

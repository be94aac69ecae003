/** The forms of mandates as pages: the words that each scheme prescribes, the account in cells, and room to sign. */
import t from 'tap'
import { mandatePage, type MandateFacts } from '../../../lib/direct-debits/mandate-page.ts'
import render from '../../../workers/documents/mandate.ts'
import { createWorkerPool } from '../../../workers/pool/pool.ts'
import { pdfText } from '../../support/pdf-text.ts'

const FACTS: MandateFacts = {
  id: '0190f1aa-0000-7000-8000-000000000001',
  scheme: 'sepa_dd_core',
  reference: 'WBK3J9X2M4P7Q1ZT',
  issuer: 'Example Bank',
  creditor: { name: 'Stadtwerke Grünwald GmbH', identifier: 'DE98ZZZ09999999999', address: ['Hauptstraße 12'] },
  debtor: { name: 'Łukasz Żółć', address: [], accounts: [['IBAN', 'NL77SBOX0100000001']] },
  isOneOff: false,
  amountLimit: { amountMinor: 150_000n, currency: 'EUR' },
  signedAt: null,
  createdAt: Date.UTC(2026, 10, 23),
}

t.test('a form shows the parties, the numbers in cells and the words of the rulebook', async (t) => {
  const text = pdfText(await render(mandatePage(FACTS)))
  for (const shown of [
    'SEPA Direct Debit Mandate',
    'WBK3J9X2M4P7Q1ZT',
    'DE98ZZZ09999999999',
    'Stadtwerke Grünwald GmbH',
    'Łukasz Żółć',
    'At most 1,500.00 EUR a collection',
    'Signature',
  ])
    t.ok(text.includes(shown), shown)
  const letters = text.filter((piece) => [...piece].length === 1).join('')
  t.ok(letters.includes('NL77SBOX0100000001'), 'each letter of the account has its own cell')
  t.match(text.join(' '), /refund must be claimed within 8 weeks/)
  t.notOk(
    text.some((piece) => piece.startsWith('Signed by')),
    'room to sign',
  )
})

t.test('a signed form names the day; one form is always the same bytes', async (t) => {
  const page = mandatePage({ ...FACTS, signedAt: '2026-11-20' })
  const pdf = await render(page)
  t.ok(pdfText(pdf).includes('20 November 2026'))
  t.ok(pdfText(pdf).includes('Signed by Łukasz Żółć'))
  t.strictSame(await render(page), pdf)
})

t.test('businesses have no refund, and payers in Britain have their guarantee', async (t) => {
  const b2b = pdfText(await render(mandatePage({ ...FACTS, scheme: 'sepa_dd_b2b' }))).join(' ')
  t.match(b2b, /not entitled to a refund/)
  t.notMatch(b2b, /8 weeks/)
  const bacs = pdfText(
    await render(
      mandatePage({
        ...FACTS,
        scheme: 'bacs_dd',
        debtor: {
          ...FACTS.debtor,
          accounts: [
            ['Sort code', '990001'],
            ['Account number', '12345678'],
          ],
        },
      }),
    ),
  )
  t.ok(bacs.includes('The Direct Debit Guarantee'))
  t.ok(bacs.includes('Service user number'))
})

t.test('every scheme has a form, which the pool renders on one page', async (t) => {
  await using pool = createWorkerPool()
  for (const scheme of ['sepa_dd_core', 'sepa_dd_b2b', 'bacs_dd', 'ach_debit', 'becs_dd', 'pad'] as const) {
    const pages = pdfText(await pool.renderMandate(mandatePage({ ...FACTS, scheme })))
    t.ok(pages.includes('Page 1 of 1'), scheme)
  }
})

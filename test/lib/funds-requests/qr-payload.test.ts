import t from 'tap'

import { qrPayload } from '../../../lib/funds-requests/qr-payload.ts'

const FACTS = {
  currency: 'EUR',
  amount: 12_345n,
  payeeName: 'Müller & Söhne',
  iban: 'NL77SBOX0100000001',
  bic: 'SBOXNL2AXXX',
  reference: 'RF18539007547034',
}

t.test('euros to an IBAN have a payload', async (t) => {
  t.equal(
    qrPayload(FACTS),
    'BCD\n002\n1\nSCT\nSBOXNL2AXXX\nMüller & Söhne\nNL77SBOX0100000001\nEUR123.45\n\nRF18539007547034',
  )
  t.equal(qrPayload({ ...FACTS, bic: null })?.split('\n')[4], '', 'a BIC is not needed')
  t.equal(qrPayload({ ...FACTS, amount: 5n })?.split('\n')[7], 'EUR0.05')
  t.equal(
    Array.from(qrPayload({ ...FACTS, payeeName: 'ü'.repeat(99) })?.split('\n')[5] ?? '').length,
    70,
    'names are cut',
  )
  t.equal(qrPayload({ ...FACTS, payeeName: 'A\nB' })?.split('\n')[5], 'A B', 'a name has one line')
})

t.test('nothing else has one', async (t) => {
  for (const change of [
    { currency: 'GBP' },
    { iban: null },
    { amount: 0n },
    { amount: 100_000_000_000n },
    { payeeName: '😀'.repeat(70) },
  ]) {
    t.equal(
      qrPayload({ ...FACTS, ...change }),
      null,
      JSON.stringify(change, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    )
  }
})

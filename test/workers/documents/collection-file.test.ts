import t from 'tap'

import type { CollectionGroup } from '../../../lib/direct-debits/files/collection-file.ts'
import type { FileLine } from '../../../lib/direct-debits/files/file-rows.ts'
import { createDocumentPool, DocumentFailed } from '../../../workers/documents/pool.ts'
import type { CollectionFileTask } from '../../../workers/documents/collection-file.ts'
import { BACS_PAYER, creditor, group, line, lineId } from '../../support/debit-files.ts'
import { HEAD } from '../../support/file-orders.ts'
import { pain008Errors } from '../../support/order-rules.ts'

const pool = createDocumentPool()
t.teardown(() => pool.close())

const sumOf = (lines: readonly FileLine[]): bigint => lines.reduce((sum, { amount }) => sum + amount, 0n)

async function written(
  lines: readonly FileLine[],
  given: Partial<CollectionGroup> = {},
  sums: Partial<Pick<CollectionFileTask, 'count' | 'controlSum'>> = {},
): Promise<string> {
  const own = group(given)
  using stream = pool.open({
    kind: 'collection_file',
    group: own,
    creditor: creditor(),
    count: lines.length,
    controlSum: sumOf(lines),
    ...sums,
    format:
      own.scheme === 'bacs_dd'
        ? { name: 'std18', head: { serialNumber: '00A1B2', createdOn: '2026-11-23', processingDay: '2026-11-27' } }
        : { name: 'pain008', head: HEAD },
  })
  const pieces: Uint8Array[] = []
  for (let at = 0; at < lines.length; at += 3) pieces.push(...(await stream.write(lines.slice(at, at + 3))))
  pieces.push(...(await stream.end()))
  return Buffer.concat(pieces).toString()
}

t.test('a group is one block of pain.008, batch by batch', async (t) => {
  const xml = await written([
    ...Array.from({ length: 7 }, (_, nth) => line(nth)),
    line(8, {
      amendment: {
        account: { iban: 'NL77SBOX0100000001' },
        reference: 'OLD-1',
        creditorName: 'Former Name',
        since: '2026-11-01T00:00:00Z',
      },
      signedAt: null,
    }),
    line(9, { amendment: { account: { iban: 'DE02120300000000202051' }, since: '2026-11-01T00:00:00Z' } }),
  ])
  t.strictSame(pain008Errors(xml), [])
  t.match(xml, '<NbOfTxs>9</NbOfTxs><CtrlSum>9.38</CtrlSum>')
  t.equal(xml.match(/<PmtInf>/g)?.length, 1)
  t.equal(xml.match(/<AmdmntInd>/g)?.length, 2, 'an amendment stands with its own mandate alone')
  t.match(xml, '<OrgnlMndtId>OLD-1</OrgnlMndtId><OrgnlCdtrSchmeId><Nm>Former Name</Nm></OrgnlCdtrSchmeId>')
  t.match(xml, '<OrgnlDbtrAcct><Id><Othr><Id>SMNDA</Id></Othr></Id></OrgnlDbtrAcct>', 'another bank')
  t.match(xml, '<OrgnlDbtrAcct><Id><IBAN>DE02120300000000202051</IBAN></Id></OrgnlDbtrAcct>', 'the same bank')
  t.match(xml, '<DtOfSgntr>2026-01-01</DtOfSgntr>', 'the day of creation stands for a day that is not known')
})

t.test('the schemes of other countries name accounts by their numbers', async (t) => {
  for (const [scheme, currency, account, found] of [
    [
      'ach_debit',
      'USD',
      { routingNumber: '099000011', accountNumber: '12345', accountType: 'savings' },
      '<Tp><Cd>SVGS',
    ],
    ['becs_dd', 'AUD', { bsb: '062-000', accountNumber: '12345678' }, '<MmbId>062000</MmbId>'],
    ['pad', 'CAD', { institutionNumber: '001', transitNumber: '12345', accountNumber: '1234567' }, '<MmbId>000112345'],
  ] as const) {
    const xml = await written([line(1, { counterparty: { name: 'Payer', kind: 'consumer', ...account } })], {
      scheme,
      currency,
      creditorId: 'CREDITOR1',
    })
    t.strictSame(pain008Errors(xml), [], scheme)
    t.match(xml, found)
  }
})

t.test('a group of Bacs is a submission, and so are its instructions', async (t) => {
  const bacs = { scheme: 'bacs_dd', currency: 'GBP', creditorId: '123456' } as const
  const lines = [
    line(1, { counterparty: BACS_PAYER }),
    line(2, { counterparty: BACS_PAYER, isRepresented: true }),
    line(3, { counterparty: BACS_PAYER }),
    line(4, { counterparty: BACS_PAYER }),
  ]
  const codes = (text: string) =>
    text
      .split('\r\n')
      .filter((each) => each.length === 100)
      .map((each) => each.slice(15, 17))
  t.strictSame(codes(await written(lines, { ...bacs, sequenceType: 'first' })), ['01', '18', '01', '01', '99'])
  const lodged = (['new', 'cancelled', 'converted'] as const).map((instruction, nth) =>
    line(nth, { counterparty: BACS_PAYER, instruction, amount: 0n }),
  )
  t.strictSame(codes(await written(lodged, { ...bacs, kind: 'lodging', sequenceType: null })), ['0N', '0C', '0S'])
})

t.test('a file that does not come to its sums, or has a line that no bank takes, is not written', async (t) => {
  const lines = [line(1), line(2), line(3), line(4)]
  await t.rejects(written(lines, {}, { count: 3 }), DocumentFailed)
  await t.rejects(written(lines, {}, { count: 5 }), DocumentFailed)
  await t.rejects(written(lines, {}, { controlSum: 1n }), DocumentFailed)
  const bad = line(5, { counterparty: { name: 'Payer', kind: 'consumer', iban: 'X' } })
  const error = await written([...lines, bad]).catch((thrown: unknown) => thrown)
  t.match((error as { cause: Error }).cause.message, lineId(5))
})

t.test('a hundred thousand lines are written in little memory', async (t) => {
  const ROWS = 100_000
  const BATCH = 500
  using stream = pool.open({
    kind: 'collection_file',
    group: group(),
    creditor: creditor(),
    count: ROWS,
    controlSum: BigInt(ROWS) * 5n,
    format: { name: 'pain008', head: HEAD },
  })
  let bytes = 0
  let largest = 0
  const take = (pieces: readonly Uint8Array[]) => {
    const gained = pieces.reduce((sum, piece) => sum + piece.byteLength, 0)
    bytes += gained
    largest = Math.max(largest, gained)
  }
  for (let at = 0; at < ROWS; at += BATCH)
    take(await stream.write(Array.from({ length: BATCH }, (_, nth) => line(at + nth, { amount: 5n }))))
  take(await stream.end())
  t.ok(bytes > 40_000_000, `${bytes} bytes`)
  t.ok(largest < 2_000_000, `a batch of ${BATCH} gives ${largest} bytes at most`)
})

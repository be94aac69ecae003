import t from 'tap'

import { moveCollectionFile, serialNumberOf } from '../../../../lib/direct-debits/files/collection-file.ts'
import { ResponseReading, type ResponseItem } from '../../../../lib/direct-debits/files/response-reading.ts'
import {
  bookedVerdict,
  claimVerdict,
  collectionLine,
  isTrouble,
  mandateLine,
  reportedVerdict,
  returnedDebitVerdict,
  type CollectionVerdict,
  type NamedCollection,
  type NamedMandate,
} from '../../../../lib/direct-debits/files/responses.ts'
import type { IndemnityClaim, InstructionAdvice, ReturnedDebit } from '../../../../lib/providers/bacs/messages.ts'
import { BankFileError } from '../../../../lib/providers/iso20022/bank-file-error.ts'
import { addacs, advice, arudd, auddis, claim, ddica, returned } from '../../../support/bacs-reports.ts'
import { entry, notificationFile, statementFile, statusFile } from '../../../support/bank-files.ts'

const collection = (given: Partial<NamedCollection> = {}): NamedCollection => ({
  id: 'C-1',
  connectionId: 'K-1',
  scheme: 'sepa_dd_core',
  status: 'submitted',
  amount: 10_00n,
  dueDate: '2026-11-30',
  endToEndId: 'COL1',
  fileId: 'F-1',
  ...given,
})
const verdict = (given: Partial<CollectionVerdict>): CollectionVerdict => ({
  outcome: 'collected',
  reasonCode: null,
  rType: null,
  amount: null,
  bookedOn: null,
  providerRef: null,
  ...given,
})

t.test('each status takes the outcomes of its row, and no other', (t) => {
  const rows: Record<string, string> = {
    pending: 'x x x x x',
    submitted: 'collected failed returned x exception',
    exception: 'collected failed returned x =',
    collected: '= x returned = x',
    failed: 'x = x x x',
    returned: '= x returned collected x',
    reversed: 'x x x x x',
    cancelled: 'x x x x x',
  }
  const outcomes = ['collected', 'rejected', 'returned', 'reinstated', 'unclear'] as const
  for (const [status, row] of Object.entries(rows)) {
    const found = outcomes.map((outcome) => {
      const { to, fault } = collectionLine('R', collection({ status: status as 'pending' }), verdict({ outcome }))
      return fault === null ? to : fault === 'already_told' ? '=' : 'x'
    })
    t.equal(found.join(' '), row, status)
  }
  t.end()
})

t.test('a return of money that was never told as credited tells of the credit first', (t) => {
  const { messages, text } = collectionLine(
    'R',
    collection(),
    verdict({ outcome: 'returned', reasonCode: 'MD06', amount: 10_50n, bookedOn: '2026-12-03' }),
  )
  t.strictSame(
    messages.map(({ type, rType, amount, bookedOn }) => [type, rType, amount, bookedOn]),
    [
      ['collection.collected', null, null, '2026-11-30'],
      ['collection.returned', 'refund_authorised', 10_50n, '2026-12-03'],
    ],
  )
  t.equal(text, 'Refund requested by the debtor')
  t.end()
})

t.test('an outcome has the same key by every way, and another one for each presentation and each day', (t) => {
  const key = (given: Partial<CollectionVerdict>, of: Partial<NamedCollection> = {}) =>
    collectionLine('R', collection(of), verdict(given)).messages.at(-1)?.key
  t.strictSame(key({}), key({ amount: 10_00n, bookedOn: '2026-11-30', providerRef: 'B' }))
  t.notSame(key({}), key({}, { fileId: 'F-2' }))
  const back = { outcome: 'returned', amount: 10_00n, bookedOn: '2026-12-03' } as const
  t.strictSame(key(back, { status: 'collected' }), key({ ...back, reasonCode: 'AC04' }, { status: 'collected' }))
  t.notSame(key(back, { status: 'collected' }), key({ ...back, bookedOn: '2026-12-09' }, { status: 'collected' }))
  t.end()
})

t.test('a name of nobody, another amount and a contradiction are faults; a repetition is none', (t) => {
  t.match(collectionLine('X', null, verdict({})), { fault: 'not_ours', messages: [], objectId: null })
  const wrong = collectionLine('R', collection(), verdict({ amount: 9_99n }))
  t.match(wrong, { fault: 'wrong_amount', to: 'submitted', messages: [] })
  t.ok(isTrouble(wrong))
  t.notOk(isTrouble(collectionLine('R', collection({ status: 'collected' }), verdict({}))))
  t.ok(isTrouble(collectionLine('R', collection({ status: 'collected' }), verdict({ outcome: 'rejected' }))))
  t.end()
})

t.test('statuses of reports and bookings of accounts become verdicts', (t) => {
  const reasons = [{ code: 'AM04', isProprietary: false, texts: [] }]
  t.equal(reportedVerdict('ACSC', [], null).outcome, 'collected')
  t.match(reportedVerdict('RJCT', reasons, 'B-1'), { outcome: 'rejected', reasonCode: 'AM04', providerRef: 'B-1' })
  t.equal(reportedVerdict('RJCT', [{ ...reasons[0]!, code: 'AM05' }], null).outcome, 'unclear')
  t.equal(reportedVerdict('ACTC', [], null).outcome, 'accepted')
  const booked = { bookedOn: '2026-12-01', bankRef: 'B-2', isReversal: false }
  const references = { bankRef: null } as Parameters<typeof bookedVerdict>[1]['references']
  const credit = { direction: 'CRDT', amount: 10_00n, returned: null, references } as const
  t.match(bookedVerdict(booked, credit, 'submitted'), { outcome: 'collected', providerRef: 'B-2' })
  t.equal(bookedVerdict(booked, credit, 'returned').outcome, 'reinstated')
  t.match(
    bookedVerdict(
      booked,
      { ...credit, direction: 'DBIT', returned: { reason: reasons[0]!, originalCode: null } },
      'collected',
    ),
    { outcome: 'returned', reasonCode: 'AM04', bookedOn: '2026-12-01' },
  )
  t.end()
})

t.test('reports of Bacs become verdicts and messages about mandates', (t) => {
  const debit = { code: 'B', amount: 10_00n, processedOn: '2026-12-02' } as ReturnedDebit
  const bacs = collection({ scheme: 'bacs_dd', status: 'collected' })
  t.match(collectionLine('M', bacs, returnedDebitVerdict(debit)), {
    to: 'returned',
    messages: [{ type: 'collection.returned', rType: 'return', reasonCode: 'B', bookedOn: '2026-12-02' }],
  })
  const claimed = { code: '2', claimRef: 'PB-77', debitedOn: '2026-12-15', isCancelled: false } as IndemnityClaim
  t.match(collectionLine('M', bacs, claimVerdict(claimed, 10_00n)), {
    messages: [{ rType: 'indemnity_claim', providerRef: 'PB-77' }],
  })
  t.match(
    collectionLine('M', { ...bacs, status: 'returned' }, claimVerdict({ ...claimed, isCancelled: true }, 10_00n)),
    { to: 'collected', messages: [{ type: 'collection.reinstated' }] },
  )
  const mandate: NamedMandate = { id: 'M-1', connectionId: 'K-1', scheme: 'bacs_dd', status: 'active' }
  const told = (given: Partial<InstructionAdvice>, of: Partial<NamedMandate> = {}) => {
    const { messages, fault, to } = mandateLine(
      {
        kind: 'instruction_advice',
        report: 'ADDACS',
        reference: 'MEMBER0001',
        code: '1',
        effectiveOn: '2026-11-25',
        payer: null,
        newPayer: null,
        ...given,
      },
      { ...mandate, ...of },
    )
    return [messages[0]?.type ?? fault, to]
  }
  const newPayer = { sortCode: '200000', accountNumber: '11112222' }
  t.strictSame(told({}), ['mandate.cancelled', 'cancelled'])
  t.strictSame(told({ code: '3', newPayer }), ['mandate.amended', 'active'])
  t.strictSame(told({ code: '3' }), ['contradiction', 'active'])
  t.strictSame(told({ code: 'D' }), ['information', 'active'])
  t.strictSame(told({ code: 'R' }, { status: 'suspended' }), ['mandate.reinstated', 'active'])
  t.strictSame(told({ code: 'Z' }), ['contradiction', 'active'])
  t.strictSame(told({}, { status: 'cancelled' }), ['already_told', 'cancelled'])
  t.strictSame(told({ report: 'AUDDIS', code: '5' }, { status: 'submitted' }), ['mandate.failed', 'failed'])
  t.end()
})

t.test('the root element tells the format', (t) => {
  const read = (text: string, size: number): { items: ResponseItem[]; format: string | null } => {
    const reading = new ResponseReading()
    const items: ResponseItem[] = []
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += size) items.push(...reading.write(bytes.subarray(at, at + size)))
    items.push(...reading.end())
    return { items, format: reading.format }
  }
  for (const [format, text] of [
    ['pain.002', statusFile({ blocks: ['<PmtInfSts>ACCP</PmtInfSts>'] })],
    ['camt.053', statementFile({ entries: [entry({})] })],
    ['camt.054', notificationFile({ entries: [entry({})] })],
    ['ARUDD', arudd([returned()], '1', '65.00')],
    ['ADDACS', addacs('reason-code="1"')],
    ['AUDDIS', `\ufeff<!-- Generated --> ${auddis(advice('D', 'A', 'reason-code="5"')).replace(/<\?.*\?>/, '')}`],
    ['DDICA', ddica([claim()], { total: '130.00' })],
  ] as const)
    for (const size of [7, 100_000]) {
      const found = read(text, size)
      t.equal(found.format, format, `${format} in pieces of ${size}`)
      t.ok(found.items.length > 1)
    }
  t.throws(() => read('', 1), BankFileError)
  t.throws(() => read('VOL1'.repeat(30_000), 4096), BankFileError)
  t.throws(() => read('<a/>', 4096), BankFileError)
  t.end()
})

t.test('a file takes no rejection back, and has a serial number of its own', (t) => {
  t.equal(moveCollectionFile('gathering', 'downloaded'), null)
  t.equal(moveCollectionFile('generated', 'accepted'), 'accepted')
  t.equal(moveCollectionFile('partially_rejected', 'accepted'), 'partially_rejected')
  t.equal(moveCollectionFile('rejected', 'accepted'), null)
  t.equal(serialNumberOf(35), '00000Z')
  t.equal(serialNumberOf(36 ** 6), '000000')
  t.end()
})

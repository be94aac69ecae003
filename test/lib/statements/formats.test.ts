/** The formats of statements against their own rules, with what is hard for each. */
import fc from 'fast-check'
import t from 'tap'
import { CAMT053_END, camt053Head, camt053Lines } from '../../../lib/statements/camt053.ts'
import { fitsMt940, mt940End, mt940Head, mt940Lines, telegram } from '../../../lib/statements/mt940.ts'
import {
  monthlyDueAt,
  monthOf,
  nextMonth,
  signed,
  type StatementHead,
  type StatementLine,
} from '../../../lib/statements/statement.ts'
import { csvWriter, harmless, sheetWriter, zonedTimes } from '../../../lib/statements/table.ts'
import { TRANSACTION_TYPES } from '../../../lib/balances/journal-line-schema.ts'
import type { TransactionType } from '../../../lib/ledger/postings.ts'
import { camt053Errors } from '../../support/camt053-rules.ts'

const ID = '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f'

function statement(lines: readonly StatementLine[], change: Partial<StatementHead> = {}): StatementHead {
  const of = (direction: string) => lines.filter((line) => line.direction === direction)
  const sum = (all: readonly StatementLine[]) => all.reduce((total, { amount }) => total + amount, 0n)
  const [credits, debits] = [of('credit'), of('debit')]
  const opening = change.opening ?? 100_000n
  return {
    id: ID,
    kind: 'monthly',
    sequenceNumber: 12,
    from: '2026-10-01',
    to: '2026-10-31',
    currency: 'EUR',
    opening,
    closing: opening + sum(credits) - sum(debits),
    credits: sum(credits),
    debits: sum(debits),
    creditCount: credits.length,
    debitCount: debits.length,
    createdAt: Date.UTC(2026, 10, 1, 6),
    holder: {
      operatorName: 'Bank',
      name: 'Müller & Söhne <GmbH>',
      address: ['Straße 1', '10115 Berlin', 'DE'],
      balanceId: ID,
      balanceName: 'Main',
      iban: 'NL77ABNA0417164300',
      bic: 'ABNANL2A',
      accountNumber: null,
      bankName: 'Bank',
    },
    ...change,
  }
}

function line(change: Partial<StatementLine> = {}): StatementLine {
  return {
    id: ID,
    entryId: ID,
    sequence: 1,
    direction: 'debit',
    amount: 1_250n,
    running: 0n,
    type: 'outgoing_payment',
    description: 'Outgoing payment',
    reference: 'Invoice 42',
    counterparty: 'Acme',
    endToEndId: 'E2E-1',
    bookedAt: Date.UTC(2026, 9, 3, 12),
    valueDate: '2026-10-03',
    isReversal: false,
    ...change,
  }
}

const camt053 = (lines: readonly StatementLine[], head = statement(lines)): string =>
  camt053Head(head) + camt053Lines(head, lines) + CAMT053_END
const mt940 = (lines: readonly StatementLine[], head = statement(lines)): string =>
  mt940Head(head) + mt940Lines(head, lines) + mt940End(head)

/** Lines with any text and any amount. */
const lines = fc.array(
  fc
    .record({
      direction: fc.constantFrom('debit', 'credit'),
      amount: fc.bigInt({ min: 1n, max: 10n ** 13n }),
      type: fc.constantFrom(...TRANSACTION_TYPES),
      isReversal: fc.boolean(),
      reference: fc.option(fc.string({ unit: 'grapheme', maxLength: 160 })),
      counterparty: fc.option(fc.string({ unit: 'binary', maxLength: 160 })),
      endToEndId: fc.option(fc.string({ minLength: 1, maxLength: 40 })),
      valueDate: fc.constantFrom('2026-10-03', '2026-12-31', '2026-01-01'),
    })
    .map((change) => line(change as Partial<StatementLine>)),
  { maxLength: 20 },
)

t.test('camt.053 fits its schema, whatever the lines say', (t) => {
  fc.assert(
    fc.property(lines, (some) => {
      t.strictSame(camt053Errors(camt053(some)), [])
    }),
    { numRuns: 200 },
  )
  t.strictSame(
    camt053Errors(
      camt053(
        [],
        statement([], {
          sequenceNumber: 0,
          holder: {
            ...statement([]).holder,
            iban: null,
            accountNumber: '12345678',
            bic: null,
            bankName: null,
            address: [],
          },
        }),
      ),
    ),
    [],
  )
  for (const type of TRANSACTION_TYPES)
    t.strictSame(camt053Errors(camt053([line({ type: type as TransactionType })])), [], type)
  t.end()
})

t.test('the rules of the schema find what is wrong', (t) => {
  const good = camt053([line(), line({ direction: 'credit' })])
  t.strictSame(camt053Errors(good), [])
  for (const [what, bad] of [
    ['an order', good.replace(/(<Sts>.*?<\/Sts>)(<BookgDt>.*?<\/BookgDt>)/, '$2$1')],
    ['a missing element', good.replace(/<CreDtTm>.*?<\/CreDtTm>/, '')],
    ['an unknown one', good.replace('<Ntry>', '<Ntry><Foo>1</Foo>')],
    ['a code', good.replace('OPBD', 'OPEN')],
    ['a currency', good.replace('<Amt Ccy="EUR">', '<Amt>')],
    ['a length', good.replace(/<NtryRef>/, `<NtryRef>${'9'.repeat(40)}`)],
    ['an amount', good.replace('12.50<', '12,50<')],
  ] as const) {
    t.not(bad, good, `${what} was changed`)
    t.not(camt053Errors(bad).length, 0, what)
  }
  t.throws(() => camt053Errors(good.replace('</Stmt>', '')))
  t.end()
})

t.test('camt.053 says opening, lines and closing', (t) => {
  const some = [line(), line({ direction: 'credit', amount: 99n }), line({ isReversal: true })]
  const text = camt053(some)
  t.match(
    text,
    '<Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">1000.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-10-01</Dt>',
  )
  t.match(
    text,
    '<Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">975.99</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-10-31</Dt>',
  )
  t.match(text, '<NbOfNtries>3</NbOfNtries><Sum>25.99</Sum><TtlNetNtry><Amt>24.01</Amt><CdtDbtInd>DBIT</CdtDbtInd>')
  t.match(text, '<RvslInd>true</RvslInd>')
  t.match(camt053([], statement([], { opening: -5n })), '<Amt Ccy="EUR">0.05</Amt><CdtDbtInd>DBIT</CdtDbtInd>')
  t.end()
})

const X = "[A-Za-z0-9/\\-?:().,'+ ]"
const MT940 = new RegExp(
  `^:20:${X}{1,16}\\r\\n:25:${X}{1,35}\\r\\n:28C:\\d{5}/\\d{5}\\r\\n:60F:[CD]\\d{6}[A-Z]{3}(?=[\\d,]{1,15}\\r)\\d+,\\d*\\r\\n` +
    `(:61:\\d{6}\\d{4}R?[CD](?=[\\d,]{1,15}N)\\d+,\\d*N[A-Z]{3}(?!/)(?:(?!//)${X}){1,16}//${X}{1,16}\\r\\n:86:${X}{0,65}(\\r\\n(?![:-])${X}{1,65}){0,5}\\r\\n)*` +
    ':62F:[CD]\\d{6}[A-Z]{3}\\d+,\\d*\\r\\n:64:[CD]\\d{6}[A-Z]{3}\\d+,\\d*\\r\\n-\\r\\n$',
)

t.test('MT940 keeps to its fields, lengths and letters, whatever the lines say', (t) => {
  fc.assert(
    fc.property(lines, (some) => {
      t.match(mt940(some), MT940)
    }),
    { numRuns: 200 },
  )
  t.match(mt940([]), MT940)
  t.equal(telegram('Łódź & Œuvre – ça va: “ß”'), 'Lodz + OEuvre - ca va: .ss.')
  t.match(
    mt940([line()]),
    ':61:2610031003D12,50NTRFE2E-1//9F580A1B2C3D4E5F\r\n:86:Outgoing payment / Acme / Invoice 42\r\n',
  )
  t.match(mt940([line({ isReversal: true, direction: 'credit' })]), /:61:\d{10}RD12,50N/)
  t.match(mt940([], statement([], { currency: 'JPY', opening: 500n, closing: 500n })), ':60F:C261001JPY500,\r\n')
  t.end()
})

t.test('an amount that has no room in MT940 is known before', (t) => {
  t.ok(fitsMt940(statement([]), 99_999_999_999_999n))
  t.notOk(fitsMt940(statement([]), 100_000_000_000_000n))
  t.notOk(fitsMt940(statement([], { closing: 100_000_000_000_000n }), 1n))
  t.end()
})

t.test('tables: text begins no formula, amounts are exact, times have their zone', (t) => {
  for (const text of ['=1+1', '+1', '-1', '@a', '\t=1', '\r=1']) t.equal(harmless(text), `'${text}`)
  t.equal(harmless('1=1'), '1=1')
  const row = csvWriter({ timezone: 'UTC', decimalSeparator: '.' })
  t.equal(
    row([
      'a,b',
      'say "hi"',
      null,
      { kind: 'amount', value: -9_007_199_254_740_993_01n, currency: 'EUR' },
      { kind: 'integer', value: 7 },
    ]),
    '"a,b","say ""hi""",,-9007199254740993.01,7\r\n',
  )
  t.equal(
    csvWriter({ timezone: 'UTC', decimalSeparator: ',' })([{ kind: 'amount', value: 5n, currency: 'KWD' }, 'a;b']),
    '0,005;"a;b"\r\n',
  )
  for (const [decimalSeparator, written] of [
    ['.', '1.0842'],
    [',', '1,0842'],
  ] as const) {
    t.equal(
      csvWriter({ timezone: 'UTC', decimalSeparator })([{ kind: 'decimal', value: '1.0842' }]),
      `${written}\r\n`,
      'a rate is a number like any other',
    )
  }
  const cell = sheetWriter({ timezone: 'UTC' })
  t.match(cell([{ kind: 'amount', value: 123_456n, currency: 'EUR' }]), '<v>1234.56</v>')
  t.match(
    cell([{ kind: 'amount', value: 9_007_199_254_740_993_01n, currency: 'EUR' }]),
    '<t xml:space="preserve">9007199254740993.01</t>',
    'more digits than a spreadsheet keeps are text',
  )
  t.match(cell([{ kind: 'decimal', value: '1.0842' }]), '<c><v>1.0842</v></c>')
  t.match(cell([{ kind: 'decimal', value: '1234567.0123456789' }]), '<t xml:space="preserve">1234567.0123456789</t>')
  t.match(cell([{ kind: 'date', value: '2026-01-01' }]), '<v>46023</v>')
  t.match(cell([{ kind: 'time', value: Date.UTC(2026, 0, 1, 12) }]), '<v>46023.50000000000</v>')
  t.match(cell(['a\u0000<b>&\ud800']), '<t xml:space="preserve">a&lt;b&gt;&amp;</t>')
  const berlin = zonedTimes('Europe/Berlin')
  t.equal(berlin(Date.UTC(2026, 2, 29, 0, 59)), '2026-03-29T01:59:00.000')
  t.equal(berlin(Date.UTC(2026, 2, 29, 1, 0)), '2026-03-29T03:00:00.000', 'from the minute on that the clocks change')
  t.end()
})

t.test('months', (t) => {
  t.strictSame(monthOf('2028-02-14'), { from: '2028-02-01', to: '2028-02-29' })
  t.equal(nextMonth('2026-12-15'), '2027-01-01')
  t.equal(monthlyDueAt('2026-12-15'), Date.UTC(2027, 0, 1, 6))
  t.equal(signed(line()), -1_250n)
  t.end()
})

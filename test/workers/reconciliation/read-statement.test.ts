import { createHash } from 'node:crypto'
import t from 'tap'

import type { StatementEntry } from '../../../lib/reconciliation/statement.ts'
import { createStatementReader } from '../../../workers/reconciliation/statement-reader.ts'

const ID = '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f'
const reader = createStatementReader()
t.teardown(() => reader.close())

const balance = (code: string, amount: string, sign = 'CRDT') =>
  `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${sign}</CdtDbtInd><Dt><Dt>2026-05-04</Dt></Dt></Bal>`
const statement = (
  entries: string,
  { before = '', balances = balance('OPBD', '10.00') + balance('CLBD', '5.00', 'DBIT') } = {},
) =>
  `<?xml version="1.0"?>${before}<d:Document xmlns:d="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><d:BkToCstmrStmt><d:GrpHdr><d:MsgId>m</d:MsgId></d:GrpHdr><d:Stmt><d:Id>S-1</d:Id>
    <d:Acct><d:Id><d:IBAN>NL77SBOX0100000001</d:IBAN></d:Id><d:Ccy>EUR</d:Ccy></d:Acct>${(balances + entries).replaceAll('</', '</d:').replaceAll(/<(?!\/|!)/g, '<d:')}</d:Stmt></d:BkToCstmrStmt></d:Document>`
const entry = (
  inner: string,
  { amount = '1.50', sign = 'DBIT', status = '<Sts><Cd>BOOK</Cd></Sts>', ccy = 'EUR' } = {},
) =>
  `<Ntry><Amt Ccy="${ccy}">${amount}</Amt><CdtDbtInd>${sign}</CdtDbtInd>${status}<BookgDt><DtTm>2026-05-04T10:00:00Z</DtTm></BookgDt><ValDt><Dt>2026-05-05</Dt></ValDt><AcctSvcrRef>B1</AcctSvcrRef>${inner}</Ntry>`

async function* inPieces(text: string, size = 7): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(text: string, size?: number) {
  const entries: StatementEntry[] = []
  const result = await reader.read(inPieces(text, size), async (batch) => {
    entries.push(...batch)
  })
  return { ...result, entries }
}

t.test('a statement is read piece by piece, wherever the pieces are cut', async (t) => {
  const text = statement(
    entry(
      `<NtryDtls><TxDtls><Refs><EndToEndId>${ID.replaceAll('-', '')}</EndToEndId></Refs><RmtInf><Ustrd>Müller &amp; Söhne</Ustrd></RmtInf></TxDtls></NtryDtls>`,
    ) +
      entry('', { sign: 'CRDT', amount: '7', status: '<Sts>BOOK</Sts>' }) +
      entry('', { status: '<Sts><Cd>PDNG</Cd></Sts>' }) +
      entry(
        `<NtryDtls><TxDtls><Refs><InstrId>${ID}</InstrId></Refs><Amt Ccy="EUR">1.00</Amt></TxDtls><TxDtls><Amt Ccy="EUR">0.50</Amt><Refs><EndToEndId>NOTPROVIDED</EndToEndId></Refs></TxDtls></NtryDtls>`,
      ),
  )
  const { head, sha256, error, entries } = await read(text, 5)
  t.equal(error, null)
  t.strictSame(head, { id: 'S-1', account: 'NL77SBOX0100000001', currency: 'EUR', opening: 1_000n, closing: -500n })
  t.equal(sha256, createHash('sha256').update(text).digest('hex'))
  t.match(entries, [
    {
      reference: ID,
      direction: 'DBIT',
      amount: 150n,
      bookedOn: '2026-05-04',
      valueDate: '2026-05-05',
      bankRef: 'B1',
      text: 'Müller & Söhne',
    },
    { reference: null, direction: 'CRDT', amount: 700n },
    { reference: ID, direction: 'DBIT', amount: 100n },
    { reference: null, direction: 'DBIT', amount: 50n },
  ])
  t.equal(entries.length, 4, 'what is pending is not booked')
})

t.test('a long batch is split into its transactions, or counts as one', async (t) => {
  const details = (count: number, amount: string) =>
    `<NtryDtls>${`<TxDtls><Amt Ccy="EUR">0.01</Amt></TxDtls>`.repeat(count)}<TxDtls><Refs><EndToEndId>${ID}</EndToEndId></Refs>${amount}</TxDtls></NtryDtls>`
  const split = await read(statement(entry(details(1_200, '<Amt Ccy="EUR">0.02</Amt>'), { amount: '12.02' })), 10_000)
  t.equal(split.error, null)
  t.equal(split.entries.length, 1_201)
  t.match(split.entries.at(-1), { reference: ID, amount: 2n })
  const whole = await read(statement(entry(details(1_200, ''), { amount: '12.02' })), 10_000)
  t.match(whole.entries, [{ reference: null, amount: 1_202n, direction: 'DBIT', bankRef: 'B1' }])
  t.equal(whole.entries.length, 1)
})

t.test('what is no statement is said to be none', async (t) => {
  for (const [what, text, error] of [
    [
      'a document type',
      statement('', { before: '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>' }),
      /document type/,
    ],
    ['an entity of its own', statement(entry('<AddtlNtryInf>&x;</AddtlNtryInf>')), /not well-formed/],
    ['an end in the middle', statement(entry('')).slice(0, -60), /not well-formed/],
    ['no XML at all', 'Dear customer', /not well-formed/],
    ['other XML', '<a/>', /no statement/],
    ['no closing balance', statement('', { balances: balance('OPBD', '1.00') }), /no opening or no closing/],
    ['another currency', statement(entry('', { ccy: 'USD' })), /USD is on an account in EUR/],
    ['a part of a cent', statement(entry('', { amount: '1.505' })), /more decimals/],
    ['an amount in words', statement(entry('', { amount: '-1' })), /no amount/],
    [
      'parts that are not the whole',
      statement(
        entry(
          '<NtryDtls><TxDtls><Amt Ccy="EUR">1.00</Amt></TxDtls><TxDtls><Amt Ccy="EUR">1.00</Amt></TxDtls></NtryDtls>',
        ),
      ),
      /come to 200/,
    ],
    ['a field without end', statement(entry(`<AddtlNtryInf>${'x'.repeat(5_000)}</AddtlNtryInf>`)), /too long/],
    ['depth without end', statement(entry('<a>'.repeat(100))), /at most 64 deep/],
    ['two statements', statement('').replace(/<d:Stmt>[^]*<\/d:Stmt>/, '$&$&'), /more than one/],
  ] as const)
    t.match((await read(text, 64)).error, error, what)
})

t.test('whoever cannot take an entry, or give a piece, stops it', async (t) => {
  await t.rejects(
    reader.read(inPieces(statement(entry('')), 64), async () => {
      throw new Error('full')
    }),
    /full/,
  )
  await t.rejects(
    reader.read(
      (async function* broken() {
        yield Buffer.from(statement('').slice(0, 60))
        throw new Error('gone')
      })(),
      async () => undefined,
    ),
    /gone/,
  )
  t.equal((await read(statement(''))).error, null, 'the next one is read')
})

import { createHash } from 'node:crypto'
import t from 'tap'

import { audit, type AuditRow } from '../../../storage/audit/audit.ts'
import type { KeptBlock } from '../../../storage/audit/audit-chain.ts'
import { chainJournal, INTERNAL_CHAIN, newestBlock } from '../../../storage/journal/journal-chain.ts'
import { openBooks, START, type Books } from '../../support/books.ts'

const HOUR_MS = 3_600_000
const CHAIN_CHECKS = new Set(['journal chain', 'chained journals', 'journal blocks'])

/** A pass after everything has been quiet for an hour. */
function chain(books: Books) {
  books.clock.advance(HOUR_MS)
  return chainJournal(books.database, { now: books.clock.now(), lookedAt: books.clock.now() })
}

/** The faults that the checks of the chain find, by their names. */
async function found(books: Books, kept: readonly KeptBlock[] = []): Promise<Record<string, readonly AuditRow[]>> {
  const { checks } = await audit(books.client, kept)
  const broken = checks.filter(
    ({ name, disagreeing }) => disagreeing > 0 && (CHAIN_CHECKS.has(name) || name.startsWith('block')),
  )
  return Object.fromEntries(broken.map(({ name, rows }) => [name, rows]))
}

async function fill(books: Books): Promise<void> {
  for (let nth = 0; nth < 4; nth++) {
    const id = await books.pay()
    await books.handOver(id)
    await books.settle(id)
  }
}

t.test('the chain can be computed by anybody from the columns of the lines', async (t) => {
  const books = await openBooks(t)
  await fill(books)
  const first = await chain(books)
  t.match(first, { lag: 0, holes: [], block: { number: '1' } })
  await fill(books)
  t.match(await chain(books), { lines: 8 + 4, lag: 0, block: { number: '2' } })
  t.match(await chain(books), { lines: 0, lag: 0, block: { number: '2' } }, 'nothing is chained twice')

  const sha256 = (...parts: readonly (string | Buffer)[]) =>
    createHash('sha256')
      .update(Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))))
      .digest()
  const field = (text: string | null) => (text === null ? '~' : `${Buffer.byteLength(text)}:${text}`)
  const eur = books.sandbox.customer.balances.EUR
  const { rows: lines } = await books.client.query<Record<string, string | null>>(
    `select case when debit_account = $1 then 'debit' else 'credit' end as side, coalesce(debit_sequence, credit_sequence)::text as sequence,
      coalesce(debit_balance, credit_balance)::text as running, entry_id, ordinal::text, customer_id, rule, occurrence::text, source_object, source_id, currency, amount::text,
      debit_account, credit_account, description, reference, counterparty, reversal_of, trunc(extract(epoch from booked_at) * 1000000)::text as booked, value_date::text as value_date
    from posting where $1 in (debit_account, credit_account) order by coalesce(debit_sequence, credit_sequence)`,
    [eur],
  )
  const digests = lines.map((line) => sha256(Object.values(line).map(field).join('')))
  const { rows: checkpoints } = await books.client.query<{
    first_sequence: string
    last_sequence: string
    hash: Buffer
    marks: Buffer
  }>('select * from journal_checkpoint where chain_id = $1 order by first_sequence', [eur])
  t.equal(checkpoints.length, 2)
  let before = Buffer.alloc(0)
  for (const { first_sequence: from, last_sequence: to, hash, marks } of checkpoints) {
    const mine = digests.slice(Number(from) - 1, Number(to))
    before = sha256(before, ...mine)
    t.ok(before.equals(hash), `lines ${from} to ${to}`)
    t.ok(Buffer.concat(mine.map((digest) => digest.subarray(0, 8))).equals(marks))
  }
  t.strictSame(await found(books), {})
})

t.test('whoever changes what is chained is found, with the balance and the line', async (t) => {
  const books = await openBooks(t)
  await fill(books)
  await chain(books)
  await fill(books)
  await chain(books)
  const eur = books.sandbox.customer.balances.EUR
  const { client } = books
  await client.query('create table kept as select * from posting')
  await client.query('create table kept_checkpoint as select * from journal_checkpoint')
  const undo = async () => {
    await client.query('truncate posting, journal_checkpoint')
    await client.query('insert into posting select * from kept')
    await client.query('insert into journal_checkpoint select * from kept_checkpoint')
  }
  const line = (sequence: number) => `debit_account = '${eur}' and debit_sequence = ${sequence}`
  const INSERTED = `insert into posting select gen_random_uuid(), ordinal, customer_id, rule, occurrence, source_object, gen_random_uuid(), currency, amount, debit_account, credit_account,
    debit_sequence, debit_balance, credit_sequence, credit_balance, description, reference, counterparty, reversal_of, booked_at, value_date from posting`
  for (const [what, sql, sequences] of [
    ['an amount is another', `update posting set amount = amount + 1 where ${line(4)}`, [4]],
    ['a text is another', `update posting set counterparty = 'Somebody else' where ${line(3)}`, [3]],
    [
      'a text lost a letter to the one beside it',
      `update posting set description = description || left(reference, 1), reference = substr(reference, 2) where ${line(5)}`,
      [5],
    ],
    [
      'the account on the other side is another',
      `update posting set credit_account = gen_random_uuid() where ${line(6)}`,
      [6],
    ],
    ['a day later', `update posting set value_date = value_date + 1 where ${line(12)}`, [12]],
    ['a line is gone', `delete from posting where ${line(7)}`, [7]],
    ['the last line is gone', `delete from posting where ${line(17)}`, [17]],
    [
      'two lines have changed places',
      `update posting set debit_sequence = case debit_sequence when 90 then 4 else 2 end where debit_account = '${eur}' and debit_sequence in (90, 91)`,
      [2, 4],
    ],
    [
      'a line was put in',
      `update posting set debit_sequence = debit_sequence + 1 where debit_account = '${eur}' and debit_sequence > 1000`,
      [9, 10, 11, 12, 13, 14, 15, 16, 17],
    ],
  ] as const) {
    // Numbers are unique, so they are moved out of the way and back.
    if (what === 'two lines have changed places')
      await client.query(
        `update posting set debit_sequence = case debit_sequence when 2 then 90 else 91 end where debit_account = '${eur}' and debit_sequence in (2, 4)`,
      )
    if (what === 'a line was put in') {
      await client.query(
        `update posting set debit_sequence = debit_sequence + 1000 where debit_account = '${eur}' and debit_sequence >= 9`,
      )
      await client.query(`${INSERTED} where ${line(8)}`.replace('debit_sequence, debit_balance', '9, debit_balance'))
      await client.query(
        `update posting set debit_sequence = debit_sequence - 999 where debit_account = '${eur}' and debit_sequence > 1000`,
      )
    } else await client.query(sql)
    const { 'journal chain': rows = [] } = await found(books)
    t.strictSame(
      rows
        .filter(({ balance_id }) => balance_id === eur)
        .flatMap(({ sequences: named }) => (named as string[]).map(Number))
        .toSorted((a, b) => a - b),
      sequences,
      what,
    )
    await undo()
  }

  for (const [what, sql] of [
    [
      'an internal posting is another',
      `update posting set amount = amount + 1 where rule = 'L11' and source_id = (select min(source_id::text)::uuid from posting where rule = 'L11')`,
    ],
    [
      'an internal posting is gone',
      `delete from posting where rule = 'L11' and source_id = (select min(source_id::text)::uuid from posting where rule = 'L11')`,
    ],
    [
      'an internal posting was put in',
      `${INSERTED} where rule = 'L11' and source_id = (select min(source_id::text)::uuid from posting where rule = 'L11')`,
    ],
  ] as const) {
    await client.query(sql)
    t.match((await found(books))['journal chain']?.[0], { balance_id: null, first_sequence: '1' }, what)
    await undo()
  }

  const first = (
    await client.query<{ number: string; hash: string }>(
      `select number, encode(hash, 'hex') as hash from journal_block order by number limit 1`,
    )
  ).rows[0]!
  const kept = { number: BigInt(first.number), hash: first.hash }
  t.strictSame(await found(books, [kept]), {})
  await client.query(
    `update journal_checkpoint set hash = sha256(hash) where chain_id = '${eur}' and first_sequence = 1`,
  )
  t.match(
    await found(books),
    {
      'journal chain': [
        { balance_id: eur, sequences: null },
        { balance_id: eur, sequences: null },
      ],
      'journal blocks': [{ block: first.number }],
    },
    'a checkpoint is another',
  )
  await undo()

  // The whole chain made anew over what was changed agrees with itself, and not with what somebody has kept.
  await client.query(`update posting set counterparty = 'Somebody else' where ${line(3)}`)
  await client.query('truncate journal_checkpoint, journal_chain, journal_block')
  await chain(books)
  t.strictSame(await found(books), {})
  t.match(await found(books, [kept]), { 'block 1 as kept': [{ block: '1', kept: first.hash }] })
})

t.test('two nodes chain the same lines once, and a hole is left alone', async (t) => {
  const books = await openBooks(t)
  await fill(books)
  const passes = await Promise.all([chain(books), chain(books), chain(books), chain(books)])
  t.equal(
    passes.reduce((sum, pass) => sum + (pass?.lines ?? 0), 0),
    3 + 4 * 2 + 4,
  )
  t.strictSame(await found(books), {})
  t.match(await newestBlock(books.database), { number: '1' })
  const eur = books.sandbox.customer.balances.EUR
  await books.pay()
  await books.client.query('update balance set sequence = sequence + 1 where id = $1', [eur])
  t.match(await chain(books), { lines: 0, lag: 1, holes: [eur] })
})

t.test('what touches no balance is chained when nothing can be booked before it any more', async (t) => {
  const books = await openBooks(t)
  await fill(books)
  const { client, database, clock } = books
  const sealed = async () =>
    Number(
      (
        await client.query('select coalesce(max(sequence), 0) as n from journal_chain where chain_id = $1', [
          INTERNAL_CHAIN,
        ])
      ).rows[0].n,
    )
  clock.advance(1)
  await chainJournal(database, { now: clock.now() + HOUR_MS, lookedAt: null })
  t.equal(await sealed(), 0, 'a first look does not know what is under way')
  await chainJournal(database, { now: clock.now() + HOUR_MS, lookedAt: clock.now() })
  t.equal(await sealed(), 0, 'too young')
  await chainJournal(database, { now: clock.now() + HOUR_MS, lookedAt: clock.now() + HOUR_MS })
  t.equal(await sealed(), 4)
  t.ok(clock.now() > START)
  t.strictSame(await found(books), {})
})

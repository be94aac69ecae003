import t from 'tap'
import { check } from './checker.ts'
import type { Books, Call, Command, History } from './history.ts'
import { call, decided, event, hold, line, made, no, pay, yes, type Spoil } from './made-up.ts'

/**
 * A account opens with 100. p1 takes 60 and completes; p2 asks for 50 and is refused with 40 there; t1 moves 30 to B,
 * its answer is lost and found again; p3 asks for 20 in the same transaction and is refused with the 10 that t1 left.
 */
function good(): { history: History; books: Books } {
  const commands = [pay('p1', 60n), pay('p2', 50n), pay('t1', 30n, { kind: 'transfer', to: 'B' }), pay('p3', 20n)]
  return {
    history: {
      commands,
      calls: [
        call('p1', 10, 12, 201, yes('P1')),
        call('p1', 11, 12, 409, '{"code":"idempotency-key-in-use"}'),
        call('p2', 20, 22, 422, no(40, 50)),
        call('p2', 23, 24, 422, no(40, 50)),
        call('t1', 30, 33, null),
        call('t1', 34, 35, 503),
        call('t1', 36, 37, 201, yes('T1')),
        call('p3', 30, 33, 422, no(10, 20)),
      ],
      looks: [
        { balanceId: 'A', node: 'n1', start: 12, end: 13, posted: 100n, held: 60n },
        { balanceId: 'A', node: 'n2', start: 14, end: 16, posted: 40n, held: 0n },
      ],
      rests: [],
      resolutions: [],
      closings: [],
      lateEdits: [],
    },
    books: {
      balances: [
        { id: 'A', posted: 10n, held: 0n },
        { id: 'B', posted: 30n, held: 0n },
      ],
      effects: [made('P1', 'p1', 60n, 11), made('T1', 't1', 30n, 32, { kind: 'transfer', to: 'B' })],
      failures: [],
      things: [],
      changes: [
        line('x0', 1, 100n, 1n, 100n),
        hold('x1', 11, 60n),
        line('x2', 15, -60n, 2n, 40n, -60n),
        line('x4', 32, -30n, 3n, 10n),
        line('x4', 32, 30n, 1n, 30n, 0n, 'B'),
      ],
      decisions: [
        decided('p1', 'x1', 11, true),
        decided('p2', 'x3', 21, false),
        decided('t1', 'x4', 32, true),
        decided('p3', 'x4', 32, false),
      ],
      updates: [
        { objectId: 'P1', version: 1, previous: null, status: 'processing' },
        { objectId: 'P1', version: 2, previous: 'processing', status: 'processing' },
        { objectId: 'P1', version: 3, previous: 'processing', status: 'completed' },
        { objectId: 'T1', version: 1, previous: null, status: 'completed' },
      ],
      events: [
        event('P1', 'payment.created', 'processing'),
        event('P1', 'payment.status_changed', 'completed'),
        event('P1', 'payment.completed', 'completed'),
        event('T1', 'transfer.completed', 'completed'),
      ],
    },
  }
}

t.test('a history that a single account could have had is found right', async (t) => {
  const { history, books } = good()
  t.strictSame(check(history, books), {
    violations: [],
    commands: 4,
    acknowledged: 2,
    refused: 2,
    unknown: 0,
    looks: 2,
  })
})

t.test('a command whose answer was lost may have happened or not', async (t) => {
  const { history, books } = good()
  const lost = { ...history, calls: history.calls.filter(({ key, status }) => key !== 't1' || status === null) }
  t.match(check(lost, books), { violations: [], unknown: 1 })
  const added = {
    ...lost,
    commands: [...lost.commands, pay('u1', 5n)],
    calls: [...lost.calls, call('u1', 40, 41, null)],
  }
  t.match(check(added, books), { violations: [], unknown: 2 })
})

t.test('a payment that has come back has an end of its own, and the events of both', async (t) => {
  const { history, books } = good()
  const back: Books = {
    ...books,
    balances: [
      { id: 'A', posted: 70n, held: 0n },
      { id: 'B', posted: 30n, held: 0n },
    ],
    effects: books.effects.map((effect) => (effect.id === 'P1' ? { ...effect, status: 'returned' } : effect)),
    changes: [...books.changes, line('x9', 60, 60n, 4n, 70n)],
    updates: [...books.updates, { objectId: 'P1', version: 4, previous: 'completed', status: 'returned' }],
    events: [
      ...books.events,
      event('P1', 'payment.status_changed', 'returned'),
      event('P1', 'payment.returned', 'returned'),
    ],
  }
  const asked: History = {
    ...history,
    commands: history.commands.map((command) =>
      command.key === 'p1' ? pay('p1', 60n, { ends: 'returned' }) : command,
    ),
  }
  t.strictSame(check(asked, back).violations, [])
  t.match(check(history, back).violations, [{ rule: 'C4', what: 'a payment did not end as its trigger says' }])
  t.match(check(asked, { ...back, events: back.events.slice(0, -1) }).violations, [
    { rule: 'C4', what: 'a change of a status has not exactly its event' },
  ])
})

/** Two want one quote; one has it, the other is told so. It completes, and its dollars are on D. */
function exchanged(): { history: History; books: Books } {
  const { history, books } = good()
  const sold = (key: string): Command => pay(key, 5n, { kind: 'exchange', to: 'D' }, { quoteId: 'Q' })
  return {
    history: {
      ...history,
      commands: [...history.commands, sold('e1'), sold('e2')],
      calls: [
        ...history.calls,
        call('e1', 50, 52, 201, yes('E1')),
        call('e2', 50, 53, 409, '{"code":"invalid-transition"}'),
      ],
    },
    books: {
      ...books,
      balances: [{ id: 'A', posted: 5n, held: 0n }, books.balances[1]!, { id: 'D', posted: 6n, held: 0n }],
      effects: [...books.effects, made('E1', 'e1', 5n, 51, { kind: 'exchange', to: 'D' })],
      changes: [...books.changes, line('x5', 51, -5n, 4n, 5n), line('x6', 60, 6n, 1n, 6n, 0n, 'D')],
      decisions: [...books.decisions, decided('e1', 'x5', 51, true), decided('e2', 'x7', 52, false)],
      updates: [
        ...books.updates,
        { objectId: 'E1', version: 1, previous: null, status: 'processing' },
        { objectId: 'E1', version: 2, previous: 'processing', status: 'completed' },
      ],
      events: [
        ...books.events,
        event('E1', 'exchange.status_changed', 'processing'),
        event('E1', 'exchange.status_changed', 'completed'),
        event('E1', 'exchange.completed', 'completed'),
      ],
    },
  }
}

t.test('a quote that two want is used by one of them', async (t) => {
  const { history, books } = exchanged()
  t.match(check(history, books), { violations: [], acknowledged: 3, refused: 3 })
  const found = (changed: Partial<Books>, calls: readonly Call[] = history.calls) =>
    check({ ...history, calls }, { ...books, ...changed }).violations.map(({ what }) => what)
  t.ok(
    found({ effects: [...books.effects, { ...books.effects[2]!, id: 'E2', name: 'e2' }] }).includes(
      'a quote was used twice',
    ),
  )
  t.ok(found({ effects: books.effects.slice(0, 2) }).includes('a quote was said to be used that nobody has used'))
  t.ok(found({ events: books.events.slice(0, -1) }).includes('a change of a status has not exactly its event'))
  t.ok(
    found({ effects: [...books.effects.slice(0, 2), { ...books.effects[2]!, to: 'B' }] }).includes(
      'what was made is not what was asked for',
    ),
  )
  const doubted = (lost: boolean) =>
    found({ effects: [...books.effects.slice(0, 2), { ...books.effects[2]!, status: 'exception', lost }] })
  t.ok(doubted(false).includes('a payment did not end as its trigger says'))
  t.notOk(
    doubted(true).includes('a payment did not end as its trigger says'),
    'what the partner never heard of stays in doubt',
  )
})

const rows: readonly (readonly [claim: string, expected: string, spoil: Spoil])[] = [
  [
    'a second answer',
    'a key has two final answers',
    ({ history }) => ({ history: { calls: [...history.calls, call('p2', 50, 51, 422, no(10, 50))] } }),
  ],
  [
    'a no that became a yes',
    'a key has two final answers',
    ({ history }) => ({ history: { calls: [...history.calls, call('p2', 50, 51, 201, yes('P2'))] } }),
  ],
  [
    'a 500',
    'an answer that no fault excuses',
    ({ history }) => ({ history: { calls: [...history.calls, call('p2', 50, 51, 500, '{"code":"internal-error"}')] } }),
  ],
  [
    'a 503 that does not say when',
    'a 503 without Retry-After',
    ({ history }) => ({ history: { calls: [...history.calls, call('p2', 19, 20, 503, '', { retryAfter: false })] } }),
  ],
  [
    'a lost acknowledged payment',
    'what was acknowledged is not there',
    ({ books }) => ({ books: { effects: books.effects.slice(1) } }),
  ],
  [
    'a payment made twice',
    'one key has moved money more than once',
    ({ books }) => ({ books: { effects: [...books.effects, { ...books.effects[0]!, id: 'P1b' }] } }),
  ],
  [
    'a payment of nobody',
    'money moved for nobody',
    ({ books }) => ({ books: { effects: [...books.effects, { ...books.effects[0]!, id: 'P9', name: 'p9' }] } }),
  ],
  [
    'a refused payment that was made',
    'what was refused has moved money',
    ({ books }) => ({
      books: { effects: [...books.effects, { ...books.effects[0]!, id: 'P2', name: 'p2', amount: 50n }] },
    }),
  ],
  [
    'another amount',
    'what was made is not what was asked for',
    ({ books }) => ({ books: { effects: [{ ...books.effects[0]!, amount: 61n }, books.effects[1]!] } }),
  ],
  [
    'an answer about another payment',
    'the answer names another resource than the one that was made',
    ({ books }) => ({ books: { effects: [{ ...books.effects[0]!, id: 'P8' }, books.effects[1]!] } }),
  ],
  [
    'a no that is not remembered',
    'an answer was given that is not remembered',
    ({ books }) => ({ books: { decisions: books.decisions.filter(({ key }) => key !== 'p2') } }),
  ],
  [
    'a key decided on two days',
    'a key was decided twice',
    ({ books }) => ({ books: { decisions: [...books.decisions, decided('p2', 'x9', 22, false)] } }),
  ],
  [
    'a lost update',
    'a line does not continue from the one before it',
    ({ books }) => ({
      books: {
        changes: books.changes.map((each) =>
          each.transaction === 'x4' && each.balanceId === 'A'
            ? { ...each, line: { sequence: 3n, running: 70n } }
            : each,
        ),
      },
    }),
  ],
  [
    'a sequence given twice',
    'the lines of a balance are not numbered in the order of their transactions',
    ({ books }) => ({
      books: {
        changes: books.changes.map((each) =>
          each.transaction === 'x4' && each.balanceId === 'A'
            ? { ...each, line: { sequence: 2n, running: 10n } }
            : each,
        ),
      },
    }),
  ],
  [
    'money on a closed balance',
    'a closed balance has moved',
    () => ({ history: { closings: [{ balanceId: 'B', from: 20 }] } }),
  ],
  [
    'the rest of a balance that is open',
    'money moved for nobody',
    ({ books }) => ({ books: { effects: [...books.effects, { ...books.effects[1]!, id: 'T9', name: 'rest-of/A' }] } }),
  ],
  [
    'an exchange that staff said has failed',
    'a payment did not end as its trigger says',
    ({ books }) => ({
      history: { resolutions: [{ exchangeId: 'X1', outcome: 'failed', booked: true }] },
      books: { effects: [{ ...books.effects[0]!, exchangeId: 'X1' }, books.effects[1]!] },
    }),
  ],
  [
    'an exchange with two ends',
    'an exchange was resolved twice',
    () => ({
      history: {
        resolutions: [
          { exchangeId: 'X1', outcome: 'failed', booked: true },
          { exchangeId: 'X1', outcome: 'completed', booked: true },
        ],
      },
    }),
  ],
  [
    'an edit of what was submitted',
    'what was submitted was changed',
    () => ({ history: { lateEdits: [{ path: '/v1/payments/P1' }] } }),
  ],
  [
    'an overdraft',
    'a balance fell below zero',
    ({ books }) => ({
      books: {
        changes: [...books.changes, hold('x5', 40, 11n)],
        balances: [{ id: 'A', posted: 10n, held: 11n }, books.balances[1]!],
      },
    }),
  ],
  [
    'a balance row that forgot',
    'a balance is not what its history makes of it',
    ({ books }) => ({ books: { balances: [{ id: 'A', posted: 40n, held: 0n }, books.balances[1]!] } }),
  ],
  [
    'a no from stale memory',
    'a no tells of funds that the balance had at no moment between the question and the answer',
    ({ history, books }) => ({
      // Somebody's 25 arrived before p2 asked, and it was told of 40 nevertheless.
      history: { looks: [] },
      books: {
        balances: [{ id: 'A', posted: 35n, held: 0n }, books.balances[1]!],
        changes: [
          ...books.changes.slice(0, 3),
          line('xc', 18, 25n, 3n, 65n),
          line('x4', 32, -30n, 4n, 35n),
          books.changes[4]!,
        ],
      },
      ...{ calls: history.calls },
    }),
  ],
  [
    'a no with enough there',
    'a no for want of funds that were there',
    ({ history }) => ({
      history: { calls: history.calls.map((each) => (each.key === 'p2' ? { ...each, answer: no(50, 50) } : each)) },
    }),
  ],
  [
    'a decision after its answer',
    'a command was decided before it was asked or after it was answered',
    ({ books }) => ({
      books: { decisions: books.decisions.map((each) => (each.key === 'p2' ? { ...each, at: 26 } : each)) },
    }),
  ],
  [
    'an old balance shown',
    'somebody saw a balance that it had at no moment while they looked',
    ({ history }) => ({ history: { looks: [{ ...history.looks[0]!, start: 20, end: 21 }] } }),
  ],
  [
    'a change without its event',
    'a change of a status has not exactly its event',
    ({ books }) => ({ books: { events: books.events.slice(1) } }),
  ],
  [
    'an event told twice',
    'a change of a status has not exactly its event',
    ({ books }) => ({ books: { events: [...books.events, books.events[2]!] } }),
  ],
  [
    'an event of nothing',
    'an event tells of no change',
    ({ books }) => ({ books: { events: [...books.events, event('P1', 'payment.failed', 'failed')] } }),
  ],
  [
    'a payment that never ended',
    'a payment did not end as its trigger says',
    ({ books }) => ({
      books: {
        effects: [{ ...books.effects[0]!, status: 'processing' }, books.effects[1]!],
        updates: books.updates.filter(({ version }) => version < 3),
        events: books.events.filter(({ status, objectId }) => objectId === 'T1' || status === 'processing'),
      },
    }),
  ],
]
for (const [claim, expected, spoil] of rows) {
  t.test(`${claim} is found`, async (t) => {
    const made = good()
    const spoiled = spoil(made)
    const { violations } = check({ ...made.history, ...spoiled.history }, { ...made.books, ...spoiled.books })
    t.ok(
      violations.some(({ what }) => what === expected),
      expected,
      { violations },
    )
  })
}

t.test('what a backend kept back for a moment is not held against it', async (t) => {
  const { history, books } = good()
  const late = { ...history, looks: [{ ...history.looks[0]!, start: 16, end: 17 }] }
  t.equal(check(late, books).violations.length, 1)
  t.equal(check(late, books, 5).violations.length, 0)
})

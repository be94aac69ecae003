/** The checker on what takes several steps: files, schedules and requests for money. */
import t from 'tap'
import { check } from './checker.ts'
import type { Books, Command, Effect, History, Rest, Thing } from './history.ts'
import { call, decided, event, hold, line, made, no, pay, wanted, yes, type Spoil } from './made-up.ts'

const about = (key: string, kind: Command['kind'], more: Partial<Command> = {}): Command => ({
  key,
  tenantId: 'T',
  path: `/v1/${kind}`,
  kind,
  wants: [],
  ...more,
})
const arrival = (name: string, amount: bigint): Command =>
  about(name, 'arrival', {
    about: 'q1',
    wants: [wanted(name, amount, { kind: 'arrival', from: null, to: 'A', ends: 'received' })],
  })
const came = (id: string, name: string, amount: bigint, at: number, counted: number | null): Effect =>
  made(id, name, amount, at, {
    kind: 'arrival',
    from: null,
    to: 'A',
    status: 'received',
    counted: counted === null ? null : { key: 'q1', at: counted },
  })
const comes = (id: string): string => JSON.stringify({ details: { incomingPaymentRef: id } })
const thing = (
  id: string,
  key: string,
  kind: Thing['kind'],
  status: string,
  overrides: Partial<Thing> = {},
): Thing => ({
  id,
  key,
  kind,
  status,
  made: 0n,
  failed: 0n,
  amount: null,
  ...overrides,
})
const rest = (from: number, until: number, cancelled = false): Rest => ({
  about: 'k1',
  asked: from - 1,
  from,
  until,
  cancelled,
})
/** The events of a path from status to status. */
const path = (id: string, type: string, ...statuses: readonly (string | null)[]) =>
  statuses.slice(1).map((status, nth) => event(id, type, status as string, statuses[nth]!))
const paid = (id: string) => [
  event(id, 'payment.created', 'processing'),
  event(id, 'payment.status_changed', 'completed'),
  event(id, 'payment.completed', 'completed'),
]
const ended = (id: string) => [
  { objectId: id, version: 1, previous: null, status: 'processing' },
  { objectId: id, version: 2, previous: 'processing', status: 'completed' },
]

/**
 * A account opens with 100. A file of three rows is submitted twice: one row takes 10, one is refused with 90 there,
 * one is nobody's. A schedule pays 5 and is run once more, paused before that comes to anything, and cancelled. Two
 * sums come for a request and pay it, a third comes too late. A file that nobody submits has a bad row and no payment.
 */
function good(): { history: History; books: Books } {
  const rows = [wanted('r1', 10n), wanted('r2', 500n), wanted('r3', 1n)]
  const run = (key: string, nth: number) => about(key, 'run', { about: 'k1', wants: [wanted(`k1/${nth}`, 5n)] })
  const commands = [
    about('f1', 'file'),
    about('f2', 'file'),
    about('s1', 'submission', { about: 'f1', wants: rows }),
    about('s2', 'submission', { about: 'f1', wants: rows }),
    about('k1', 'schedule'),
    run('u1', 1),
    run('u2', 2),
    run('u3', 2),
    about('c1', 'cancellation', { about: 'k1' }),
    about('q1', 'request'),
    arrival('a1', 10n),
    arrival('a2', 20n),
    arrival('a3', 7n),
  ]
  return {
    history: {
      commands,
      looks: [],
      resolutions: [],
      closings: [],
      lateEdits: [],
      rests: [rest(62, 70), rest(81, Infinity, true)],
      calls: [
        call('f1', 1, 2, 202, yes('F')),
        call('f2', 1, 2, 202, yes('G')),
        call('s1', 10, 12, 202, '{}'),
        call('s2', 30, 31, 429, '{"code":"rate-limited"}', { retryAfter: true }),
        call('s2', 32, 33, 202, '{}'),
        call('k1', 40, 42, 201, yes('S')),
        call('u1', 50, 52, 202, '{}'),
        call('u2', 59, 60, 202, '{}'),
        call('u3', 63, 64, 409, '{"code":"simulation-not-possible"}'),
        call('u3', 66, 67, 409, '{"code":"simulation-not-possible"}'),
        call('c1', 80, 81, 200, '{}'),
        call('q1', 90, 92, 201, yes('R')),
        call('a1', 93, 94, 202, comes('I1')),
        call('a2', 93, 94, 202, comes('I2')),
        call('a3', 104, 105, 202, comes('I3')),
      ],
    },
    books: {
      balances: [{ id: 'A', posted: 122n, held: 0n }],
      effects: [
        made('P1', 'r1', 10n, 14),
        made('P2', 'k1/1', 5n, 54),
        came('I1', 'a1', 10n, 95, 97),
        came('I2', 'a2', 20n, 96, 98),
        came('I3', 'a3', 7n, 106, null),
      ],
      failures: [
        { name: 'r2', about: 'f1', answer: no(90, 500), transaction: 'x9', at: 15 },
        { name: 'r3', about: 'f1', answer: null },
        { name: 'g1', about: 'f2', answer: null },
      ],
      things: [
        thing('F', 'f1', 'file', 'partially_submitted', { made: 1n, failed: 2n }),
        thing('G', 'f2', 'file', 'ready', { failed: 1n }),
        thing('S', 'k1', 'schedule', 'cancelled', { made: 1n }),
        thing('R', 'q1', 'request', 'paid', { made: 30n, amount: 25n }),
      ],
      changes: [
        line('x0', 0, 100n, 1n, 100n),
        hold('x1', 14, 10n),
        line('x2', 16, -10n, 2n, 90n, -10n),
        hold('x3', 54, 5n),
        line('x4', 56, -5n, 3n, 85n, -5n),
        line('x5', 95, 10n, 4n, 95n),
        line('x6', 96, 20n, 5n, 115n),
        line('x7', 106, 7n, 6n, 122n),
      ],
      decisions: [
        ...(
          [
            ['f1', 1],
            ['f2', 1],
            ['s1', 11],
            ['s2', 33],
            ['k1', 41],
            ['u1', 51],
            ['u2', 60],
            ['c1', 81],
            ['q1', 91],
            ['a1', 94],
            ['a2', 94],
            ['a3', 105],
          ] as const
        ).map(([key, at]) => decided(key, `d${key}`, at, true)),
        decided('u3', 'du3', 64, false),
      ],
      updates: [...ended('P1'), ...ended('P2')],
      events: [
        ...paid('P1'),
        ...paid('P2'),
        ...['I1', 'I2', 'I3'].map((id) => event(id, 'incoming_payment.received', 'received')),
        ...path('F', 'bulk_payment.status_changed', null, 'validating', 'ready', 'submitting', 'partially_submitted'),
        ...path('G', 'bulk_payment.status_changed', null, 'validating', 'ready'),
        ...path('S', 'scheduled_payment.status_changed', null, 'active', 'paused', 'active', 'cancelled'),
        ...path('R', 'funds_request.status_changed', 'open', 'partially_paid', 'paid'),
      ],
    },
  }
}

t.test('what comes later than its answer is found right', async (t) => {
  const { history, books } = good()
  t.strictSame(check(history, books), {
    violations: [],
    commands: 13,
    acknowledged: 12,
    refused: 1,
    unknown: 0,
    looks: 0,
  })
})

t.test('a schedule that stopped by itself owes nothing either', async (t) => {
  const { history, books } = good()
  const failed = {
    ...books,
    things: books.things.map((one) => (one.kind === 'schedule' ? { ...one, status: 'failed' } : one)),
    events: [
      ...books.events.filter(({ objectId }) => objectId !== 'S'),
      ...path('S', 'scheduled_payment.status_changed', null, 'active', 'failed'),
    ],
  }
  const unstopped = {
    ...history,
    rests: [],
    commands: history.commands.filter(({ key }) => key !== 'c1'),
    calls: history.calls.filter(({ key }) => key !== 'c1'),
  }
  t.strictSame(check(unstopped, failed).violations, [])
  t.match(
    check(unstopped, books).violations,
    [{ rule: 'C2', what: 'what was acknowledged is not there' }],
    'one that was not stopped does',
  )
})

t.test('a sum that the same decider took in a moment before was there, too', async (t) => {
  const { history, books } = good()
  const refusedIn = (transaction: string) =>
    check(history, {
      ...books,
      failures: books.failures.map((one) => (one.name === 'r2' ? { ...one, answer: no(97, 500), transaction } : one)),
    }).violations
  t.strictSame(refusedIn('x7'), [])
  t.match(
    refusedIn('x9'),
    [{ what: 'a no tells of funds that the balance had at no moment between the question and the answer' }],
    'not what another did',
  )
})

t.test('a payment of a schedule waits for its money, as long as there is none', async (t) => {
  const { history, books } = good()
  const waiting = (amount: bigint) =>
    check(
      {
        ...history,
        commands: history.commands.map((one) => (one.key === 'u1' ? { ...one, wants: [wanted('k1/1', amount)] } : one)),
      },
      {
        ...books,
        balances: [{ id: 'A', posted: 127n, held: 0n }],
        changes: [
          ...books.changes.slice(0, 3),
          line('x5', 95, 10n, 3n, 100n),
          line('x6', 96, 20n, 4n, 120n),
          line('x7', 106, 7n, 5n, 127n),
        ],
        effects: books.effects.map((one) => (one.name === 'k1/1' ? { ...one, amount, status: 'scheduled' } : one)),
        updates: [...ended('P1'), { objectId: 'P2', version: 1, previous: null, status: 'scheduled' }],
        events: [
          ...books.events.filter(({ objectId }) => objectId !== 'P2'),
          event('P2', 'payment.created', 'scheduled'),
        ],
      },
    ).violations
  t.strictSame(waiting(128n), [])
  t.match(waiting(127n), [{ rule: 'C4', what: 'a payment waits for money that is there' }])
})

const things = (books: Books, key: string, change: Partial<Thing>) => ({
  things: books.things.map((one) => (one.key === key ? { ...one, ...change } : one)),
})
const effects = (books: Books, name: string, change: Partial<Effect>) => ({
  effects: books.effects.map((one) => (one.name === name ? { ...one, ...change } : one)),
})
const without = (history: History, ...keys: readonly string[]) => ({
  commands: history.commands.filter(({ key }) => !keys.includes(key)),
  calls: history.calls.filter(({ key }) => !keys.includes(key)),
})

const cases: readonly (readonly [claim: string, expected: string, spoil: Spoil])[] = [
  [
    'a row paid twice',
    'one key has moved money more than once',
    ({ books }) => ({ books: { effects: [...books.effects, { ...books.effects[0]!, id: 'P1b' }] } }),
  ],
  [
    'a row that was forgotten',
    'what was acknowledged is not there',
    ({ books }) => ({ books: { failures: books.failures.filter(({ name }) => name !== 'r3') } }),
  ],
  [
    'a row that was paid and failed',
    'money moved for which a reason is written down not to',
    ({ books }) => ({ books: { failures: [...books.failures, { name: 'r1', about: 'f1', answer: null }] } }),
  ],
  [
    'a row of a file that nobody submitted',
    'money moved for nobody',
    ({ books }) => ({ books: { effects: [...books.effects, made('P9', 'g1', 5n, 20)] } }),
  ],
  [
    'a submission that was lost on its way and not remembered',
    'what is remembered is not what was done',
    ({ history, books }) => ({
      history: { ...without(history, 's2'), calls: [...without(history, 's1', 's2').calls, call('s1', 10, 12, null)] },
      books: { decisions: books.decisions.filter(({ key }) => key !== 's1' && key !== 's2') },
    }),
  ],
  [
    'counts of a file that are not those of its rows',
    'what a thing says of itself is not what has become of it',
    ({ books }) => ({ books: things(books, 'f1', { made: 2n, failed: 1n }) }),
  ],
  [
    'a bad row of a file that it does not count',
    'what a thing says of itself is not what has become of it',
    ({ books }) => ({ books: things(books, 'f2', { failed: 0n }) }),
  ],
  [
    'a row refused for want of funds that were there',
    'a no for want of funds that were there',
    ({ books }) => ({
      books: { failures: books.failures.map((one) => (one.name === 'r2' ? { ...one, answer: no(500, 500) } : one)) },
    }),
  ],
  [
    'a row refused from stale memory',
    'a no tells of funds that the balance had at no moment between the question and the answer',
    ({ books }) => ({
      books: { failures: books.failures.map((one) => (one.name === 'r2' ? { ...one, answer: no(85, 500) } : one)) },
    }),
  ],
  [
    'a row that was paid before its file was submitted',
    'money moved before anybody asked for it',
    ({ books }) => ({ books: effects(books, 'r1', { at: 9 }) }),
  ],
  [
    'a 429 that does not say when',
    'a 429 without Retry-After',
    ({ history }) => ({
      history: { calls: history.calls.map((one) => (one.status === 429 ? { ...one, retryAfter: false } : one)) },
    }),
  ],
  [
    'a file that was lost',
    'what was made is not what the answer names',
    ({ books }) => ({ books: { things: books.things.slice(1) } }),
  ],
  [
    'a file made twice',
    'one key has made more than one thing',
    ({ books }) => ({ books: { things: [...books.things, { ...books.things[0]!, id: 'F2' }] } }),
  ],
  [
    'a file of nobody',
    'something was made for nobody',
    ({ books }) => ({ books: { things: [...books.things, thing('H', 'f9', 'file', 'ready')] } }),
  ],
  [
    'a status of a file that no event tells of',
    'the events of a thing do not lead to its status',
    ({ books }) => ({
      books: { events: books.events.filter(({ objectId, status }) => objectId !== 'F' || status !== 'submitting') },
    }),
  ],
  [
    'an event of a file told twice',
    'the events of a thing do not lead to its status',
    ({ books }) => ({
      books: { events: [...books.events, event('F', 'bulk_payment.status_changed', 'ready', 'validating')] },
    }),
  ],
  [
    'a run that was lost',
    'what was acknowledged is not there',
    ({ history, books }) => ({
      history: { rests: history.rests.map((one) => ({ ...one, asked: 49 })) },
      books: { effects: books.effects.filter(({ name }) => name !== 'k1/1') },
    }),
  ],
  [
    'a day paid twice',
    'one key has moved money more than once',
    ({ books }) => ({ books: { effects: [...books.effects, { ...books.effects[1]!, id: 'P2b' }] } }),
  ],
  [
    'a day of another amount',
    'what was made is not what was asked for',
    ({ books }) => ({ books: effects(books, 'k1/1', { amount: 6n }) }),
  ],
  [
    'a day paid that nobody ran',
    'money moved for nobody',
    ({ books }) => ({ books: { effects: [...books.effects, made('P9', 'k1/3', 5n, 75)] } }),
  ],
  [
    'a refused run that is possible later',
    'a key has two final answers',
    ({ history }) => ({ history: { calls: [...history.calls, call('u3', 75, 76, 202, '{}')] } }),
  ],
  [
    'a refused run that paid',
    'what was refused has moved money',
    ({ history, books }) => ({
      history: without(history, 'u2'),
      books: { effects: [...books.effects, made('P9', 'k1/2', 5n, 75)] },
    }),
  ],
  [
    'a payment while its schedule was paused',
    'something was made for a thing at rest',
    ({ books }) => ({ books: { effects: [...books.effects, made('P9', 'k1/2', 5n, 66)] } }),
  ],
  [
    'a payment after its schedule was cancelled',
    'something was made for a thing at rest',
    ({ books }) => ({ books: { effects: [...books.effects, made('P9', 'k1/2', 5n, 90)] } }),
  ],
  [
    'a cancelled schedule that goes on',
    'what was cancelled is not',
    ({ books }) => ({ books: things(books, 'k1', { status: 'active' }) }),
  ],
  [
    'money that came twice',
    'one key has moved money more than once',
    ({ books }) => ({ books: { effects: [...books.effects, { ...books.effects[2]!, id: 'I9' }] } }),
  ],
  [
    'money that the bank spoke of and nobody has',
    'what was acknowledged is not there',
    ({ books }) => ({ books: { effects: books.effects.filter(({ name }) => name !== 'a3') } }),
  ],
  [
    'an answer about other money',
    'the answer names another resource than the one that was made',
    ({ books }) => ({ books: effects(books, 'a3', { id: 'I9' }) }),
  ],
  [
    'money on another balance',
    'what was made is not what was asked for',
    ({ books }) => ({ books: effects(books, 'a3', { to: 'B' }) }),
  ],
  [
    'money counted twice',
    'what a thing says of itself is not what has become of it',
    ({ books }) => ({ books: things(books, 'q1', { made: 40n }) }),
  ],
  [
    'money counted too late',
    'money counts towards a request that was paid already',
    ({ books }) => ({
      books: {
        ...effects(books, 'a3', { counted: { key: 'q1', at: 107 } }),
        ...things(books, 'q1', { made: 37n, amount: 17n }),
      },
    }),
  ],
  [
    'money counted for a request that it does not quote',
    'money counts towards a request that it does not quote',
    ({ history }) => ({
      history: { commands: history.commands.map((one) => (one.key === 'a1' ? { ...one, about: 'q9' } : one)) },
    }),
  ],
  [
    'money that was asked for and not counted',
    'money came that was asked for and is not counted',
    ({ books }) => ({
      books: {
        ...effects(books, 'a2', { counted: null }),
        ...things(books, 'q1', { made: 10n, status: 'partially_paid' }),
      },
    }),
  ],
  [
    'a request that is paid in part and says paid',
    'the status of a request does not fit what was paid',
    ({ books }) => ({ books: things(books, 'q1', { amount: 50n }) }),
  ],
  [
    'a cancelled request that was paid',
    'the status of a request does not fit what was paid',
    ({ books }) => ({ books: things(books, 'q1', { status: 'cancelled' }) }),
  ],
  [
    'money counted after its request was cancelled',
    'something was made for a thing at rest',
    ({ history }) => ({ history: { rests: [...history.rests, { ...rest(96, Infinity, true), about: 'q1' }] } }),
  ],
  [
    'money whose event is missing',
    'a change of a status has not exactly its event',
    ({ books }) => ({ books: { events: books.events.filter(({ objectId }) => objectId !== 'I3') } }),
  ],
]
for (const [claim, expected, spoil] of cases) {
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

t.test('a payment by hand is judged beside them', async (t) => {
  const { history, books } = good()
  const both = {
    ...history,
    commands: [...history.commands, pay('p1', 200n)],
    calls: [...history.calls, call('p1', 110, 111, 422, no(122, 200))],
  }
  t.strictSame(
    check(both, { ...books, decisions: [...books.decisions, decided('p1', 'y1', 111, false)] }).violations,
    [],
  )
})

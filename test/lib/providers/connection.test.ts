/** The life of a connection to a banking partner, and what staff may write of it. */
import Type from 'typebox'
import t from 'tap'
import {
  checkConfig,
  checkCredentials,
  currencyFaults,
  environmentFaults,
} from '../../../lib/providers/connection-faults.ts'
import {
  CONNECTION_STATUSES,
  fingerprintOf,
  moveConnection,
  ownMoneyLeft,
  retirementProblem,
  type ConnectionTies,
  statusAfterChange,
  statusAfterProbe,
  type ConnectionMove,
} from '../../../lib/providers/connection.ts'
import { sandboxDescription } from '../../../lib/providers/sandbox/description.ts'

t.test('each move from each status', async (t) => {
  const table: Readonly<Record<ConnectionMove, readonly (string | null)[]>> = {
    //          draft      verified   active      draining   retired  failed
    activate: [null, 'active', null, null, null, null],
    drain: [null, null, 'draining', null, null, null],
    retire: ['retired', 'retired', null, 'retired', null, 'retired'],
    delete: ['retired', 'retired', null, null, null, 'retired'],
  }
  for (const [move, ends] of Object.entries(table))
    for (const [index, status] of CONNECTION_STATUSES.entries()) {
      const moved = moveConnection(status, move as ConnectionMove)
      if (ends[index] === null)
        t.match(moved, { refused: { slug: 'invalid-transition', extra: { currentStatus: status } } })
      else t.equal(moved, ends[index], `${status} ${move}`)
    }
})

t.test('a probe and a change decide about connections that are not in use alone', async (t) => {
  const after = (work: (status: (typeof CONNECTION_STATUSES)[number]) => string) => CONNECTION_STATUSES.map(work)
  t.strictSame(
    after((status) => statusAfterProbe(status, true)),
    ['verified', 'verified', 'active', 'draining', 'retired', 'verified'],
  )
  t.strictSame(
    after((status) => statusAfterProbe(status, false)),
    ['failed', 'failed', 'active', 'draining', 'retired', 'failed'],
  )
  t.strictSame(after(statusAfterChange), ['draft', 'draft', 'active', 'draining', 'retired', 'draft'])
})

const NO_TIES: ConnectionTies = {
  ...{
    inFlight: 0,
    waitingCredits: 0,
    exchanges: 0,
    debits: 0,
    mandates: 0,
    holds: 0,
    balances: 0,
    files: 0,
    events: 0,
    rules: 0,
    webhooks: 0,
  },
  accounts: [],
}

t.test('a connection retires when nothing is left at its partner', async (t) => {
  const draining = (ties: Partial<ConnectionTies>) => retirementProblem('draining', { ...NO_TIES, ...ties })
  const draft = (ties: Partial<ConnectionTies>) => retirementProblem('draft', { ...NO_TIES, ...ties })
  t.equal(draining({}), null)
  t.match(draining({ inFlight: 2 }), { extra: { currentStatus: 'draining', inFlight: 2, balances: 0 } })
  t.match(draining({ balances: 3 }), { detail: /3 balances have not moved/ })
  for (const tie of ['waitingCredits', 'exchanges', 'debits', 'mandates', 'holds', 'files', 'events'] as const)
    t.match(draining({ [tie]: 4 }), { extra: { reasons: [{ tie, count: 4 }] } })
  for (const tie of ['rules', 'webhooks'] as const) {
    t.equal(draining({ [tie]: 1 }), null, `${tie} end with the connection`)
    t.match(draft({ [tie]: 1 }), { extra: { reasons: [{ tie }] } })
  }
  const account = (key: 'nostro' | 'unallocated') => ({ accounts: [{ key, currency: 'EUR', amount: 5n }] })
  const ledger = { extra: { reasons: [{ tie: 'ledger', balance: { amountMinor: '5', currency: 'EUR' } }] } }
  t.match(draining(account('nostro')), ledger, 'also the own money of the operator')
  t.match(draining(account('unallocated')), ledger)
  t.match(draft(account('nostro')), ledger)
  const own = (ties: Partial<ConnectionTies>) => ownMoneyLeft({ ...NO_TIES, ...account('nostro'), ...ties }).length
  t.equal(own({ inFlight: 1, files: 2 }), 1, 'the own money may leave when nothing of customers is left')
  for (const tie of ['balances', 'waitingCredits', 'exchanges'] as const) t.equal(own({ [tie]: 1 }), 0, tie)
  t.equal(own({ accounts: [...account('nostro').accounts, ...account('unallocated').accounts] }), 0)
})

t.test('a fingerprint tells credentials apart, of one connection alone', async (t) => {
  const key = new Uint8Array(32)
  const one = fingerprintOf(key, 'a', { token: 'x', secret: ['y', { z: 1 }] })
  t.match(one, /^fp_[0-9a-f]{12}$/)
  t.equal(fingerprintOf(key, 'a', { secret: ['y', { z: 1 }], token: 'x' }), one, 'whatever the order of the members')
  t.not(fingerprintOf(key, 'b', { token: 'x', secret: ['y', { z: 1 }] }), one)
  t.not(fingerprintOf(key, 'a', { token: 'x', secret: ['y', { z: 2 }] }), one)
  t.not(fingerprintOf(key.fill(1), 'a', { token: 'x', secret: ['y', { z: 1 }] }), one)
})

t.test('what staff write is checked against the description, and no fault repeats a secret', async (t) => {
  const description = {
    ...sandboxDescription,
    credentials: Type.Object(
      { token: Type.String({ minLength: 8, pattern: '^[a-z]+$' }), pin: Type.Optional(Type.Integer()) },
      { additionalProperties: false },
    ),
  }
  const secret = 'S3CRET-of-a-bank'
  const found = checkCredentials(description, { token: secret, pin: secret, more: secret }, '')
  t.strictSame(found.errors.map(({ field }) => field).sort(), ['/more', '/pin', '/token'])
  t.notOk(JSON.stringify(found.errors).includes('S3CRET'))
  t.strictSame(checkCredentials(description, { token: 'abcdefgh' }, '/credentials'), {
    value: { token: 'abcdefgh' },
    errors: [],
  })
  t.match(checkCredentials(sandboxDescription, { token: secret }, ''), { errors: [{ code: 'not_applicable' }] })
  t.match(checkConfig(sandboxDescription, { timeoutMs: 1 }, { policy: 'any', networks: [] }), {
    errors: [{ field: '/config/timeoutMs' }],
  })
  for (const [baseUrl, policy, allowed] of [
    ['https://bank.example', 'public', true],
    ['https://10.0.0.7', 'public', false],
    ['http://localhost:8080', 'public', false],
    ['http://localhost:8080', 'any', true],
  ] as const)
    t.match(
      checkConfig(sandboxDescription, { baseUrl }, { policy, networks: [] }).errors,
      allowed ? [] : [{ field: '/config/baseUrl', code: 'invalid_value' }],
      `${baseUrl} ${policy}`,
    )
  t.match(currencyFaults(sandboxDescription, ['EUR', 'ZZZ']), [{ field: '/fallbackCurrencies/1' }])
  t.strictSame(environmentFaults(sandboxDescription, 'sandbox', true), [])
  t.match(environmentFaults(sandboxDescription, 'production', false), [{ field: '/provider' }])
  t.match(environmentFaults(sandboxDescription, 'sandbox', false), [{ field: '/environment' }])
})

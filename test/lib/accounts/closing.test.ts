import t from 'tap'
import { closingProblem, isEmpty, type ClosableBalance } from '../../../lib/balances/closing.ts'

const BALANCE: ClosableBalance = { id: 'a', currency: 'EUR', status: 'active', posted: 0n, held: 0n }
const FREE = { subBalances: 0, underWay: 0 }

t.test('what keeps a balance open', (t) => {
  const table: readonly [
    what: string,
    balance: Partial<ClosableBalance>,
    ties: Partial<typeof FREE>,
    sweeps: boolean,
    detail: string | null,
  ][] = [
    ['nothing', {}, {}, false, null],
    ['nothing, while it is closing', { status: 'closing' }, {}, false, null],
    ['money that is moved', { posted: 1n }, {}, true, null],
    ['money that came back to a closed one', { status: 'closed', posted: 1n }, {}, true, null],
    ['that it is closed', { status: 'closed' }, {}, true, 'The balance is closed.'],
    ['that it is frozen', { status: 'frozen' }, {}, false, 'The balance is frozen.'],
    ['balances below it', {}, { subBalances: 1 }, false, 'The balance has sub-balances; close them first.'],
    ['money that is held', { posted: 150n, held: 150n }, {}, true, '1.50 EUR are held on the balance.'],
    [
      'what is under way',
      {},
      { underWay: 1 },
      false,
      'Payments, transfers, exchanges or direct debits of the balance are under way.',
    ],
    ['money', { posted: 150n }, {}, false, 'There are 1.50 EUR on the balance.'],
    ['a debt, which nothing can be moved from', { posted: -150n }, {}, true, 'There are -1.50 EUR on the balance.'],
  ]
  for (const [what, balance, ties, sweeps, detail] of table) {
    const problem = closingProblem({ ...BALANCE, ...balance }, { ...FREE, ...ties }, sweeps)
    t.equal(problem?.detail ?? null, detail, what)
    if (problem !== null)
      t.match(problem, { slug: 'invalid-transition', extra: { currentStatus: balance.status ?? 'active' } }, what)
  }
  t.end()
})

t.test('a balance is empty when nothing is on it, held or on its way', (t) => {
  t.equal(isEmpty(BALANCE, FREE), true)
  t.equal(isEmpty({ ...BALANCE, posted: 1n }, FREE), false)
  t.equal(isEmpty({ ...BALANCE, posted: -1n }, FREE), false)
  t.equal(isEmpty({ ...BALANCE, held: 1n }, FREE), false)
  t.equal(isEmpty(BALANCE, { ...FREE, underWay: 1 }), false)
  t.end()
})

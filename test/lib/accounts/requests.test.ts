import t from 'tap'
import { changeKind, replacedBy, scopeOf, standingOf, type KnownDetails } from '../../../lib/accounts/requests.ts'
import { sandboxAccounts } from '../../../lib/sandbox/accounts.ts'

const known = (id: string, status: KnownDetails['status'], more: Partial<KnownDetails> = {}): KnownDetails => ({
  id,
  status,
  scope: 'local',
  connectionId: 'one',
  ...more,
})

t.test('rails of one request have one account', (t) => {
  const offers = sandboxAccounts('GBP', 0)
  t.match(scopeOf(['faster_payments', 'chaps'], offers), { scope: 'local' })
  t.match(scopeOf(['swift'], offers), { scope: 'international' })
  t.match(scopeOf(['faster_payments', 'swift'], offers), { field: '/rails', code: 'invalid_value' })
  t.match(scopeOf(['swift', 'sepa'], offers), { field: '/rails/1', code: 'not_applicable' })
  t.match(scopeOf(['swift'], []), { field: '/rails/0', code: 'not_applicable' }, 'no accounts in that currency')
  t.end()
})

t.test('newer details replace the active ones of their scope', (t) => {
  const all = [
    known('a', 'active'),
    known('b', 'active', { scope: 'international' }),
    known('c', 'replaced'),
    known('d', 'pending'),
    known('e', 'failed'),
  ]
  const replaced = replacedBy(all, known('d', 'pending'))
  t.strictSame(
    replaced.map(({ id }) => id),
    ['a'],
  )
  t.equal(changeKind(replaced, { connectionId: 'one' }), 'reissue')
  t.equal(changeKind(replaced, { connectionId: 'two' }), 'provider_switch')
  t.equal(changeKind([], { connectionId: 'one' }), null, 'first details change nothing')
  t.end()
})

t.test('a balance says the best that can be said of its details', (t) => {
  t.equal(standingOf([]), null)
  t.equal(standingOf([known('a', 'closed'), known('b', 'pending'), known('c', 'active')]), 'active')
  t.equal(standingOf([known('a', 'failed'), known('b', 'pending')]), 'pending')
  t.equal(standingOf([known('a', 'closed'), known('b', 'closing')]), 'closing')
  t.equal(standingOf([known('a', 'closed')]), 'closed')
  t.end()
})

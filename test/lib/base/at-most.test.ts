import { LRUCache } from 'lru-cache'
import t from 'tap'
import { atMost } from '../../../lib/base/at-most.ts'

t.test('the latest entries are kept, each counts as one', async (t) => {
  const cache = new LRUCache<string, object>(atMost(3))
  for (const name of ['first', 'second', 'third']) cache.set(name, { name })
  cache.get('first')
  cache.set('fourth', { name: 'fourth' })
  t.strictSame([...cache.keys()], ['fourth', 'first', 'third'], 'the one that was not used for longest has gone')
  cache.set('third', { again: true })
  t.equal(cache.size, 3, 'a new value is no further entry')
})

t.test('a value that is read counts as one, also while it is read', async (t) => {
  const cache = new LRUCache<string, string>({ ...atMost(2), fetchMethod: async (key) => `found ${key}` })
  t.strictSame(await Promise.all(['one', 'two'].map((key) => cache.fetch(key))), ['found one', 'found two'])
  t.equal(await cache.fetch('three'), 'found three')
  t.strictSame([...cache.keys()], ['three', 'two'])
})

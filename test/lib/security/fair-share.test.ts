import t from 'tap'

import { FairShare, type Party } from '../../../lib/security/fair-share.ts'

const CAPACITY = 12
const key = (group: string, member = 'k'): Party => ({ group, member })

/** Takes places for a party until it is refused. @returns how many it got */
function fill(share: FairShare, party: Party, capacity = CAPACITY): number {
  for (let taken = 0; ; taken++) {
    if (share.refuses(capacity, party)) return taken
    share.enter(party)
  }
}

t.test('a group that is alone gets everything, and no more', async (t) => {
  const share = new FairShare(100)
  t.equal(fill(share, key('a')), CAPACITY)
  t.equal(share.held, CAPACITY)
})

t.test('a group that holds everything keeps no other group from its share', async (t) => {
  const share = new FairShare(100)
  fill(share, key('a'))
  t.equal(fill(share, key('b')), CAPACITY / 2)
  t.equal(fill(share, key('c')), CAPACITY / 3)
  t.ok(share.refuses(CAPACITY, key('a')), 'the first one waits until it holds less')
  for (let nth = 0; nth < CAPACITY; nth++) share.leave(key('a'))
  t.notOk(share.refuses(CAPACITY, key('a')))
})

t.test('one key of a tenant keeps no other key of it from its share', async (t) => {
  const share = new FairShare(100)
  fill(share, key('a', 'greedy'))
  t.equal(fill(share, key('a', 'modest')), CAPACITY / 2)
  t.ok(share.refuses(CAPACITY, key('a', 'greedy')))
})

t.test('however many keys a tenant has, the tenant stays within one and a half shares', async (t) => {
  const share = new FairShare(100)
  for (let nth = 0; nth < 50; nth++) fill(share, key('a', `k${nth}`))
  t.ok(share.held <= CAPACITY * 1.5, `${share.held}`)
  t.equal(fill(share, key('b')), CAPACITY / 2, 'and the next tenant has its share')
})

t.test('nothing goes beyond the ceiling', async (t) => {
  const share = new FairShare(20)
  for (let nth = 0; nth < 100; nth++) fill(share, key(`t${nth}`))
  t.equal(share.held, 20)
})

t.test('places that were given back are free, whoever had them', async (t) => {
  const share = new FairShare(100)
  const parties = [key('a', '1'), key('a', '2'), key('b', '1'), key('a', '1')]
  for (const party of parties) share.enter(party)
  for (const party of parties) share.leave(party)
  t.equal(share.held, 0)
  t.equal(fill(share, key('c')), CAPACITY)
})

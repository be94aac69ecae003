/** The recipients that a node caches, and forgets in time. */
import t from 'tap'
import type { Database } from '../../../storage/db/database.ts'
import { RecipientCache } from '../../../storage/recipients/recipient-cache.ts'

/** A database whose answers come when the test says so. */
function slowDatabase() {
  const waiting: ((version: number) => void)[] = []
  const row = (version: number) => [
    [
      'r',
      'c',
      'Name',
      'business',
      '****',
      'EUR',
      'NL',
      'active',
      String(version),
      null,
      [],
      null,
      'digest',
      false,
      null,
      { iban: 'NL77SBOX0100000001' },
      false,
      false,
      [],
      {},
      1,
    ],
  ]
  const database = {
    assertFree: () => undefined,
    query: () =>
      new Promise((resolve) => {
        waiting.push((version) => resolve(row(version)))
      }),
  } as unknown as Database
  return { database, waiting }
}

t.test('many who ask at once share one read, and what was read is remembered', async (t) => {
  const { database, waiting } = slowDatabase()
  const directory = new RecipientCache(database)
  const asked = [directory.find('r'), directory.find('r'), directory.find('r')]
  t.equal(waiting.length, 1)
  waiting[0]!(1)
  t.strictSame(
    (await Promise.all(asked)).map((found) => found?.version),
    [1n, 1n, 1n],
  )
  t.equal((await directory.find('r'))?.version, 1n)
  t.equal(waiting.length, 1)
})

t.test('what is forgotten while it is read is answered once and not kept', async (t) => {
  const { database, waiting } = slowDatabase()
  const directory = new RecipientCache(database)
  for (const forget of [() => directory.forget('r'), () => directory.forgetOf('c'), () => directory.forgetAll()]) {
    const before = directory.find('r')
    forget()
    const after = directory.find('r')
    const [old, fresh] = waiting.splice(0)
    fresh!(2)
    old!(1)
    t.equal((await before)?.version, 1n, 'who asked before is not let down')
    t.equal((await after)?.version, 2n)
    t.equal((await directory.find('r'))?.version, 2n, 'the newer one is kept, whichever came last')
    directory.forget('r')
  }
})

t.test('a read that fails is tried again', async (t) => {
  let calls = 0
  const directory = new RecipientCache({
    assertFree: () => undefined,
    query: async () => {
      calls += 1
      throw new Error('gone')
    },
  } as unknown as Database)
  await t.rejects(directory.find('r'), { message: 'gone' })
  await t.rejects(directory.find('r'), { message: 'gone' })
  t.equal(calls, 2)
})

import { randomUUID } from 'node:crypto'
import pg from 'pg'
import t from 'tap'
import { readSetting, writeSetting } from '../../../storage/customers/settings.ts'
import { Database } from '../../../storage/db/database.ts'
import { inTransaction } from '../../../storage/db/transaction.ts'
import { createTestDatabase } from '../../support/postgres.ts'

t.test('a settings document has a version for each time that it was written', async (t) => {
  const made = await createTestDatabase()
  const database = new Database(made.url, 4)
  const other = new pg.Client({ connectionString: made.url })
  await other.connect()
  t.teardown(async () => {
    await other.end()
    await database.close()
    await made[Symbol.asyncDispose]()
  })
  const ownerId = randomUUID()
  const write = async (owner: string, value: object, now: number) =>
    await inTransaction(database, async (client) => {
      await writeSetting(client, { ownerId: owner, name: 'alerts', value, by: owner, now })
    })
  const read = async (owner: string) => await readSetting(database.pool, owner, 'alerts')

  await t.test('one that was never set is null, and the first write makes version 1', async (t) => {
    t.equal(await read(ownerId), null)
    await write(ownerId, { low: true }, 1_000)
    t.match(await read(ownerId), { version: 1, value: { low: true }, updatedBy: ownerId, updatedAt: 1_000 })
    await write(ownerId, { low: false }, 2_000)
    t.match(await read(ownerId), { version: 2, value: { low: false }, updatedAt: 2_000 })
  })

  await t.test('two first writes at once wait for one another', async (t) => {
    const owner = randomUUID()
    await Promise.all([write(owner, { nth: 1 }, 1_000), write(owner, { nth: 2 }, 2_000)])
    t.equal((await read(owner))?.version, 2)
  })

  await t.test('a locked read sees what another transaction has written since', async (t) => {
    await inTransaction(database, async (client) => {
      t.equal((await readSetting(client, ownerId, 'alerts'))?.version, 2)
      await other.query(`update setting set version = 3, value = '{"low": true}' where owner_id = $1`, [ownerId])
      const locked = await readSetting(client, ownerId, 'alerts', true)
      t.match(locked, { version: 3, value: { low: true } })
    })
    t.equal(await read(randomUUID()), null, 'of another owner')
  })
})

import { MikroORM } from '@mikro-orm/postgresql'
import pg from 'pg'
import t from 'tap'

import { ENTITIES } from '../../../storage/schema/entities.ts'
import { ormOptions } from '../../../storage/schema/orm.ts'
import { createTestDatabase } from '../../support/postgres.ts'

async function drift(url: string): Promise<string> {
  const orm = await MikroORM.init(ormOptions({ url, poolMax: 1, entities: [...ENTITIES] }))
  try {
    // Tables without an entity are the commit's own.
    const sql = await orm.schema.getUpdateSchemaSQL({ dropTables: false, wrap: false })
    return sql.trim()
  } finally {
    await orm.close(true)
  }
}

t.test('the entities describe the migrated schema', async (t) => {
  await using database = await createTestDatabase()
  t.equal(await drift(database.url), '')
})

t.test('a schema that differs is noticed', async (t) => {
  const changes = [
    'alter table balance add column colour text',
    'alter table payment alter column fee drop not null',
    'drop index payment_customer',
    'alter table hold drop constraint hold_amount_positive',
    'alter table transfer alter column amount type integer',
  ]
  for (const change of changes) {
    await using database = await createTestDatabase()
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    await client.query(change)
    await client.end()
    t.not(await drift(database.url), '', change)
  }
})

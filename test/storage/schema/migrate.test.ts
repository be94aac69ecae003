import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import pg from 'pg'
import t from 'tap'
import type { Test } from 'tap'

import { StartError } from '../../../lib/base/errors.ts'
import { migrate } from '../../../storage/schema/migrate.ts'
import { openOrm } from '../../../storage/schema/orm.ts'
import { createEmptyDatabase } from '../../support/postgres.ts'
import { removeDirectory } from '../../support/remove-directory.ts'

/** A database without a schema and a directory with these migrations, gone when the test ends. */
async function setUp(t: Test, files: Readonly<Record<string, string>>) {
  const database = await createEmptyDatabase()
  const directory = await mkdtemp(join(tmpdir(), 'vostro-migrations-'))
  t.teardown(async () => {
    await database[Symbol.asyncDispose]()
    await removeDirectory(directory)
  })
  const add = async (name: string, sql: string) => writeFile(join(directory, name), sql)
  for (const [name, sql] of Object.entries(files)) await add(name, sql)
  return { url: database.url, directory, add }
}

async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows.flat()
  } finally {
    await client.end()
  }
}

/** Fails unless the table of the file before it exists, and keeps the order in which the files ran. */
const CHAIN = {
  '0002_second.sql': "insert into step (name) values ('second'); alter table step add column two int",
  '0001_first.sql': "create table step (id serial, name text); insert into step (name) values ('first')",
  '0010_tenth.sql': "insert into step (name, two) values ('tenth', 2)",
}

t.test('files run in the order of their numbers, once', async (t) => {
  const { url, directory, add } = await setUp(t, CHAIN)
  t.strictSame(await migrate(url, { directory }), ['0001_first', '0002_second', '0010_tenth'])
  t.strictSame(await migrate(url, { directory }), [], 'nothing is left to do')
  await add('0011_eleventh.sql', "insert into step (name) values ('eleventh')")
  t.strictSame(await migrate(url, { directory }), ['0011_eleventh'], 'only what is new')
  t.strictSame(await ask(url, 'select name from step order by id'), ['first', 'second', 'tenth', 'eleventh'])
})

t.test('several nodes that start at once migrate once', async (t) => {
  const { url, directory } = await setUp(t, { ...CHAIN, '0011_slow.sql': 'select pg_sleep(0.3)' })
  const ran = await Promise.all([1, 2, 3].map(() => migrate(url, { directory })))
  t.strictSame(ran.map((names) => names.length).sort(), [0, 0, 4])
  t.strictSame(await ask(url, 'select name from step order by id'), ['first', 'second', 'tenth'])
})

t.test('a file that fails has not happened, the ones before it have, and a repaired one runs', async (t) => {
  const { url, directory, add } = await setUp(t, {
    '0001_good.sql': 'create table good (id int)',
    '0002_bad.sql': 'create table bad (id int); select 1 / 0',
  })
  await t.rejects(migrate(url, { directory }), { code: '22012' })
  t.strictSame(
    await ask(url, "select tablename from pg_tables where schemaname = 'public' and tablename in ('good', 'bad')"),
    ['good'],
  )
  await add('0002_bad.sql', 'create table bad (id int)')
  t.strictSame(await migrate(url, { directory }), ['0002_bad'])
})

t.test('the text of a file reaches Postgres as it is', async (t) => {
  const { url, directory } = await setUp(t, {
    '0001_marks.sql': `
      create table mark (body jsonb, note text default '? ?? $1 :name \\ ''quoted''');
      insert into mark (body) values ('{"a": 1}');
      -- a comment with ? and ; in it
      create function has_a() returns boolean language plpgsql as $body$
      begin
        return exists (select from mark where body ? 'a' and note like '?%');
      end
      $body$;`,
  })
  await migrate(url, { directory })
  t.strictSame(await ask(url, 'select has_a(), note from mark'), [true, "? ?? $1 :name \\ 'quoted'"])
})

t.test('a wrong name, a number used twice and an unknown migration stop the start', async (t) => {
  const badName = await setUp(t, { '1_short.sql': 'select 1' })
  await t.rejects(
    migrate(badName.url, { directory: badName.directory }),
    new StartError('The migration 1_short.sql is not named NNNN_what.sql; rename it.'),
  )

  const twins = await setUp(t, { '0001_a.sql': 'select 1', '0001_b.sql': 'select 1' })
  await t.rejects(migrate(twins.url, { directory: twins.directory }), {
    name: 'StartError',
    message: /0001_a\.sql and 0001_b\.sql/,
  })

  const newer = await setUp(t, CHAIN)
  await migrate(newer.url, { directory: newer.directory })
  await rm(join(newer.directory, '0010_tenth.sql'))
  await t.rejects(migrate(newer.url, { directory: newer.directory }), { name: 'StartError', message: /0010_tenth/ })
})

t.test('a role that may not make the schema of tasks is told so', async (t) => {
  const { url, directory } = await setUp(t, CHAIN)
  const role = `limited_${process.pid}`
  await ask(url, `create role ${role} login password 'limited'`)
  t.teardown(async () => await ask(url, `drop role ${role}`))
  const limited = Object.assign(new URL(url), { username: role, password: 'limited' })
  const error = await migrate(limited.href, { directory }).then(
    () => t.fail('it must not start'),
    (error) => error,
  )
  t.type(error, StartError)
  t.match(error.message, /may not make or change the schema graphile_worker .*grant it CREATE on the database/)
})

t.test('a database that cannot be reached is named, and its password is not', async (t) => {
  const url = 'postgres://someone:s3cret@127.0.0.1:1/ledger'
  for (const attempt of [() => migrate(url), () => openOrm({ url, poolMax: 1 })]) {
    const error = await attempt().then(
      () => t.fail('it must not connect'),
      (error) => error,
    )
    t.type(error, StartError)
    t.match(
      error.message,
      /^The database ledger at 127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED.*\); start it or correct DATABASE_URL\.$/,
    )
    t.notMatch(error.message, /s3cret/)
  }
})

t.test('the pool names itself to Postgres and binds values', async (t) => {
  const { url } = await setUp(t, {})
  const orm = await openOrm({ url, poolMax: 2 })
  t.teardown(() => orm.close(true))
  const rows = await orm.em.execute("select current_setting('application_name') as name, ?::int as one", [1])
  t.strictSame(rows, [{ name: 'vostro', one: 1 }])
})

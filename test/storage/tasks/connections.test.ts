/**
 * Statements of workers that stop while Postgres is gone: graphile-worker prints what a search for a task throws then
 * past the log, and ends with the first such error.
 */
import t from 'tap'
import type { Database } from '../../../storage/db/database.ts'
import { asPool, Connections } from '../../../storage/tasks/connections.ts'

const GONE = new Error('Postgres is gone.')
const SEARCH = { name: 'get_job/graphile_worker', text: 'search' }
const RESULT = { name: 'complete_job/graphile_worker', text: 'result' }

/** A database without any connection, or one with connections that fail at each statement. */
const without = { pool: { connect: () => Promise.reject(GONE) } } as unknown as Database
const failing = {
  pool: { connect: () => Promise.resolve({ query: () => Promise.reject(GONE), release: () => undefined }) },
} as unknown as Database

for (const [what, database] of [
  ['without connections', without],
  ['that fails at each statement', failing],
] as const) {
  t.test(`a database ${what}`, async (t) => {
    const connections = new Connections(database)
    const ask = async (statement: object): Promise<unknown> => {
      const client = await asPool(connections).connect()
      try {
        return (await client.query(statement as never)) as unknown
      } finally {
        client.release()
      }
    }
    await t.rejects(ask(SEARCH), GONE, 'workers at work search again later')
    await t.rejects(ask(RESULT), GONE)
    connections.stop()
    t.match(await ask(SEARCH), { rows: [] }, 'workers that stop find no task')
    await t.rejects(ask(RESULT), GONE, 'and hear that a result was not written')
    connections.end()
    t.match(await ask(SEARCH), { rows: [] })
    t.match(await ask(RESULT), { rows: [] }, 'of workers that have ended nothing is written')
  })
}

t.test('a lock that could not be taken ends the workers before they have a connection', async (t) => {
  const connections = new Connections(failing)
  connections.giveAfter(Promise.reject(GONE))
  await t.rejects(asPool(connections).connect(), GONE)
  connections.end()
  const client = await asPool(connections).connect()
  t.match(await client.query(SEARCH as never), { rows: [] })
})

t.test('the end and the failure of a task are told once they are written; a search is not', async (t) => {
  const working = {
    pool: { connect: () => Promise.resolve({ query: () => Promise.resolve({ rows: [] }), release: () => undefined }) },
  } as unknown as Database
  let told = 0
  const connections = new Connections(working, () => (told += 1))
  const client = await asPool(connections).connect()
  const after = async (name: string): Promise<number> => {
    await client.query({ name, text: '' } as never)
    return told
  }
  t.equal(await after('get_jobF/graphile_worker'), 0)
  t.equal(await after('complete_job_q/graphile_worker'), 1)
  t.equal(await after('complete_jobs/graphile_worker'), 2)
  t.equal(await after('fail_job/graphile_worker'), 3)
  await t.rejects(new Connections(failing, () => (told += 1)).query(RESULT), GONE)
  t.equal(told, 3, 'a result that is not written is none')
})

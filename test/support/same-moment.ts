/** A change and a request of the same moment: the change has its locks, and commits when the request waits for them. */
import pg from 'pg'
import { until } from './until.ts'
import type { World } from './world.ts'

/**
 * Suspends a customer in a transaction that commits when the request waits for a lock of it.
 *
 * @returns the answer of the request
 */
export async function suspendedAtOnce<Reply>(
  world: World,
  customerId: string,
  request: () => Promise<Reply>,
): Promise<Reply> {
  const other = new pg.Client({ connectionString: world.databaseUrl })
  await other.connect()
  try {
    const {
      rows: [own],
    } = await other.query<{ pid: number }>('select pg_backend_pid() as pid')
    await other.query('begin')
    await other.query(`update customer set measure = 'suspended', version = version + 1 where id = $1`, [customerId])
    await other.query(
      `update balance set customer_measure = 'suspended', version = version + 1 where customer_id = $1`,
      [customerId],
    )
    const answer = request()
    await until(
      'the request waits for the suspension',
      async () =>
        (await world.query('select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))', [own!.pid])).length >
        0,
    )
    await other.query('commit')
    return await answer
  } finally {
    await other.end()
  }
}

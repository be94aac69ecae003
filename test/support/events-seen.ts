import { until } from './until.ts'

/**
 * Waits until a follower's next pass sees every event that has been written. Its horizon is the oldest transaction
 * under way on the server, which other tests use too.
 */
export async function eventsSeen(isSeen: (sql: string) => Promise<boolean>): Promise<void> {
  await until('all events are behind the horizon', () =>
    isSeen(
      `select pg_snapshot_xmin(pg_current_snapshot()) > coalesce((select max(written_in) from outbox), '0') as seen`,
    ),
  )
}

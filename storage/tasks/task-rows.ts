/** The rows of graphile-worker, read and changed through its public view and functions. */
import { timestamp } from '../../lib/base/clock.ts'
import { textArray } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'

/** The channel on which graphile-worker notifies when a task is added. */
export const TASKS_CHANNEL = 'jobs:insert'

/** graphile-worker's limit: a task of a row is never given up, because its row stays due. */
const ATTEMPTS_MAX = 32_767

/** The tasks that are due now, and when the next one will be. */
export interface DueTasks {
  /** The number of tasks that a worker could begin, by name. */
  readonly due: ReadonlyMap<string, number>
  /** The time until the next other task is due, milliseconds; null when no other waits. */
  readonly nextMs: number | null
}

/** The flag of tasks that the node works on that owns their shard ($2: the flags that this node leaves to others). */
export const flagOfShard = (shard: number): string => `shard:${shard}`

/** A task that no worker has, and whose queue is free. */
const WAITING = `select j.id, j.task_identifier, j.run_at from graphile_worker.jobs j
  where j.locked_at is null and j.attempts < j.max_attempts and (j.flags ?| $2::text[]) is not true
    and (j.queue_name is null or not exists (select from graphile_worker.jobs r where r.queue_name = j.queue_name and r.locked_at is not null))`

/**
 * Finds the tasks that are due by the service's clock or that of Postgres, which graphile-worker compares with. A task
 * that is due by the service's clock first is moved to now, so that workers find it; a task that is due by Postgres'
 * clock first waits when it is begun (actors/runtime/tasks.ts).
 */
export async function findDueTasks(
  database: Pick<Database, 'query'>,
  { now, forbidden }: { readonly now: number; readonly forbidden: readonly string[] },
): Promise<DueTasks> {
  const rows = await database.query<[string | null, number | null]>({
    name: 'due_tasks',
    values: [timestamp(now), textArray(forbidden)],
    text: `with waiting as materialized (${WAITING}),
      hastened as materialized (
        select count(*) from waiting w, lateral graphile_worker.reschedule_jobs(array[w.id], run_at := now()) where w.run_at > now() and w.run_at <= $1)
      select task_identifier, count(*)::float8 from waiting, hastened where run_at <= greatest(now(), $1) group by 1
      union all select null, ceil(extract(epoch from min(run_at) - greatest(now(), $1)) * 1000)::float8 from waiting where run_at > greatest(now(), $1)`,
  })
  const due = new Map<string, number>()
  let nextMs: number | null = null
  for (const [name, value] of rows) {
    if (name === null) nextMs = value
    else due.set(name, value ?? 0)
  }
  return { due, nextMs }
}

/** A task that is added by itself, not by the trigger of a row. */
export interface NewTask {
  readonly name: string
  /** A task that waits under the same key is replaced. */
  readonly key: string
  readonly payload: object
  /** The queue in which tasks run one after the other; null: none. */
  readonly queue: string | null
  /** Nodes that forbid one of these leave the task to others. */
  readonly flags: readonly string[]
  /** The delay by the clock of Postgres, milliseconds. */
  readonly delayMs: number
}

/** Adds a task. */
export async function addTask(
  database: Pick<Database, 'query'>,
  { name, key, payload, queue, flags, delayMs }: NewTask,
): Promise<void> {
  await database.query({
    name: 'add_task',
    values: [name, key, JSON.stringify(payload), queue, textArray(flags), delayMs / 1_000, ATTEMPTS_MAX],
    text: `select graphile_worker.add_job($1::text, $3::json, queue_name := $4::text, flags := $5::text[], run_at := now() + make_interval(secs => $6), max_attempts := $7::int, job_key := $2::text)`,
  })
}

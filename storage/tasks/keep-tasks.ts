/** The upkeep of the rows of graphile-worker. */
import { makeWorkerUtils } from 'graphile-worker'
import type { Database } from '../db/database.ts'
import { asPool, Connections } from './connections.ts'
import { QUIET, TASK_SCHEMA } from './install-tasks.ts'

/** Adds the tasks of rows that have none (migration 0052), and forgets queues without tasks. */
export async function keepTasks(database: Database): Promise<void> {
  await database.query({ name: 'add_missing_tasks', values: [], text: 'select add_missing_tasks()' })
  const utils = await makeWorkerUtils({ pgPool: asPool(new Connections(database)), schema: TASK_SCHEMA, logger: QUIET })
  await utils.cleanup({ tasks: ['GC_JOB_QUEUES'] })
  await utils.release()
}

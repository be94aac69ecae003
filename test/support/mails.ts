/** The mails of a local node. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from './until.ts'
import type { World } from './world.ts'

/** Lists the mails written so far, oldest first. A mail that is still being written has another name. */
export async function mailsIn(dataDir: string): Promise<string[]> {
  const outbox = join(dataDir, 'outbox')
  const names = await readdir(outbox).catch(() => [])
  return await Promise.all(
    names
      .filter((name) => name.endsWith('.eml'))
      .sort()
      .map((name) => readFile(join(outbox, name), 'utf8')),
  )
}

/** Lists the mails of a world, oldest first, when none of those that have been caused by now waits any more. */
export async function mailsOf({ dataDir, query }: Pick<World, 'dataDir' | 'query'>): Promise<string[]> {
  await until(
    'no mail waits',
    async () => (await query('select from mail where due_at is not null limit 1')).length === 0,
  )
  return await mailsIn(dataDir)
}

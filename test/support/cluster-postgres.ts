/**
 * The Postgres of a cluster: made and migrated once for a whole run, and copied for each cluster. Making one takes two
 * seconds of processor time, and a run opens some twenty clusters.
 */
import { execFile } from 'node:child_process'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { startEmbeddedPostgres, type EmbeddedServer } from '../../storage/embedded/embedded.ts'
import { freePort } from '../../storage/embedded/ports.ts'
import { migrate } from '../../storage/schema/migrate.ts'

const run = promisify(execFile)

/** The environment variable that carries the path of the template from `test/run.ts` to the test files. */
export const CLUSTER_ENV = 'VOSTRO_TEST_CLUSTER'

const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  track_commit_timestamp: 'on',
  shared_buffers: '64MB',
  max_connections: '150',
}

/** Starts a Postgres with the current schema in this directory, which does not exist yet. */
export async function startClusterPostgres(dataDir: string): Promise<EmbeddedServer> {
  const template = process.env[CLUSTER_ENV]
  if (template === undefined) return await startMigrated(dataDir)
  if (!(await copyTemplate(template, dataDir))) {
    // Clusters that open at the same time may each make one; the first is kept.
    const draft = `${dataDir}.template`
    await (await startMigrated(draft)).stop()
    await rename(draft, template).catch(() => rm(draft, { recursive: true }))
    await copyTemplate(template, dataDir)
  }
  return await start(dataDir)
}

/** Copies the template, its owner included. Returns false where there is none yet. */
async function copyTemplate(template: string, dataDir: string): Promise<boolean> {
  const access = await readFile(join(template, 'postgres.json'), 'utf8').catch(() => null)
  if (access === null) return false
  await run('cp', ['-a', template, dataDir])
  // Two copies that start at the same moment would want the same port.
  const { password } = JSON.parse(access)
  await writeFile(join(dataDir, 'postgres.json'), JSON.stringify({ password, port: await freePort() }), { mode: 0o600 })
  return true
}

async function startMigrated(dataDir: string): Promise<EmbeddedServer> {
  const server = await start(dataDir)
  try {
    await migrate(server.url)
    return server
  } catch (error) {
    await server.stop()
    throw error
  }
}

const start = (dataDir: string): Promise<EmbeddedServer> =>
  startEmbeddedPostgres({ dataDir, log: () => undefined, settings: SETTINGS })

/**
 * Starts the embedded Postgres in the given directory and runs it until killed; prints its address when it is ready.
 */
import { startEmbeddedPostgres } from '../../storage/embedded/embedded.ts'

const [dataDir = ''] = process.argv.slice(2)
const server = await startEmbeddedPostgres({ dataDir, log: () => undefined, settings: { shared_buffers: '32MB' } })
process.send?.({ url: server.url })
process.once('SIGTERM', async () => {
  await server.stop()
  process.exit(0)
})

/**
 * The entry point of the process: reads the settings, starts a node, and stops it on a signal. With several WORKERS the
 * process is the primary, which starts itself once more for each of them.
 */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import pino from 'pino'
import { StartError } from '../../lib/base/errors.ts'
import { type Config, readConfig } from '../../lib/config/config.ts'
import { workerCount } from '../../lib/config/workers.ts'
import { Primary } from '../cluster/primary.ts'
import { settingsOfWorker } from '../cluster/worker-settings.ts'
import { leaveCluster, tellListening, workerNumber } from '../cluster/worker.ts'
import { answerForMetrics, metricsOfWorkers, serveMetrics } from './metrics.ts'
import { createService } from './service.ts'
import { greeting } from './sandbox.ts'

/**
 * Stopping takes longer than this only when something hangs; the process then exits with 1. Nothing accepted is lost.
 */
const STOP_MS = 9_500

async function main(): Promise<void> {
  if (existsSync('.env')) process.loadEnvFile('.env')
  const config = readConfig(process.env)
  const nth = workerNumber(process.env)
  const count = workerCount(config.workers, availableParallelism())
  if (nth !== null) {
    answerForMetrics()
    await runNode(settingsOfWorker(config, nth))
  } else if (count > 1) await runWorkers(config, count)
  else await runNode(config)
}

/** Runs a node: the only one of this process. */
async function runNode(config: Config): Promise<void> {
  const service = await createService(config)
  let stopping = false
  const stop = () => {
    if (stopping) return
    stopping = true
    const late = setTimeout(() => {
      process.stderr.write(
        `Stopping took longer than ${STOP_MS / 1_000} seconds, so the service was ended without waiting for what was under way.\n`,
      )
      process.exit(1)
    }, STOP_MS)
    late.unref()
    service
      .close()
      .then(() => {
        process.exitCode = 0
      }, fail)
      .finally(leaveCluster)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  const text = greeting(service.url, service.sandbox)
  if (config.worker === null) process.stdout.write(text)
  else tellListening(text)
}

/** Runs the workers of this machine, and ends with them. */
async function runWorkers(config: Config, count: number): Promise<void> {
  // A wrong address is said before anything is started.
  settingsOfWorker(config, count)
  const log = pino({ level: config.logLevel, base: { service: 'vostro', worker: 'primary' } })
  const primary = new Primary({ count, log })
  const stop = () => primary.stop()
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  const { host, metricsPort: port } = config
  await using metrics = port === null ? null : await serveMetrics(metricsOfWorkers(), { host, port })
  if (metrics !== null) log.info({ url: metrics.url }, 'the metrics of all workers')
  const text = await primary.start()
  if (text !== null) process.stdout.write(text)
  process.exitCode = await primary.ended
}

/** Prints one sentence for an error that an operator can correct; a stack only for a bug. */
function fail(error: unknown): void {
  process.stderr.write(
    error instanceof StartError ? `${error.message}\n` : `${(error as Error).stack ?? String(error)}\n`,
  )
  process.exitCode = 1
}

main().catch((error: unknown) => {
  fail(error)
  leaveCluster()
})

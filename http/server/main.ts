/** The entry point of the process: reads the settings, starts a node, and stops it on a signal. */
import { existsSync } from 'node:fs'
import { StartError } from '../../lib/base/errors.ts'
import { readConfig } from '../../lib/config/config.ts'
import { createService } from './service.ts'
import { greeting } from './sandbox.ts'

/**
 * Stopping takes longer than this only when something hangs; the process then exits with 1. Nothing accepted is lost.
 */
const STOP_MS = 9_500

async function main(): Promise<void> {
  if (existsSync('.env')) process.loadEnvFile('.env')
  const config = readConfig(process.env)
  const service = await createService(config)
  process.stdout.write(greeting(service.url, service.sandbox))
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
    service.close().then(() => {
      process.exitCode = 0
    }, fail)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

/** Prints one sentence for an error that an operator can correct; a stack only for a bug. */
function fail(error: unknown): void {
  process.stderr.write(
    error instanceof StartError ? `${error.message}\n` : `${(error as Error).stack ?? String(error)}\n`,
  )
  process.exitCode = 1
}

main().catch(fail)

/**
 * Starts a service for the first time on a database, for the template from which worlds are cloned.
 */
import pino from 'pino'

import { createService } from '../../http/server/service.ts'
import { systemClock } from '../../lib/base/clock.ts'
import { readConfig } from '../../lib/config/config.ts'

/** Seeds the sandbox into the database, and its keys into `dataDir`. Nothing runs afterwards. */
export async function startSandboxOnce(databaseUrl: string, dataDir: string): Promise<void> {
  const config = readConfig({
    PORT: '0',
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    LOG_LEVEL: 'warn',
    RATE_LIMITS: 'off',
  })
  const service = await createService(config, { clock: systemClock, log: pino({ level: 'silent' }), dispatch: false })
  await service.close()
}

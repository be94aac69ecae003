/**
 * Starts a service for the first time on a database, for the template from which worlds are cloned.
 */
import { argon2Sync, randomBytes } from 'node:crypto'
import pg from 'pg'
import pino from 'pino'

import { createService } from '../../http/server/service.ts'
import { systemClock } from '../../lib/base/clock.ts'
import { readConfig } from '../../lib/config/config.ts'
import { startAheadMs } from './start-time.ts'

/** Seeds the sandbox into the database, and its keys into `dataDir`. Nothing runs afterwards. */
export async function startSandboxOnce(databaseUrl: string, dataDir: string): Promise<void> {
  const config = readConfig({
    PORT: '0',
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    LOG_LEVEL: 'warn',
    RATE_LIMITS: 'off',
  })
  // By the clock of the worlds: the template is older than all that they make.
  const aheadMs = startAheadMs()
  const clock = { now: () => systemClock.now() + aheadMs }
  const service = await createService(config, { clock, log: pino({ level: 'silent' }), dispatch: false })
  const { customer, operator } = service.sandbox!
  await service.close()
  await cheapen(databaseUrl, [...Object.values(customer.members), ...operator.staff])
}

/**
 * Replaces the hashes of passwords by some that take no time: worlds sign in hundreds of people, at 40 ms of CPU each.
 * A hash names its own parameters, so the service reads these as it reads hashes of earlier versions.
 */
async function cheapen(
  databaseUrl: string,
  people: readonly { readonly email: string; readonly password: string }[],
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    for (const { email, password } of people) {
      const hash = cheapHash(password)
      const { rowCount } = await client.query('update platform_user set password_hash = $2 where email = $1', [
        email,
        hash,
      ])
      if (rowCount !== 1) throw new Error(`The sandbox has no ${email}.`)
    }
  } finally {
    await client.end()
  }
}

function cheapHash(password: string): string {
  const [memory, passes, parallelism, nonce] = [8, 1, 1, randomBytes(16)]
  const hash = argon2Sync('argon2id', { message: password, memory, passes, parallelism, nonce, tagLength: 32 })
  const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${text(nonce)}$${text(hash)}`
}

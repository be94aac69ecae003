/** The secret of the service, and the keys that derive from it. */
import { hkdfSync, randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../../lib/base/errors.ts'
import type { Config } from '../../lib/config/config.ts'

/** Returns the master secret: the setting `SECRETS_KEY`, or the secret in DATA_DIR. @throws StartError */
export async function masterSecretOf({ secretsKey, dataDir }: Config): Promise<string> {
  return secretsKey ?? (await ownSecret(dataDir))
}

/** Derives the key that seals cursors from the master secret. */
export function cursorKey(masterSecret: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', masterSecret, '', 'vostro cursors', 32))
}

/** Reads the master secret in DATA_DIR, and creates it at the first start. Used where `SECRETS_KEY` is not set. */
async function ownSecret(dataDir: string): Promise<string> {
  const path = join(dataDir, 'secrets.key')
  await mkdir(dataDir, { recursive: true })
  // `wx` creates the file only once: when two nodes start at the same time, one writes the secret and both read it.
  await writeFile(path, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx' }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST')
        throw new StartError(
          `DATA_DIR ${dataDir} cannot be written (${error.code}); make it writable or set another DATA_DIR.`,
          { cause: error },
        )
    },
  )
  return await readFile(path, 'utf8')
}

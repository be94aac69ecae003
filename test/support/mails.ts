/** The mails of a local node. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

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

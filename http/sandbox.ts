/**
 * The sandbox of a local or staging node: seeded at the first start, remembered in DATA_DIR/sandbox.json, printed as one
 * command that makes a payment.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import type { Config } from '../lib/config.ts'
import { StartError } from '../lib/errors.ts'
import type { IdSource } from '../lib/ids.ts'
import type { Database } from '../storage/database.ts'
import { seedSandbox, type SandboxContent } from '../storage/seed.ts'

/** The content of sandbox.json but for the address, which is known only when the node listens. */
export type Sandbox = SandboxContent

export interface SandboxOptions {
  readonly config: Config
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
}

/** Seeds the sandbox, or finds it seeded. Its keys are in sandbox.json and nowhere else, so a lost file means new keys. */
export async function openSandbox({ config, ...world }: SandboxOptions): Promise<Sandbox> {
  const path = sandboxFile(config)
  const kept = await readFile(path, 'utf8').then((text) => JSON.parse(text) as Sandbox, (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw new StartError(`${path} cannot be read (${error.code ?? 'it is not JSON'}); repair it, or remove it to get new keys.`, { cause: error })
  })
  return await seedSandbox({ ...world, kept })
}

/** Writes sandbox.json, readable by its owner alone, in one step: a reader sees the old file or the new one. */
export async function keepSandbox(config: Config, baseUrl: string, sandbox: Sandbox): Promise<void> {
  const path = sandboxFile(config)
  await mkdir(config.dataDir, { recursive: true })
  await writeFile(`${path}.new`, `${JSON.stringify({ baseUrl: `${baseUrl}/v1`, ...sandbox }, null, 2)}\n`, { mode: 0o600 })
  await rename(`${path}.new`, path)
}

const sandboxFile = ({ dataDir }: Config): string => join(dataDir, 'sandbox.json')

/** What the start prints: where the service is, and one command to paste. */
export function greeting(url: string, sandbox: Sandbox | null): string {
  const lines = ['', `vostro listens on ${url}/v1`, `contract: ${url}/v1/openapi.json`]
  if (sandbox !== null) {
    const { customer } = sandbox
    const body = { sourceBalanceId: customer.balances.EUR, recipientId: customer.recipients.EUR, amount: { amountMinor: '1250', currency: 'EUR' }, reference: 'Invoice 42' }
    lines.push('', 'Make a payment of 12.50 EUR:', '', [
      `curl -sS -i ${url}/v1/payments`,
      `  -H 'Authorization: Bearer ${customer.apiKey}'`,
      `  -H 'X-Tenant-Id: ${customer.id}'`,
      `  -H 'Idempotency-Key: ${randomUUID()}'`,
      `  -H 'Content-Type: application/json'`,
      `  -d '${JSON.stringify(body)}'`,
    ].join(' \\\n'))
  }
  return `${lines.join('\n')}\n\n`
}

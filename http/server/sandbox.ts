/**
 * The sandbox of a local or staging node: seeded at the first start, stored in DATA_DIR/sandbox.json, and printed as
 * one command that makes a payment.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../lib/base/clock.ts'
import type { Config } from '../../lib/config/config.ts'
import { StartError } from '../../lib/base/errors.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Database } from '../../storage/db/database.ts'
import { seedCard } from '../../storage/seed/seed-card.ts'
import { seedPeople, type SandboxPeople } from '../../storage/seed/seed-people.ts'
import { seedSandbox, type SandboxContent } from '../../storage/seed/seed.ts'
import type { SecretBox } from '../../lib/security/secret-box.ts'

/** The content of sandbox.json without the address, which is known only when the node listens. */
export interface Sandbox {
  readonly operator: SandboxContent['operator'] & Pick<SandboxPeople, 'staff'>
  readonly customer: SandboxContent['customer'] & Pick<SandboxPeople, 'members'>
}

/** Dependencies of the sandbox. */
export interface SandboxOptions {
  readonly config: Config
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly secrets: SecretBox
  readonly hashPassword: (password: string) => Promise<string>
}

/**
 * Seeds the sandbox, or finds it seeded. Its keys derive from the service's secret: they are lost only if the secret
 * and the file both are.
 */
export async function openSandbox({ config, ...deps }: SandboxOptions): Promise<Sandbox> {
  const kept = await readSandbox(sandboxFile(config))
  const { operator, customer } = await seedSandbox({ ...deps, kept })
  const { staff, members } = await seedPeople(deps, { operatorId: operator.id, customerId: customer.id })
  await seedCard(deps, { customerId: customer.id, balanceId: customer.balances.EUR })
  return { operator: { ...operator, staff }, customer: { ...customer, members } }
}

/** Reads the file of an earlier start; null when there is none. */
async function readSandbox(path: string): Promise<Sandbox | null> {
  const unreadable = (reason: string, cause?: unknown) =>
    new StartError(`${path} cannot be read (${reason}); repair it, or remove it to have it written anew.`, { cause })
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw unreadable(error.code ?? error.message, error)
  })
  if (text === null) return null
  let content: Partial<Sandbox> | null
  try {
    content = JSON.parse(text) as Partial<Sandbox> | null
  } catch (error) {
    throw unreadable('it is not JSON', error)
  }
  if (typeof content?.operator?.apiKey !== 'string' || typeof content.customer?.apiKey !== 'string')
    throw unreadable('it has no keys')
  return content as Sandbox
}

/**
 * Writes sandbox.json, readable by its owner alone, in one step: a reader sees the old file or the new one. Nodes that
 * start together in one directory write a file each.
 */
export async function keepSandbox(config: Config, baseUrl: string, sandbox: Sandbox): Promise<void> {
  const path = sandboxFile(config)
  // The members are named, because the stored sandbox also holds the address of an earlier start.
  const { operator, customer } = sandbox
  await mkdir(config.dataDir, { recursive: true })
  const written = `${path}.${process.pid}.new`
  await writeFile(written, `${JSON.stringify({ baseUrl: `${baseUrl}/v1`, operator, customer }, null, 2)}\n`, {
    mode: 0o600,
  })
  await rename(written, path)
}

const sandboxFile = ({ dataDir }: Config): string => join(dataDir, 'sandbox.json')

/** The text that the start prints: the service's addresses, and one command to paste. */
export function greeting(url: string, sandbox: Sandbox | null): string {
  const lines = ['', `vostro listens on ${url}/v1`, `reference: ${url}/docs`, `contract: ${url}/v1/openapi.json`]
  if (sandbox !== null) {
    const { customer } = sandbox
    const body = {
      sourceBalanceId: customer.balances.EUR,
      recipientId: customer.recipients.EUR,
      amount: { amountMinor: '1250', currency: 'EUR' },
      reference: 'Invoice 42',
    }
    lines.push(
      '',
      'Make a payment of 12.50 EUR:',
      '',
      [
        `curl -sS -i ${url}/v1/payments`,
        `  -H 'Authorization: Bearer ${customer.apiKey}'`,
        `  -H 'X-Tenant-Id: ${customer.id}'`,
        `  -H 'Idempotency-Key: ${randomUUID()}'`,
        `  -H 'Content-Type: application/json'`,
        `  -d '${JSON.stringify(body)}'`,
      ].join(' \\\n'),
    )
  }
  return `${lines.join('\n')}\n\n`
}

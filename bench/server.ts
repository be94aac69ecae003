/**
 * The service under test, in a process of its own: the real composition root with its own defaults, on a database of
 * the bench. With `rowLock` the same service has the baseline's commands behind the same routes.
 */
import type { InboxConnection, InboxPartners } from '../actors/providers/inbox/inbox-ports.ts'
import { translateSandboxEvent, verifySandboxWebhook } from '../actors/sandbox/sandbox-webhooks.ts'
import { RateLimits } from '../http/access/rate-limits.ts'
import { createService, type Overrides, type Service } from '../http/server/service.ts'
import { systemClock } from '../lib/base/clock.ts'
import { sandboxDescription } from '../lib/providers/sandbox/description.ts'
import { readConfig } from '../lib/config/config.ts'
import { rowLockCommands } from './baselines/row-lock.ts'
import { answerParent } from './process.ts'

export interface ServerPlan {
  readonly databaseUrl: string
  readonly dataDir: string
  /** False leaves payments waiting for the bank. */
  readonly dispatch: boolean
  /** Takes webhooks of a connection to the sandbox bank, signed with this secret, which no API has set. */
  readonly webhooks?: { readonly connectionId: string; readonly operatorId: string; readonly secret: string }
  /** Where it tells its metrics. */
  readonly metricsPort?: number
  /** The settings of a node among several; absent: the only node. */
  readonly node?: { readonly port: number; readonly redisUrl: string; readonly nodeSecret: string }
  /** Connections of the row-lock baseline; absent: the service as it is. */
  readonly rowLock?: number
}

const QUOTA_SCALE = 1_000_000

let service: Service | undefined
let closeCommands: (() => Promise<void>) | undefined

/** The connection whose webhooks are taken, as it is opened when its secret is set. */
function partnerOf({ connectionId, operatorId, secret }: NonNullable<ServerPlan['webhooks']>): InboxPartners {
  const connection: InboxConnection = {
    id: connectionId,
    operatorId,
    description: sandboxDescription,
    adapter: {
      probe: async () => ({ ok: true, latencyMs: 0, message: null }),
      verify: verifySandboxWebhook,
      translate: (event) => translateSandboxEvent(connectionId, event),
    },
    webhookSecret: secret,
  }
  return { open: async (id) => (id === connectionId ? connection : null), mayPoll: () => true }
}

/** Starts the service and tells its address. */
async function start({
  databaseUrl,
  dataDir,
  dispatch,
  webhooks,
  metricsPort,
  node,
  rowLock,
}: ServerPlan): Promise<string> {
  const config = readConfig({
    APP_ENV: 'local',
    PORT: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    WEBHOOK_TARGETS: 'any',
    ...(metricsPort === undefined ? {} : { METRICS_PORT: String(metricsPort) }),
    ...(node === undefined
      ? {}
      : {
          PORT: String(node.port),
          NODE_URL: `http://127.0.0.1:${node.port}`,
          REDIS_URL: node.redisUrl,
          NODE_SECRET: node.nodeSecret,
          SECRETS_KEY: node.nodeSecret,
        }),
  })
  // Requests are counted as in life, so the counting costs what it costs; the quotas are far beyond any load from here.
  let overrides: Overrides = { dispatch, rateLimits: new RateLimits({ clock: systemClock, scale: QUOTA_SCALE }) }
  if (webhooks !== undefined) overrides = { ...overrides, inboxPartners: partnerOf(webhooks) }
  if (rowLock !== undefined) {
    overrides = {
      ...overrides,
      commands: (database, world) => {
        const { commands, close } = rowLockCommands({ database, databaseUrl, poolMax: rowLock, ...world })
        closeCommands = close
        return commands
      },
    }
  }
  service = await createService(config, overrides)
  return service.url
}

answerParent<ServerPlan, string>(start, async () => {
  await service?.close()
  await closeCommands?.()
})

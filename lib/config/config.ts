/**
 * The settings, read once at start. An invalid setting stops the start with a sentence that names it and tells how to
 * correct it; the value of a secret never appears in such a sentence.
 */
import { MINUTE_MS } from '../base/clock.ts'
import { resolve } from 'node:path'
import { ConfigError, read, readChoice, readInteger, readList, readPath, readSecret } from './environment.ts'
import { isAllowlistEntry } from '../security/ip-allowlist.ts'
import { isWithinDomain } from '../security/origins.ts'
import { parseMailbox, parseSmtpUrl } from './mail-settings.ts'
import { parseRedisUrl } from './redis-address.ts'
import { parseWorkers, type Workers } from './workers.ts'

const APP_ENVS = ['local', 'staging', 'production'] as const
const LEASES = ['on', 'off'] as const
const RATE_LIMITS = ['on', 'off'] as const
const SMTP_TLS = ['on', 'off'] as const
const WEBHOOK_TARGETS = ['public', 'any'] as const
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** 32 characters of a random key are at least 128 bits even when it is written in hexadecimal. */
const SECRETS_KEY_LENGTH_MIN = 32

/**
 * A shorter secret could be guessed, for the same reason as above; its holder can send requests to a node in any
 * customer's name.
 */
const NODE_SECRET_LENGTH_MIN = 32

/** More lanes than this only wait for one another in one Postgres; two were the measured optimum on two cores. */
const COMMIT_LANES_MAX = 8
/** A transaction takes one connection and no second (storage/db/database.ts); one more lets reads go on beside it. */
const DATABASE_POOL_MIN = 2
const DATABASE_POOL_MAX = 64

/** A longer delay would hide a call that has just failed from the person who looks for it in the log. */
const REQUEST_LOG_FLUSH_MAX_MS = MINUTE_MS

export type AppEnv = (typeof APP_ENVS)[number]
export type LogLevel = (typeof LOG_LEVELS)[number]

export interface Config {
  readonly appEnv: AppEnv
  readonly host: string
  /** 0 lets the system choose a free port. */
  readonly port: number
  /** An absolute path. */
  readonly dataDir: string
  /** `null`: run the embedded Postgres in `dataDir`. */
  readonly databaseUrl: string | null
  /** The address that the `type` of every problem starts with, without a slash at the end. */
  readonly problemBase: string
  readonly logLevel: LogLevel
  /**
   * Number of transactions that may commit at the same time. The default is one: on two cores, two lanes halve the
   * batches and pay the fixed part of a commit twice. Over 1 000 balances one lane took 4 700 payments a second and two
   * lanes 3 400 to 4 100; at half of that load p50 was 4 ms with one lane and 5 to 7 ms with two. With more cores a
   * second lane may pay off.
   */
  readonly commitLanes: number
  /** The most connections of the pool for reads and background work. */
  readonly databasePool: number
  /** `null`: the service generates a key and keeps it in `dataDir`; never `null` in production. */
  readonly secretsKey: string | null
  /** The Redis that the nodes share (`parseRedisUrl`). `null`: this is the only node. */
  readonly redisUrl: string | null
  /** Where other nodes reach this one, without a slash at the end; never `null` when there is a `redisUrl`. */
  readonly nodeUrl: string | null
  /**
   * The secret shared by all nodes, which proves that a forwarded request comes from one of them; never `null` when
   * there is a `redisUrl`.
   */
  readonly nodeSecret: string | null
  /** `off`: no node owns a shard, and every request is handled by the node that received it. */
  readonly leases: 'on' | 'off'
  /** `null`: no metrics port. 0 lets the system choose a free one. */
  readonly metricsPort: number | null
  /** `null`: a random id is generated at every start. */
  readonly nodeId: string | null
  /** The processes that serve the port; more than one need a `redisUrl`. */
  readonly workers: Workers
  /** The number of this process among them, from 1 on. `null`: it serves the port alone. */
  readonly worker: number | null
  /** Whether simulations and seeded data exist: everywhere except in production. */
  readonly sandbox: boolean
  /**
   * The address at which clients reach the service, without a slash at the end; https turns on HSTS. `null`: the
   * listening address.
   */
  readonly publicUrl: string | null
  /** Origins of browser consoles that may call the API. */
  readonly consoleOrigins: readonly string[]
  /** The domain of people's WebAuthn credentials. `null`: that of the public address, or `localhost`. */
  readonly webauthnRpId: string | null
  /** Load balancers, as addresses and CIDR blocks, whose statement of a request's origin is trusted. */
  readonly trustedProxies: readonly string[]
  /** `off` is meant for load tests only and is refused in production. */
  readonly rateLimits: 'on' | 'off'
  /** Longest delay before a call appears in the request log, milliseconds. */
  readonly requestLogFlushMs: number
  /** The directory with newer tables of the UK modulus check. `null`: the installed tables. */
  readonly ukModulusDir: string | null
  /** The file with the directory of banks. `null`: there is none. */
  readonly bankDirectory: string | null
  /** Targets of webhooks. `any` also allows loopback, private addresses and plain http, only for `local`. */
  readonly webhookTargets: 'public' | 'any'
  /** Below it connections to banks exchange files, each in a directory of its own. `null`: none may. */
  readonly providerFilesRoot: string | null
  /** Addresses that servers of banks may have beside the public ones. */
  readonly providerNetworks: readonly string[]
  /** The mail server (`parseSmtpUrl`). `null`: mails are written to files in `dataDir`; never `null` in production. */
  readonly smtpUrl: string | null
  /** `off`: the mail server may offer no TLS. */
  readonly smtpTls: 'on' | 'off'
  /** The sender of mails (`parseMailbox`); never `null` when there is an `smtpUrl`. */
  readonly mailFrom: string | null
}

/**
 * Turns environment variables into settings. An empty variable counts as unset.
 *
 * @throws ConfigError for the first setting that is invalid or missing.
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const appEnv = readChoice(env, 'APP_ENV', { choices: APP_ENVS, fallback: 'local' })
  const production = appEnv === 'production'

  const databaseUrl = readDatabaseUrl(env)
  if (production && databaseUrl === null) {
    throw new ConfigError(
      'DATABASE_URL is required when APP_ENV is production; set it to postgres://user:password@host:5432/database.',
    )
  }
  const secretsKey = readSecret(env, 'SECRETS_KEY', SECRETS_KEY_LENGTH_MIN)
  if (production && secretsKey === null) {
    throw new ConfigError(
      `SECRETS_KEY is required when APP_ENV is production; set it to at least ${SECRETS_KEY_LENGTH_MIN} random characters.`,
    )
  }
  const nodes = readNodes(env, databaseUrl, secretsKey)
  const rateLimits = readChoice(env, 'RATE_LIMITS', { choices: RATE_LIMITS, fallback: 'on' })
  if (production && rateLimits === 'off') {
    throw new ConfigError('RATE_LIMITS is off, which APP_ENV production does not allow; set it to on, or leave it out.')
  }

  const webhookTargets = readChoice(env, 'WEBHOOK_TARGETS', { choices: WEBHOOK_TARGETS, fallback: 'public' })
  if (webhookTargets === 'any' && appEnv !== 'local') {
    throw new ConfigError(
      `WEBHOOK_TARGETS is any, which APP_ENV ${appEnv} does not allow; set it to public, or leave it out.`,
    )
  }

  const publicUrl =
    read(env, 'PUBLIC_URL') === null ? null : readOrigin('PUBLIC_URL', read(env, 'PUBLIC_URL') as string)
  const consoleOrigins = readList(env, 'CONSOLE_ORIGINS').map((text) => readOrigin('CONSOLE_ORIGINS', text))

  return {
    ...readMailSettings(env, production),
    appEnv,
    // Only `local` listens on loopback by default: a developer's machine should not be reachable from the network.
    host: read(env, 'HOST') ?? (appEnv === 'local' ? '127.0.0.1' : '0.0.0.0'),
    port: readInteger(env, 'PORT', { min: 0, max: 65_535, fallback: 3000 }),
    dataDir: resolve(read(env, 'DATA_DIR') ?? '.data'),
    databaseUrl,
    problemBase: readProblemBase(env),
    logLevel: readChoice(env, 'LOG_LEVEL', { choices: LOG_LEVELS, fallback: 'info' }),
    databasePool: readInteger(env, 'DATABASE_POOL', {
      min: DATABASE_POOL_MIN,
      max: DATABASE_POOL_MAX,
      // More than the reads of one event loop can keep busy; commits have connections of their own.
      fallback: 8,
    }),
    commitLanes: readInteger(env, 'COMMIT_LANES', { min: 1, max: COMMIT_LANES_MAX, fallback: 1 }),
    secretsKey,
    ...nodes,
    leases: readChoice(env, 'LEASES', { choices: LEASES, fallback: 'on' }),
    metricsPort: readMetricsPort(env),
    nodeId: readNodeId(env),
    worker: null,
    sandbox: !production,
    publicUrl,
    consoleOrigins,
    webauthnRpId: readRpId(env, publicUrl === null ? consoleOrigins : [publicUrl, ...consoleOrigins]),
    trustedProxies: readNetworks(env, 'TRUSTED_PROXIES'),
    rateLimits,
    requestLogFlushMs: readInteger(env, 'API_REQUEST_LOG_FLUSH_MS', {
      min: 10,
      max: REQUEST_LOG_FLUSH_MAX_MS,
      fallback: 5_000,
    }),
    webhookTargets,
    providerFilesRoot: readPath(env, 'PROVIDER_FILES_ROOT'),
    providerNetworks: readNetworks(env, 'PROVIDER_NETWORKS'),
    bankDirectory: readPath(env, 'BANK_DIRECTORY'),
    ukModulusDir: readPath(env, 'UK_MODULUS_DIR'),
  }
}

/** Reads how nodes meet and reach one another. */
function readNodes(
  env: NodeJS.ProcessEnv,
  databaseUrl: string | null,
  secretsKey: string | null,
): Pick<Config, 'redisUrl' | 'nodeUrl' | 'nodeSecret' | 'workers'> {
  const redisUrl = readRedisUrl(env)
  const nodeUrl = readNodeUrl(env)
  const nodeSecret = readSecret(env, 'NODE_SECRET', NODE_SECRET_LENGTH_MIN)
  const workers = readWorkers(env)
  const needed = (name: string, value: string | null, use: string): void => {
    if (redisUrl !== null && value === null)
      throw new ConfigError(`${name} is required when REDIS_URL is set; set it to ${use}.`)
  }
  const random = (lengthMin: number) => `at least ${lengthMin} random characters, the same on every node`
  needed('NODE_URL', nodeUrl, 'the address where the other nodes reach this one, like http://10.0.0.1:3000')
  needed('NODE_SECRET', nodeSecret, random(NODE_SECRET_LENGTH_MIN))
  // Data that all nodes share must not stand in a directory of one node.
  needed('DATABASE_URL', databaseUrl, 'the Postgres that all nodes share')
  needed('SECRETS_KEY', secretsKey, random(SECRETS_KEY_LENGTH_MIN))
  if (redisUrl === null && workers !== 1)
    throw new ConfigError(
      `REDIS_URL is required when WORKERS is ${workers}, because workers are nodes that meet in a Redis; set it to redis://host:6379, or leave WORKERS out.`,
    )
  return { redisUrl, nodeUrl, nodeSecret, workers }
}

function readMetricsPort(env: NodeJS.ProcessEnv): number | null {
  if (read(env, 'METRICS_PORT') === null) return null
  return readInteger(env, 'METRICS_PORT', { min: 0, max: 65_535, fallback: 0 })
}

function readMailSettings(
  env: NodeJS.ProcessEnv,
  production: boolean,
): Pick<Config, 'smtpUrl' | 'smtpTls' | 'mailFrom'> {
  const smtpUrl = read(env, 'SMTP_URL')
  if (smtpUrl === null && production) {
    throw new ConfigError(
      'SMTP_URL is required when APP_ENV is production; set it to smtp://user:password@host:587, or smtps:// for TLS from the start.',
    )
  }
  if (smtpUrl !== null && parseSmtpUrl(smtpUrl) === null) {
    throw new ConfigError(
      'SMTP_URL is not the address of a mail server; set it to smtp://user:password@host:587, or smtps:// for TLS from the start.',
    )
  }
  const mailFrom = read(env, 'MAIL_FROM')
  if (smtpUrl !== null && mailFrom === null) {
    throw new ConfigError(
      'MAIL_FROM is required when SMTP_URL is set; set it to the sender of mails, like Bank <no-reply@bank.example>.',
    )
  }
  if (mailFrom !== null && parseMailbox(mailFrom) === null) {
    throw new ConfigError(
      `MAIL_FROM is "${mailFrom}"; set it to the sender of mails, like Bank <no-reply@bank.example>.`,
    )
  }
  return { smtpUrl, smtpTls: readChoice(env, 'SMTP_TLS', { choices: SMTP_TLS, fallback: 'on' }), mailFrom }
}

function readNetworks(env: NodeJS.ProcessEnv, name: string): string[] {
  const entries = readList(env, name)
  if (!entries.every(isAllowlistEntry)) {
    throw new ConfigError(
      `${name} is not usable; set it to addresses and CIDR blocks separated by commas, like 10.0.0.0/8, or leave it out.`,
    )
  }
  return entries
}

function readWorkers(env: NodeJS.ProcessEnv): Workers {
  const value = read(env, 'WORKERS') ?? '1'
  const workers = parseWorkers(value)
  if (workers === null)
    throw new ConfigError(`WORKERS is "${value}"; set it to auto, or to a whole number from 1 to 64.`)
  return workers
}

function readDatabaseUrl(env: NodeJS.ProcessEnv): string | null {
  const value = read(env, 'DATABASE_URL')
  if (value === null) return null
  const url = URL.canParse(value) ? new URL(value) : null
  const usable = url !== null && /^postgres(ql)?:$/.test(url.protocol) && url.hostname !== '' && url.pathname.length > 1
  if (!usable) {
    throw new ConfigError(
      'DATABASE_URL is not the address of a Postgres database; set it to postgres://user:password@host:5432/database.',
    )
  }
  return value
}

function readProblemBase(env: NodeJS.ProcessEnv): string {
  const value = read(env, 'PROBLEM_BASE') ?? 'https://docs.vostro.example/problems'
  const url = URL.canParse(value) ? new URL(value) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new ConfigError(`PROBLEM_BASE is "${value}"; set it to an http or https address without a query.`)
  }
  return value.replace(/\/+$/, '')
}

function readOrigin(name: string, value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.href !== `${url.origin}/`) {
    throw new ConfigError(
      `${name} has "${value}"; set it to an http or https address without a path, like https://api.example.com.`,
    )
  }
  return url.origin
}

/** Pages can use the credentials of their own domain and of those above it. */
function readRpId(env: NodeJS.ProcessEnv, origins: readonly string[]): string | null {
  const value = read(env, 'WEBAUTHN_RP_ID')
  if (value !== null && !origins.some((origin) => isWithinDomain(value, origin))) {
    throw new ConfigError(
      `WEBAUTHN_RP_ID is "${value}"; set it to the host of PUBLIC_URL or CONSOLE_ORIGINS, or to a domain above it, like example.com.`,
    )
  }
  return value
}

function readRedisUrl(env: NodeJS.ProcessEnv): string | null {
  const value = read(env, 'REDIS_URL')
  if (value !== null && parseRedisUrl(value) === null) {
    throw new ConfigError(
      'REDIS_URL is not the address of a Redis; set it to redis://host:6379, redis+sentinel://host:26379,host:26379/name or redis+cluster://host:6379,host:6379 (rediss for TLS).',
    )
  }
  return value
}

function readNodeUrl(env: NodeJS.ProcessEnv): string | null {
  const value = read(env, 'NODE_URL')
  if (value === null) return null
  const url = URL.canParse(value) ? new URL(value) : null
  // The other nodes append the path of the request they forward; credentials would end up in their logs.
  const usable =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    url.href === `${url.origin}/`
  if (!usable)
    throw new ConfigError(
      'NODE_URL is not usable; set it to an http or https address without a path, like http://10.0.0.1:3000.',
    )
  return url.origin
}

function readNodeId(env: NodeJS.ProcessEnv): string | null {
  const value = read(env, 'NODE_ID')
  if (value !== null && !/^[\w.:-]{1,64}$/.test(value)) {
    throw new ConfigError(
      `NODE_ID is "${value}"; set it to 1 to 64 letters, digits, dots, colons, hyphens and underscores.`,
    )
  }
  return value
}

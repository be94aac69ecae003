/**
 * The settings, read once at start. A wrong one stops the start with a sentence that names it and says what to do;
 * the value of a secret never appears in such a sentence.
 */
import { resolve } from 'node:path'

import { StartError } from './errors.ts'

const APP_ENVS = ['local', 'staging', 'production'] as const
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** 32 characters of a random key are at least 128 bits even when it is written in hexadecimal. */
const SECRETS_KEY_LENGTH_MIN = 32

/** More lanes than this only queue behind one another in one Postgres; two are the measured optimum on two cores. */
const COMMIT_LANES_MAX = 8

export type AppEnv = (typeof APP_ENVS)[number]
export type LogLevel = (typeof LOG_LEVELS)[number]

export interface Config {
  readonly appEnv: AppEnv
  readonly host: string
  /** 0 lets the system choose a free port. */
  readonly port: number
  /** Absolute. */
  readonly dataDir: string
  /** `null`: run the embedded Postgres in `dataDir`. */
  readonly databaseUrl: string | null
  /** The address problem types hang under, without a slash at the end. */
  readonly problemBase: string
  readonly logLevel: LogLevel
  /** How many transactions may commit at the same time. */
  readonly commitLanes: number
  /** `null`: the service makes one and keeps it in `dataDir`; never `null` in production. */
  readonly secretsKey: string | null
  /** Whether simulations and seeded data exist: everywhere but in production. */
  readonly sandbox: boolean
}

/** A setting that cannot be used. The message is one sentence that names the variable and what to set it to. */
export class ConfigError extends StartError {
  override readonly name = 'ConfigError'
}

/**
 * Turns environment variables into settings. An empty variable counts as unset.
 *
 * @throws ConfigError for the first setting that is wrong or missing.
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const appEnv = readChoice(env, 'APP_ENV', { choices: APP_ENVS, fallback: 'local' })
  const production = appEnv === 'production'

  const databaseUrl = readDatabaseUrl(env)
  if (production && databaseUrl === null) {
    throw new ConfigError(
      'DATABASE_URL is required when APP_ENV is production; set it to postgres://user:password@host:5432/database.'
    )
  }
  const secretsKey = readSecretsKey(env)
  if (production && secretsKey === null) {
    throw new ConfigError(
      `SECRETS_KEY is required when APP_ENV is production; set it to at least ${SECRETS_KEY_LENGTH_MIN} random characters.`
    )
  }

  return {
    appEnv,
    // A laptop is not a server: only `local` hides from the network by itself.
    host: read(env, 'HOST') ?? (appEnv === 'local' ? '127.0.0.1' : '0.0.0.0'),
    port: readInteger(env, 'PORT', { min: 0, max: 65_535, fallback: 3000 }),
    dataDir: resolve(read(env, 'DATA_DIR') ?? '.data'),
    databaseUrl,
    problemBase: readProblemBase(env),
    logLevel: readChoice(env, 'LOG_LEVEL', { choices: LOG_LEVELS, fallback: 'info' }),
    commitLanes: readInteger(env, 'COMMIT_LANES', { min: 1, max: COMMIT_LANES_MAX, fallback: 2 }),
    secretsKey,
    sandbox: !production,
  }
}

function read(env: NodeJS.ProcessEnv, name: string): string | null {
  const value = env[name]?.trim()
  return value === undefined || value === '' ? null : value
}

function readChoice<T extends string>(
  env: NodeJS.ProcessEnv,
  name: string,
  options: { readonly choices: readonly T[]; readonly fallback: T }
): T {
  const value = read(env, name)
  if (value === null) return options.fallback
  const choice = options.choices.find(candidate => candidate === value)
  if (choice === undefined) throw new ConfigError(`${name} is "${value}"; set it to one of ${options.choices.join(', ')}.`)
  return choice
}

function readInteger(
  env: NodeJS.ProcessEnv,
  name: string,
  options: { readonly min: number; readonly max: number; readonly fallback: number }
): number {
  const value = read(env, name)
  if (value === null) return options.fallback
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
  if (!(number >= options.min && number <= options.max)) {
    throw new ConfigError(`${name} is "${value}"; set it to a whole number from ${options.min} to ${options.max}.`)
  }
  return number
}

function readDatabaseUrl(env: NodeJS.ProcessEnv): string | null {
  const value = read(env, 'DATABASE_URL')
  if (value === null) return null
  const url = URL.canParse(value) ? new URL(value) : null
  const usable =
    url !== null && /^postgres(ql)?:$/.test(url.protocol) && url.hostname !== '' && url.pathname.length > 1
  if (!usable) {
    throw new ConfigError(
      'DATABASE_URL is not the address of a Postgres database; set it to postgres://user:password@host:5432/database.'
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

function readSecretsKey(env: NodeJS.ProcessEnv): string | null {
  const value = read(env, 'SECRETS_KEY')
  if (value !== null && value.length < SECRETS_KEY_LENGTH_MIN) {
    throw new ConfigError(
      `SECRETS_KEY has ${value.length} characters; set it to at least ${SECRETS_KEY_LENGTH_MIN} random characters.`
    )
  }
  return value
}

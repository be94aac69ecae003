import { isAbsolute } from 'node:path'

import t from 'tap'

import { ConfigError, readConfig } from '../../lib/config.ts'
import { StartError } from '../../lib/errors.ts'

const KEY = 'k'.repeat(32)
const DATABASE = 'postgres://someone:s3cret@db.example:5432/vostro'

t.test('an empty environment is a local sandbox', async t => {
  const { dataDir, ...config } = readConfig({})
  t.strictSame(config, {
    appEnv: 'local',
    host: '127.0.0.1',
    port: 3000,
    databaseUrl: null,
    problemBase: 'https://docs.vostro.example/problems',
    logLevel: 'info',
    commitLanes: 2,
    secretsKey: null,
    sandbox: true,
  })
  t.ok(isAbsolute(dataDir))
  t.equal(dataDir, `${process.cwd()}/.data`)
})

t.test('an empty or blank variable counts as unset', async t => {
  t.strictSame(readConfig({ PORT: '', APP_ENV: ' ', DATABASE_URL: '', SECRETS_KEY: '' }), readConfig({}))
})

t.test('production has no sandbox and keeps what it is given', async t => {
  const config = readConfig({ APP_ENV: 'production', DATABASE_URL: DATABASE, SECRETS_KEY: KEY, PORT: '0', COMMIT_LANES: '8' })
  t.match(config, { sandbox: false, host: '0.0.0.0', port: 0, commitLanes: 8, databaseUrl: DATABASE, secretsKey: KEY })
})

t.test('staging is a sandbox that the network can reach', async t => {
  t.match(readConfig({ APP_ENV: 'staging' }), { sandbox: true, host: '0.0.0.0' })
})

t.test('the base of problem types has no slash at its end', async t => {
  t.equal(readConfig({ PROBLEM_BASE: 'https://x.example/p//' }).problemBase, 'https://x.example/p')
})

const wrong: readonly (readonly [string, NodeJS.ProcessEnv])[] = [
  ['APP_ENV', { APP_ENV: 'prod' }],
  ['PORT', { PORT: '65536' }],
  ['PORT', { PORT: '-1' }],
  ['PORT', { PORT: '3000.5' }],
  ['PORT', { PORT: '0x10' }],
  ['PORT', { PORT: '1e3' }],
  ['COMMIT_LANES', { COMMIT_LANES: '0' }],
  ['COMMIT_LANES', { COMMIT_LANES: '9' }],
  ['LOG_LEVEL', { LOG_LEVEL: 'INFO' }],
  ['PROBLEM_BASE', { PROBLEM_BASE: 'docs' }],
  ['PROBLEM_BASE', { PROBLEM_BASE: 'ftp://x.example' }],
  ['PROBLEM_BASE', { PROBLEM_BASE: 'https://x.example/?a=b' }],
  ['DATABASE_URL', { DATABASE_URL: 'mysql://someone:s3cret@db.example/x' }],
  ['DATABASE_URL', { DATABASE_URL: 'postgres://someone:s3cret@db.example' }],
  ['DATABASE_URL', { DATABASE_URL: 's3cret' }],
  ['DATABASE_URL', { APP_ENV: 'production', SECRETS_KEY: KEY }],
  ['SECRETS_KEY', { APP_ENV: 'production', DATABASE_URL: DATABASE }],
  ['SECRETS_KEY', { SECRETS_KEY: 's3cret' }],
]

t.test('a wrong setting stops the start with one sentence that names it', async t => {
  for (const [name, env] of wrong) {
    const error = t.throws(() => readConfig(env), JSON.stringify(env))
    t.ok(error instanceof ConfigError && error instanceof StartError, 'is an error of the start')
    const { message } = error as Error
    t.match(message, new RegExp(`^${name} .*set it to .*\\.$`))
    t.notMatch(message, /s3cret/, 'shows no secret')
  }
})

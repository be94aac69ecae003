import { isAbsolute } from 'node:path'

import t from 'tap'

import { readConfig } from '../../../lib/config/config.ts'
import { ConfigError } from '../../../lib/config/environment.ts'
import { isLoopback, parseMailbox, parseSmtpUrl } from '../../../lib/config/mail-settings.ts'
import { parseRedisUrl } from '../../../lib/config/redis-address.ts'
import { workerCount } from '../../../lib/config/workers.ts'
import { StartError } from '../../../lib/base/errors.ts'

const KEY = 'k'.repeat(32)
const DATABASE = 'postgres://someone:s3cret@db.example:5432/vostro'
/** What production needs beside its database and its key. */
const MAIL = { SMTP_URL: 'smtps://me:s3cret@mail.example', MAIL_FROM: 'Bank <no-reply@bank.example>' }

t.test('an empty environment is a local sandbox', async (t) => {
  const { dataDir, ...config } = readConfig({})
  t.strictSame(config, {
    trustedProxies: [],
    providerFilesRoot: null,
    providerNetworks: [],
    appEnv: 'local',
    host: '127.0.0.1',
    port: 3000,
    databaseUrl: null,
    problemBase: 'https://docs.vostro.example/problems',
    logLevel: 'info',
    commitLanes: 1,
    databasePool: 8,
    secretsKey: null,
    redisUrl: null,
    nodeUrl: null,
    nodeSecret: null,
    leases: 'on',
    metricsPort: null,
    nodeId: null,
    workers: 1,
    worker: null,
    publicUrl: null,
    consoleOrigins: [],
    webauthnRpId: null,
    rateLimits: 'on',
    requestLogFlushMs: 5000,
    ukModulusDir: null,
    bankDirectory: null,
    webhookTargets: 'public',
    smtpUrl: null,
    smtpTls: 'on',
    mailFrom: null,
    sandbox: true,
  })
  t.ok(isAbsolute(dataDir))
  t.equal(dataDir, `${process.cwd()}/.data`)
})

t.test('an empty or blank variable counts as unset', async (t) => {
  t.strictSame(readConfig({ PORT: '', APP_ENV: ' ', DATABASE_URL: '', SECRETS_KEY: '' }), readConfig({}))
})

t.test('production has no sandbox and keeps what it is given', async (t) => {
  const config = readConfig({
    APP_ENV: 'production',
    DATABASE_URL: DATABASE,
    SECRETS_KEY: KEY,
    PORT: '0',
    COMMIT_LANES: '8',
    ...MAIL,
  })
  t.match(config, {
    smtpUrl: MAIL.SMTP_URL,
    smtpTls: 'on',
    mailFrom: MAIL.MAIL_FROM,
    sandbox: false,
    host: '0.0.0.0',
    port: 0,
    commitLanes: 8,
    databaseUrl: DATABASE,
    secretsKey: KEY,
  })
})

t.test('staging is a sandbox that the network can reach', async (t) => {
  t.match(readConfig({ APP_ENV: 'staging' }), { sandbox: true, host: '0.0.0.0' })
})

t.test('the base of problem types has no slash at its end', async (t) => {
  t.equal(readConfig({ PROBLEM_BASE: 'https://x.example/p//' }).problemBase, 'https://x.example/p')
})

t.test('several nodes need a Redis, an address and a secret', async (t) => {
  const config = readConfig({
    REDIS_URL: 'rediss+cluster://a,b:7000',
    NODE_URL: 'HTTP://Node-1.example:80/',
    NODE_SECRET: KEY,
    DATABASE_URL: DATABASE,
    SECRETS_KEY: KEY,
    LEASES: 'off',
    METRICS_PORT: '0',
    NODE_ID: 'node-1',
  })
  t.match(config, {
    redisUrl: 'rediss+cluster://a,b:7000',
    nodeUrl: 'http://node-1.example',
    nodeSecret: KEY,
    leases: 'off',
    metricsPort: 0,
    nodeId: 'node-1',
  })
})

t.test('several workers are nodes, and need what nodes need', async (t) => {
  const node = { REDIS_URL: 'redis://a', DATABASE_URL: DATABASE, SECRETS_KEY: KEY, NODE_SECRET: KEY }
  const shared = { ...node, NODE_URL: 'http://node.example:3000' }
  t.equal(readConfig({ ...shared, WORKERS: '64' }).workers, 64)
  t.equal(readConfig({ WORKERS: '1' }).workers, 1, 'one needs nothing')
  const { workers } = readConfig({ ...shared, WORKERS: 'auto' })
  t.strictSame(
    [workerCount(workers, 8), workerCount(workers, 96), workerCount(workers, 0), workerCount(3, 8)],
    [8, 64, 1, 3],
  )
  t.throws(() => readConfig({ ...node, WORKERS: '2' }), { message: /^NODE_URL is required/ })
})

t.test('the address of a Redis says its kind, its hosts and its credentials', async (t) => {
  const none = { tls: false, username: null, password: null }
  t.strictSame(parseRedisUrl('redis://localhost'), {
    ...none,
    kind: 'single',
    hosts: [{ host: 'localhost', port: 6379 }],
    database: 0,
  })
  t.strictSame(parseRedisUrl('rediss://me:p%40ss@[::1]:7000/3'), {
    kind: 'single',
    hosts: [{ host: '::1', port: 7000 }],
    tls: true,
    username: 'me',
    password: 'p@ss',
    database: 3,
  })
  t.strictSame(parseRedisUrl('redis+sentinel://:pass@s1,s2:5000/bank'), {
    kind: 'sentinel',
    hosts: [
      { host: 's1', port: 26379 },
      { host: 's2', port: 5000 },
    ],
    tls: false,
    username: null,
    password: 'pass',
    name: 'bank',
  })
  t.strictSame(parseRedisUrl('rediss+cluster://10.0.0.1:7001,10.0.0.2:7002'), {
    ...none,
    kind: 'cluster',
    hosts: [
      { host: '10.0.0.1', port: 7001 },
      { host: '10.0.0.2', port: 7002 },
    ],
    tls: true,
    database: 0,
  })
})

t.test('the address of a mail server says its port, its encryption and its credentials', async (t) => {
  const open = { user: null, password: null }
  t.strictSame(parseSmtpUrl('smtp://mail.example'), { ...open, host: 'mail.example', port: 587, secure: false })
  t.strictSame(parseSmtpUrl('smtps://[::1]/'), { ...open, host: '::1', port: 465, secure: true })
  t.strictSame(parseSmtpUrl('smtp://me%40bank.example:p%40ss@mail.example:2525'), {
    host: 'mail.example',
    port: 2525,
    secure: false,
    user: 'me@bank.example',
    password: 'p@ss',
  })
  t.strictSame(
    ['localhost', '127.0.0.1', '127.1.2.3', '::1', '0.0.0.0', '127.evil.example', 'mail.example'].map(isLoopback),
    [true, true, true, true, false, false, false],
  )
})

t.test('the sender of mails is an address, with a name or without', async (t) => {
  t.strictSame(parseMailbox('no-reply@bank.example'), { name: null, address: 'no-reply@bank.example' })
  t.strictSame(parseMailbox(' Bank & Söhne <no-reply@bank.example> '), {
    name: 'Bank & Söhne',
    address: 'no-reply@bank.example',
  })
  t.strictSame(parseMailbox('"Bank" <no-reply@bank.example>'), { name: 'Bank', address: 'no-reply@bank.example' })
})

const NODE = { NODE_URL: 'http://node.example:3000', NODE_SECRET: KEY }

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
  ...[
    'http://s3cret',
    'redis://',
    'redis:///0',
    'redis://me:s3cret@a,b',
    'redis://a:99999',
    'redis://a:0',
    'redis://a/x',
    'redis://a/0/1',
    'redis://me:%zz-s3cret@a',
    'redis+sentinel://a:1,b:2',
    'redis+sentinel://a,,b/name',
    'redis+cluster://a/1',
    'redis+proxy://a',
  ].map((url): [string, NodeJS.ProcessEnv] => ['REDIS_URL', { ...NODE, REDIS_URL: url }]),
  ['NODE_URL', { REDIS_URL: 'redis://a', NODE_SECRET: KEY }],
  ['NODE_URL', { NODE_URL: 'node.example:3000' }],
  ['NODE_URL', { NODE_URL: 'http://node.example/path' }],
  ['NODE_URL', { NODE_URL: 'http://node.example/?a=b' }],
  ['NODE_URL', { NODE_URL: 'http://me:s3cret@node.example' }],
  ['DATABASE_URL', { ...NODE, REDIS_URL: 'redis://a', SECRETS_KEY: KEY }],
  ['SECRETS_KEY', { ...NODE, REDIS_URL: 'redis://a', DATABASE_URL: DATABASE }],
  ['NODE_SECRET', { REDIS_URL: 'redis://a', NODE_URL: 'http://node.example' }],
  ['NODE_SECRET', { NODE_SECRET: 's3cret' }],
  ['SMTP_URL', { APP_ENV: 'production', DATABASE_URL: DATABASE, SECRETS_KEY: KEY, MAIL_FROM: MAIL.MAIL_FROM }],
  ['MAIL_FROM', { APP_ENV: 'production', DATABASE_URL: DATABASE, SECRETS_KEY: KEY, SMTP_URL: MAIL.SMTP_URL }],
  ['MAIL_FROM', { SMTP_URL: 'smtp://localhost' }],
  ...[
    's3cret',
    'smtp://',
    'http://me:s3cret@mail.example',
    'smtp://me:s3cret@mail.example/path',
    'smtp://me:s3cret@mail.example?pool=true',
    'smtp://me:%zz-s3cret@mail.example',
    'smtp://:s3cret@mail.example',
    'smtp://mail.example:99999',
  ].map((url): [string, NodeJS.ProcessEnv] => ['SMTP_URL', { ...MAIL, SMTP_URL: url }]),
  ...['nobody', 'Bank <nobody>', 'a@b.example, c@d.example', 'Bank\r\nBcc: x <a@b.example>', 'a@b.example>'].map(
    (from): [string, NodeJS.ProcessEnv] => ['MAIL_FROM', { ...MAIL, MAIL_FROM: from }],
  ),
  ['SMTP_TLS', { ...MAIL, SMTP_TLS: 'maybe' }],
  ['LEASES', { LEASES: 'maybe' }],
  ['METRICS_PORT', { METRICS_PORT: '65536' }],
  ['DATABASE_POOL', { DATABASE_POOL: '1' }],
  ['NODE_ID', { NODE_ID: 'a b' }],
  ...['0', '65', '-1', '2.5', 'all', '1e1'].map((count): [string, NodeJS.ProcessEnv] => [
    'WORKERS',
    { WORKERS: count },
  ]),
  ...['2', 'auto'].map((count): [string, NodeJS.ProcessEnv] => [
    'REDIS_URL',
    { WORKERS: count, DATABASE_URL: DATABASE },
  ]),
  ['NODE_ID', { NODE_ID: 'n'.repeat(65) }],
  ['PROVIDER_NETWORKS', { PROVIDER_NETWORKS: 'bank.internal' }],
]

t.test('a wrong setting stops the start with one sentence that names it', async (t) => {
  for (const [name, env] of wrong) {
    const error = t.throws(() => readConfig(env), JSON.stringify(env))
    t.ok(error instanceof ConfigError && error instanceof StartError, 'is an error of the start')
    const { message } = error as Error
    t.match(message, new RegExp(`^${name} [^]*set it to .*\\.$`))
    t.notMatch(message, /s3cret/, 'shows no secret')
  }
})

t.test('the places of files of banks', async (t) => {
  t.match(readConfig({}), { providerFilesRoot: null, providerNetworks: [] })
  const set = readConfig({ PROVIDER_FILES_ROOT: '/srv/../srv/files', PROVIDER_NETWORKS: '10.1.0.0/16, 192.0.2.7' })
  t.match(set, { providerFilesRoot: '/srv/files', providerNetworks: ['10.1.0.0/16', '192.0.2.7'] })
})

t.test("webhooks go anywhere on a developer's own machine only", async (t) => {
  t.equal(readConfig({ WEBHOOK_TARGETS: 'any' }).webhookTargets, 'any')
  t.throws(() => readConfig({ WEBHOOK_TARGETS: 'any', APP_ENV: 'staging' }), ConfigError)
  t.throws(
    () =>
      readConfig({ WEBHOOK_TARGETS: 'any', APP_ENV: 'production', DATABASE_URL: DATABASE, SECRETS_KEY: KEY, ...MAIL }),
    { message: /WEBHOOK_TARGETS/ },
  )
  t.throws(() => readConfig({ WEBHOOK_TARGETS: 'private' }), { message: /public, any/ })
})

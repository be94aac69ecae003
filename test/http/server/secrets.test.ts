import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { ApiKeyView } from '../../../lib/identity/api-key-schema.ts'
import { mailsIn } from '../../support/mails.ts'
import { createDataDir, startNode } from '../../support/node-process.ts'
import { Person, type Login, type Opened } from '../../support/person.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

const NEXT = 'four words that nobody else has'

interface SandboxFile {
  readonly baseUrl: string
  readonly operator: {
    readonly id: string
    readonly apiKey: string
    readonly staff: readonly (Login & { readonly role: string })[]
  }
  readonly customer: {
    readonly id: string
    readonly apiKey: string
    readonly members: Readonly<Record<'owner' | 'approver' | 'preparer', Login>>
  }
}

t.test(
  'everybody in sandbox.json can sign in, and nothing that authenticates anybody is logged, not even at trace',
  async (t) => {
    await using database = await createTestDatabase()
    await using dataDir = await createDataDir()
    // Not local, where mails are shown on the developer's screen.
    await using node = await startNode(dataDir.path, {
      APP_ENV: 'staging',
      DATABASE_URL: database.url,
      LOG_LEVEL: 'trace',
      SECRETS_KEY: 'a secret that is in no log whatever happens',
      RATE_LIMITS: 'off',
    })
    const sandbox = JSON.parse(await readFile(join(dataDir.path, 'sandbox.json'), 'utf8')) as SandboxFile
    const secrets: string[] = [
      'a secret that is in no log whatever happens',
      sandbox.customer.apiKey,
      sandbox.operator.apiKey,
      NEXT,
    ]
    const person = (login: Login, tenantId: string) =>
      new Person({ url: () => node.url, login, tenantId, now: Date.now })

    t.ok(sandbox.operator.staff.length >= 2, 'two-person rules need two of the staff')
    t.strictSame(Object.keys(sandbox.customer.members).sort(), ['approver', 'owner', 'preparer'])
    const everybody = [
      ...sandbox.operator.staff.map((login) => ({ login, tenantId: sandbox.operator.id, role: login.role })),
      ...Object.entries(sandbox.customer.members).map(([role, login]) => ({
        login,
        tenantId: sandbox.customer.id,
        role,
      })),
    ]
    for (const { login, tenantId, role } of everybody) {
      const one = await person(login, tenantId).signIn()
      t.match(
        (await one.get('/sessions/current')).body,
        { status: 'active', user: { email: login.email }, memberships: [{ tenantId, role }] },
        login.email,
      )
      secrets.push(login.password, login.totpSecret, one.token, one.csrf)
    }

    const owner = await person(sandbox.customer.members.owner, sandbox.customer.id).signIn()
    await owner.password('a wrong password that was typed')
    secrets.push('a wrong password that was typed')
    const before = owner.token
    await owner.stepUp('api_key.create')
    const made = (
      await owner.post<ApiKeyView & { secret: string }>('/api-keys', {
        name: 'Key',
        environment: 'test',
        scopes: ['payments:read'],
      })
    ).body
    await owner.post('/api-keys', { name: made.secret, secret: made.secret })
    await owner.send('GET', '/payments', undefined, {}, made.secret)
    await owner.send('GET', `/payments?nonsense=${made.secret}`)
    await owner.send('GET', '/payments', undefined, {}, `${made.secret.slice(0, -1)}_`)
    await owner.browser('POST', '/sessions/current/refresh', undefined, { 'x-csrf-token': 'a token that is wrong' })
    await owner.stepUp('settings.change')
    const factor = (await owner.post<{ secret: string }>('/users/me/mfa-factors', { kind: 'totp' })).body
    const refreshed = (await owner.post<Opened>('/sessions/current/refresh')).body
    owner.token = refreshed.token
    await owner.post('/users/me/password', { currentPassword: owner.login.password, newPassword: NEXT })
    await owner.send('POST', '/password-resets', { email: owner.login.email }, {}, null)
    const token = await until('the mail is written', async () => {
      return (await mailsIn(dataDir.path))
        .map((mail) => /password-resets\/([A-Za-z0-9_-]{43})/.exec(mail)?.[1])
        .find((found) => found !== undefined)
    })
    await owner.send('POST', `/password-resets/${token}`, { password: 'short' }, {}, null)
    secrets.push(before, made.secret, factor.secret, refreshed.token, refreshed.csrfToken, token)

    // A client that breaks off and one that speaks nonsense are logged, or not, without what they sent.
    await fetch(`${node.url}/v1/payments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${made.secret}`, 'content-type': 'application/json' },
      body: `{"secret":"${made.secret}"`,
    })
    node.kill('SIGTERM')
    t.equal((await node.ended).code, 0)
    const said = node.stdout + node.stderr
    t.ok(said.length > 0)
    for (const secret of secrets) {
      // The greeting of a sandbox shows the customer's own key, once, on purpose: it is the command to paste.
      const lines = said
        .split('\n')
        .filter(
          (line) => line.includes(secret) && !line.includes(`-H 'Authorization: Bearer ${sandbox.customer.apiKey}'`),
        )
      t.strictSame(lines, [], `nothing is said of ${secret.slice(0, 8)}…`)
    }
    t.notMatch(said, /"level":(50|60)/, 'and none of it was an error')
  },
)

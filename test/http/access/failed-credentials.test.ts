import { randomBytes } from 'node:crypto'
import t from 'tap'

import { generateSessionToken } from '../../../lib/identity/session.ts'
import { generateApiKey } from '../../../lib/identity/api-key.ts'
import { RateLimits } from '../../../http/access/rate-limits.ts'
import type { RateCounters } from '../../../lib/security/rate-counters.ts'
import { until } from '../../support/until.ts'
import { fakeWorld, request, startFake, type FakeWorld } from '../server/fake-world.ts'

/** Failures of one address in a minute. */
const FAILURES_MAX = 60
const HERE = '192.0.2.1'
const ELSEWHERE = '192.0.2.2'

/** A service behind a trusted proxy, so that a test may come from any address. */
async function limited(world: FakeWorld = fakeWorld(), counters: RateCounters | null = null) {
  const rateLimits = new RateLimits({ clock: world.clock, counters })
  const service = await startFake(world, { app: { rateLimits, trustedProxies: ['127.0.0.1'] } })
  const stop = async () => {
    rateLimits[Symbol.dispose]()
    await service.stop()
  }
  const withKey = (key: string, address = HERE) =>
    service.get('/v1/payments', { authorization: `Bearer ${key}`, 'x-forwarded-for': address })
  const fail = (address = HERE) => withKey(generateApiKey('test', randomBytes).secret, address)
  /** Fails until the address is over its limit. */
  const exhaust = async (address = HERE) => {
    for (let nth = 0; nth <= 2 * FAILURES_MAX; nth++) if ((await fail(address)).status === 429) return
    throw new Error('The address is still below its limit.')
  }
  return { ...service, world, withKey, fail, exhaust, stop }
}

t.test('a thousand keys that do not exist: Postgres is asked for as many as the address may fail', async (t) => {
  const service = await limited()
  t.teardown(service.stop)
  const answers: Awaited<ReturnType<typeof service.fail>>[] = []
  // A hundred at once is more than may be looked up together; a thousand sockets at once are no part of this.
  while (answers.length < 1_000) answers.push(...(await Promise.all(Array.from({ length: 100 }, () => service.fail()))))
  const statuses = new Map<number, number>()
  for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1)
  t.equal(service.world.lookUps, FAILURES_MAX)
  t.equal(statuses.get(401), FAILURES_MAX)
  t.equal((statuses.get(429) ?? 0) + (statuses.get(503) ?? 0), 1_000 - FAILURES_MAX, JSON.stringify([...statuses]))
  const refused = await service.fail()
  t.equal(refused.status, 429)
  t.ok(Number(refused.headers.get('retry-after')) >= 1)
  t.match(refused.headers.get('ratelimit'), /^"failed-credentials";r=0;t=\d+$/)
  t.match(await refused.json(), { code: 'rate-limited', violatedPolicies: ['failed-credentials'] })
  t.equal((await service.fail(ELSEWHERE)).status, 401, 'another address has a limit of its own')
  service.world.nowMs += 1_100
  t.equal((await service.fail()).status, 401, 'one a second is free again')
})

t.test('behind one address with a wrong key the right ones go on', async (t) => {
  const service = await limited()
  t.teardown(service.stop)
  t.equal((await service.withKey(service.key)).status, 200)
  await service.exhaust()
  t.equal((await service.withKey(service.key)).status, 200, 'it is remembered')
  service.world.nowMs += 1_500
  await service.exhaust()
  const before = service.world.lookUps
  t.equal((await service.withKey(service.key)).status, 200, 'it was right when it was last seen')
  t.equal(service.world.lookUps, before + 1, 'and is looked up again')
  const fresh = service.world.addKey()
  t.equal((await service.withKey(fresh)).status, 429, 'one that was never seen here cannot be told from a guess')
  t.equal((await service.withKey(fresh, ELSEWHERE)).status, 200)
  t.equal((await service.withKey(fresh)).status, 200, 'from then on it goes on everywhere')
})

t.test('a key that is revoked is a wrong one from its first failure on', async (t) => {
  const service = await limited()
  t.teardown(service.stop)
  const key = service.world.addKey()
  t.equal((await service.withKey(key)).status, 200)
  for (const [sha256, record] of service.world.keys) service.world.keys.set(sha256, { ...record, status: 'revoked' })
  service.world.nowMs += 1_500
  await service.exhaust()
  t.equal((await service.withKey(key)).status, 401)
  t.equal((await service.withKey(key)).status, 429)
})

t.test('a key that does not exist is asked for once in a while, not each time', async (t) => {
  const service = await limited()
  t.teardown(service.stop)
  const { secret } = generateApiKey('test', randomBytes)
  const before = service.world.lookUps
  for (let nth = 0; nth < 5; nth++) t.equal((await service.withKey(secret)).status, 401)
  t.equal(service.world.lookUps, before + 1)
  service.world.nowMs += 11_000
  await service.withKey(secret)
  t.equal(service.world.lookUps, before + 2)
})

t.test('keys without the right form, and sessions that are not known, count too', async (t) => {
  const world = fakeWorld()
  let sessions = 0
  Object.assign(world, {
    identity: {
      ...world.identity,
      findSession: async () => {
        sessions++
        return null
      },
    },
  })
  const service = await limited(world)
  t.teardown(service.stop)
  for (let nth = 0; nth < FAILURES_MAX; nth++) {
    const token = generateSessionToken(randomBytes)
    const headers =
      nth % 2 === 0
        ? { authorization: `Bearer ${token}` }
        : { authorization: undefined, cookie: `__Host-session=${token}` }
    t.equal((await service.get('/v1/payments', { ...headers, 'x-forwarded-for': HERE })).status, 401)
  }
  const asked = sessions
  t.equal(asked, FAILURES_MAX)
  t.equal((await service.withKey(generateSessionToken(randomBytes))).status, 429)
  t.equal((await service.withKey('nonsense')).status, 429)
  t.equal(sessions, asked)
  for (let nth = 0; nth < FAILURES_MAX; nth++) t.equal((await service.withKey('nonsense', ELSEWHERE)).status, 401)
  t.equal((await service.withKey('nonsense', ELSEWHERE)).status, 429)
})

t.test('routes come first, and who shows no credential has none that is wrong', async (t) => {
  const service = await limited()
  t.teardown(service.stop)
  for (let nth = 0; nth < 2 * FAILURES_MAX; nth++)
    await service.get('/v1/payments', { authorization: undefined, 'x-forwarded-for': HERE })
  t.equal((await service.fail()).status, 401)
  await service.exhaust()
  t.equal(
    (
      await request(`${service.origin}/v1/payments`, {
        method: 'PUT',
        headers: { authorization: 'Bearer nonsense', 'x-forwarded-for': HERE },
      })
    ).status,
    405,
  )
  t.equal((await service.get('/v1/payments', { authorization: undefined, 'x-forwarded-for': HERE })).status, 401)
})

t.test('a burst of right keys that are all new is served, each in its turn', async (t) => {
  const service = await limited()
  t.teardown(service.stop)
  const keys = Array.from({ length: 200 }, () => service.world.addKey())
  const answers = await Promise.all(keys.map((key) => service.withKey(key)))
  t.strictSame(
    answers.filter(({ status }) => status !== 200).map(({ status }) => status),
    [],
  )
})

t.test('nodes count the failures of an address together', async (t) => {
  const sums = new Map<string, number>()
  const counters: RateCounters = {
    add: async ({ policy, partition, units }) => {
      const sum = (sums.get(`${policy} ${partition}`) ?? 0) + units
      sums.set(`${policy} ${partition}`, sum)
      return sum
    },
  }
  const [one, two] = [await limited(fakeWorld(), counters), await limited(fakeWorld(), counters)]
  t.teardown(async () => {
    await one.stop()
    await two.stop()
  })
  for (let nth = 0; nth < FAILURES_MAX / 2; nth++) {
    await one.fail()
    await two.fail()
  }
  await until(
    'both have heard of the other',
    async () => (await one.withKey('nonsense')).status === 429 && (await two.withKey('nonsense')).status === 429,
  )
  t.ok(one.world.lookUps + two.world.lookUps <= FAILURES_MAX + 2)
})

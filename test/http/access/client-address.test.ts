import t from 'tap'
import { isAllowed, compileAllowlist, isAllowlistEntry } from '../../../lib/security/ip-allowlist.ts'
import { readConfig } from '../../../lib/config/config.ts'
import { ConfigError } from '../../../lib/config/environment.ts'
import { createWorld } from '../../support/world.ts'
import { fakeWorld, startFake } from '../server/fake-world.ts'

t.test('address lists take addresses and blocks of both kinds, and nothing else', (t) => {
  for (const entry of [
    '192.0.2.1',
    '192.0.2.0/24',
    '0.0.0.0/0',
    '2001:db8::1',
    '2001:db8::/32',
    '::/0',
    '::ffff:192.0.2.1',
  ])
    t.ok(isAllowlistEntry(entry), entry)
  for (const entry of [
    '',
    'example.com',
    '192.0.2.256',
    '192.0.2.0/33',
    '192.0.2.0/',
    '192.0.2.0/08',
    '192.0.2.0/24/24',
    '2001:db8::/129',
    'fe80::1%eth0',
    '192.0.2.1:80',
    ' 192.0.2.1',
    '192.0.2',
  ]) {
    t.notOk(isAllowlistEntry(entry), entry)
  }
  t.equal(compileAllowlist([]), null, 'an empty list lets everybody in')
  for (const [entry, address, allowed] of [
    ['192.0.2.0/24', '192.0.2.255', true],
    ['192.0.2.0/24', '192.0.3.0', false],
    ['192.0.2.7', '::ffff:192.0.2.7', true],
    ['0.0.0.0/0', '203.0.113.9', true],
    ['2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['::/0', '2001:db8::1', true],
    ['2001:db8::1', '2001:DB8:0:0::1', true],
    ['nonsense', '192.0.2.1', false],
  ] as const)
    t.equal(isAllowed(compileAllowlist([entry])!, address), allowed, `${entry} ${address}`)
  t.end()
})

t.test('only a load balancer that is named is believed about its client', async (t) => {
  const status = async (trustedProxies: readonly string[], forwarded: string | undefined) => {
    const world = fakeWorld()
    const service = await startFake(world, { app: { trustedProxies } })
    const key = world.addKey({ ipAllowlist: ['203.0.113.7', '2001:db8::7'] })
    const reply = await service.get('/v1/payments', { authorization: `Bearer ${key}`, 'x-forwarded-for': forwarded })
    await service.stop()
    return reply.status
  }
  t.equal(await status([], '203.0.113.7'), 403, 'nobody is believed unless named')
  t.equal(await status(['198.51.100.1'], '203.0.113.7'), 403, 'the connection is from elsewhere')
  const us = ['127.0.0.0/8', '::1']
  t.equal(await status(us, '203.0.113.7'), 200)
  t.equal(await status(us, undefined), 403, 'the balancer itself is not the client')
  t.equal(
    await status(us, '203.0.113.7, 192.0.2.66'),
    403,
    "what stands before the client's own address is the client's claim",
  )
  t.equal(await status([...us, '192.0.2.0/24'], '198.51.100.9, 203.0.113.7, 192.0.2.66'), 200, 'through two balancers')
  t.equal(await status(us, '203.0.113.7:4711'), 200)
  t.equal(await status(us, '[2001:db8::7]:4711'), 200)
  t.equal(await status(us, '203.0.113.7, nonsense'), 403)
})

t.test('the trail and the last use of a key show the client', async (t) => {
  await using world = await createWorld({ settings: { TRUSTED_PROXIES: '127.0.0.0/8, ::1' } })
  const owner = world.person('owner')
  await owner.send(
    'POST',
    '/sessions',
    { email: owner.login.email, password: owner.login.password },
    { 'x-forwarded-for': '203.0.113.7' },
    null,
  )
  t.equal((await world.query<{ address: string }>('select address from session'))[0]?.address, '203.0.113.7')
})

t.test('a list that is none stops the start', (t) => {
  t.strictSame(readConfig({ TRUSTED_PROXIES: '10.0.0.0/8, ::1' }).trustedProxies, ['10.0.0.0/8', '::1'])
  t.strictSame(readConfig({}).trustedProxies, [])
  t.throws(() => readConfig({ TRUSTED_PROXIES: 'the balancer' }), ConfigError)
  t.end()
})

/** Reads of settings and teams that only people who manage them may make. */
import t from 'tap'
import { createWorld } from '../../support/world.ts'

t.test('settings and teams are read by those who manage them; policies, limits and members by more', async (t) => {
  await using world = await createWorld()
  const base = `/customers/${world.seeded.client.tenantId}`
  const owner = await world.person('owner').signIn()
  const team = await (async () => {
    await owner.stepUp('membership.change')
    return (await owner.post<{ id: string }>(`${base}/teams`, { name: 'Treasury' })).body.id
  })()
  const address = (
    await owner.post<{ id: string }>(`${base}/settings/addresses`, {
      kind: 'operating',
      address: { line1: 'Keizersgracht 1', city: 'Amsterdam', postalCode: '1015 AA', country: 'NL' },
    })
  ).body.id
  const managed = [
    [`${base}/settings/alerts`, 'settings.manage'],
    [`${base}/settings/approved-domains`, 'settings.manage'],
    [`${base}/settings/preferences`, 'settings.manage'],
    [`${base}/settings/addresses`, 'settings.manage'],
    [`${base}/settings/addresses/${address}`, 'settings.manage'],
    [`${base}/teams`, 'members.manage'],
    [`${base}/teams/${team}`, 'members.manage'],
  ] as const
  const people = [await world.person('approver').signIn(), await world.person('preparer').signIn()]
  for (const [path, requiredCapability] of managed) {
    t.equal((await owner.get(path)).status, 200, path)
    for (const person of people)
      t.match((await person.get(path)).problem, { code: 'insufficient-scope', requiredCapability }, path)
  }
  for (const path of [`${base}/settings/approval-policies`, `${base}/settings/limits`, `${base}/memberships`])
    for (const person of people) t.equal((await person.get(path)).status, 200, path)
})

t.test('a new session and a new challenge carry a tag', async (t) => {
  await using world = await createWorld()
  const person = world.person('owner')
  const opened = await person.send(
    'POST',
    '/sessions',
    { email: person.login.email, password: person.login.password },
    {},
    null,
  )
  t.equal(opened.status, 201, opened.text)
  t.match(opened.headers.get('etag'), /^W\/"1-[0-9a-f]{12}"$/)
  await person.signIn()
  const challenge = await person.post('/step-up/challenges', { action: 'settings.change' })
  t.equal(challenge.status, 201, challenge.text)
  t.match(challenge.headers.get('etag'), /^W\/"1-[0-9a-f]{12}"$/)
})

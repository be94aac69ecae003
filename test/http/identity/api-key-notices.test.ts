/** The people who are told of a new key. */
import t from 'tap'
import type { ApiKeyView } from '../../../lib/identity/api-key-schema.ts'
import type { Notification } from '../../../lib/notices/notification-schema.ts'
import { mailsOf } from '../../support/mails.ts'
import type { Person } from '../../support/person.ts'
import { until } from '../../support/until.ts'
import { createWorld, type World } from '../../support/world.ts'

const BODY = { name: 'ERP', environment: 'test', scopes: ['payments:read'] }
const FILTER = '/notifications?filter[type]=api_key_created'

const told = async (person: Person): Promise<readonly Notification[]> =>
  (await person.get<{ data: Notification[] }>(FILTER)).body.data

/** The mails that speak of a key, when there are so many. */
async function mails(world: World, text: string, count: number): Promise<string[]> {
  return await until(`${count} mails about ${text}`, async () => {
    const found = (await mailsOf(world)).filter((mail) => mail.includes(text))
    return found.length === count && found
  })
}

t.test('those who manage the keys of a tenant, with the key or not at all', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const owner = await world.person('owner').signIn()
  const approver = await world.person('approver').signIn()
  const refused = await owner.post('/api-keys', BODY)
  t.equal(refused.status, 403)
  await owner.stepUp('api_key.create')
  t.equal((await owner.post('/api-keys', { ...BODY, scopes: ['nonsense'] })).status, 422)
  t.strictSame(await told(owner), [], 'of a key that was not made nobody hears')

  await owner.stepUp('api_key.create')
  const made = (await owner.post<ApiKeyView>('/api-keys', BODY)).body
  const [notice, ...others] = await told(owner)
  t.match(notice, {
    type: 'api_key_created',
    tenantId: owner.tenantId,
    title: 'A test API key was created',
    object: { type: 'api_key', id: made.id },
    readAt: null,
  })
  t.ok(notice?.text.includes(made.prefix))
  t.notOk(notice?.text.includes((made as ApiKeyView & { secret: string }).secret), 'never the key itself')
  t.strictSame(others, [])
  t.strictSame(await told(approver), [], 'who may not manage keys is not told')
  await mails(world, made.prefix, 1)

  await owner.stepUp('api_key.create', { type: 'api_key', id: made.id })
  const rotated = await owner.post<ApiKeyView>(`/api-keys/${made.id}/rotate`, {})
  t.equal(rotated.status, 201, rotated.text)
  t.strictSame(
    (await told(owner)).map(({ object }) => object?.id),
    [rotated.body.id, made.id],
    'a replacement is a new key',
  )
})

t.test('who does not want to hear of it does not', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const owner = await world.person('owner').signIn()
  await owner.send('PUT', '/notification-preferences', {
    mutedInApp: ['api_key_created'],
    mutedByMail: ['api_key_created'],
  })
  await owner.stepUp('api_key.create')
  const made = (await owner.post<ApiKeyView>('/api-keys', BODY)).body
  t.strictSame(await told(owner), [])
  t.equal((await world.query('select from notification where type = $1', ['api_key_created'])).length, 0)
  await owner.send('PUT', '/notification-preferences', { mutedInApp: ['api_key_created'], mutedByMail: [] })
  await owner.stepUp('api_key.create')
  const other = (await owner.post<ApiKeyView>('/api-keys', BODY)).body
  await mails(world, other.prefix, 1)
  t.strictSame(await told(owner), [])
  await mails(world, made.prefix, 0)
})

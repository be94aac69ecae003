/** A key keeps a no as it keeps a yes, also where it is optional: what was refused under it does not happen later. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createWorld } from '../../support/world.ts'
import { act, create, inDays, read } from '../scheduled-payments/support.ts'

t.test('a simulation that was not possible stays so under its key', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const { id } = (await create(world, { startDate: inDays(world, 40) })).body
  const path = `/simulations/scheduled-payments/${id}/run-now`
  await act(world, id, 'pause')
  const key = randomUUID()
  const refused = await client.post(path, undefined, key)
  t.match(refused.problem, {
    status: 409,
    code: 'simulation-not-possible',
    currentStatus: 'paused',
    instance: `/v1${path}`,
  })
  await act(world, id, 'resume')
  const again = await client.post(path, undefined, key)
  t.strictSame(
    [again.status, again.text, again.headers.get('content-type'), again.headers.get('idempotency-replayed')],
    [409, refused.text, refused.headers.get('content-type'), 'true'],
  )
  t.equal((await client.post(path, undefined, randomUUID())).status, 202, 'another key is another question')
})

t.test('a cancellation that was refused is not carried out later', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client } = world.seeded
  const { id } = (await create(world, { startDate: inDays(world, 40) })).body
  const cancel = (key: string) => client.post(`/scheduled-payments/${id}/cancel`, undefined, key)
  const [first, second] = [randomUUID(), randomUUID()]
  const done = await cancel(first)
  t.equal(done.status, 200)
  const refused = await cancel(second)
  t.match(refused.problem, { status: 409, code: 'invalid-transition', currentStatus: 'cancelled' })
  t.equal((await cancel(second)).text, refused.text)
  t.equal((await cancel(first)).text, done.text, 'and a yes stays a yes')
  t.match(await read(world, id), { status: 'cancelled' })
  const missing = randomUUID()
  const [one, other] = [
    await client.post(`/scheduled-payments/${randomUUID()}/cancel`, undefined, missing),
    await client.post(`/scheduled-payments/${randomUUID()}/cancel`, undefined, missing),
  ]
  t.strictSame(
    [one.status, other.status, other.headers.get('idempotency-replayed')],
    [404, 404, null],
    'what is not there may come',
  )
})

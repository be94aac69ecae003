import t from 'tap'
import { fakeWorld, startFake } from '../server/fake-world.ts'

t.test('where there is no sandbox nothing can be simulated, whatever the key may do', async (t) => {
  const world = fakeWorld({ sandbox: false })
  const service = await startFake(world)
  t.teardown(service.stop)
  const live = world.addKey({ environment: 'live' })
  const headers = { authorization: `Bearer ${live.replace('svc_test_', 'svc_live_')}` }
  for (const path of ['/v1/sandbox/reset', '/v1/simulations/webhook-events']) {
    const response = await service.post(path, {}, headers)
    t.equal(response.status, 404, path)
    t.match(await response.json(), { code: 'feature-disabled', feature: 'sandbox' })
  }
})

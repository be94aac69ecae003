/** Simulated reviews of the sandbox's provider, over HTTP. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { SimulationResult } from '../../../lib/contract/simulation.ts'
import { createWorld, type World } from '../../support/world.ts'
import {
  addPerson,
  bySandbox,
  caseOf,
  change,
  deliver,
  eventsOf,
  personOf,
  putCase,
  sandboxConnection,
} from './support.ts'

const simulate = (world: World, body: object, key = randomUUID()) =>
  world.seeded.client.post<SimulationResult>('/simulations/kyc', body, key)

t.test('a simulated review is applied at once, as a webhook of the provider', async (t) => {
  await using world = await createWorld()
  const customerId = world.seeded.client.tenantId
  const { id: caseId } = await caseOf(world, customerId)
  await putCase(world, customerId, 'in_review', 'in_review')
  const read = () => caseOf(world, customerId)
  const key = randomUUID()
  const retry = await simulate(world, { outcome: 'retry', moderationComment: 'Send the second page.' }, key)
  t.match(retry.body, {
    kind: 'kyc',
    status: 'applied',
    provider: 'kyc',
    providerReference: `sbx-${caseId}`,
    details: { caseId, reviewAnswer: 'red' },
  })
  t.equal(retry.status, 202)
  t.match(await read(), {
    status: 'info_requested',
    customer: 'info_required',
    questions: [{ message: 'Send the second page.', resolvedAt: null }],
  })
  const again = await simulate(world, { outcome: 'retry', moderationComment: 'Send the second page.' }, key)
  t.equal(again.text, retry.text)
  t.equal((await read()).questions.length, 1, 'the same key has its effect once')
  t.match((await simulate(world, { outcome: 'approved' })).body, { details: { reviewAnswer: 'green' } })
  t.match(await read(), { status: 'in_review', customer: 'in_review', result: { reviewAnswer: 'green' } })
  const personId = await addPerson(world, customerId, 'Jansen')
  t.equal((await simulate(world, { outcome: 'rejected', personId, rejectLabels: ['FORGERY'] })).status, 202)
  t.match(await personOf(world, personId), { status: 'red', labels: ['FORGERY'], applicantId: `sbx-${personId}` })
  t.match(await read(), { status: 'in_review', result: { reviewAnswer: 'red', rejectType: 'final' } })
  const events = await world.query<{ id: string; status: string }>('select id, status from kyc_event order by id')
  t.strictSame(
    events.map(({ status }) => status),
    ['processed', 'processed', 'processed'],
  )
  t.strictSame(retry.body.providerEventIds, [events[0]!.id])
})

t.test('a simulated review counts, though what the provider told before has a later time', async (t) => {
  await using world = await createWorld()
  const customerId = world.seeded.client.tenantId
  await putCase(world, customerId, 'in_review', 'in_review')
  await simulate(world, { outcome: 'retry' })
  await world.query(`update kyc_applicant set heard_at = heard_at + interval '3 seconds', asked_at = heard_at`)
  t.equal((await simulate(world, { outcome: 'approved' })).status, 202)
  t.match(await caseOf(world, customerId), { status: 'in_review', result: { reviewAnswer: 'green' } })
})

t.test('an approved case stays approved on green, and is looked at again on red', async (t) => {
  await using world = await createWorld()
  const customerId = world.seeded.client.tenantId
  const read = async () => {
    const { status, customer } = await caseOf(world, customerId)
    return [status, customer]
  }
  t.strictSame(await read(), ['approved', 'active'])
  await simulate(world, { outcome: 'approved' })
  t.strictSame(await read(), ['approved', 'active'])
  await simulate(world, { outcome: 'rejected' })
  t.strictSame(await read(), ['in_review', 'active'])
})

t.test('what cannot be simulated changes nothing', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const customerId = client.tenantId
  for (const [body, field] of [
    [{}, '/outcome'],
    [{ outcome: 'green' }, '/outcome'],
    [{ outcome: 'approved', personId: 'x' }, '/personId'],
    [{ outcome: 'approved', personId: randomUUID() }, '/personId'],
    [{ outcome: 'rejected', rejectLabels: [''] }, '/rejectLabels/0'],
    [{ outcome: 'rejected', more: 1 }, '/more'],
  ] as const)
    t.match((await simulate(world, body)).problem, { code: 'validation-error', errors: [{ field }] }, field)
  for (const status of ['draft', 'rejected', 'withdrawn']) {
    await putCase(world, customerId, status, 'active')
    t.match((await simulate(world, { outcome: 'approved' })).problem, {
      code: 'simulation-not-possible',
      currentStatus: status,
    })
  }
  await putCase(world, customerId, 'in_review', 'active')
  const staff = await world.person('operator_admin').signIn()
  const manual = (await staff.post<{ id: string }>('/kyc-connections', { provider: 'manual', name: 'Staff' })).body.id
  await staff.post(`/kyc-connections/${manual}/verify`)
  t.equal((await change(staff, manual, { active: true })).status, 200)
  t.match((await simulate(world, { outcome: 'approved' })).problem, {
    code: 'simulation-not-possible',
    connectionProvider: 'manual',
  })
  const owner = await world.person('owner').signIn()
  t.match((await owner.post(`/customers/${customerId}/kyb/sdk-tokens`)).problem, { code: 'invalid-transition' })
  t.strictSame(await world.query('select from kyc_event'), [])
  t.strictSame(await world.query('select from kyc_applicant'), [])
})

t.test('a partner of the sandbox may speak as its provider does, with the secret of the connection', async (t) => {
  await using world = await createWorld()
  const customerId = world.seeded.client.tenantId
  await putCase(world, customerId, 'in_review', 'in_review')
  const staff = await world.person('operator_admin').signIn()
  const owner = await world.person('owner').signIn()
  const id = await sandboxConnection(staff)
  const given = await owner.post(`/customers/${customerId}/kyb/sdk-tokens`)
  t.match([given.status, given.body], [201, { provider: 'sandbox', token: /^sbx_/ }])
  const body = JSON.stringify({
    id: 'evt_1',
    type: 'applicant.reviewed',
    occurredAt: new Date(world.now()).toISOString(),
    data: { subjectId: (await caseOf(world, customerId)).id, applicantId: 'a1', answer: 'red', rejectType: 'retry' },
  })
  for (let time = 0; time < 2; time++)
    t.equal((await deliver(world, id, body, bySandbox(body, { at: world.now() }))).status, 202)
  t.match(await eventsOf(world, id), [{ type: 'applicant.reviewed', status: 'processed' }])
  t.match(await caseOf(world, customerId), { status: 'info_requested', applicantId: 'a1' })
})

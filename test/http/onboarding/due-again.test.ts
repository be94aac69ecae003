/** What falls due again of an approved customer, over HTTP: reminders, then the capability to pay, until it is renewed. */
import t from 'tap'
import { DAY_MS, MINUTE_MS } from '../../../lib/base/clock.ts'
import type { Customer } from '../../../lib/customers/customer-schema.ts'
import type { AuditEvent } from '../../../lib/identity/audit-event-schema.ts'
import type { KybCase } from '../../../lib/onboarding/kyb-case-schema.ts'
import { patchCase, readCase, scansDone, uploadKyb } from '../../support/applicant.ts'
import type { PageBody } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'
import { eventsOf } from '../compliance/staff.ts'

/** The seeded customer, approved, with an extract of a register that expires in 45 days. */
async function expiring(world: World) {
  const owner = await world.person('owner').signIn()
  const staff = await world.person('operator_admin').signIn()
  const customer = { id: owner.tenantId, owner }
  const { client, balances, recipients } = world.seeded
  const expiresOn = new Date(world.now() + 45 * DAY_MS).toISOString().slice(0, 10)
  const upload = async (more: { expiresOn?: string } = {}) => {
    const made = await uploadKyb(world, customer, owner, { type: 'kyb_register_extract', ...more })
    if (made.status !== 201) throw new Error(made.text)
    await scansDone(world, customer)
  }
  await upload({ expiresOn })
  const { id: caseId } = (await readCase(customer, owner)).body
  return {
    owner,
    staff,
    customer,
    expiresOn,
    day: Date.parse(`${expiresOn}T00:00:00Z`),
    /** Moves the clock and signs both people in again. */
    goTo: async (moment: number) => {
      world.advanceTo(moment)
      await owner.signIn()
      await staff.signIn()
    },
    renew: () => upload(),
    pay: async () =>
      (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100)).catch(() => null))?.status,
    notices: async () => {
      const { body } = await owner.get<PageBody<{ title: string }>>('/notifications?filter[type]=kyb_review_due')
      return body.data.map(({ title }) => title)
    },
    capability: async (): Promise<KybCase['capabilities'][number]> =>
      (await readCase(customer, owner)).body.capabilities.find(({ capability }) => capability === 'send')!,
    status: async () => (await staff.get<Customer>(`/customers/${customer.id}`)).body.status,
    measure: async (name: 'restrict' | 'suspend') => {
      const { status, text } = await staff.post(`/customers/${customer.id}/${name}`, { reason: 'A hint.' })
      if (status !== 200) throw new Error(text)
    },
    /** The entries of the trail about lapses, the newest first. */
    lapses: async () =>
      (await staff.get<PageBody<AuditEvent>>(`/audit-events?filter[objectId]=${caseId}`)).body.data
        .map(({ action }) => action)
        .filter((action) => action.startsWith('kyb_case.lapse')),
  }
}

t.test('a document that has expired takes the capability to pay until it is renewed', async (t) => {
  await using world = await createWorld({ nodes: 2 })
  const { customer, expiresOn, day, goTo, renew, pay, notices, capability, status, lapses } = await expiring(world)
  const reminder = `Please upload new documents by ${expiresOn}`
  t.strictSame(await notices(), [])
  for (const [days, count] of [
    [30, 1],
    [7, 2],
  ] as const) {
    await goTo(day - days * DAY_MS + 1_000)
    await until(`reminder ${count}`, async () => (await notices()).length >= count)
    t.strictSame(
      await notices(),
      Array.from({ length: count }, () => reminder),
    )
  }
  t.equal(await pay(), 201)
  t.equal(await status(), 'active')

  await goTo(day + 1_000)
  await until('it has lapsed', async () => (await status()) === 'restricted')
  t.equal(await pay(), 403)
  t.match(await capability(), { allowed: false, problems: ['customer_restricted', 'requirements_past_due'] })
  t.equal((await notices())[0], 'You cannot make payments at present')
  await goTo(day + 3 * DAY_MS)
  t.equal(await pay(), 403)
  t.strictSame(await lapses(), ['kyb_case.lapsed'])

  await renew()
  await goTo(world.now() + MINUTE_MS)
  await until('the capability is back', async () => (await status()) === 'active')
  t.equal(await pay(), 201)
  t.match(await capability(), { allowed: true, problems: [] })
  t.strictSame(await lapses(), ['kyb_case.lapse_ended', 'kyb_case.lapsed'])
  t.equal((await notices()).length, 3)
  t.strictSame((await eventsOf(world, customer.id)).slice(-2), [
    'customer.status_changed active restricted',
    'customer.status_changed restricted active',
  ])
})

for (const [what, measures] of [
  ['before', { before: ['restrict'], during: [] }],
  ['meanwhile', { before: [], during: ['suspend', 'restrict'] }],
] as const)
  t.test(`a measure that staff take ${what} stays when the document is renewed`, async (t) => {
    await using world = await createWorld()
    const { day, goTo, renew, pay, status, measure, lapses } = await expiring(world)
    for (const name of measures.before) await measure(name)
    await goTo(day + 1_000)
    await until('it has lapsed', async () => (await lapses()).length === 1)
    t.equal(await status(), 'restricted')
    for (const name of measures.during) await measure(name)
    await renew()
    await goTo(world.now() + MINUTE_MS)
    await until('it has ended', async () => (await lapses()).length === 2)
    t.equal(await status(), 'restricted')
    t.equal(await pay(), 403)
  })

t.test('statements are made in time, and again when the day has passed', async (t) => {
  await using world = await createWorld()
  const { owner, customer, day, goTo, renew, pay, status, lapses } = await expiring(world)
  await renew()
  await world.query('update kyb_case set next_review_at = $2 where customer_id = $1', [customer.id, new Date(day)])
  const state = async () => {
    const stated = { attestations: { allDirectors: true, allOwners: true }, terms: { version: '2' } }
    const { status, text } = await patchCase(customer, owner, stated)
    if (status !== 200) throw new Error(text)
  }
  const { status: stated } = await patchCase(customer, owner, { terms: { version: '1' } })
  t.equal(stated, 200)
  await goTo(day + 1_000)
  await until('it has lapsed', async () => (await status()) === 'restricted')
  t.equal(await pay(), 403)
  await state()
  await goTo(world.now() + MINUTE_MS)
  await until('staff review it', async () => (await readCase(customer, owner)).body.status === 'in_review')
  await until('the capability is back', async () => (await status()) === 'active')
  t.equal(await pay(), 201, 'within the minute, not the day')
  t.strictSame(await lapses(), ['kyb_case.lapse_ended', 'kyb_case.lapsed'])
})

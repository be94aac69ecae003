/** An operator's settings for rails: limits of its own, and the days and cut-offs of its connections. */
import t, { type Test } from 'tap'
import type { AuditEvent } from '../../../lib/identity/audit-event-schema.ts'
import type { ConnectionCalendar, ConnectionCalendarUpdate } from '../../../lib/providers/connection-calendar-schema.ts'
import type { OperatorSettings } from '../../../lib/operators/operator-schema.ts'
import type { Payment, PaymentCheck } from '../../../lib/payments/payment-schema.ts'
import { businessDayFrom, cutOffOf, nextBusinessDay, railDate } from '../../../lib/rails/business-days.ts'
import type { PageBody } from '../../support/client.ts'
import type { Person } from '../../support/person.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'
import { create, inDays } from '../scheduled-payments/support.ts'

const limits = (person: Person, given: readonly object[]) =>
  person.send<OperatorSettings>('PATCH', '/operator/settings', { rails: { limits: given } }, { 'if-match': '*' })
const gbp = (minor: number) => ({ amountMinor: String(minor), currency: 'GBP' })

async function calendarPath(world: World): Promise<string> {
  const [row] = await world.query<{ id: string }>('select id from provider_connection')
  return `/provider-connections/${row!.id}/calendar`
}

function faults(
  t: Pick<Test, 'strictSame'>,
  reply: { readonly problem: { readonly errors?: readonly { readonly field: string; readonly code: string }[] } },
  expected: readonly (readonly [string, string])[],
): void {
  t.strictSame(
    reply.problem.errors?.map(({ field, code }) => [field, code]),
    expected,
  )
}

t.test('limits of rails', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const admin = await world.person('operator_admin').signIn()
  const body = (minor: number, requestedRail: 'faster_payments' | 'chaps' | 'bacs' | null = null) => ({
    ...paymentBody(balances.GBP, recipients.GBP, minor, 'GBP'),
    requestedRail,
  })

  await t.test('hold for every payment that is decided after they were set', async (t) => {
    // Every node has the balance and the recipient in memory.
    for (let nth = 0; nth < 4; nth++)
      t.match((await client.createPayment(body(10_000))).body, { rail: 'faster_payments' })
    const set = await limits(admin, [
      { rail: 'faster_payments', limit: gbp(9_999) },
      { rail: 'chaps', limit: null },
    ])
    t.strictSame(
      set.body.rails,
      {
        limits: [
          { rail: 'chaps', limit: null },
          { rail: 'faster_payments', limit: gbp(9_999) },
        ],
      },
      set.text,
    )
    for (let nth = 0; nth < 4; nth++)
      t.match((await client.createPayment(body(10_000))).body, { rail: 'chaps' }, 'the next rail that will do')
    t.match((await client.createPayment(body(9_999))).body, { rail: 'faster_payments' }, 'what is not above it')
    t.match((await client.createPayment(body(10_000, 'faster_payments'))).problem, {
      code: 'rail-unavailable',
      rails: [{ rail: 'faster_payments', reason: 'above_limit' }],
    })
    t.match((await client.post<PaymentCheck>('/payments/validate', body(10_000))).body, { valid: true, rail: 'chaps' })
    t.match(
      (await create(world, { ...body(10_000, 'faster_payments'), startDate: inDays(world, 10) })).problem,
      { code: 'rail-unavailable' },
      'a schedule, too',
    )
    const requirements = async () =>
      (
        await client.get<{ version: string; rails: { rail: string; limit: object | null }[] }>(
          '/recipients/requirements?currency=GBP&country=GB',
        )
      ).body
    const tight = await requirements()
    t.match(
      tight.rails.find(({ rail }) => rail === 'faster_payments'),
      { limit: gbp(9_999) },
      'as recipients are told',
    )
    t.equal((await limits(admin, [])).status, 200)
    const plain = await requirements()
    t.match(
      plain.rails.find(({ rail }) => rail === 'faster_payments'),
      { limit: gbp(100_000_000) },
    )
    t.not(plain.version, tight.version)
    for (let nth = 0; nth < 2; nth++)
      t.match((await client.createPayment(body(10_000))).body, { rail: 'faster_payments' })
  })

  await t.test('of a draft are those of its submission', async (t) => {
    const draft = (await client.post<Payment>('/payments', { ...body(10_000, 'faster_payments'), draft: true })).body
    t.equal((await limits(admin, [{ rail: 'faster_payments', limit: gbp(1) }])).status, 200)
    t.match((await client.post(`/payments/${draft.id}/submit`, {})).problem, { code: 'rail-unavailable' })
    t.equal((await limits(admin, [])).status, 200)
    t.match((await client.post(`/payments/${draft.id}/submit`, {})).body, { rail: 'faster_payments' })
  })

  await t.test('are checked, and leave a trail', async (t) => {
    faults(
      t,
      await limits(admin, [
        { rail: 'swift', limit: gbp(1) },
        { rail: 'sepa', limit: gbp(1) },
        { rail: 'bacs', limit: null },
        { rail: 'bacs', limit: null },
      ]),
      [
        ['/rails/limits/0/rail', 'not_applicable'],
        ['/rails/limits/1/limit/currency', 'currency_mismatch'],
        ['/rails/limits/3/rail', 'invalid_value'],
      ],
    )
    t.equal((await limits(admin, [{ rail: 'bacs', limit: gbp(0) }])).problem.code, 'validation-error')
    t.strictSame(
      (await admin.get<OperatorSettings>('/operator/settings')).body.rails,
      { limits: [] },
      'nothing changed',
    )
    const {
      body: { data },
    } = await admin.get<PageBody<AuditEvent>>('/audit-events?limit=1')
    t.match(data[0], {
      action: 'operator_settings.updated',
      before: { rails: { limits: [{ rail: 'faster_payments', limit: gbp(1) }] } },
      after: { rails: { limits: [] } },
    })
  })
  await world.audit()
})

t.test('days and cut-offs of a connection', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const path = await calendarPath(world)
  const set = (body: ConnectionCalendarUpdate, headers: Record<string, string> = { 'if-match': '*' }) =>
    admin.send<ConnectionCalendar>('PATCH', path, body, headers)
  const body = { ...paymentBody(balances.EUR, recipients.EUR, 5_000), requestedRail: 'sepa' as const }
  const nextDate = (date: string) => Temporal.PlainDate.from(date).add({ days: 1 }).toString()
  const saturday = (date: string) => Temporal.PlainDate.from(date).dayOfWeek === 6
  let date = nextDate(railDate('sepa', world.now()))
  while (!saturday(date)) date = nextDate(date)
  world.advance(cutOffOf('sepa', date) - world.now())
  const admin = await world.person('operator_admin').signIn()

  await t.test('count for every payment that is decided after they were set', async (t) => {
    for (let nth = 0; nth < 4; nth++)
      t.match(
        (await client.createPayment(body)).body,
        { status: 'processing', executionDate: date },
        'a sandbox keeps no calendar by itself',
      )
    const monday = businessDayFrom('sepa', date)
    t.match((await set({ realCalendar: true })).body, { realCalendar: true, cutOffs: [], closedDays: [] })
    for (let nth = 0; nth < 4; nth++)
      t.match((await client.createPayment(body)).body, { status: 'scheduled', executionDate: monday })
    const given = {
      cutOffs: [{ rail: 'sepa' as const, time: '09:00' }],
      closedDays: [{ rail: 'sepa' as const, dates: [monday] }],
    }
    t.match((await set(given)).body, { realCalendar: true, ...given }, 'what is not given stays')
    const tuesday = nextBusinessDay('sepa', monday)
    const ids = new Set<string>()
    for (let nth = 0; nth < 4; nth++) {
      const payment = (await client.createPayment(body)).body
      t.match(payment, { status: 'scheduled', executionDate: tuesday })
      ids.add(payment.id)
    }
    const due = await world.query<{ until: Date }>('select until from payment_due where payment_id = any($1)', [
      [...ids],
    ])
    t.strictSame(
      new Set(due.map(({ until }) => until.getTime())),
      new Set([cutOffOf('sepa', tuesday, { cutOffs: { sepa: '09:00' } })]),
    )
    t.match((await set({ realCalendar: false })).body, { realCalendar: false, ...given })
    t.match((await client.createPayment(body)).body, { status: 'processing', executionDate: date })
  })

  await t.test('are a document with a version, changed by those who manage connections', async (t) => {
    const before = await admin.get<ConnectionCalendar>(path)
    const etag = before.headers.get('etag')!
    t.equal((await admin.get(path, { 'if-none-match': etag })).status, 304)
    t.equal((await set({ cutOffs: [] }, {})).problem.code, 'precondition-required')
    t.equal((await set({ cutOffs: [] }, { 'if-match': etag })).status, 200)
    t.equal((await set({ cutOffs: [] }, { 'if-match': etag })).problem.code, 'precondition-failed')
    t.equal((await admin.get(path.replace(/[0-9a-f]{4}-[0-9a-f]{12}/, '8000-000000000000'))).status, 404)
    const {
      body: { data },
    } = await admin.get<PageBody<AuditEvent>>('/audit-events?limit=1')
    t.match(data[0], {
      action: 'provider_connection.calendar_updated',
      object: { type: 'provider_connection', id: before.body.connectionId },
      before: { cutOffs: [{ rail: 'sepa', time: '09:00' }] },
      after: { cutOffs: [] },
    })
    t.match(
      (
        await world
          .person('compliance')
          .signIn()
          .then((person) => person.get(path))
      ).problem,
      { status: 403, requiredCapability: 'providers.manage' },
    )
  })

  await t.test('are checked before anything changes', async (t) => {
    const before = (await admin.get(path)).text
    faults(
      t,
      await set({
        cutOffs: [
          { rail: 'sepa_instant', time: '09:00' },
          { rail: 'sepa', time: '09:00' },
          { rail: 'sepa', time: '10:00' },
        ],
      }),
      [
        ['/cutOffs/0/rail', 'not_applicable'],
        ['/cutOffs/2/rail', 'invalid_value'],
      ],
    )
    const forever = Array.from({ length: 100 }, (_, nth) =>
      Temporal.PlainDate.from('2030-01-01').add({ days: nth }).toString(),
    )
    faults(
      t,
      await set({
        closedDays: [
          { rail: 'rtp', dates: ['2030-01-02'] },
          { rail: 'sepa', dates: forever },
          { rail: 'chaps', dates: ['2999-01-01'] },
        ],
      }),
      [
        ['/closedDays/0/rail', 'not_applicable'],
        ['/closedDays/1/dates/0', 'too_far_ahead'],
        ['/closedDays/2/dates/0', 'too_far_ahead'],
      ],
    )
    t.equal((await set({ cutOffs: [{ rail: 'sepa', time: '24:00' }] })).problem.code, 'validation-error')
    t.equal((await admin.get(path)).text, before)
    await world.query(`update provider_connection set environment = 'production'`)
    faults(t, await set({ realCalendar: false }), [['/realCalendar', 'not_applicable']])
    await world.query(`update provider_connection set environment = 'sandbox'`)
  })
  await world.audit()
})

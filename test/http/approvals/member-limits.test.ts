/**
 * Limits of single members over HTTP: what they refuse, in whose name they count, and that they are exact on every
 * node.
 */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import type { LimitsWrite } from '../../../lib/customers/customer-limits-schema.ts'
import type { Member } from '../../../lib/identity/member-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { PageBody, Reply } from '../../support/client.ts'
import type { Person } from '../../support/person.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'
import { atNode } from './people.ts'

const eur = (minor: number | bigint) => ({ amountMinor: String(minor), currency: 'EUR' })
const SHARED = { SECRETS_KEY: 'a secret that both nodes share, long enough' }

/** The membership of somebody, with the tag of its version. */
async function membershipOf(owner: Person, email: string): Promise<{ path: string; etag: string; member: Member }> {
  const { body } = await owner.get<PageBody<Member>>(`/customers/${owner.tenantId}/memberships`)
  const path = `/customers/${owner.tenantId}/memberships/${body.data.find((member) => member.email === email)!.id}`
  const read = await owner.get<Member>(path)
  return { path, etag: read.headers.get('etag')!, member: read.body }
}

async function limit(owner: Person, email: string, limits: LimitsWrite | null): Promise<Reply<Member>> {
  const { path, etag } = await membershipOf(owner, email)
  return await owner.send<Member>('PATCH', path, { limits }, { 'if-match': etag })
}

/** An owner who may change members, and a preparer who may pay for five minutes. */
async function people(world: World) {
  const owner = await world.person('owner').signIn()
  await owner.stepUp('membership.change')
  const preparer = await world.person('preparer').signIn()
  await preparer.stepUp('payment.above_threshold')
  return { owner, preparer, email: preparer.login.email }
}

const payAs = (person: Person, world: World, minor: number, key: string = randomUUID()) =>
  person.post<Payment>('/payments', paymentBody(world.seeded.balances.EUR, world.seeded.recipients.EUR, minor), {
    'idempotency-key': key,
  })

t.test('a member pays out no more than they may, whatever the customer may', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, balances, recipients } = world.seeded
  const { owner, preparer, email } = await people(world)
  t.equal((await membershipOf(owner, email)).member.limits, null)
  t.equal((await payAs(preparer, world, 700)).status, 201, 'made before there was a limit')

  const set = await limit(owner, email, [{ currency: 'EUR', single: eur(5_000), daily: eur(8_000) }])
  t.strictSame(set.body.limits, [{ currency: 'EUR', single: eur(5_000), daily: eur(8_000), monthly: null }], set.text)
  t.match((await payAs(preparer, world, 5_001)).problem, {
    status: 422,
    code: 'limit-exceeded',
    limit: { kind: 'single', amount: eur(5_000), period: null, remaining: eur(5_000) },
  })
  t.equal((await payAs(preparer, world, 5_000)).status, 201)
  const key = randomUUID()
  const no = await payAs(preparer, world, 2_301, key)
  t.match(
    no.problem,
    {
      code: 'limit-exceeded',
      detail: "The member's daily limit is 80.00 EUR, of which 23.00 EUR remain.",
      limit: {
        kind: 'daily',
        amount: eur(8_000),
        period: new Date(world.now()).toISOString().slice(0, 10),
        remaining: eur(2_300),
      },
    },
    'what was paid before counts',
  )
  t.equal(
    (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 9_000))).status,
    201,
    'others are not bound by it',
  )
  const last = await payAs(preparer, world, 2_300)
  t.equal(last.status, 201, 'what remains can be paid')
  t.match((await payAs(preparer, world, 1)).problem, { limit: { remaining: eur(0) } })
  t.equal((await payAs(preparer, world, 2_301, key)).text, no.text, 'a no under its key stays one')

  t.equal((await preparer.post(`/payments/${last.body.id}/cancel`, {})).status, 200)
  t.equal((await payAs(preparer, world, 2_300)).status, 201, 'what does not leave counts no more')
  t.match((await payAs(preparer, world, 1)).problem, { limit: { remaining: eur(0) } })
  world.advance(86_400_000)
  await preparer.signIn()
  await preparer.stepUp('payment.above_threshold')
  t.equal((await payAs(preparer, world, 5_000)).status, 201, 'a day later there is another day')

  await owner.signIn()
  await owner.stepUp('membership.change')
  t.equal((await limit(owner, email, null)).body.limits, null)
  t.equal((await payAs(preparer, world, 9_000)).status, 201)
})

t.test('a draft counts for whoever set its amount, and not for whoever submits it', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, balances, recipients } = world.seeded
  const { owner, preparer, email } = await people(world)
  await limit(owner, email, [{ currency: 'EUR', daily: eur(1_000) }])
  const body = { ...paymentBody(balances.EUR, recipients.EUR, 1_001), draft: true }
  const submit = (id: string) => preparer.post(`/payments/${id}/submit`, {}, { 'idempotency-key': randomUUID() })
  t.equal((await submit((await client.createPayment(body)).body.id)).status, 200, 'the amount of a key')
  const own = (await preparer.post<Payment>('/payments', body, { 'idempotency-key': randomUUID() })).body
  t.match(
    (await client.post(`/payments/${own.id}/submit`, {}, randomUUID())).problem,
    { code: 'limit-exceeded', limit: { kind: 'daily', remaining: eur(1_000) } },
    'their own amount',
  )
  t.equal((await payAs(preparer, world, 1_000)).status, 201, 'the first was not theirs')
})

t.test('a payment for a later day counts on its day, in the name of who asked for it', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const { owner, preparer, email } = await people(world)
  await limit(owner, email, [{ currency: 'EUR', daily: eur(1_000) }])
  const date = new Date(world.now() + 4 * 86_400_000).toISOString().slice(0, 10)
  const later = async (minor: number) =>
    await preparer.post<Payment>(
      '/payments',
      { ...paymentBody(balances.EUR, recipients.EUR, minor), executionDate: date },
      { 'idempotency-key': randomUUID() },
    )
  t.match(
    (await later(1_001)).problem,
    { code: 'limit-exceeded', limit: { kind: 'daily', remaining: eur(1_000) } },
    'what no day lets pass is refused now',
  )
  const one = (await later(1_000)).body
  t.match(one, { status: 'scheduled' })
  t.equal((await payAs(preparer, world, 1_000)).status, 201, 'nothing of it counts before')
  world.advance(8 * 86_400_000)
  await client.paymentReaching(one.id, 'completed')
  t.strictSame(
    await world.query(
      `select amount from outflow o join platform_user u on u.id = o.spender_id where u.email_key = $1 and period_kind = 'day' order by period_start desc limit 1`,
      [email],
    ),
    [{ amount: '1000' }],
  )
})

t.test('who may limit whom, and what is wrong with limits', async (t) => {
  await using world = await createWorld()
  const { owner, preparer, email } = await people(world)
  const { path, etag } = await membershipOf(owner, email)
  const send = (who: Person, limits: unknown) => who.send('PATCH', path, { limits }, { 'if-match': etag })
  t.match((await send(preparer, null)).problem, { status: 403, requiredCapability: 'members.manage' })
  t.equal((await limit(owner, owner.login.email, [])).problem.code, 'invalid-transition', 'nobody limits themselves')
  for (const [limits, field, code] of [
    [[{ currency: 'XXX', daily: eur(1) }], '/limits/0/currency', 'invalid_value'],
    [
      [{ currency: 'EUR', daily: { amountMinor: '1', currency: 'GBP' } }],
      '/limits/0/daily/currency',
      'currency_mismatch',
    ],
    [[{ currency: 'EUR' }, { currency: 'EUR' }], '/limits/1/currency', 'invalid_value'],
    [[{ currency: 'EUR', daily: eur(0) }], '/limits/0/daily/amountMinor', 'too_small'],
  ] as const)
    t.match((await send(owner, limits)).problem, { status: 422, errors: [{ field, code }] }, JSON.stringify(limits))
  t.equal((await membershipOf(owner, email)).etag, etag, 'a refusal changes nothing')

  t.equal((await limit(owner, email, [{ currency: 'EUR', single: eur(1) }])).status, 200)
  const { path: again } = await membershipOf(owner, email)
  t.equal((await owner.send('DELETE', again, undefined, { 'if-match': '*' })).status, 204)
  t.strictSame(
    await world.query(
      `select limits from membership m join platform_user u on u.id = m.user_id where u.email_key = $1`,
      [email],
    ),
    [{ limits: null }],
    'whoever comes back is new',
  )
  const [trail] = await world.query<{ after: string }>(
    `select after from audit_event where action = 'membership.updated' order by id desc limit 1`,
  )
  t.match(JSON.parse(trail!.after), { limits: [{ currency: 'EUR', single: '1' }] })
})

async function atOnce(t: Test, nodes: readonly World[]): Promise<void> {
  const [world] = nodes as [World]
  const { owner, preparer, email } = await people(world)
  await limit(owner, email, [{ currency: 'EUR', daily: eur(2_000), monthly: eur(9_000) }])
  const ask = async (nth: number) => {
    const key = randomUUID()
    for (;;) {
      // A node that meets the other one's writes too often says so; the same key asks again.
      const reply = await payAs(atNode(preparer, nodes[nth % nodes.length]!), world, 150, key)
      if (reply.status !== 503) return reply
    }
  }
  const replies = await Promise.all(Array.from({ length: 40 }, (_, nth) => ask(nth)))
  t.equal(
    replies.filter(({ status }) => status === 201).length,
    13,
    '13 times 1.50 fit into 20.00, and the 14th does not',
  )
  for (const reply of replies.filter(({ status }) => status !== 201))
    t.match(reply.problem, { status: 422, code: 'limit-exceeded', limit: { kind: 'daily', remaining: eur(50) } })
  t.strictSame(
    await world.query('select period_kind, amount from outflow order by 1'),
    [
      { period_kind: 'day', amount: '1950' },
      { period_kind: 'month', amount: '1950' },
    ],
    'the customer, which has none, counts nothing',
  )
  for (const node of nodes) t.strictSame(node.errors, [])
}

t.test('forty payments of a member at once, over two nodes, are as many as fit', async (t) => {
  await using world = await createWorld({ settings: SHARED, dispatch: false })
  await using other = await createWorld({ settings: SHARED, databaseUrl: world.databaseUrl, dispatch: false })
  await atOnce(t, [world, other])
})

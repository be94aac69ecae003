import { randomUUID } from 'node:crypto'

import t from 'tap'

import type { SuspenseItem } from '../../../lib/incoming-payments/incoming-payment-schema.ts'
import type { PageBody } from '../../support/client.ts'
import { checkOneKey } from '../../support/one-key.ts'
import type { Person } from '../../support/person.ts'
import { createWorld, type World } from '../../support/world.ts'
import { money, pay, received, rowReaching, trace } from './support.ts'

const PATH = '/incoming-suspense'

async function lost(world: World, amountMinor: number): Promise<string> {
  const id = await pay(world.seeded.client, {
    balanceId: world.seeded.balances.EUR,
    amount: money(amountMinor),
    payerName: 'Lost SBX:UNALLOCATED Ltd',
    reference: 'Who knows',
  })
  await rowReaching(world, id, 'suspense', 'open')
  return id
}

const list = async (staff: Person, query = '') => (await staff.get<PageBody<SuspenseItem>>(`${PATH}${query}`)).body

t.test("money without an owner is given to one by the operator's people", async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  const other = await world.customer({ balances: [{ currency: 'EUR', amount: 0n }] })
  const id = await lost(world, 4_200)
  t.strictSame(await trace(world, id), { rules: ['L03'], events: [] })
  t.equal((await client.get(`/incoming-payments/${id}`)).problem.code, 'not-found', 'no customer sees it')
  t.equal((await client.balance(balances.EUR)).bookBalance.amountMinor, '10000000')

  const staff = await world.person('operations').signIn()
  const page = await list(staff)
  t.strictSame(
    page.data.map((item) => item.id),
    [id],
  )
  const [item] = page.data
  t.match(item, {
    status: 'open',
    reason: 'owner_unknown',
    amount: money(4_200),
    payer: { name: 'Lost SBX:UNALLOCATED Ltd' },
    reference: 'Who knows',
    customerId: null,
    balanceId: null,
    incomingPaymentId: null,
    decidedBy: null,
    decidedAt: null,
  })
  const read = await staff.get<SuspenseItem>(`${PATH}/${id}`)
  t.strictSame(read.body, item)
  t.match(read.headers.get('etag'), /^W\/"1-/)

  const post = (what: string, body: object) => staff.post<SuspenseItem>(`${PATH}/${id}/${what}`, body)
  const [theirs] = other.balanceIds as [string]
  t.match((await post('allocate', { balanceId: randomUUID() })).problem, {
    status: 422,
    errors: [{ field: '/balanceId', code: 'not_found' }],
  })
  t.match((await post('allocate', { balanceId: balances.GBP })).problem, {
    status: 422,
    errors: [{ field: '/balanceId', code: 'currency_mismatch' }],
  })
  await world.query(`update balance set status = 'closed', version = version + 1 where id = $1`, [theirs])
  t.match((await post('allocate', { balanceId: theirs })).problem, {
    status: 422,
    errors: [{ field: '/balanceId', code: 'inactive' }],
  })
  await world.query(`update balance set status = 'active', version = version + 1 where id = $1`, [theirs])
  t.strictSame(await trace(world, id), { rules: ['L03'], events: [] }, 'what is refused changes nothing')

  const allocated = await post('allocate', { balanceId: theirs, reason: 'The payer has confirmed it.' })
  t.equal(allocated.status, 200, allocated.text)
  t.match(allocated.body, {
    status: 'allocated',
    customerId: other.id,
    balanceId: theirs,
    incomingPaymentId: id,
    decisionReason: 'The payer has confirmed it.',
    decidedBy: String,
    decidedAt: /Z$/,
  })
  t.match(await received(other.client, id), {
    status: 'received',
    amount: money(4_200),
    balanceId: theirs,
    customerId: other.id,
  })
  t.equal((await other.client.balance(theirs)).availableBalance.amountMinor, '4200')
  t.strictSame(await trace(world, id), { rules: ['L03', 'L04'], events: ['incoming_payment.received'] })
  t.match((await other.client.journal(theirs))[0], {
    type: 'incoming_payment',
    direction: 'credit',
    source: { object: 'incoming_payment', id },
  })

  t.match((await post('allocate', { balanceId: theirs })).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'allocated',
  })
  t.match((await post('return', { reason: 'Too late.' })).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'allocated',
  })
  t.strictSame((await list(staff)).data, [], 'what is decided leaves the queue')
  t.strictSame(
    (await list(staff, '?filter[status]=allocated')).data.map((each) => each.id),
    [id],
  )
  const trail = await world.query<{ action: string }>('select action from audit_event where object_id = $1', [id])
  t.strictSame(trail, [{ action: 'incoming_suspense.allocated' }])
})

t.test('what nobody owns goes back', async (t) => {
  await using world = await createWorld()
  const id = await lost(world, 900)
  const staff = await world.person('operations').signIn()
  t.match((await staff.post(`${PATH}/${id}/return`, {})).problem, {
    status: 422,
    errors: [{ field: '/reason', code: 'required' }],
  })
  const returned = await staff.post<SuspenseItem>(`${PATH}/${id}/return`, { reason: 'No such customer.' })
  t.match(returned.body, {
    status: 'returned',
    returnReasonCode: 'AC01',
    decisionReason: 'No such customer.',
    customerId: null,
  })
  await rowReaching(world, id, 'return_state', 'settled')
  t.strictSame(await trace(world, id), { rules: ['L03', 'L08', 'L11'], events: [] })
  t.match((await staff.post(`${PATH}/${id}/allocate`, { balanceId: world.seeded.balances.EUR })).problem, {
    status: 409,
    code: 'invalid-transition',
  })
})

t.test('two people who decide at once do so once', async (t) => {
  await using world = await createWorld()
  const id = await lost(world, 700)
  const [one, other] = [await world.person('operations').signIn(), await world.person('operator_admin').signIn()]
  const replies = await Promise.all([
    one.post(`${PATH}/${id}/allocate`, { balanceId: world.seeded.balances.EUR }),
    other.post(`${PATH}/${id}/return`, { reason: 'Unknown.' }),
    other.post(`${PATH}/${id}/allocate`, { balanceId: world.seeded.balances.EUR }),
  ])
  t.strictSame(replies.map(({ status }) => status).sort(), [200, 409, 409])
})

t.test("only the operator's own operations see it", async (t) => {
  await using world = await createWorld()
  const id = await lost(world, 800)
  const compliance = await world.person('compliance').signIn()
  t.equal((await compliance.get(PATH)).status, 403)
  t.equal((await compliance.post(`${PATH}/${id}/return`, { reason: 'Mine.' })).status, 403)
  t.equal((await world.operator.get(PATH)).status, 403, 'keys do not')
  const staff = await world.person('operations').signIn()
  await world.query('update incoming_payment set operator_id = gen_random_uuid() where id = $1', [id])
  t.strictSame((await list(staff)).data, [])
  t.equal((await staff.get(`${PATH}/${id}`)).problem.code, 'not-found')
  t.equal((await staff.post(`${PATH}/${id}/allocate`, {})).problem.code, 'not-found')
  t.equal((await staff.post(`${PATH}/${id}/return`, { reason: 'Mine.' })).problem.code, 'not-found')
  await world.query('update incoming_payment set operator_id = $2 where id = $1', [id, world.operator.tenantId])
})

t.test('a repeat with the same key allocates and returns once', async (t) => {
  await using world = await createWorld()
  const { balances } = world.seeded
  const staff = await world.person('operations').signIn()
  const decideOnce = async (what: string, body: object) => {
    const id = await lost(world, 1_700)
    const path = `${PATH}/${id}/${what}`
    const decided = await checkOneKey<SuspenseItem>(
      t,
      (key) => staff.post<SuspenseItem>(path, body, key),
      (key) => staff.post(path, { ...body, reason: 'Another reason.' }, key),
    )
    t.equal(decided.status, 200, decided.text)
    t.match(decided.headers.get('etag'), /^W\/"/)
    t.match((await staff.post(path, body)).problem, { code: 'invalid-transition' }, 'without the key')
    // The settlement of a return (L11) comes by itself, soon or late.
    return [decided.body.status, ...(await trace(world, id)).rules.filter((rule) => rule !== 'L11')]
  }
  t.strictSame(await decideOnce('allocate', { balanceId: balances.EUR }), ['allocated', 'L03', 'L04'])
  t.strictSame(await decideOnce('return', { reason: 'Unknown.' }), ['returned', 'L03', 'L08'])
})

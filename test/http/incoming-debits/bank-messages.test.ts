/** What a bank tells of direct debits by its webhooks, each message once, whatever comes of the debit meanwhile. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Balance } from '../../../lib/balances/balance-schema.ts'
import type { IncomingDebit } from '../../../lib/incoming-debits/incoming-debit-schema.ts'
import { createWorld, type World } from '../../support/world.ts'
import { eventBody, putSecret, seededConnection, sent } from '../providers/inbox-support.ts'
import { shut } from '../incoming-payments/support.ts'
import { dayAfter, reaching, trace } from './support.ts'

const world: World = await createWorld()
const { client, balances } = world.seeded
const connection = await seededConnection(world)
await putSecret(world, connection.id)
const staff = await world.person('operations').signIn()
t.teardown(async () => {
  await world.audit()
  await world[Symbol.asyncDispose]()
})

const told = async (type: string, data: object) => await sent(world, staff, connection.id, eventBody(type, data))
const facts = (more: object = {}) => ({
  reference: randomUUID(),
  account: balances.EUR,
  scheme: 'sepa_dd_core',
  amountMinor: '700',
  currency: 'EUR',
  creditorName: 'City Power',
  creditorId: 'DE98ZZZ09999999999',
  mandateReference: 'M-7',
  dueDate: dayAfter(world.now(), 0),
  ...more,
})

t.test('a debit that is told of twice is taken once, and returned once', async (t) => {
  const debit = facts()
  t.match(await told('debit.announced', debit), {
    messages: [{ object: 'incoming_debit', objectId: debit.reference, outcome: 'applied', statusAfter: 'debited' }],
  })
  t.match(await told('debit.booked', debit), { messages: [{ outcome: 'no_effect', statusAfter: 'debited' }] })
  const back = { reference: debit.reference, reasonCode: 'MS03' }
  t.match(await told('debit.given_back', back), {
    messages: [{ outcome: 'applied', schemeCode: 'MS03', statusBefore: 'debited', statusAfter: 'returned' }],
  })
  t.match(await told('debit.given_back', back), { messages: [{ outcome: 'no_effect' }] })
  t.match((await client.get<IncomingDebit>(`/incoming-debits/${debit.reference}`)).body, {
    status: 'returned',
    reasonCode: 'MS03',
    endedAt: String,
  })
  t.strictSame((await trace(world, debit.reference)).rules, ['L60', 'L61'])
})

t.test('a debit that its creditor withdraws is not taken', async (t) => {
  const debit = facts({ dueDate: dayAfter(world.now(), 4) })
  await told('debit.announced', debit)
  t.match(await told('debit.withdrawn', { reference: debit.reference }), {
    messages: [{ outcome: 'applied', statusBefore: 'announced', statusAfter: 'refused' }],
  })
  t.match(await reaching(client, debit.reference, 'refused'), { reason: 'The creditor withdrew the debit.' })
  const [row] = await world.query<{ answer: string | null }>('select answer from incoming_debit where id = $1', [
    debit.reference,
  ])
  t.equal(row!.answer, null, 'the bank knows it already')
})

t.test('a debit of an unknown account, and one that cannot be read, change nothing', async (t) => {
  t.match(await told('debit.announced', facts({ account: randomUUID() })), { reason: 'unmatched' })
  t.match(await told('debit.announced', facts({ scheme: 'barter' })), { status: 'failed', reason: 'unreadable' })
  t.match(await told('debit.given_back', { reference: randomUUID() }), { reason: 'unmatched' })
})

t.test('money that comes back to a closed balance waits in suspense; a closed balance takes no debit', async (t) => {
  const {
    client: payer,
    balanceIds: [balanceId],
  } = await world.customer({ balances: [{ currency: 'EUR', amount: 700n }] })
  const debit = facts({ account: balanceId })
  await told('debit.announced', debit)
  t.equal((await payer.get<Balance>(`/balances/${balanceId}`)).body.bookBalance.amountMinor, '0')
  await shut(world, balanceId as string)
  const late = facts({ account: balanceId })
  await told('debit.announced', late)
  t.match(await reaching(payer, late.reference, 'refused'), { reasonCode: 'AC04' })
  await told('debit.given_back', { reference: debit.reference, amountMinor: '700' })
  await reaching(payer, debit.reference, 'returned')
  t.match(
    await world.query('select status, amount::text from incoming_payment where origin_id = $1', [debit.reference]),
    [{ status: 'unallocated', amount: '700' }],
  )
})

/** Messages of the issuer over HTTP: signed, decided on fresh state and answered, on one node or two. */
import { randomUUID } from 'node:crypto'
import t from 'tap'

import type { CardDecision } from '../../../actors/providers/issuer-messages.ts'
import { CARD_DECLINE_REASONS } from '../../../lib/cards/card-transaction.ts'
import { createWorld } from '../../support/world.ts'
import { bySandbox } from '../kyc/support.ts'
import { eventBody, putSecret, seededConnection } from '../providers/inbox-support.ts'
import { cardWorld, EUR } from './card-world.ts'

await using world = await createWorld()
const connection = await seededConnection(world)
await putSecret(world, connection.id)
const { client, issue, read, available, owner, use } = await cardWorld(world)

/** Sends a message of the issuer. */
async function tell(type: string, data: object, id: string = randomUUID(), connectionId = connection.id) {
  const body = eventBody(`card.${type}`, data, id)
  const headers = { 'content-type': 'application/json', ...bySandbox(body, { at: world.now() }) }
  const response = await fetch(`${world.url}/v1/card-messages/${connectionId}`, { method: 'POST', headers, body })
  return { status: response.status, body: (await response.json()) as CardDecision }
}

let refs = 0
const purchase = (cardId: string, amountMinor: number, rest: object = {}) => ({
  cardId,
  ref: `NET${refs++}`,
  amountMinor: String(amountMinor),
  currency: 'EUR',
  merchantName: 'Grocer',
  mcc: '5411',
  ...rest,
})

await t.test('an authorisation is asked about, and what follows is told', async (t) => {
  const card = await issue()
  const before = await available()
  const asked = purchase(card.id, 2_500)
  const id = randomUUID()
  const { status, body } = await tell('authorisation', asked, id)
  t.equal(status, 200)
  t.match(body, { approved: true, declineReason: null, misfit: null })
  t.equal(await available(), before - 2_500)
  t.strictSame((await tell('authorisation', asked, id)).body, body, 'a repeated message gets the same answer')
  t.match((await tell('settlement', { ...asked, amountMinor: '2000' })).body, { misfit: null })
  t.match(await read(body.cardTransactionId!), { status: 'cleared', clearedAmount: EUR(2_000), heldAmount: EUR(0) })
  t.match((await tell('refund', { ...asked, amountMinor: '9999' })).body, { approved: false, misfit: 'above_cleared' })
  t.equal(await available(), before - 2_000)
})

await t.test(
  'an approval that the issuer has declined meanwhile is reversed, and an unknown decline is booked',
  async (t) => {
    const card = await issue()
    const before = await available()
    const asked = purchase(card.id, 700)
    const { cardTransactionId } = (await tell('authorisation', asked)).body
    await tell('stand_in', asked)
    t.match(await read(cardTransactionId!), { status: 'reversed', heldAmount: EUR(0) })
    t.equal(await available(), before)
    const unknown = (await tell('stand_in', purchase(card.id, 800))).body
    t.match(await read(unknown.cardTransactionId!), { status: 'declined', declineReason: 'system_error' })
  },
)

await t.test('a clearing before its authorisation, and one without: posted when forced, else left', async (t) => {
  const card = await issue()
  const early = purchase(card.id, 300)
  t.match((await tell('settlement', early)).body, { misfit: 'needs_transaction' })
  t.match((await tell('authorisation', early)).body, { approved: true })
  t.match((await tell('settlement', early)).body, { misfit: null })
  t.match((await tell('force_post', purchase(card.id, 300))).body, { misfit: null, approved: true })
})

await t.test('a conversion of the scheme', async (t) => {
  const card = await issue()
  const { cardTransactionId } = (
    await tell('authorisation', {
      ...purchase(card.id, 10_000),
      merchantAmountMinor: '10800',
      merchantCurrency: 'USD',
      rate: '0.9259259259',
    })
  ).body
  t.match(await read(cardTransactionId!), {
    merchantAmount: { amountMinor: '10800', currency: 'USD' },
    rate: '0.9259259259',
  })
})

await t.test('what is refused', async (t) => {
  const card = await issue()
  const asked = purchase(card.id, 100)
  const before = await available()
  t.match((await tell('authorisation', { ...asked, cardId: randomUUID() })).body, {
    approved: false,
    declineReason: 'do_not_honour',
    misfit: 'unknown_card',
  })
  t.match((await tell('authorisation', { ...asked, currency: 'USD' })).body, {
    approved: false,
    misfit: 'unknown_card',
  })
  for (const wrong of [{ amountMinor: '0' }, { amountMinor: '-5' }, { mcc: '12' }, { ref: null }, { rate: '2' }])
    t.equal((await tell('authorisation', { ...asked, ...wrong })).status, 400, JSON.stringify(wrong))
  t.equal((await tell('unheard_of', asked)).status, 400)
  const body = eventBody('card.authorisation', asked)
  const unsigned = await fetch(`${world.url}/v1/card-messages/${connection.id}`, {
    method: 'POST',
    headers: { ...bySandbox(body, { at: world.now() - 600_000 }), 'content-type': 'application/json' },
    body,
  })
  t.equal(unsigned.status, 401)
  t.equal((await tell('authorisation', asked, randomUUID(), randomUUID())).status, 401, 'an unknown connection')
  t.equal(await available(), before)
  t.equal((await client.list('/card-transactions', { 'filter[cardId]': card.id })).body.data.length, 0)
})

await t.test('a message that comes again with other content is not that message', async (t) => {
  const card = await issue()
  const [asked, id] = [purchase(card.id, 600), randomUUID()]
  const first = await tell('authorisation', asked, id)
  const before = await available()
  for (const [type, other] of [
    ['authorisation', { ...asked, amountMinor: '601' }],
    ['authorisation', { ...asked, ref: 'ELSEWHERE' }],
    ['settlement', asked],
  ] as const)
    t.match((await tell(type, other, id)).body, { approved: false, misfit: 'other_content' })
  t.strictSame((await tell('authorisation', asked, id)).body, first.body)
  t.equal(await available(), before)
  t.equal((await read(first.body.cardTransactionId!)).events.length, 1)
  const [unknown, standIn] = [purchase(card.id, 90), randomUUID()]
  const told = await tell('stand_in', unknown, standIn)
  t.strictSame((await tell('stand_in', unknown, standIn)).body, told.body, 'a decline of the issuer counts once')
})

await t.test('the issuer declines for each of its own reasons', async (t) => {
  const card = await issue()
  const before = await available()
  for (const declineReason of CARD_DECLINE_REASONS) {
    const { body } = await tell('authorisation', purchase(card.id, 100, { declineReason }))
    t.match(body, { approved: false, declineReason, misfit: null })
    const { cardTransactionId } = (await tell('decline', purchase(card.id, 100, { declineReason }))).body
    t.match(await read(cardTransactionId!), { status: 'declined', declineReason, heldAmount: EUR(0) })
  }
  t.equal(await available(), before)
})

await t.test('every answer follows from the state of the moment', async (t) => {
  const card = await issue({ limits: { week: EUR(1_000) } })
  t.match((await tell('authorisation', purchase(card.id, 1_001))).body, { declineReason: 'limit_exceeded' })
  t.match((await tell('authorisation', purchase(card.id, 100_000_000))).body, { declineReason: 'limit_exceeded' })
  await owner.stepUp('card.manage')
  await owner.send('POST', `/cards/${card.id}/freeze`)
  t.match((await tell('authorisation', purchase(card.id, 1))).body, { declineReason: 'card_frozen' })
  const rich = await issue()
  t.match((await tell('authorisation', purchase(rich.id, 100_000_000))).body, { declineReason: 'insufficient_funds' })
})

await t.test('what is available is given out once, to authorisations of two cards and payments at once', async (t) => {
  const [one, other] = [await issue(), await issue()]
  const rest = await available()
  // All but 10.00 is reserved first, so that ten of the thirty fit.
  t.ok((await use(one, { phase: 'authorisation', amount: EUR(rest - 1_000) })).body.details.approved)
  const all = await Promise.all(
    Array.from({ length: 30 }, (_, nth) => tell('authorisation', purchase(nth % 2 === 0 ? one.id : other.id, 100))),
  )
  t.equal(all.filter(({ body }) => body.approved).length, 10)
  t.equal(await available(), 0)
})

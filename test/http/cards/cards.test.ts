/** Cards: issued, used and stopped, with the balance, the journal and the transactions that follow. */
import t from 'tap'

import type { Card, CardTransaction } from '../../../lib/cards/card-schema.ts'
import type { SimulationCatalogue } from '../../../lib/contract/simulation.ts'
import { DAY_MS } from '../../../lib/base/clock.ts'
import { createWorld, transferBody } from '../../support/world.ts'
import { cardWorld, EUR } from './card-world.ts'

await using world = await createWorld()
const { client, balances, owner, ownerId, issue, use, available, read } = await cardWorld(world)

await t.test('a new workspace has a card that keys can use by the catalogue', async (t) => {
  const { data } = (await client.get<SimulationCatalogue>('/simulations')).body
  const { rules } = data.find(({ kind }) => kind === 'card_transaction')!
  const [, id = ''] = rules.map((rule) => /^card (\S+) EUR active$/.exec(rule)).find((found) => found !== null) ?? []
  t.match((await owner.send<Card>('GET', `/cards/${id}`)).body, { holderUserId: ownerId, balanceId: balances.EUR })
  t.ok((await use({ id }, { phase: 'authorisation', amount: EUR(100) })).body.details.approved)
})

await t.test('a virtual card is issued and active, and no number is anywhere', async (t) => {
  const card = await issue({ label: 'Travel' })
  t.match(card, { status: 'active', type: 'virtual', label: 'Travel', last4: /^\d{4}$/, expiry: /^\d{4}-\d{2}$/ })
  t.equal((await owner.send('GET', `/cards/${card.id}`)).status, 200)
  t.equal((await client.get('/cards')).status, 403, 'keys do not manage cards')
})

await t.test('an authorisation reserves, a clearing pays, a refund gives back', async (t) => {
  const card = await issue()
  const authorised = await use(card, { phase: 'authorisation', amount: EUR(2500), merchantName: 'Grocer' })
  t.equal(authorised.status, 202, authorised.text)
  const { ref, cardTransactionId: id, approved } = authorised.body.details
  t.ok(approved)
  t.match(await read(id), { status: 'authorised', heldAmount: EUR(2500), merchant: { category: 'groceries' } })
  const cleared = await use(card, { phase: 'settlement', amount: EUR(2000), relatedRef: ref })
  t.equal(cleared.status, 202, cleared.text)
  t.match(await read(id), { status: 'cleared', heldAmount: EUR(0), clearedAmount: EUR(2000) })
  t.equal((await use(card, { phase: 'refund', amount: EUR(500), relatedRef: ref })).status, 202)
  const beyond = await use(card, { phase: 'refund', amount: EUR(1501), relatedRef: ref })
  t.equal(beyond.status, 409, beyond.text)
  t.match(await read(id), { refundedAmount: EUR(500), events: [{}, {}, { phase: 'refund' }] })
  const listed = await client.get<{ data: CardTransaction[] }>(`/card-transactions?filter[cardId]=${card.id}`)
  t.strictSame(
    listed.body.data.map((one) => one.id),
    [id],
    listed.text,
  )
})

await t.test('a message counts once, whatever its number of deliveries', async (t) => {
  const card = await issue()
  const key = 'one-message'
  const body = { phase: 'authorisation', amount: EUR(700) }
  const before = await available()
  const [first, again] = [await use(card, body, key), await use(card, body, key)]
  t.equal(again.text, first.text)
  const other = await use(card, { ...body, amount: EUR(701) }, key)
  t.equal(other.status, 422, 'other content under the same key changes nothing')
  t.equal(await available(), before - 700)
  t.equal((await read(first.body.details.cardTransactionId)).events.length, 1)
})

await t.test('declines, each by its cause', async (t) => {
  const card = await issue({
    limits: { perAuthorisation: EUR(50_000), day: EUR(60_000) },
    controls: { blockedCategories: ['gambling'], channels: ['pos_chip', 'ecommerce'], blockedCountries: ['US'] },
  })
  const reasonOf = async (body: object) =>
    (await use(card, { phase: 'authorisation', amount: EUR(100), ...body })).body.details.declineReason
  t.equal(await reasonOf({ amount: EUR(50_001) }), 'limit_exceeded')
  t.equal(await reasonOf({ mcc: '7995' }), 'merchant_blocked')
  t.equal(await reasonOf({ channel: 'atm' }), 'channel_disabled')
  t.equal(await reasonOf({ merchantCountry: 'US' }), 'country_blocked')
  t.equal(await reasonOf({ amount: EUR(1305) }), 'insufficient_funds')
  t.equal(await reasonOf({ amount: EUR(1307) }), 'suspected_fraud')
  t.equal(await reasonOf({ phase: 'decline', declineReason: 'invalid_pin' }), 'invalid_pin')
  t.equal(await reasonOf({ amount: EUR(50_000) }), null)
  t.equal(await reasonOf({ amount: EUR(10_001) }), 'limit_exceeded', 'of the day')
  await owner.send('POST', `/cards/${card.id}/freeze`)
  t.equal(await reasonOf({}), 'card_frozen')
  const rich = await issue()
  const declined = await use(rich, { phase: 'authorisation', amount: EUR(1_000_000_000) })
  t.equal(declined.body.details.declineReason, 'insufficient_funds')
  t.match(await read(declined.body.details.cardTransactionId), { status: 'declined', heldAmount: EUR(0) })
})

await t.test('what is declined is paid when the scheme clears it all the same', async (t) => {
  const card = await issue()
  const { ref, cardTransactionId: id } = (await use(card, { phase: 'authorisation', amount: EUR(1308) })).body.details
  t.equal((await use(card, { phase: 'advice', amount: EUR(1308), relatedRef: ref })).status, 202)
  t.match(await read(id), { status: 'cleared', clearedAmount: EUR(1308) })
})

await t.test('a reference of another card fits nothing, also as that of a new transaction', async (t) => {
  const [card, other] = [await issue(), await issue()]
  const { ref, cardTransactionId: id } = (await use(card, { phase: 'authorisation', amount: EUR(500) })).body.details
  for (const body of [
    { phase: 'settlement', relatedRef: ref },
    { phase: 'reversal', relatedRef: ref },
    { phase: 'refund', relatedRef: ref },
    { phase: 'authorisation', ref },
    { phase: 'force_post', ref },
    { phase: 'decline', ref },
  ])
    t.equal((await use(other, { amount: EUR(500), ...body })).status, 409, body.phase)
  for (const phase of ['authorisation', 'force_post', 'atm', 'decline'])
    t.equal((await use(card, { phase, amount: EUR(500), ref })).status, 409, `${phase} of a reference that is taken`)
  t.match(await read(id), { status: 'authorised', heldAmount: EUR(500), events: { length: 1 } })
})

await t.test('a refund to the next card, and a force post, tell which transaction they belong to', async (t) => {
  const [old, next] = [await issue(), await issue()]
  const { ref, cardTransactionId: id } = (await use(old, { phase: 'force_post', amount: EUR(900) })).body.details
  const own = 'SBXREFUND000001'
  const refund = await use(next, { phase: 'refund', amount: EUR(1_000), ref: own, relatedRef: ref })
  t.equal(refund.status, 202, refund.text)
  t.match(await read(refund.body.details.cardTransactionId), { relatedTransactionId: id, refundedAmount: EUR(1_000) })
  const forced = (await use(old, { phase: 'force_post', amount: EUR(30), relatedRef: ref })).body.details
  t.not(forced.ref, ref)
  t.match(await read(forced.cardTransactionId), { relatedTransactionId: id, clearedAmount: EUR(30) })
  t.match(await read(id), { relatedTransactionId: null, refundedAmount: EUR(0), events: { length: 1 } })
  t.equal((await use(old, { phase: 'authorisation', amount: EUR(30), relatedRef: ref })).status, 422)
})

await t.test('cash, a force post, a chargeback to its end', async (t) => {
  const card = await issue()
  const cash = (await use(card, { phase: 'atm', amount: EUR(4000) })).body.details
  t.match(await read(cash.cardTransactionId), { status: 'cleared', channel: 'atm', merchant: { category: 'cash' } })
  const { ref, cardTransactionId: id } = (await use(card, { phase: 'force_post', amount: EUR(900) })).body.details
  for (const phase of ['chargeback', 'chargeback_lost', 'chargeback', 'chargeback_won'])
    t.equal((await use(card, { phase, amount: EUR(900), relatedRef: ref })).status, 202, phase)
  t.match(await read(id), { status: 'charged_back', recoveredAmount: EUR(900), disputedAmount: EUR(0) })
  t.equal((await use(card, { phase: 'chargeback_lost', amount: EUR(900), relatedRef: ref })).status, 409)
})

await t.test('another currency is converted by the scheme', async (t) => {
  const card = await issue()
  const { cardTransactionId } = (
    await use(card, { phase: 'authorisation', amount: { amountMinor: '10800', currency: 'USD' } })
  ).body.details
  t.match(await read(cardTransactionId), {
    authorisedAmount: EUR(10_000),
    merchantAmount: { amountMinor: '10800', currency: 'USD' },
    merchantCurrency: 'USD',
  })
})

await t.test('limits and controls are set with the version that was read', async (t) => {
  const card = await issue()
  const read = await owner.send<Card>('GET', `/cards/${card.id}`)
  await owner.stepUp('card.manage')
  const headers = { 'if-match': read.headers.get('etag') as string }
  const set = await owner.send<Card>('PATCH', `/cards/${card.id}/limits`, { month: EUR(5000) }, headers)
  t.equal(set.status, 200, set.text)
  t.match(set.body.limits, { month: EUR(5000), day: null })
  t.equal((await owner.send('PATCH', `/cards/${card.id}/limits`, {}, headers)).status, 412)
  t.equal((await owner.send('PATCH', `/cards/${card.id}/controls`, {})).status, 428)
  const usd = await owner.send(
    'PATCH',
    `/cards/${card.id}/limits`,
    { day: { amountMinor: '1', currency: 'USD' } },
    {
      'if-match': set.headers.get('etag') as string,
    },
  )
  t.equal(usd.status, 422, usd.text)
})

await t.test('a closed card pays nothing more and is replaced once', async (t) => {
  const card = await issue()
  await owner.stepUp('card.manage')
  const closed = await owner.send<Card>('POST', `/cards/${card.id}/close`, { reason: 'lost' })
  t.match(closed.body, { status: 'closed', closeReason: 'lost' })
  t.equal((await use(card, { phase: 'authorisation', amount: EUR(100) })).body.details.declineReason, 'do_not_honour')
  const next = await issue({ replacesCardId: card.id })
  t.equal((await owner.send<Card>('GET', `/cards/${card.id}`)).body.replacedByCardId, next.id)
  await t.rejects(issue({ replacesCardId: card.id }))
})

await t.test('a card for one payment is closed by it', async (t) => {
  const card = await issue({ cancelAfterPayments: 1 })
  t.ok((await use(card, { phase: 'authorisation', amount: EUR(100) })).body.details.approved)
  t.equal((await owner.send<Card>('GET', `/cards/${card.id}`)).body.status, 'closed')
})

await t.test('no authorisation is approved beyond what is available, however many arrive at once', async (t) => {
  const spare = await issue({ limits: { day: EUR(1000) } })
  const all = await Promise.all(
    Array.from({ length: 30 }, () => use(spare, { phase: 'authorisation', amount: EUR(100) })),
  )
  t.equal(all.filter(({ body }) => body.details.approved).length, 10)
})

await t.test('holders see their own cards, stop and close them, and set no terms', async (t) => {
  await owner.signIn()
  const others = await issue()
  const holder = world.person('preparer')
  await holder.signIn()
  const holderUserId = (await holder.get<{ user: { id: string } }>('/sessions/current')).body.user.id
  const own = await issue({ holderUserId })
  t.equal((await holder.get('/cards')).status, 403, 'a preparer manages no cards')
  const roleIs = (role: string) =>
    world.query('update membership set role = $1 where user_id = $2', [role, holderUserId])
  await roleIs('cardholder')
  await holder.signIn()
  t.match((await holder.get<{ data: Card[] }>('/cards')).body.data, [{ id: own.id }])
  t.equal((await holder.get<{ data: Card[] }>(`/cards?filter[holderUserId]=${ownerId}`)).body.data.length, 0)
  t.equal((await holder.get(`/cards/${own.id}`)).status, 200)
  t.equal((await holder.get(`/cards/${others.id}`)).status, 404)
  t.equal((await holder.send('POST', `/cards/${own.id}/freeze`)).status, 403, 'with a proof')
  await holder.stepUp('card.manage')
  t.equal((await holder.send('POST', `/cards/${own.id}/freeze`)).status, 200)
  t.equal((await holder.send('POST', `/cards/${own.id}/unfreeze`)).status, 200)
  t.equal((await holder.send('POST', `/cards/${others.id}/freeze`)).status, 404)
  t.equal((await holder.send('POST', `/cards/${others.id}/close`, { reason: 'lost' })).status, 404)
  t.equal((await holder.send('PATCH', `/cards/${own.id}/limits`, {}, { 'if-match': '*' })).status, 403)
  t.equal((await holder.send('PATCH', `/cards/${own.id}/controls`, {}, { 'if-match': '*' })).status, 403)
  t.equal((await holder.send('POST', '/cards', { balanceId: balances.EUR, holderUserId, type: 'virtual' })).status, 403)
  t.match((await holder.send<Card>('POST', `/cards/${own.id}/close`, { reason: 'lost' })).body, { status: 'closed' })
  await roleIs('preparer')
})

await t.test('a balance closes with its cards, and not while money is reserved', async (t) => {
  await owner.signIn()
  const { body: balance } = await owner.post<{ id: string }>('/balances', { currency: 'EUR', name: 'Travel' })
  await client.createTransfer(transferBody(balances.EUR, balance.id, 1_000))
  const card = await issue({ balanceId: balance.id })
  const { ref } = (await use(card, { phase: 'authorisation', amount: EUR(400) })).body.details
  const close = () =>
    owner.post<{ status: string }>(`/balances/${balance.id}/close`, { sweepToBalanceId: balances.EUR })
  const refused = await close()
  t.match(refused.problem, { code: 'invalid-transition', detail: '4.00 EUR are held on the balance.' })
  t.equal((await owner.send<Card>('GET', `/cards/${card.id}`)).body.status, 'active')
  await use(card, { phase: 'reversal', amount: EUR(400), relatedRef: ref })
  t.equal((await close()).status, 200)
  t.match((await owner.send<Card>('GET', `/cards/${card.id}`)).body, { status: 'closed', closeReason: 'unwanted' })
})

await t.test('a day of a limit ends at midnight of the customer', async (t) => {
  const zone = 'Asia/Tokyo'
  await owner.signIn()
  const card = await issue({ limits: { day: EUR(1_000) } })
  await world.query(
    `insert into setting (owner_id, name, value, version, updated_by, updated_at)
     select customer_id, 'preferences', jsonb_build_object('timezone', $2::text), 1, holder_user_id, now() from card where id = $1`,
    [card.id, zone],
  )
  const spend = async () => (await use(card, { phase: 'authorisation', amount: EUR(1_000) })).body.details.declineReason
  t.equal(await spend(), null)
  const today = Temporal.Instant.fromEpochMilliseconds(world.now()).toZonedDateTimeISO(zone).toPlainDate()
  const midnight = today.add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds
  world.advanceTo(midnight - 60_000)
  t.equal(await spend(), 'limit_exceeded', 'still the same day there')
  world.advanceTo(midnight + 1_000)
  t.equal(await spend(), null, 'whatever day it is elsewhere')
  await world.query(
    `delete from setting where name = 'preferences' and owner_id = (select customer_id from card where id = $1)`,
    [card.id],
  )
})

await t.test('a card is good until its month is over', async (t) => {
  await owner.signIn()
  const card = await issue()
  await world.query(`update card set expiry = to_char($2::timestamptz - interval '40 days', 'YYYY-MM') where id = $1`, [
    card.id,
    new Date(world.now()).toISOString(),
  ])
  t.equal((await use(card, { phase: 'authorisation', amount: EUR(1) })).body.details.declineReason, 'card_expired')
})

await t.test('an authorisation expires by the clock and is still cleared', async (t) => {
  const card = await issue()
  const { ref, cardTransactionId: id } = (await use(card, { phase: 'authorisation', amount: EUR(300) })).body.details
  const lodging = (await use(card, { phase: 'authorisation', amount: EUR(300), mcc: '7011' })).body.details
  world.advance(6 * DAY_MS)
  await world.pollOnce()
  t.match(await read(id), { status: 'expired', heldAmount: EUR(0) })
  t.match(await read(lodging.cardTransactionId), { status: 'authorised', heldAmount: EUR(300) })
  world.advance(25 * DAY_MS)
  await world.pollOnce()
  t.equal((await read(lodging.cardTransactionId)).status, 'expired')
  t.equal((await use(card, { phase: 'settlement', amount: EUR(300), relatedRef: ref })).status, 202)
  t.match(await read(id), { status: 'cleared', clearedAmount: EUR(300) })
})

await t.test(
  'the audit knows the holds, the money and the events of cards, and finds each that was changed',
  async (t) => {
    await owner.signIn()
    const card = await issue()
    const { cardTransactionId: id } = (await use(card, { phase: 'authorisation', amount: EUR(400) })).body.details
    await world.audit()
    for (const [name, change, back] of [
      ['card holds', 'update card_transaction set held = held - 1 where id = $1', 'held = held + 1'],
      ['card money', 'update card_transaction set cleared = 0, refunded = 1 where id = $1', 'refunded = 0'],
      ['card events', `update card_transaction set status = 'cleared' where id = $1`, `status = 'authorised'`],
    ] as const) {
      await world.query(change, [id])
      await t.rejects(world.audit(), { message: new RegExp(name) }, name)
      await world.query(`update card_transaction set ${back} where id = $1`, [id])
    }
    await world.audit()
  },
)

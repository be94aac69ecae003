/** The payer's page, without a script. */
import decodeQR from 'qr/decode.js'
import t from 'tap'
import type { FundsRequest } from '../../../lib/funds-requests/funds-request-schema.ts'
import { mailsOf } from '../../support/mails.ts'
import { until } from '../../support/until.ts'
import { createWorld, type World } from '../../support/world.ts'
import { actionsOf, open, submit } from '../pages/visit.ts'
import { arrive, ask, read, requestBody, statusEvents } from './support.ts'

const pageOf = (world: World, { link }: FundsRequest) => world.url + new URL(link!).pathname

/** Reads the code that a page draws, as a camera does: each module is a square of pixels. */
function scanned(html: string): string {
  const [, side = '', path = ''] = /viewBox="0 0 (\d+) \d+"[\s\S]*?<path fill="#000" d="([^"]+)"/.exec(html) ?? []
  const [size, scale] = [Number(side), 4]
  const width = size * scale
  const data = new Uint8ClampedArray(width * width * 4).fill(255)
  for (const [, x, y, length] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)) {
    for (let row = Number(y) * scale; row < (Number(y) + 1) * scale; row++)
      for (let column = Number(x) * scale; column < (Number(x) + Number(length)) * scale; column++)
        data.set([0, 0, 0], (row * width + column) * 4)
  }
  return decodeQR({ width, height: width, data })
}

t.test('a payer sees who asks, for how much, where to pay, and a code for the banking app', async (t) => {
  await using world = await createWorld()
  const request = await ask(world, 123_456, {
    payer: { name: 'A secret payer', email: 'secret@example.com' },
    description: '<b>Consulting</b> & more',
    invoiceNumber: 'INV-7',
    dueDate: '2099-12-31',
    expiresAt: null,
    metadata: { internal: 'note' },
  })
  const url = pageOf(world, request)
  t.match(request.link, /^http:\/\/[^/]+\/pay\/frq_[A-Za-z0-9_-]{43}$/)
  t.ok((await mailsOf(world))[0]!.includes(request.link!), 'the mail leads to the page')
  const page = await open(url, { 'accept-language': 'de-DE,de;q=0.9,en;q=0.5' })
  t.equal(page.status, 200)
  t.equal(page.headers.get('content-language'), 'de')
  t.match(page.html, '<html lang="de">')
  t.match(page.text, /Sandbox Company bittet Sie um 1\.234,56\s€/)
  const { iban } = request.depositDetails[0]!
  for (const part of [
    '<b>Consulting</b> & more',
    'INV-7',
    '31. Dezember 2099',
    iban!.replaceAll(/(.{4})/g, '$1 ').trim(),
  ])
    t.ok(page.text.includes(part), part)
  t.match(page.html, `data-copy="${request.reference}"`)
  t.match(page.html, `data-copy="${iban}"`)
  const [tag, version, , service, , name, account, amount, , reference] = scanned(page.html).split('\n')
  t.strictSame(
    [tag, version, service, name, account, amount, reference],
    ['BCD', '002', 'SCT', 'Sandbox Company', iban, 'EUR1234.56', request.reference],
  )
  for (const hidden of ['secret', 'internal', request.id, world.seeded.balances.EUR, '<b>'])
    t.notOk(page.html.includes(hidden), `nothing of ${hidden}`)

  await arrive(world, { amount: 23_456n, reference: request.reference })
  await until('a part is paid', async () => (await read(world.seeded.client, request.id)).status === 'partially_paid')
  const partly = await open(url)
  t.match(partly.text, /asks you to pay €1,000\.00 €234\.56 of €1,234\.56 has arrived/)
  t.match(scanned(partly.html), /\nEUR1000\.00\n/)
  t.strictSame(actionsOf(partly), [], 'what is paid in part is not declined')

  const pounds = await world.seeded.client.post<FundsRequest>('/funds-requests', {
    ...requestBody(world.seeded.balances.GBP),
    amount: { amountMinor: '500', currency: 'GBP' },
  })
  const british = await open(pageOf(world, pounds.body))
  t.match(british.text, /£5\.00.*Sort code \d\d-\d\d-\d\d/)
  t.notMatch(british.html, '<figure')
})

t.test('a payer declines by the form, once', async (t) => {
  await using world = await createWorld()
  const request = await ask(world)
  const url = pageOf(world, request)
  const page = await open(url)
  const [action] = actionsOf(page)
  t.equal(action, `${new URL(url).pathname}/decline`)
  const declined = await submit(world.url + action)
  t.equal(declined.status, 303)
  t.equal(declined.headers.get('location'), new URL(url).pathname)
  t.equal((await read(world.seeded.client, request.id)).status, 'declined')
  t.strictSame(await statusEvents(world, request.id), [{ change: 'open declined', related: null }])
  const after = await open(url)
  t.equal(after.status, 200)
  t.match(after.text, /You have declined this request/)
  t.notMatch(after.html, request.depositDetails[0]!.iban!, 'without where to pay')
  const again = await submit(world.url + action)
  t.equal(again.status, 409)
  t.match(again.text, /The request has changed in the meantime.*You have declined this request/)
  const reread = await open(world.url + action!)
  t.strictSame([reread.status, reread.headers.get('location')], [303, new URL(url).pathname])
  const wrong = await submit(`${world.url}/pay/frq_${'x'.repeat(43)}/decline`)
  t.equal(wrong.status, 404)
  t.equal(wrong.html, (await open(`${world.url}/pay/short`)).html)
})

t.test('requests that have ended say so', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const paid = await ask(world, 500)
  await arrive(world, { amount: 500n, reference: paid.reference })
  await until('all is paid', async () => (await read(client, paid.id)).status === 'paid')
  t.match((await open(pageOf(world, paid))).text, /This request is paid.*€5\.00/)
  const cancelled = await ask(world)
  await client.post(`/funds-requests/${cancelled.id}/cancel`, {})
  t.match((await open(pageOf(world, cancelled))).text, /This request was withdrawn/)
  const expired = await ask(world, 10_000, { expiresAt: new Date(world.now() + 60_000).toISOString() })
  await world.advance(61_000)
  await world.pollOnce()
  const page = await open(pageOf(world, expired), { 'accept-language': 'fr' })
  t.match(page.text, /Cette demande a expiré/)
  t.strictSame(actionsOf(page), [])
})

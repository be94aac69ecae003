/** The branding of an operator over HTTP, and in the mails that leave after it. */
import t from 'tap'
import type { AuditEvent } from '../../../lib/identity/audit-event-schema.ts'
import type { Branding, BrandingUpdate } from '../../../lib/branding/branding-schema.ts'
import type { PageBody } from '../../support/client.ts'
import { mailsOf } from '../../support/mails.ts'
import { pngOf } from '../../support/png.ts'
import { createWorld } from '../../support/world.ts'

const PATH = '/operator/branding'
const base64 = (text: string | Uint8Array) => Buffer.from(text).toString('base64')
const LOGO = { contentType: 'image/png', data: base64(pngOf(8, 8)) } as const

t.test('who manages the operator sets its branding, and mails show it from then on', async (t) => {
  await using world = await createWorld()
  const admin = await world.person('operator_admin').signIn()
  const compliance = await world.person('compliance').signIn()
  const owner = await world.person('owner').signIn()
  const before = await admin.get<Branding>(PATH)
  t.match(before.body, { displayName: null, primaryColor: null, logo: null, updatedBy: null, updatedAt: null })
  const etag = before.headers.get('etag')!
  const body: BrandingUpdate = {
    displayName: 'Bank <b>&</b> Co.',
    primaryColor: '#ABCDEF',
    logo: LOGO,
    supportEmail: 'help@bank.example',
    supportUrl: 'https://bank.example/help?a=1&b=2',
    footer: 'Bank & Co. B.V., Amsterdam',
  }
  const send = (who: typeof admin, change: object, headers: Record<string, string> = { 'if-match': etag }) =>
    who.send<Branding>('PATCH', PATH, change, headers)
  t.match((await compliance.get(PATH)).problem, { status: 403, requiredCapability: 'operator.manage' })
  t.match((await send(compliance, body)).problem, { status: 403, requiredCapability: 'operator.manage' })
  t.equal((await send(owner, body)).problem.code, 'tenant-forbidden')
  t.equal((await world.operator.get(PATH)).problem.code, 'insufficient-scope', 'not for keys')
  t.equal((await send(admin, body, {})).problem.code, 'precondition-required')
  t.equal((await admin.get(PATH)).text, before.text, 'nothing has changed')

  const after = await send(admin, body)
  t.match(after.body, { ...body, primaryColor: '#abcdef', linkColor: null, updatedBy: String, updatedAt: String })
  t.equal((await admin.get(PATH)).text, after.text)
  t.equal((await send(admin, { footer: null })).problem.code, 'precondition-failed')
  const both = await Promise.all(
    ['+31201234567', '+31207654321'].map((supportPhone) =>
      send(admin, { supportPhone }, { 'if-match': after.headers.get('etag')! }),
    ),
  )
  t.strictSame(both.map(({ status }) => status).sort(), [200, 412], 'one of two that change the same version')
  t.match((await admin.get<Branding>(PATH)).body, { displayName: body.displayName, logo: LOGO }, 'the rest stays')

  const [event] = (await admin.get<PageBody<AuditEvent>>('/audit-events?limit=1')).body.data
  t.match(event, { action: 'branding.updated', object: { type: 'operator', id: admin.tenantId } })
  t.match(event!.after, { logo: { contentType: 'image/png', sha256: /^[0-9a-f]{64}$/ } })
  t.notOk(JSON.stringify(event).includes(LOGO.data), 'the trail has no picture')

  const { balances } = world.seeded
  const asked = await world.seeded.client.post('/funds-requests', {
    balanceId: balances.EUR,
    amount: { amountMinor: '12345', currency: 'EUR' },
    payer: { name: 'Payer', email: 'payer@example.com' },
    description: 'An invoice',
  })
  t.equal(asked.status, 201)
  const mail = (await mailsOf(world)).find((one) => one.includes('To: payer@example.com'))!
  t.match(mail, /^From: Bank <b>&<\/b> Co\.\r$/m)
  t.match(mail, 'border-bottom:3px solid #abcdef"><img src="cid:logo"')
  t.match(mail, '>Bank &lt;b&gt;&amp;&lt;/b&gt; Co.</p>')
  t.match(mail, 'help@bank.example')
  t.match(mail, '<a href="https://bank.example/help?a=1&amp;b=2">')
  t.match(mail, '<br>\r\nBank &amp; Co. B.V., Amsterdam</p>')
  t.match(mail, /Content-Type: image\/png\r\nContent-ID: <logo>/)
  t.ok(mail.replaceAll('\r\n', '').includes(LOGO.data), 'the picture is whole')

  const drawn = { contentType: 'image/svg+xml', data: base64('<svg xmlns="http://www.w3.org/2000/svg"/>') }
  t.match((await send(admin, { logo: drawn, displayName: null }, { 'if-match': '*' })).body, {
    logo: drawn,
    displayName: null,
  })
})

t.test('a wrong colour, logo or contact is named, and nothing changes', async (t) => {
  await using world = await createWorld()
  const admin = await world.person('operator_admin').signIn()
  const script = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
  for (const [change, field, code] of [
    [{ primaryColor: 'red' }, '/primaryColor', 'invalid_format'],
    [{ primaryColor: '#12345' }, '/primaryColor', 'invalid_format'],
    [{ primaryColor: '#123456;background:url(//example.com)' }, '/primaryColor', 'invalid_format'],
    [{ linkColor: '#ffff00' }, '/linkColor', 'invalid_value'],
    [{ displayName: '' }, '/displayName', 'too_short'],
    [{ displayName: 'x'.repeat(61) }, '/displayName', 'too_long'],
    [{ displayName: 'A\r\nBcc: thief@example.com' }, '/displayName', 'invalid_characters'],
    [{ supportEmail: 'help' }, '/supportEmail', 'invalid_format'],
    [{ supportUrl: 'http://bank.example/' }, '/supportUrl', 'invalid_format'],
    [{ supportUrl: 'javascript:alert(1)' }, '/supportUrl', 'invalid_format'],
    [{ supportUrl: 'https://bank.example/"onclick=' }, '/supportUrl', 'invalid_format'],
    [{ supportPhone: '020 1234567' }, '/supportPhone', 'invalid_format'],
    [{ logo: { contentType: 'image/gif', data: LOGO.data } }, '/logo/contentType', 'invalid_value'],
    [{ logo: { contentType: 'image/png' } }, '/logo/data', 'required'],
    [{ logo: { contentType: 'image/png', data: base64('no picture') } }, '/logo/data', 'invalid_value'],
    [{ logo: { contentType: 'image/png', data: base64(pngOf(4_000, 4_000)) } }, '/logo/data', 'invalid_value'],
    [{ logo: { contentType: 'image/png', data: 'A'.repeat(100_000) } }, '/logo/data', 'too_long'],
    [{ logo: { contentType: 'image/svg+xml', data: base64(script) } }, '/logo/data', 'invalid_value'],
    [{ updatedBy: admin.tenantId }, '/updatedBy', 'read_only_field'],
    [{ colour: '#123456' }, '/colour', 'unknown_field'],
  ] as const) {
    const reply = await admin.send('PATCH', PATH, { footer: 'A footer', ...change }, { 'if-match': '*' })
    t.equal(reply.status, 422, JSON.stringify(change).slice(0, 80))
    t.match(reply.problem.errors, [{ field, code }], JSON.stringify(change).slice(0, 80))
  }
  t.match((await admin.get<Branding>(PATH)).body, { footer: null, updatedAt: null }, 'nothing was written')
})

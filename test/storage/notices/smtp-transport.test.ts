/** Mails over SMTP to a real mail server: what arrives, what is refused, and that nothing leaves half. */
import t from 'tap'
import { parseSmtpUrl, type SmtpServer } from '../../../lib/config/mail-settings.ts'
import { letterOf } from '../../../lib/notices/letter.ts'
import { brandOf, NO_BRANDING } from '../../../lib/branding/brand.ts'
import { MailRefused, type Delivery } from '../../../lib/notices/mail.ts'
import { createSmtpTransport } from '../../../storage/notices/smtp-transport.ts'
import { ACCOUNT, startMailServer } from '../../support/mail-server.ts'
import { pngOf } from '../../support/png.ts'
import { until } from '../../support/until.ts'

const server = await startMailServer()
t.teardown(() => server[Symbol.asyncDispose]())

const FROM = { name: 'Fallback', address: 'no-reply@bank.example' }
const MAIL = {
  id: '01990000-0000-7000-8000-000000000001',
  to: 'payer@example.com',
  subject: 'A subject',
  text: 'Hello',
  brand: brandOf('Bank', null),
  writtenAt: Date.UTC(2026, 2, 2),
}
const NOW: Delivery = { beforeEnd: async () => undefined, signal: new AbortController().signal }

const transport = (settings: Partial<SmtpServer> = {}, tls: 'on' | 'off' = 'on') =>
  createSmtpTransport({ server: { ...(parseSmtpUrl(server.url) as SmtpServer), ...settings }, tls, from: FROM })
const send = (mail: Partial<typeof MAIL> = {}, delivery: Delivery = NOW) =>
  transport().deliver(letterOf({ ...MAIL, ...mail }), delivery)
/** The mail that has arrived at an address; the test sends one to each. */
const arrived = (to: string) =>
  until(`a mail to ${to}`, async () => (await server.mails()).find((mail) => mail.includes(`\nTo: ${to}\n`)))

t.test('a mail arrives with both parts, its sender and its Message-ID', async (t) => {
  const text = 'Zahlen Sie 12,50 €.\r\n\r\n.\r\nhttps://bank.example/pay/abc'
  t.match(
    await send({ to: 'both@example.com', subject: 'Rechnung für Sie', brand: brandOf('Bänk', null), text }),
    /^250 /,
  )
  const mail = await arrived('both@example.com')
  t.match(mail, /^Return-path|^From:|^Received:/m)
  t.match(mail, /^From: =\?UTF-8\?Q\?B=C3=A4nk\?= <no-reply@bank\.example>$/m)
  t.match(mail, /^Subject: =\?UTF-8\?Q\?Rechnung_f=C3=BCr_Sie\?=$/m)
  t.match(mail, `\nMessage-ID: <${MAIL.id}@bank.example>\n`)
  t.match(mail, /^Date: Mon, 02 Mar 2026 00:00:00 \+0000$/m)
  t.match(mail, /^Auto-Submitted: auto-generated$/m)
  t.match(mail, /^Content-Type: multipart\/alternative;/m)
  const decoded = mail
    .replaceAll(/=\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)))
  const [plain, html] = ['text/plain', 'text/html'].map((type) =>
    decoded.slice(decoded.indexOf(`Content-Type: ${type}`)),
  )
  t.match(plain, /\n\n.*\n\n\.\nhttps:\/\/bank\.example\/pay\/abc\n/, 'a line with a dot alone ends nothing')
  t.match(html, '<a href="https://bank.example/pay/abc">')
})

t.test('a logo comes with the mail, and what mail programs do not show stays at home', async (t) => {
  const data = pngOf(8, 8).toString('base64')
  const branding = { ...NO_BRANDING, logo: { contentType: 'image/png', data } } as const
  await send({ to: 'logo@example.com', brand: brandOf('Bank', branding) })
  const mail = await arrived('logo@example.com')
  t.match(mail, /^Content-Type: multipart\/related;/m)
  t.match(mail, /^Content-Id: <logo>$/im)
  t.match(mail, /^Content-Disposition: inline;/m)
  t.ok(mail.replaceAll('\n', '').includes(data))
  t.match(mail, 'src=3D"cid:logo"')
  const drawn = { ...branding, logo: { contentType: 'image/svg+xml', data } } as const
  await send({ to: 'drawn@example.com', brand: brandOf('Bank', drawn) })
  t.notMatch(await arrived('drawn@example.com'), /cid:logo|multipart\/related/)
})

t.test('names that hold headers add none', async (t) => {
  await send({
    to: 'names@example.com',
    subject: 'Hi\r\nBcc: thief@example.com',
    brand: brandOf('Bank\r\nReply-To: thief@example.com', null),
  })
  const mail = await arrived('names@example.com')
  const headers = mail.slice(0, mail.indexOf('\n\n'))
  t.match(headers, /^Subject: Hi Bcc: thief@example\.com$/m)
  t.notMatch(headers, /^(bcc|reply-to):/im)
  await t.rejects(send({ to: 'a@example.com>\r\nRCPT TO:<thief@example.com' }), {
    name: 'MailRefused',
    permanent: true,
  })
})

t.test('a refusal is for good or for now, as the server says', async (t) => {
  const refusals: [Partial<typeof MAIL>, boolean, RegExp][] = [
    [{ to: 'unknown@example.com' }, true, /^550 5\.1\.1 No such mailbox here/],
    [{ to: 'later@example.com' }, false, /^451 4\.7\.1 Try again later/],
    [{ to: 'subject@example.com', subject: 'This is refused' }, true, /^554 5\.6\.0 Not with this subject/],
  ]
  for (const [mail, permanent, message] of refusals) {
    const error = await send(mail).catch((thrown: unknown) => thrown)
    t.ok(error instanceof MailRefused)
    t.match(error, { permanent, message })
  }
})

t.test('a server that wants an account gets it; a wrong password is no refusal of the mail', async (t) => {
  const letter = letterOf({ ...MAIL, to: 'members@example.com' })
  await t.rejects(transport().deliver(letter, NOW), { message: /^550 5\.7\.1 Sign in first/ })
  t.match(await transport(ACCOUNT).deliver(letter, NOW), /^250 /)
  const wrong = await transport({ ...ACCOUNT, password: 'wr0ng' })
    .deliver(letter, NOW)
    .catch((thrown: unknown) => thrown)
  t.match(wrong, { name: 'MailRefused', permanent: false, message: /^535 / })
  t.notMatch(String(wrong), /wr0ng/)
})

t.test('nothing is sent unencrypted over a network, unless the settings allow it', async (t) => {
  // An address that is not of the loopback network by its form, and leads there all the same.
  const letter = letterOf({ ...MAIL, to: 'network@example.com' })
  await t.rejects(transport({ host: '0.0.0.0' }).deliver(letter, NOW), { message: /STARTTLS/i })
  t.match(await transport({ host: '0.0.0.0' }, 'off').deliver(letter, NOW), /^250 /)
  await t.rejects(transport({ host: '0.0.0.0', secure: true }).deliver(letter, NOW))
})

t.test('nothing is delivered when the end of the letter is not handed over', async (t) => {
  const taken = new Error('taken by another attempt')
  let called = 0
  const beforeEnd = async () => {
    called += 1
    throw taken
  }
  t.equal(await send({ to: 'broken@example.com' }, { ...NOW, beforeEnd }).catch((thrown: unknown) => thrown), taken)
  t.equal(called, 1)
  const stop = new AbortController()
  const stalled = send(
    { to: 'stopped@example.com' },
    { signal: stop.signal, beforeEnd: () => new Promise(() => stop.abort()) },
  )
  await t.rejects(stalled, { message: 'The node stops.' })
  await t.rejects(send({ to: 'stopped@example.com' }, { ...NOW, signal: stop.signal }), { name: 'AbortError' })
  // Whatever had been delivered before would be there when this one is.
  await send({ to: 'after@example.com' })
  await arrived('after@example.com')
  t.notOk((await server.mails()).some((mail) => /To: (broken|stopped)@/.test(mail)))
})

t.test('a server that is not there is no refusal', async (t) => {
  const error = await transport({ port: 1 })
    .deliver(letterOf(MAIL), NOW)
    .catch((thrown: unknown) => thrown)
  t.notOk(error instanceof MailRefused)
  t.match(error, { message: /ECONNREFUSED/ })
})

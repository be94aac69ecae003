/** The queue of mails, from its causes to a real mail server. */
import t from 'tap'
import type { Test } from 'tap'
import { MINUTE_MS } from '../../../lib/base/clock.ts'
import { PASSWORD_RESET_MS } from '../../../lib/identity/password-rules.ts'
import { MailProxy, startMailServer, type MailServer } from '../../support/mail-server.ts'
import { until } from '../../support/until.ts'
import { createWorld, type World } from '../../support/world.ts'

interface Row {
  readonly recipient: string
  readonly status: string
  readonly failures: number
  readonly reply: string | null
  readonly texts: number
}

const server: MailServer = await startMailServer()
const proxy = await MailProxy.open(server)
t.teardown(async () => {
  await proxy[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

async function open(t: Test, url = proxy.url): Promise<World> {
  proxy.stallAt = null
  const world = await createWorld({
    settings: { SMTP_URL: url, MAIL_FROM: 'Bank <no-reply@bank.example>' },
  })
  t.teardown(() => world[Symbol.asyncDispose]())
  return world
}

/** Has a link mailed to a payer. @returns the link */
async function ask(world: World, email: string): Promise<string> {
  const { client, balances } = world.seeded
  const made = await client.post<{ link: string }>('/funds-requests', {
    balanceId: balances.EUR,
    amount: { amountMinor: '12345', currency: 'EUR' },
    payer: { name: 'Payer <script>', email },
    description: 'An invoice <b>',
  })
  if (made.status !== 201) throw new Error(made.text)
  return made.body.link
}

async function rowOf(world: World, email: string): Promise<Row | undefined> {
  const rows = await world.query<Row>(
    `select recipient, status, failures, reply, num_nonnulls(text, sealed_text) as texts from mail where recipient = $1`,
    [email],
  )
  return rows[0]
}
/** The tasks that send mails. */
const tasks = (world: World) => world.query(`select from graphile_worker.jobs where key like 'notices.mail:%'`)
const ended = (world: World, email: string, status: string) =>
  until(`the mail to ${email} is ${status}`, async () => {
    const row = await rowOf(world, email)
    return row?.status === status && row
  })
/** The mails that have arrived at an address by now; the server delivers a moment after its answer. */
const arrived = async (email: string) => (await server.mails()).filter((mail) => mail.includes(`To: ${email}`))

const delivered = (email: string) =>
  until(`a mail to ${email} arrives`, async () => {
    const found = await arrived(email)
    return found.length > 0 && found
  })

t.test('a mail arrives once, under the name of the operator, and its text is gone', async (t) => {
  const world = await open(t)
  const email = 'once@example.com'
  proxy.stallAt = 'RCPT TO'
  const link = await ask(world, email)
  const token = link.slice(link.lastIndexOf('/') + 1)
  await until('it is being sent', () => proxy.stalled > 0)
  t.match(await rowOf(world, email), { status: 'sending', texts: 1 })
  const [{ stored }] = (await world.query<{ stored: string }>(
    `select string_agg(m::text || coalesce(encode(sealed_text, 'escape'), ''), '') as stored from mail m`,
  )) as [{ stored: string }]
  t.notOk(stored.includes(token), 'the link is sealed')
  const backlog = await world.query('select from mail where due_at is not null')
  t.equal(backlog.length, 1)
  proxy.stallAt = null
  proxy.cut()
  await until('the attempt has failed', async () => (await rowOf(world, email))?.failures === 1)
  world.advance(2 * MINUTE_MS)
  t.match(await ended(world, email, 'sent'), { texts: 0, reply: /^250 / })
  const mails = await delivered(email)
  t.equal(mails.length, 1)
  const [operator] = await world.query<{ name: string }>('select name from operator')
  t.match(mails[0], `From: ${operator!.name} <no-reply@bank.example>`)
  t.notMatch(mails[0], /<script>[^]*<script>/, 'markup in the text part alone')
  t.ok(mails[0]!.replaceAll('=\n', '').includes(link), 'with the link')
})

t.test('a link for a new password that could not be mailed within its hour is not mailed any more', async (t) => {
  const world = await open(t)
  const email = 'owner@example.com'
  proxy.stallAt = 'RCPT TO'
  const before = proxy.stalled
  const asked = await world.person('owner').send('POST', '/password-resets', { email }, {}, null)
  t.equal(asked.status, 202, asked.text)
  await until('it is being sent', () => proxy.stalled > before)
  const [times] = await world.query<{ same: boolean }>(
    'select m.valid_until = r.expires_at as same from mail m, password_reset r',
  )
  t.strictSame(times, { same: true }, 'the mail ends with its link')
  proxy.stallAt = null
  proxy.cut()
  await until('the attempt has failed', async () => (await rowOf(world, email))?.failures === 1)
  world.advance(PASSWORD_RESET_MS)
  t.match(await ended(world, email, 'expired'), { texts: 0, reply: /^The link in the mail has ended/ })
  t.strictSame(await arrived(email), [])
  await until('nothing tries again', async () => (await tasks(world)).length === 0)
})

t.test('an attempt whose mail another one has taken delivers nothing', async (t) => {
  const world = await open(t)
  const email = 'taken@example.com'
  proxy.stallAt = 'RCPT TO'
  const before = proxy.stalled
  await ask(world, email)
  await until('it is being sent', () => proxy.stalled > before)
  // As when this node had stalled for so long that another one began.
  await world.query('update mail set lease = gen_random_uuid() where recipient = $1', [email])
  proxy.release()
  await until('the attempt is over', async () => (await tasks(world)).length === 0)
  t.match(await rowOf(world, email), { status: 'sending', texts: 1, reply: null })
  t.strictSame(await arrived(email), [])
  // That the other one has no task is a fault of this test; the upkeep of tasks finds it.
  world.advance(11 * MINUTE_MS)
  await ended(world, email, 'sent')
  t.equal((await delivered(email)).length, 1)
})

t.test('a mailbox that does not exist is a bounce, and is kept with the answer of the server', async (t) => {
  const world = await open(t)
  await ask(world, 'unknown@example.com')
  t.match(await ended(world, 'unknown@example.com', 'bounced'), {
    failures: 0,
    texts: 0,
    reply: '550 5.1.1 No such mailbox here',
  })
  await until('no task is left', async () => (await tasks(world)).length === 0)
})

t.test('a server that is busy gets the mail again, later', async (t) => {
  const world = await open(t)
  await ask(world, 'later@example.com')
  const row = await until('it was refused for now', async () => {
    const found = await rowOf(world, 'later@example.com')
    return found !== undefined && found.failures > 0 && found
  })
  t.match(row, { status: 'waiting', texts: 1, reply: '451 4.7.1 Try again later' })
  await server.acceptLater()
  world.advance(5 * MINUTE_MS)
  t.match(await ended(world, 'later@example.com', 'sent'), { texts: 0 })
  t.equal((await delivered('later@example.com')).length, 1)
})

t.test('a letter whose answer was lost is repeated, as the same letter', async (t) => {
  const world = await open(t)
  proxy.answersToLose = 1
  await ask(world, 'lost@example.com')
  await until('the answer was lost', async () => (await rowOf(world, 'lost@example.com'))?.failures === 1)
  t.equal(
    (await world.query('select from mail where handed_over_at is not null')).length,
    1,
    'the row tells that it may be delivered',
  )
  world.advance(2 * MINUTE_MS)
  await ended(world, 'lost@example.com', 'sent')
  const mails = await until('both have arrived', async () => {
    const found = await arrived('lost@example.com')
    return found.length === 2 && found
  })
  const ids = mails.map((mail) => /^Message-ID: (\S+)$/m.exec(mail)?.[1])
  t.match(ids[0], /^<[0-9a-f-]{36}@bank\.example>$/)
  t.equal(ids[0], ids[1])
})

t.test('mails that fail for long are an alarm', async (t) => {
  // Nothing listens there.
  const world = await open(t, 'smtp://127.0.0.1:1')
  await ask(world, 'nowhere@example.com')
  const failures = (count: number) =>
    until(`${count} attempts have failed`, async () => (await rowOf(world, 'nowhere@example.com'))?.failures === count)
  await failures(1)
  t.strictSame(world.errors, [])
  world.advance(21 * MINUTE_MS)
  await failures(2)
  await until('it is logged', () => world.errors.length > 0)
  t.match(world.errors, [/mails wait for long; check SMTP_URL and the mail server/])
  t.notMatch(world.logged.join(), /nowhere@example\.com/, 'without the address')
  world.errors.length = 0
})

t.test('a change that rolls back mails nothing', async (t) => {
  const world = await open(t)
  await world.query(
    `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`,
  )
  await world.query(
    `create constraint trigger refuse after insert on funds_request deferrable initially deferred for each row execute function refuse()`,
  )
  await t.rejects(ask(world, 'rolled-back@example.com'))
  world.errors.length = 0
  t.equal(await rowOf(world, 'rolled-back@example.com'), undefined)
  await world.query('drop trigger refuse on funds_request')
  await ask(world, 'committed@example.com')
  await ended(world, 'committed@example.com', 'sent')
  await delivered('committed@example.com')
  t.strictSame(await arrived('rolled-back@example.com'), [])
})

t.test('mails that ended a month ago are removed', async (t) => {
  const world = await open(t)
  await ask(world, 'old@example.com')
  await ended(world, 'old@example.com', 'sent')
  world.advance(31 * 24 * 60 * MINUTE_MS)
  await until('it is gone', async () => (await rowOf(world, 'old@example.com')) === undefined)
})

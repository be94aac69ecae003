/**
 * A node that dies while it sends a mail: it has taken the mail, and the mail server has not yet the end of the letter.
 * Another node sends it, and it arrives once.
 */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { freePort } from '../support/cluster.ts'
import { MailProxy, startMailServer } from '../support/mail-server.ts'
import { createDataDir, startNode } from '../support/node-process.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'

/** As many as a person may ask for within an hour; a node sends more than that at a time. */
const MAILS = 3

t.test('kill -9 between the taking of mails and their sending', async (t) => {
  await using server = await startMailServer()
  await using database = await createTestDatabase()
  const shared = {
    DATABASE_URL: database.url,
    SECRETS_KEY: randomBytes(32).toString('hex'),
    MAIL_FROM: 'no-reply@bank.example',
    RATE_LIMITS: 'off',
  }
  await using dataDirs = new AsyncDisposableStack()
  const [firstDir, secondDir] = [dataDirs.use(await createDataDir()), dataDirs.use(await createDataDir())]
  // Its proxy lets no mail through.
  await using stalled = await MailProxy.open(server)
  stalled.stallAt = 'RCPT TO'
  await using dying = await startNode(firstDir.path, { ...shared, SMTP_URL: stalled.url })
  for (let asked = 0; asked < MAILS; asked++) {
    const answer = await fetch(`${dying.url}/v1/password-resets`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"email":"owner@example.com"}',
    })
    t.equal(answer.status, 202)
  }
  await until('all are being sent', () => stalled.stalled === MAILS)
  t.strictSame(await server.mails(), [])
  const metricsPort = await freePort()
  await using other = await startNode(secondDir.path, {
    ...shared,
    SMTP_URL: server.url,
    METRICS_PORT: String(metricsPort),
  })
  const metrics = async () => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    return Object.fromEntries(
      [...text.matchAll(/^vostro_(mails?_\w+) (\S+)$/gm)].map(([, name, value]) => [name, value]),
    )
  }
  const waiting = await metrics()
  t.match(waiting, { mail_backlog: String(MAILS), mails_sent_total: '0' })
  t.ok(Number(waiting['mail_oldest_age_seconds']) > 0)
  dying.kill('SIGKILL')
  await dying.ended
  // What the dead node had written so far is let through: it is not the end of a letter.
  stalled.stallAt = null
  const mails = await until(
    'all have arrived',
    async () => {
      const found = await server.mails()
      return found.length >= MAILS && found
    },
    { deadlineMs: 60_000 },
  )
  const ids = mails.map((mail) => /^Message-ID: (\S+)$/m.exec(mail)?.[1])
  t.equal(new Set(ids).size, MAILS, 'each once')
  // Nothing is left that would send one again.
  await until('the answers are noted', async () => (await metrics())['mail_backlog'] === '0')
  t.strictSame(await metrics(), {
    mail_backlog: '0',
    mail_oldest_age_seconds: '0',
    mails_sent_total: String(MAILS),
    mails_bounced_total: '0',
    mails_expired_total: '0',
    mail_failures_total: '0',
    mails_repeated_total: '0',
  })
  other.kill('SIGTERM')
  t.equal((await other.ended).code, 0)
  t.equal((await server.mails()).length, MAILS)
})

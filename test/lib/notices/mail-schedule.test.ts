/** When a mail is sent again: a table, and what is never repeated. */
import t from 'tap'
import { afterFailure, replyOf } from '../../../lib/notices/mail-schedule.ts'
import { MailRefused } from '../../../lib/notices/mail.ts'

const NOW = Date.UTC(2026, 2, 2)
const MINUTE = 60_000

t.test('a failure is repeated with growing delays for three days, and then given up', async (t) => {
  const error = new Error('connect ECONNREFUSED')
  const delays: number[] = []
  for (let failures = 1; ; failures++) {
    const next = afterFailure(error, failures, NOW)
    t.equal(next.reply, 'connect ECONNREFUSED')
    if (next.status === 'bounced') break
    delays.push((next.dueAt - NOW) / MINUTE)
  }
  t.strictSame(delays, [1, 5, 15, 30, 60, 120, 240, 480, 480, 720, 720, 1440])
})

t.test('a refusal for good is not repeated, one for now is', async (t) => {
  t.strictSame(afterFailure(new MailRefused('550 5.1.1 No such mailbox', true), 1, NOW), {
    status: 'bounced',
    reply: '550 5.1.1 No such mailbox',
  })
  t.strictSame(afterFailure(new MailRefused('451 4.7.1 Later', false), 2, NOW), {
    status: 'waiting',
    dueAt: NOW + 5 * MINUTE,
    reply: '451 4.7.1 Later',
  })
})

t.test('an answer is kept as one line', async (t) => {
  t.equal(replyOf('550-5.7.1 Not\r\n550 5.7.1 here\0 '), '550-5.7.1 Not 550 5.7.1 here')
  t.equal(replyOf('x'.repeat(600)).length, 500)
})

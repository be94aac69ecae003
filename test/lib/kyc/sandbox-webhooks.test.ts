/** The webhooks of the sandbox's KYC provider. */
import t from 'tap'
import { readReport, sandboxReport, sandboxWebhooks } from '../../../lib/kyc/sandbox/sandbox-webhooks.ts'
import { sign } from '../../../lib/webhooks/signature.ts'

/** The vector that Standard Webhooks publishes with its libraries. */
const VECTOR = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: '1614265330',
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}
const AT = Number(VECTOR.timestamp) * 1_000

const request = (more: { readonly body?: string; readonly headers?: object } = {}) => ({
  bytes: Buffer.from(more.body ?? VECTOR.body),
  headers: {
    'webhook-id': VECTOR.id,
    'webhook-timestamp': VECTOR.timestamp,
    'webhook-signature': VECTOR.signature,
    ...more.headers,
  },
})
const fits = (sent: ReturnType<typeof request>, now = AT, secret = VECTOR.secret) =>
  sandboxWebhooks.isSigned(sent, secret, now)

t.test('the signature is that of Standard Webhooks', (t) => {
  t.ok(fits(request()))
  t.ok(fits(request({ headers: { 'webhook-signature': `v1,AAAA v1a,bm90 ${VECTOR.signature}` } })), 'one of several')
  t.notOk(fits(request({ body: '{"test": 2432232315}' })))
  t.notOk(fits(request({ headers: { 'webhook-id': 'msg_other' } })))
  t.notOk(fits(request({ headers: { 'webhook-timestamp': '1614265331' } })))
  t.notOk(fits(request(), AT, 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'))
  const sent = [
    { 'webhook-signature': '' },
    { 'webhook-signature': 'v1,' },
    { 'webhook-signature': VECTOR.signature.slice(3) },
  ]
  for (const headers of [
    ...sent,
    { 'webhook-timestamp': '' },
    { 'webhook-timestamp': 'NaN' },
    { 'webhook-id': undefined },
  ])
    t.notOk(fits(request({ headers })), JSON.stringify(headers))
  t.end()
})

t.test('a signature is good for five minutes, to both sides', (t) => {
  for (const [ms, good] of [
    [300_000, true],
    [300_001, false],
    [-300_000, true],
    [-300_001, false],
    [7 * 86_400_000, false],
  ] as const)
    t.equal(fits(request(), AT + ms), good, `${ms}`)
  t.end()
})

t.test('the service signs what it verifies', (t) => {
  const body = '{"a":"é"}'
  const { standard } = sign({ eventId: 'e', timestamp: 1_614_265_330, body, secrets: [VECTOR.secret] })
  t.ok(fits(request({ body, headers: { 'webhook-id': 'e', 'webhook-signature': standard } })))
  t.end()
})

t.test('a secret has a prefix and bytes enough', (t) => {
  t.equal(sandboxWebhooks.secretFault(VECTOR.secret), null)
  t.equal(sandboxWebhooks.secretFault(`whsec_${Buffer.alloc(64, 1).toString('base64')}`), null)
  const short = [`whsec_${Buffer.alloc(23, 1).toString('base64')}`, `whsec_${Buffer.alloc(65, 1).toString('base64')}`]
  for (const secret of ['', 'whsec_', VECTOR.secret.slice(6), `${VECTOR.secret}!`, ...short])
    t.type(sandboxWebhooks.secretFault(secret), 'string', secret)
  t.end()
})

t.test('a report is read as it was written', (t) => {
  const review = {
    answer: 'red' as const,
    rejectType: 'retry' as const,
    rejectLabels: ['EXPIRATION_DATE'],
    moderationComment: 'The document has expired.',
    screening: [{ list: 'sanctions', name: 'A B', score: 87, status: 'potential_match' }],
  }
  const occurredAt = '2026-05-04T09:30:00.000Z'
  const body = sandboxReport({ eventId: 'evt_1', occurredAt, subjectId: 'one', applicantId: 'sbx-one', review })
  t.strictSame(readReport(body), {
    eventId: 'evt_1',
    type: 'applicant.reviewed',
    occurredAt: Date.parse(occurredAt),
    subjectId: 'one',
    applicantId: 'sbx-one',
    outcome: { kind: 'reviewed', review },
  })
  t.end()
})

t.test('what is unknown or unclear is not taken for a review', (t) => {
  const read = (body: object) => sandboxWebhooks.translate(Buffer.from(JSON.stringify(body)))
  t.equal(read({ type: 'applicant.reviewed' }), null, 'without an id')
  t.equal(read({ id: 'x'.repeat(101), type: 'a' }), null)
  t.match(read({ id: '1', type: 'applicant.praised', occurredAt: '+099999-01-01T00:00:00Z' }), {
    outcome: null,
    occurredAt: null,
  })
  t.match(read({ id: '1', type: 'applicant.reviewed', data: { answer: 'amber' } }), { outcome: null })
  t.match(read({ id: '1', type: 'applicant.reviewed', data: [] }), { outcome: null })
  t.match(read({ id: '1', type: 'applicant.reviewed', data: { answer: 'red', screening: [7, { score: 'x' }] } }), {
    outcome: { review: { rejectType: 'final', screening: [{ list: 'unknown', score: 100 }] } },
  })
  t.match(read({ id: '1', type: 'applicant.on_hold', data: { subjectId: 'a\0b' } }), { subjectId: null })
  t.end()
})

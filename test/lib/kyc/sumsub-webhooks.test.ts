/** Sumsub's webhooks: their signature over the bytes, and their words. */
import { createHmac } from 'node:crypto'
import t from 'tap'
import { sumsubWebhooks } from '../../../lib/kyc/sumsub/sumsub-webhooks.ts'
import { tokenRequest } from '../../../lib/kyc/sumsub/sumsub-requests.ts'

const signed = (body: string | Uint8Array, algorithm: string | undefined, digest: string | undefined) => ({
  bytes: Buffer.from(body),
  headers: { 'x-payload-digest-alg': algorithm, 'x-payload-digest': digest },
})

/**
 * Published vectors. The first is the example of Sumsub's own operation `inspectionCallbacks/testDigest`, in its
 * documentation of webhooks. The others are those of HMAC: RFC 2202 (3, case 2) and RFC 4231 (4.3, case 2).
 */
const VECTORS = [
  {
    algorithm: 'HMAC_SHA1_HEX',
    secret: 'SoMe_SeCrEt_KeY',
    body: 'someText',
    digest: 'f6e92ffe371718694d46e28436f76589312df8db',
  },
  {
    algorithm: 'HMAC_SHA1_HEX',
    secret: 'Jefe',
    body: 'what do ya want for nothing?',
    digest: 'effcdf6ae5eb2fa2d27416d5f184df9c259a7c79',
  },
  {
    algorithm: 'HMAC_SHA256_HEX',
    secret: 'Jefe',
    body: 'what do ya want for nothing?',
    digest: '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  },
  {
    algorithm: 'HMAC_SHA512_HEX',
    secret: 'Jefe',
    body: 'what do ya want for nothing?',
    digest:
      '164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737',
  },
]

t.test('signatures fit the published vectors, and nothing else', (t) => {
  for (const { algorithm, secret, body, digest } of VECTORS) {
    const fits = (request: ReturnType<typeof signed>, key = secret) => sumsubWebhooks.isSigned(request, key, 0)
    t.ok(fits(signed(body, algorithm, digest)), algorithm)
    t.ok(fits(signed(body, algorithm, digest.toUpperCase())), 'in capitals')
    t.notOk(fits(signed(`${body} `, algorithm, digest)), 'another body')
    t.notOk(fits(signed(body, algorithm, digest), `${secret}x`), 'another secret')
    t.notOk(fits(signed(body, algorithm, digest.slice(2))), 'a part')
    t.notOk(fits(signed(body, algorithm, `${digest}00`)), 'more')
    t.notOk(fits(signed(body, algorithm, '')))
    t.notOk(fits(signed(body, algorithm, `${digest.slice(0, -1)}g`)), 'no hexadecimal')
    t.notOk(fits(signed(body, algorithm, undefined)))
    t.notOk(fits(signed(body, undefined, digest)))
    for (const other of ['HMAC_MD5_HEX', 'toString', '', 'hmac_sha256_hex', 'SHA256'])
      t.notOk(fits(signed(body, other, digest)), other)
    for (const other of VECTORS.filter((each) => each.algorithm !== algorithm))
      t.notOk(fits(signed(body, other.algorithm, digest)), `as ${other.algorithm}`)
  }
  const twice = { bytes: Buffer.from(''), headers: { 'x-payload-digest-alg': ['HMAC_SHA1_HEX', 'HMAC_SHA1_HEX'] } }
  t.notOk(sumsubWebhooks.isSigned(twice, 'Jefe', 0), 'a header that was sent twice')
  t.end()
})

t.test('the bytes are signed, not the text that they make', (t) => {
  const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x7d])
  const digest = createHmac('sha256', 'secret-key').update(bytes).digest('hex')
  t.ok(sumsubWebhooks.isSigned(signed(bytes, 'HMAC_SHA256_HEX', digest), 'secret-key', 0))
  t.equal(sumsubWebhooks.translate(bytes), null)
  t.end()
})

const event = (more: object) => ({
  applicantId: '5cb56e8e0a975a35f333cb83',
  inspectionId: '5cb56e8e0a975a35f333cb84',
  applicantType: 'individual',
  correlationId: 'req-a260b669-4f14-4bb5-a4c5-ac0218acb9a4',
  levelName: 'id-and-liveness',
  externalUserId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
  createdAtMs: '2020-02-21 13:23:19.321',
  clientId: 'client',
  ...more,
})
const read = (more: object) => sumsubWebhooks.translate(Buffer.from(JSON.stringify(event(more))))

t.test('each type says what it says', (t) => {
  const kinds = {
    applicantCreated: 'created',
    applicantPending: 'pending',
    applicantOnHold: 'on_hold',
    applicantReset: 'reset',
  }
  for (const [type, kind] of Object.entries(kinds))
    t.match(read({ type }), {
      type,
      occurredAt: Date.UTC(2020, 1, 21, 13, 23, 19, 321),
      subjectId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
      applicantId: '5cb56e8e0a975a35f333cb83',
      outcome: { kind },
    })
  const green = { answer: 'green', rejectType: null, rejectLabels: [], moderationComment: null, screening: [] }
  t.strictSame(read({ type: 'applicantReviewed', reviewResult: { reviewAnswer: 'GREEN' } })?.outcome, {
    kind: 'reviewed',
    review: green,
  })
  t.strictSame(
    read({
      type: 'applicantReviewed',
      reviewResult: {
        reviewAnswer: 'RED',
        reviewRejectType: 'RETRY',
        rejectLabels: ['UNSATISFACTORY_PHOTOS', 7, null],
        moderationComment: 'Blurred.',
        clientComment: 'For the client alone.',
      },
    })?.outcome,
    {
      kind: 'reviewed',
      review: {
        ...green,
        answer: 'red',
        rejectType: 'retry',
        rejectLabels: ['UNSATISFACTORY_PHOTOS'],
        moderationComment: 'Blurred.',
      },
    },
    'what is for the client alone is not taken',
  )
  const final = read({
    type: 'applicantReviewed',
    reviewResult: { reviewAnswer: 'RED', rejectLabels: ['SANCTIONS', 'FORGERY'] },
  })?.outcome
  t.match(final, { review: { rejectType: 'final', screening: [{ list: 'sanctions' }] } }, 'without a type staff decide')
  t.end()
})

t.test('what is unknown says nothing, and what is no event is not read', (t) => {
  for (const more of [
    { type: 'applicantTagsChanged' },
    { type: 'constructor' },
    { type: 'applicantReviewed' },
    { type: 'applicantReviewed', reviewResult: { reviewAnswer: 'YELLOW' } },
    { type: 'applicantReviewed', reviewResult: [] },
  ])
    t.match(read(more), { outcome: null }, JSON.stringify(more))
  for (const body of ['', '[]', '"text"', 'null', '{"type":7}', '{}', '{"type":', '['.repeat(60_000)])
    t.equal(sumsubWebhooks.translate(Buffer.from(body)), null, body.slice(0, 20))
  t.match(read({ type: 'applicantPending', createdAtMs: 'yesterday', externalUserId: 'x'.repeat(101) }), {
    occurredAt: null,
    subjectId: null,
  })
  t.end()
})

t.test('an event that is sent again has the same id, and another has another', (t) => {
  const type = 'applicantPending'
  const id = read({ type })!.eventId
  const turned = Object.fromEntries(Object.entries(event({ type })).reverse())
  t.equal(sumsubWebhooks.translate(Buffer.from(JSON.stringify(turned, null, 2)))!.eventId, id)
  for (const more of [
    { type: 'applicantOnHold' },
    { type, createdAtMs: '2020-02-21 13:23:19.322' },
    { type, correlationId: 'req-b' },
    { type, applicantId: 'other' },
  ])
    t.not(read(more)!.eventId, id, JSON.stringify(more))
  t.end()
})

t.test('requests are signed over time, method, path and body', (t) => {
  const keys = { appToken: 'sbx:token', secretKey: 'secret' }
  const request = tokenRequest(keys, 1_607_551_635_999, { subjectId: 'one', level: 'basic', seconds: 600 })
  const text = `1607551635POST/resources/accessTokens/sdk${request.body}`
  t.match(request, {
    method: 'POST',
    path: '/resources/accessTokens/sdk',
    body: '{"userId":"one","levelName":"basic","ttlInSecs":600}',
    headers: {
      'x-app-token': 'sbx:token',
      'x-app-access-ts': '1607551635',
      'x-app-access-sig': createHmac('sha256', 'secret').update(text).digest('hex'),
    },
  })
  t.end()
})

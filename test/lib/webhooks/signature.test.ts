import { createHmac } from 'node:crypto'
import t from 'tap'
import { generateSecret, sign } from '../../../lib/webhooks/signature.ts'
import { verifyWebhook, WebhookNotVerified } from '../../../lib/webhooks/verify.ts'

const NOW = Date.UTC(2026, 4, 4)
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const body = JSON.stringify({ id: 'e', type: 'payment.created', data: { object: 'payment', name: 'Zoë' } })
const seconds = NOW / 1_000

function headersOf(secrets: readonly string[], timestamp = seconds) {
  const { service } = sign({ eventId: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp, body, secrets })
  return { 'service-timestamp': String(timestamp), 'service-signature': service }
}

t.test('secrets are 32 random bytes', async (t) => {
  const secret = generateSecret()
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.equal(Buffer.from(secret.slice('whsec_'.length), 'base64').length, 32)
  t.not(generateSecret(), secret)
})

t.test('the signature is an HMAC of timestamp and body under the whole secret', async (t) => {
  const { service } = sign({ eventId: 'e', timestamp: seconds, body, secrets: [SECRET] })
  t.equal(service, `v1=${createHmac('sha256', SECRET).update(`${seconds}.${body}`).digest('hex')}`)
})

t.test('the second set is what the Standard Webhooks example says', async (t) => {
  // From the published test vectors of the standard's libraries.
  const { standard } = sign({
    eventId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1614265330,
    body: '{"test": 2432232314}',
    secrets: [SECRET],
  })
  t.equal(standard, 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

t.test('what is signed is verified, with the bytes as they are', async (t) => {
  const event = verifyWebhook({ body, headers: headersOf([SECRET]), secrets: [SECRET], now: NOW })
  t.equal(event.type, 'payment.created')
  t.equal(
    verifyWebhook({ body: Buffer.from(body), headers: new Headers(headersOf([SECRET])), secrets: [SECRET], now: NOW })
      .id,
    'e',
  )
})

t.test('while a secret is replaced either one will do', async (t) => {
  const old = generateSecret()
  const headers = headersOf([SECRET, old])
  t.equal(headers['service-signature'].split(',').length, 2)
  for (const secrets of [[SECRET], [old], [generateSecret(), old]])
    t.ok(verifyWebhook({ body, headers, secrets, now: NOW }))
})

t.test('anything else is refused, with its reason', async (t) => {
  const reason = (input: Partial<Parameters<typeof verifyWebhook>[0]>): string => {
    try {
      verifyWebhook({ body, headers: headersOf([SECRET]), secrets: [SECRET], now: NOW, ...input })
      return 'accepted'
    } catch (error) {
      if (error instanceof WebhookNotVerified) return error.reason
      throw error
    }
  }
  t.equal(reason({}), 'accepted')
  t.equal(reason({ body: `${body} ` }), 'signature_mismatch')
  t.equal(reason({ secrets: [generateSecret()] }), 'signature_mismatch')
  t.equal(reason({ secrets: [] }), 'signature_mismatch')
  t.equal(reason({ headers: { ...headersOf([SECRET]), 'service-signature': 'v1=00' } }), 'signature_mismatch')
  t.equal(
    reason({
      headers: {
        ...headersOf([SECRET]),
        'service-signature': headersOf([SECRET])['service-signature'].replace('v1=', 'v0='),
      },
    }),
    'signature_mismatch',
  )
  t.equal(
    reason({ headers: { ...headersOf([SECRET]), 'service-timestamp': String(seconds + 1) } }),
    'signature_mismatch',
  )
  t.equal(reason({ headers: {} }), 'header_missing')
  t.equal(reason({ now: NOW + 300_000 }), 'accepted')
  t.equal(reason({ now: NOW + 301_000 }), 'timestamp_outside_tolerance')
  t.equal(reason({ now: NOW - 301_000 }), 'timestamp_outside_tolerance')
})

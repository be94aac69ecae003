/** Events of providers: what of their headers is kept, their attempts, and what their sources say side by side. */
import t from 'tap'
import {
  compareTellings,
  matchAgainAfter,
  redactedHeaders,
  retryAfter,
  type Telling,
} from '../../../lib/providers/provider-event.ts'

t.test('headers that prove something are not kept', (t) => {
  t.strictSame(
    redactedHeaders({
      'content-type': 'application/json',
      'webhook-id': 'msg_1',
      'webhook-signature': 'v1,abc',
      authorization: 'Bearer x',
      'x-api-key': 'y',
      cookie: 'a=b',
      digitalsignature: 'c',
      'x-bank-token': 'd',
      accept: ['a', 'b'],
      absent: undefined,
    }),
    {
      'content-type': 'application/json',
      'webhook-id': 'msg_1',
      'webhook-signature': '[redacted]',
      authorization: '[redacted]',
      'x-api-key': '[redacted]',
      cookie: '[redacted]',
      digitalsignature: '[redacted]',
      'x-bank-token': '[redacted]',
      accept: 'a, b',
    },
  )
  t.end()
})

t.test('attempts come to an end, sooner for what matches nothing', (t) => {
  const pauses = Array.from({ length: 9 }, (_, nth) => retryAfter(nth + 1))
  t.strictSame(
    pauses.map((ms) => (ms === null ? null : ms / 1_000)),
    [5, 30, 120, 600, 1_800, 3_600, 10_800, null, null],
  )
  t.strictSame(
    [1, 2, 3, 4].map((attempts) => matchAgainAfter(attempts)),
    [5_000, 30_000, null, null],
  )
  t.end()
})

t.test('sources are compared by what cannot both be true', (t) => {
  const telling = (type: string, more: Partial<Telling> = {}): Telling => ({
    eventId: type,
    source: 'webhook',
    type,
    amount: null,
    receivedAt: 2,
    ...more,
  })
  t.equal(compareTellings([]), null)
  for (const [tellings, disagree] of [
    [[telling('settled')], false],
    [[telling('settled'), telling('settled')], false],
    [[telling('settled'), telling('returned', { amount: 5n })], false],
    [[telling('settled'), telling('rejected')], true],
    [[telling('rejected'), telling('pending'), telling('settled')], true],
    [[telling('returned', { amount: 5n }), telling('rejected')], true],
    [[telling('settled'), telling('refused')], true],
    [[telling('account.credited', { amount: 5n }), telling('account.credited', { amount: 5n })], false],
    [[telling('account.credited', { amount: 5n }), telling('account.credited', { amount: 6n })], true],
    [[telling('returned', { amount: 5n }), telling('returned')], false],
  ] as const)
    t.equal(compareTellings(tellings)?.disagree, disagree, tellings.map(({ type }) => type).join(', '))
  const first = telling('settled', { receivedAt: 1, source: 'statement' })
  t.equal(compareTellings([telling('settled'), first, telling('rejected', { receivedAt: 3 })])?.first, first)
  t.end()
})

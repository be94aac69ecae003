/** The meaning of a bank's answer, and the payments that it lets through. */
import t from 'tap'
import { verifyPayee } from '../../../actors/payments/verify-payee.ts'
import {
  keptVerification,
  shownVerification,
  stillValid,
  verificationGate,
  verificationOfAnswer,
  withStandingOverride,
  type PayeeQuestion,
  type VerificationOutcome,
} from '../../../lib/recipients/verification.ts'

const NOW = Date.UTC(2026, 4, 4)
const DAY_MS = 86_400_000
const ASKER = { operatorId: 'operator', customerId: 'customer', currency: 'EUR' }
const QUESTION: PayeeQuestion = {
  scheme: 'vop',
  name: 'Jane Doe',
  type: 'individual',
  iban: 'NL77SBOX0100000001',
  sortCode: null,
  accountNumber: null,
  secondaryReference: null,
}
const said = (code: string | null, scheme: 'cop' | 'vop' = 'vop') =>
  verificationOfAnswer({ scheme, name: 'Jane Doe' }, { code, matchedName: 'John Doe' }, NOW)

t.test('codes become outcomes; the right name is told only where a scheme tells it', async (t) => {
  const table: readonly (readonly [code: string | null, outcome: VerificationOutcome, tells: boolean])[] = [
    [null, 'match', false],
    ['MTCH', 'match', false],
    ['CMTC', 'close_match', true],
    ['MBAM', 'close_match', true],
    ['BANM', 'close_match', false],
    ['PANM', 'close_match', false],
    ['BAMM', 'close_match', true],
    ['PAMM', 'close_match', true],
    ['NMTC', 'no_match', false],
    ['ANNM', 'no_match', false],
    ['AC01', 'no_match', false],
    ['NOAP', 'unavailable', false],
    ['IVCR', 'unavailable', false],
    ['ACNS', 'unavailable', false],
    ['OPTO', 'unavailable', false],
    ['CASS', 'unavailable', false],
    ['SCNS', 'unavailable', false],
    ['NEW1', 'unavailable', false],
  ]
  for (const [code, outcome, tells] of table)
    t.match(said(code), { outcome, reasonCode: code, matchedName: tells ? 'John Doe' : null }, String(code))
})

t.test('a partner that is late or down has not answered', async (t) => {
  const clock = { now: () => NOW }
  const late = await verifyPayee(
    { clock, answerWithinMs: 20, payees: { verifyPayee: () => new Promise(() => undefined) } },
    QUESTION,
    ASKER,
  )
  t.match(late.verification, { outcome: 'unavailable', reasonCode: 'NOAP', reason: 'The bank did not answer in time.' })
  const down = await verifyPayee(
    {
      clock,
      payees: {
        verifyPayee: async () => {
          throw new Error('down')
        },
      },
    },
    { ...QUESTION, scheme: 'cop' },
    ASKER,
  )
  t.match(down, { isOffered: true, verification: { outcome: 'unavailable', reasonCode: null, validUntil: null } })
  const none = await verifyPayee({ clock, payees: { verifyPayee: async () => 'not_offered' } }, QUESTION, ASKER)
  t.match(none, {
    isOffered: false,
    verification: { outcome: 'unavailable', reasonCode: 'NOAP', reason: 'No bank of the customer checks names.' },
  })
})

t.test('the gate', async (t) => {
  const gate = (
    code: string,
    { allowed = ['close_match'], required = false, accepts = null as VerificationOutcome | null } = {},
  ) => {
    const result = verificationGate(said(code), {
      policy: { requireVerification: required, allowedOverrides: allowed },
      override: accepts === null ? null : { acceptOutcome: accepts, reason: 'Known to us.' },
      by: 'someone',
      now: NOW,
    })
    return 'refused' in result ? result.refused.slug : result.verification.override === null ? 'passes' : 'accepted'
  }
  t.equal(gate('MTCH'), 'passes')
  t.equal(gate('MTCH', { accepts: 'close_match' }), 'passes', 'there is nothing to accept')
  t.equal(gate('CMTC'), 'verification-mismatch')
  t.equal(gate('CMTC', { accepts: 'close_match' }), 'accepted')
  t.equal(
    gate('CMTC', { accepts: 'no_match', allowed: ['close_match', 'no_match'] }),
    'verification-mismatch',
    'another outcome than was accepted',
  )
  t.equal(gate('NMTC', { accepts: 'no_match' }), 'verification-mismatch', 'the operator does not allow it')
  t.equal(gate('NMTC', { accepts: 'no_match', allowed: ['no_match'] }), 'accepted')
  t.equal(gate('NOAP'), 'passes')
  t.equal(gate('NOAP', { required: true }), 'verification-mismatch')
  t.equal(gate('NOAP', { required: true, accepts: 'unavailable', allowed: ['unavailable'] }), 'accepted')
})

t.test('what was accepted stands for the same answer about the same name', async (t) => {
  const override = {
    acceptOutcome: 'close_match',
    reason: 'Known to us.',
    by: 'someone',
    at: '2026-05-04T00:00:00.000Z',
  } as const
  const before = { ...said('CMTC'), override }
  t.strictSame(withStandingOverride(said('CMTC'), before).override, override)
  t.equal(withStandingOverride(said('NMTC'), before).override, null)
  t.equal(withStandingOverride({ ...said('CMTC'), requestedName: 'Another' }, before).override, null)
  t.equal(withStandingOverride(said('CMTC'), said('CMTC')).override, null)
  t.equal(withStandingOverride(said('CMTC'), null).override, null)
})

t.test('how long an answer stands', async (t) => {
  t.ok(stillValid(said(null, 'cop'), NOW + 90 * DAY_MS - 1))
  t.notOk(stillValid(said(null, 'cop'), NOW + 90 * DAY_MS))
  t.notOk(stillValid(said('MTCH'), NOW), 'the euro area’s scheme lets nobody keep it')
  t.notOk(stillValid(null, NOW))
})

t.test('payments keep a match in a few bytes and show it whole', async (t) => {
  for (const [code, scheme] of [
    ['MTCH', 'vop'],
    [null, 'cop'],
    ['CMTC', 'vop'],
    ['NOAP', 'vop'],
  ] as const) {
    const full = said(code, scheme)
    const kept = JSON.parse(JSON.stringify(keptVerification(full))) as ReturnType<typeof keptVerification>
    t.strictSame(shownVerification(kept, 'Jane Doe'), full)
    if (full.outcome === 'match') t.ok(JSON.stringify(kept).length < 60)
  }
})

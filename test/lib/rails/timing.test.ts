import t from 'tap'
import { chargesOf, feeOf, feeRuleOf, type FeeRuleJson } from '../../../lib/pricing/fees.ts'
import type { Rail } from '../../../lib/rails/rails.ts'
import { arrivalOf, dueTiming, timingOf } from '../../../lib/rails/timing.ts'
import { queueDelayMs } from '../../../lib/sandbox/triggers.ts'

const at = (text: string) => Date.parse(text)
const shown = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString().slice(0, 16))

t.test('the execution date follows from the rail, the wish, the calendar and the time', (t) => {
  // rail, wish, whether calendars are kept, now, and: execution date, due, waits for money until
  const table: readonly (readonly [Rail, string | null, boolean, string, string, string | null, string | null])[] = [
    ['sepa', null, false, '2026-04-04T12:00Z', '2026-04-04', null, null],
    ['sepa', '2026-04-05', false, '2026-04-04T12:00Z', '2026-04-05', '2026-04-04T22:05', '2026-04-05T22:00'],
    ['sepa', '2026-04-01', false, '2026-04-04T12:00Z', '2026-04-04', null, null],
    ['sepa', null, true, '2026-04-02T12:59Z', '2026-04-02', null, null],
    ['sepa', null, true, '2026-04-02T13:01Z', '2026-04-07', '2026-04-06T22:05', '2026-04-07T13:00'],
    ['sepa', '2026-04-04', true, '2026-04-02T12:00Z', '2026-04-07', '2026-04-06T22:05', '2026-04-07T13:00'],
    ['sepa', '2026-04-08', true, '2026-04-02T12:00Z', '2026-04-08', '2026-04-07T22:05', '2026-04-08T13:00'],
    ['sepa_instant', null, true, '2026-04-04T23:30Z', '2026-04-05', null, null],
    ['sepa_instant', '2026-04-05', true, '2026-04-04T12:00Z', '2026-04-05', '2026-04-04T22:05', '2026-04-05T22:00'],
    // Half past ten in the evening in New York is the next day everywhere east of it.
    ['fedwire', null, true, '2026-07-02T02:30Z', '2026-07-02', '2026-07-02T04:05', '2026-07-02T22:00'],
    ['au_becs', '2026-10-05', true, '2026-10-01T00:00Z', '2026-10-05', '2026-10-04T13:05', '2026-10-05T05:00'],
  ]
  for (const [rail, wish, kept, now, date, due, until] of table) {
    const timing = timingOf(rail, wish, kept ? {} : null, at(now))
    t.strictSame([timing.executionDate, shown(timing.dueAt)], [date, due], `${rail} ${wish} ${now}`)
    if (until !== null) t.equal(shown(timing.until), until, `${rail} ${wish} ${now}: until`)
  }
  t.end()
})

t.test('what may go only after its day goes at once, or on the first day that will do', (t) => {
  t.strictSame(dueTiming('sepa', '2026-04-01', null, at('2026-04-04T12:00Z')), {
    dueAt: at('2026-04-04T12:00Z'),
    until: at('2026-04-04T22:00Z'),
  })
  t.strictSame(dueTiming('sepa', '2026-04-01', {}, at('2026-04-02T12:00Z')), {
    dueAt: at('2026-04-02T12:00Z'),
    until: at('2026-04-02T13:00Z'),
  })
  t.strictSame(dueTiming('sepa', '2026-04-01', {}, at('2026-04-04T12:00Z')), {
    dueAt: at('2026-04-06T22:05Z'),
    until: at('2026-04-07T13:00Z'),
  })
  t.end()
})

t.test('the money is there seconds after an instant release, and at the end of the last day of another', (t) => {
  const now = at('2026-04-02T12:00Z')
  t.equal(arrivalOf('sepa', false, timingOf('sepa', null, null, now), null, now) - now, 10_000, 'a sandbox')
  t.equal(arrivalOf('sepa_instant', true, timingOf('sepa_instant', null, {}, now), {}, now) - now, 2_000)
  t.equal(
    shown(arrivalOf('sepa', false, timingOf('sepa', null, {}, now), {}, now)),
    '2026-04-07T22:00',
    'one business day later, over Easter',
  )
  t.end()
})

t.test('fees: the rule of the rail before the one for any, never below or above its bounds', (t) => {
  const rows: readonly Pick<FeeRuleJson, 'rail' | 'fixed' | 'bps' | 'min' | 'max'>[] = [
    { rail: '', fixed: '20', bps: 0, min: '0', max: null },
    { rail: 'sepa', fixed: '0', bps: 15, min: '10', max: '500' },
    { rail: 'swift', fixed: '1000', bps: 10, min: '0', max: null },
  ]
  const rules = rows.map((rule) =>
    feeRuleOf({ kind: 'payment', taxBps: 0, refundable: true, passedOn: false, ...rule }),
  )
  t.equal(feeOf([], 'sepa', 1_000_000n), 0n, 'without rules nothing is charged')
  t.equal(feeOf(rules, 'sepa_instant', 5n), 20n)
  t.equal(feeOf(rules, 'sepa', 100_000n), 150n)
  t.equal(feeOf(rules, 'sepa', 333n), 10n, 'at least')
  t.equal(feeOf(rules, 'sepa', 10_000_000n), 500n, 'at most')
  t.equal(feeOf(rules, 'swift', 1_500n), 1_002n, 'half a minor unit is rounded up')
  t.equal(feeOf(rules, 'swift', 1_499n), 1_001n)
  t.equal(feeOf(rules.slice(1), 'chaps', 100n), 0n, 'no rule fits')
  t.equal(feeOf(rules, null, 100n), 20n, 'a rail that is not known has the rule for any')
  t.equal(feeOf(rules, 'sepa', 100_000n, 'incoming_payment'), 0n, 'nor one of another kind')
  t.end()
})

t.test('what a payment costs later is agreed on when it is submitted', (t) => {
  const rule = {
    rail: '' as const,
    fixed: '20',
    bps: 0,
    min: '0',
    max: null,
    taxBps: 0,
    refundable: false,
    passedOn: false,
  }
  const rules = [
    { ...rule, kind: 'payment' as const, refundable: true },
    { ...rule, kind: 'payment_return' as const, fixed: '500' },
    { ...rule, kind: 'partner_charge' as const, fixed: '300', passedOn: true },
  ].map(feeRuleOf)
  const payment = { rail: 'swift', amount: 1_000n, fee: 20n, chargeBearer: 'shared' } as const
  t.strictSame(chargesOf(rules, payment), {
    feeRefundable: true,
    return: '500',
    partner: { amountMinor: '300', passedOn: false },
  })
  t.match(
    chargesOf(rules, { ...payment, chargeBearer: 'sender' }),
    { partner: { passedOn: true } },
    'a sender who bears the charges',
  )
  t.equal(chargesOf(rules, { ...payment, fee: 0n })?.feeRefundable, undefined, 'there is nothing to give back')
  t.equal(chargesOf([], payment), undefined)
  t.equal(chargesOf(rules.slice(0, 1), { ...payment, fee: 0n }), undefined)
  t.end()
})

t.test('the sandbox keeps a payment in the queue by its amount or its token', (t) => {
  const facts = { amountMinor: 100n, reference: 'Invoice', recipientName: 'Amsterdam Trading BV' }
  t.equal(queueDelayMs(facts), 0)
  t.equal(queueDelayMs({ ...facts, amountMinor: 1703n }), 60_000)
  t.equal(queueDelayMs({ ...facts, reference: 'sbx:queue' }), 60_000)
  t.equal(queueDelayMs({ ...facts, recipientName: 'SBX/QUEUE BV' }), 60_000)
  t.equal(queueDelayMs({ ...facts, amountMinor: 1703n, reference: 'SBX:AC04' }), 0, 'a token goes before the amount')
  t.end()
})

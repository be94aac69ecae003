/** The tax within fees: what is computed, what a payment keeps of it, and the kinds of fees that can have it. */
import t from 'tap'
import { chargesOf, FEE_KINDS, FEE_TERMS, feeRuleOf, feeTaxOf, taxWithin } from '../../../lib/pricing/fees.ts'
import { RULES } from '../../../lib/ledger/postings.ts'

const rule = (change: object) =>
  feeRuleOf({
    kind: 'payment',
    rail: '',
    fixed: '120',
    bps: 0,
    min: '0',
    max: null,
    taxBps: 0,
    refundable: false,
    passedOn: false,
    ...change,
  })

t.test('tax is the part of the fee that its rate makes of the rest, rounded half up', async (t) => {
  for (const [fee, taxBps, tax] of [
    [120n, 2_000, 20n],
    [121n, 2_100, 21n],
    [119n, 1_900, 19n],
    [100n, 0, 0n],
    [0n, 2_000, 0n],
    [1n, 2_000, 0n],
    [3n, 2_000, 1n],
    [15n, 2_000, 3n],
    [100n, 10_000, 50n],
    [1_000_000_000_003n, 2_550, 203_187_250_997n],
  ] as const)
    t.equal(feeTaxOf([rule({ taxBps })], 'sepa', fee), tax, `${taxBps} in ${fee}`)
})

t.test('the rate is that of the rule for the fee: of the rail before any, and of payments alone', async (t) => {
  const rules = [
    rule({ taxBps: 2_000 }),
    rule({ rail: 'swift', taxBps: 0 }),
    rule({ rail: 'sepa', taxBps: 1_000 }),
    rule({ kind: 'incoming_payment', taxBps: 0 }),
  ]
  t.equal(feeTaxOf(rules, 'sepa_instant', 120n), 20n)
  t.equal(feeTaxOf(rules, 'swift', 120n), 0n)
  t.equal(feeTaxOf(rules, 'sepa', 110n), 10n)
  t.equal(feeTaxOf([], 'sepa', 110n), 0n)
})

t.test('a payment keeps its tax with its charges, also within the platform', async (t) => {
  const rules = [rule({ taxBps: 2_000, refundable: true })]
  const payment = { rail: 'sepa', amount: 1_000n, fee: 120n, chargeBearer: 'shared' } as const
  t.strictSame(chargesOf(rules, payment), { feeTax: '20', feeRefundable: true })
  t.strictSame(chargesOf(rules, { ...payment, rail: 'internal' }), { feeTax: '20' })
  t.equal(chargesOf(rules, { ...payment, fee: 0n }), undefined)
  t.equal(chargesOf([rule({})], { ...payment, rail: 'internal' }), undefined)
  t.equal(taxWithin(chargesOf(rules, payment)), 20n)
  t.equal(taxWithin(undefined), 0n)
})

t.test('fees that can have tax are posted by rules with a line for it', async (t) => {
  const posts = {
    payment: 'L10',
    incoming_payment: 'L02',
    payment_return: 'L15',
    exchange: 'L30',
    partner_charge: 'L17',
    collection_return: 'L53',
    card_purchase: 'L71',
    card_withdrawal: 'L71',
    card_conversion: 'L71',
  } as const
  for (const kind of FEE_KINDS)
    t.equal(
      FEE_TERMS[kind].has('tax'),
      RULES[posts[kind]].credit.some(({ account }) => account === 'fee_tax'),
      kind,
    )
})

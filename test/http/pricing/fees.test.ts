/** The fees of payments and of incoming money: rules that the operator may change. */
import t from 'tap'
import type { PricingTemplate } from '../../../lib/pricing/pricing-template-schema.ts'
import { addDays } from '../../../lib/base/clock.ts'
import { railDate } from '../../../lib/rails/business-days.ts'
import { pay as payIn, received, rowReaching } from '../incoming-payments/support.ts'
import type { PageBody } from '../../support/client.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'
import { charge } from './pricing.ts'

const DAY_MS = 86_400_000
const eur = (minor: number) => ({ amountMinor: String(minor), currency: 'EUR' })

/** The entries of an object: rule, amount, and between which accounts. */
async function entries(world: World, id: string): Promise<readonly string[]> {
  const rows = await world.query<{ rule: string; amount: string; debit: string; credit: string }>(
    `select p.rule, p.amount, coalesce(d.key, 'cust') as debit, coalesce(c.key, 'cust') as credit from posting p
      left join account d on d.id = p.debit_account left join account c on c.id = p.credit_account where p.source_id = $1 order by p.entry_id, p.ordinal`,
    [id],
  )
  return rows.map(({ rule, amount, debit, credit }) => `${rule} ${debit}→${credit} ${amount}`).sort()
}

t.test('what is charged is data: it is held, taken, and given back with the payment', async (t) => {
  await using world = await createWorld()
  await charge(world, [{ kind: 'payment', currency: 'EUR', fixed: eur(100), bps: 10, max: eur(500) }])
  const customer = await world.customer({ balances: [{ currency: 'EUR', amount: 100_000n }] })
  const [balanceId] = customer.balanceIds
  const { client, recipients } = customer
  const pay = async (minor: number, days: number, more: object = {}) =>
    (
      await client.createPayment({
        ...paymentBody(balanceId!, recipients.EUR, minor),
        executionDate: addDays(railDate('sepa_instant', world.now()), days),
        ...more,
      })
    ).body
  const now = await pay(20_000, 0)
  t.match(now, { fee: eur(120), fees: [{ type: 'payment', amount: eur(120) }], totalDebit: eur(20_120) })
  await client.paymentReaching(now.id, 'completed')
  t.match(await client.balance(balanceId!), { bookBalance: eur(79_880) })
  const failing = await pay(1302, 0)
  await client.paymentReaching(failing.id, 'failed')
  t.match(await client.balance(balanceId!), { bookBalance: eur(79_880), heldBalance: eur(0) })
  t.equal(
    (await client.createPayment(paymentBody(balanceId!, recipients.EUR, 79_880))).problem.code,
    'insufficient-funds',
    'the fee has to be there too',
  )
  const later = await pay(30_000, 1)
  t.match(later, { status: 'scheduled', totalDebit: eur(30_130) })
  world.advance(DAY_MS)
  await client.paymentReaching(later.id, 'completed', 20_000)
  t.match(await client.balance(balanceId!), { bookBalance: eur(49_750) })

  // The partner's charge and its bearer, and the fee and refund of a return.
  const { admin } = await charge(world, [
    { kind: 'payment', currency: 'EUR', fixed: eur(30), refundable: true },
    { kind: 'payment_return', currency: 'EUR', fixed: eur(250) },
    { kind: 'partner_charge', currency: 'EUR', bps: 100, passedOn: true },
    { kind: 'partner_charge', currency: 'EUR', rail: 'target2', fixed: eur(700) },
    { kind: 'incoming_payment', currency: 'EUR', fixed: eur(40) },
  ])
  const returned = await pay(5_000, 0)
  await client.paymentReaching(returned.id, 'completed')
  t.strictSame(await entries(world, returned.id), [
    'L10 cust→inc_fee 30',
    'L10 cust→out_transit 5000',
    'L11 out_transit→nostro 5000',
    'L16 exp_partner→nostro 50',
  ])
  t.match(
    await client.balance(balanceId!),
    { bookBalance: eur(44_720) },
    "what the partner takes is the operator's cost",
  )
  // Prices that change now change nothing for it: it costs what it cost when it was submitted.
  await charge(world, [{ kind: 'incoming_payment', currency: 'EUR', fixed: eur(40) }], admin)
  t.equal((await client.post(`/simulations/payments/${returned.id}/return`, { amount: eur(4_900) })).status, 202)
  await client.paymentReaching(returned.id, 'returned')
  t.strictSame(
    (await entries(world, returned.id)).slice(4),
    ['L14 inc_fee→cust 30', 'L15 cust→inc_fee 250', 'L16 exp_partner→nostro 50', 'L13 nostro→cust 4900']
      .sort()
      .slice(1),
  )
  t.match(await client.balance(balanceId!), { bookBalance: eur(49_400) })
  t.strictSame(
    (await client.journal(balanceId!))
      .slice(0, 3)
      .map(({ type }) => type)
      .sort(),
    ['fee', 'fee_refund', 'payment_return'],
  )

  // Money that comes in, at once and after a review; never more than has come.
  for (const [minor, fee, payerName] of [
    [1_000, 40, 'Payer'],
    [15, 15, 'Payer'],
    [2_000, 40, 'SBX:HOLD Ltd'],
  ] as const) {
    const before = Number((await client.balance(balanceId!)).bookBalance.amountMinor)
    const id = await payIn(client, { balanceId: balanceId!, amount: eur(minor), payerName })
    if (payerName !== 'Payer') {
      await rowReaching(world, id, 'status', 'under_review')
      const [hold] = (await admin.get<PageBody<{ id: string }>>('/compliance-holds')).body.data
      await admin.send('PATCH', '/operator/settings', { compliance: { fourEyesRelease: false } }, { 'if-match': '*' })
      t.equal((await admin.post(`/compliance-holds/${hold!.id}/release`, { reason: 'Known to us' })).status, 200)
    }
    await received(client, id)
    t.match(
      (await entries(world, id)).filter((line) => line.startsWith('L02')),
      [`L02 cust→inc_fee ${fee}`],
    )
    t.match(await client.balance(balanceId!), { bookBalance: eur(before + minor - fee) })
  }

  // A sender who bears the charges pays what the partner takes, whatever is left.
  await charge(
    world,
    [{ kind: 'partner_charge', currency: 'GBP', fixed: { amountMinor: '900', currency: 'GBP' }, passedOn: true }],
    admin,
  )
  const british = await world.customer({ balances: [{ currency: 'GBP', amount: 10_000n }] })
  const body = {
    ...paymentBody(british.balanceIds[0]!, british.recipients.GBP, 9_500, 'GBP'),
    chargeBearer: 'sender' as const,
  }
  const ours = (await british.client.createPayment(body)).body
  await british.client.paymentReaching(ours.id, 'completed')
  t.strictSame((await entries(world, ours.id)).slice(-2), ['L17 cust→inc_fee 900', 'L17 exp_partner→nostro 900'])
  t.match(await british.client.balance(british.balanceIds[0]!), { bookBalance: { amountMinor: '-400' } })
})

t.test('lists of prices are written by those who may', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const admin = await world.person('operator_admin').signIn()
  const compliance = await world.person('compliance').signIn()
  const path = '/pricing-templates'
  const rules = [
    { kind: 'payment', currency: 'EUR', fixed: eur(20), bps: 5, max: eur(1_000) },
    { kind: 'payment', currency: 'EUR', rail: 'sepa', bps: 1 },
  ] as const
  t.match((await compliance.post(path, { name: 'Mine', rules })).problem, {
    status: 403,
    requiredCapability: 'pricing.manage',
  })
  const made = await admin.post<PricingTemplate>(path, { name: 'Standard', rules })
  t.equal(made.status, 201)
  t.match(made.body, {
    name: 'Standard',
    isDefault: false,
    rules: [
      {
        kind: 'payment',
        currency: 'EUR',
        rail: null,
        fixed: eur(20),
        bps: 5,
        min: eur(0),
        max: eur(1_000),
        taxBps: 0,
        refundable: false,
        passedOn: false,
      },
      { rail: 'sepa', fixed: eur(0), bps: 1, max: null },
    ],
  })
  const one = `${path}/${made.body.id}`
  t.equal(made.headers.get('location'), `/v1${one}`)
  for (const [body, field, code] of [
    [{ name: '' }, '/name', 'too_short'],
    [{ name: 'Standard' }, '/name', 'invalid_value'],
    [{ name: 'B', rules: [{ kind: 'gift', currency: 'EUR' }] }, '/rules/0/kind', 'invalid_value'],
    [{ name: 'B', rules: [{ kind: 'payment', currency: 'XXX' }] }, '/rules/0/currency', 'invalid_value'],
    [{ name: 'B', rules: [{ kind: 'payment', currency: 'GBP', rail: 'sepa' }] }, '/rules/0/rail', 'invalid_value'],
    [
      { name: 'B', rules: [{ kind: 'payment', currency: 'GBP', fixed: eur(1) }] },
      '/rules/0/fixed/currency',
      'currency_mismatch',
    ],
    [
      { name: 'B', rules: [{ kind: 'payment', currency: 'EUR', fixed: eur(-1) }] },
      '/rules/0/fixed/amountMinor',
      'too_small',
    ],
    [
      { name: 'B', rules: [{ kind: 'payment', currency: 'EUR', min: eur(5), max: eur(4) }] },
      '/rules/0/max/amountMinor',
      'too_small',
    ],
    [
      { name: 'B', rules: [{ kind: 'payment_return', currency: 'EUR', refundable: true }] },
      '/rules/0/refundable',
      'not_applicable',
    ],
    [{ name: 'B', rules: [{ kind: 'exchange', currency: 'EUR', taxBps: 1_000 }] }, '/rules/0/taxBps', 'not_applicable'],
    [{ name: 'B', rules: [{ kind: 'payment', currency: 'EUR', taxBps: 10_001 }] }, '/rules/0/taxBps', 'too_large'],
    [
      { name: 'B', rules: [{ kind: 'payment', currency: 'EUR', passedOn: true }] },
      '/rules/0/passedOn',
      'not_applicable',
    ],
    [
      {
        name: 'B',
        rules: [
          { kind: 'payment', currency: 'EUR' },
          { kind: 'payment', currency: 'EUR' },
        ],
      },
      '/rules/1',
      'invalid_value',
    ],
    [{ name: 'B', rules: [{ kind: 'exchange', currency: 'EUR', rail: 'sepa' }] }, '/rules/0/rail', 'not_applicable'],
    [{ name: 'B', rules: [{ kind: 'payment', currency: 'EUR', bps: 10_001 }] }, '/rules/0/bps', 'too_large'],
  ] as const)
    t.match((await admin.post(path, body)).problem, { status: 422, errors: [{ field, code }] }, JSON.stringify(body))
  t.equal((await admin.get<PageBody<PricingTemplate>>(path)).body.data.length, 1)
  const tag = made.headers.get('etag')!
  t.equal((await admin.send('PATCH', one, { name: 'Better' }, {})).problem.code, 'precondition-required')
  const changed = await admin.send<PricingTemplate>(
    'PATCH',
    one,
    { rules: [{ kind: 'payment', currency: 'EUR', fixed: eur(7) }] },
    { 'if-match': tag },
  )
  t.match(changed.body, { name: 'Standard', rules: [{ fixed: eur(7), bps: 0 }], updatedBy: String })
  t.equal((await admin.send('PATCH', one, { name: 'Better' }, { 'if-match': tag })).problem.code, 'precondition-failed')

  // It holds as soon as the settings name it, also for a balance that has decided by what was before.
  const { client, balances, recipients } = world.seeded
  const feeNow = async () =>
    (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 1_000))).body.fee?.amountMinor ?? null
  t.equal(await feeNow(), null)
  t.match(
    (
      await admin.send(
        'PATCH',
        '/operator/settings',
        { pricing: { defaultTemplateId: world.seeded.balances.EUR } },
        { 'if-match': '*' },
      )
    ).problem,
    { status: 422, errors: [{ field: '/pricing/defaultTemplateId', code: 'not_found' }] },
  )
  t.match(
    (
      await admin.send(
        'PATCH',
        '/operator/settings',
        { pricing: { defaultTemplateId: made.body.id } },
        { 'if-match': '*' },
      )
    ).body,
    { pricing: { defaultTemplateId: made.body.id } },
  )
  t.equal(await feeNow(), '7')
  await admin.send('PATCH', one, { rules: [{ kind: 'payment', currency: 'EUR', fixed: eur(9) }] }, { 'if-match': '*' })
  t.equal(await feeNow(), '9')
  t.match((await admin.send('DELETE', one, undefined, { 'if-match': '*' })).problem, {
    status: 409,
    code: 'invalid-transition',
  })
  await admin.send('PATCH', '/operator/settings', { pricing: { defaultTemplateId: null } }, { 'if-match': '*' })
  t.equal(await feeNow(), null)
  t.equal((await admin.send('DELETE', one, undefined, { 'if-match': '*' })).status, 204)
  t.equal((await admin.get(one)).status, 404)
})

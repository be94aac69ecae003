/** Names of payees, checked with their banks: at creation, on demand, and when they are paid. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { Recipient, RecipientCreate } from '../../../lib/recipients/recipient-schema.ts'
import type { PayeeAnswer, PayeeQuestion } from '../../../lib/recipients/verification.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody } from '../../support/world.ts'
import { createAs, createByKey, newIban, patchAs, setMode } from './support.ts'

const gbp = (accountNumber: string, change: Partial<RecipientCreate> = {}): Partial<RecipientCreate> =>
  ({
    currency: 'GBP',
    bank: { bankCountry: 'GB', sortCode: '990001', accountNumber },
    ...change,
  }) as Partial<RecipientCreate>
const REASON = 'We know this supplier.'
const accept = (acceptOutcome: string) =>
  ({ acceptOutcome, reason: REASON }) as NonNullable<RecipientCreate['verificationOverride']>

type Row = readonly [
  change: Partial<RecipientCreate>,
  outcome: string,
  code: string | null,
  matchedName: string | null,
  accountTypeMatch: boolean | null,
]
const PAYEE = 'Sandbox Payee Ltd'

t.test('every outcome of both schemes', async (t) => {
  await using world = await createWorld()
  await world.query(`update operator set recipient_allowed_overrides = '{close_match,no_match}'`)
  const { client } = world.seeded
  let account = 20_000_000
  const next = (name: string) => gbp(String(account++), { name })
  const rows: Row[] = [
    [next('Plain Ltd'), 'match', null, null, true],
    [next('Plain SBX:MBAM'), 'close_match', 'MBAM', PAYEE, true],
    [next('Closematch Ltd'), 'close_match', 'MBAM', PAYEE, true],
    [gbp('20009892'), 'close_match', 'MBAM', PAYEE, true],
    [next('Plain SBX:BANM'), 'close_match', 'BANM', null, false],
    [next('Plain SBX:PANM'), 'close_match', 'PANM', null, false],
    [next('Plain sbx/bamm'), 'close_match', 'BAMM', PAYEE, false],
    [next('Plain SBX:PAMM'), 'close_match', 'PAMM', PAYEE, false],
    [next('Plain SBX:ANNM'), 'no_match', 'ANNM', null, null],
    [next('Nomatch Ltd'), 'no_match', 'ANNM', null, null],
    [gbp('20009891'), 'no_match', 'ANNM', null, null],
    [next('Plain SBX:AC01'), 'no_match', 'AC01', null, null],
    [gbp('20009897'), 'no_match', 'AC01', null, null],
    ...['ACNS', 'OPTO', 'CASS', 'SCNS', 'IVCR'].map(
      (code): Row => [next(`Plain SBX:${code}`), 'unavailable', code, null, null],
    ),
    [next('Unverifiable Ltd'), 'unavailable', 'ACNS', null, null],
    [{ name: 'Plain BV' }, 'match', 'MTCH', null, null],
    [{ name: 'Closematch BV' }, 'close_match', 'CMTC', PAYEE, null],
    [{ bank: { iban: newIban('9892') } }, 'close_match', 'CMTC', PAYEE, null],
    [{ name: 'Nomatch BV' }, 'no_match', 'NMTC', null, null],
    [{ name: 'Plain SBX:AC01' }, 'no_match', 'AC01', null, null],
    [{ name: 'Plain SBX:NOAP' }, 'unavailable', 'NOAP', null, null],
    [{ name: 'Unverifiable BV' }, 'unavailable', 'NOAP', null, null],
  ]
  for (const [change, outcome, reasonCode, matchedName, accountTypeMatch] of rows) {
    const what = `${change.currency ?? 'EUR'} ${change.name ?? JSON.stringify(change.bank)}`
    const scheme = change.currency === 'GBP' ? 'cop' : 'vop'
    const said = { scheme, outcome, reasonCode, matchedName, accountTypeMatch }
    if (outcome === 'close_match' || outcome === 'no_match') {
      const refused = await createByKey(client, change)
      t.match(refused.problem, { status: 422, code: 'verification-mismatch', verification: said }, what)
      const wrongOverride = await createByKey(client, {
        ...change,
        verificationOverride: accept(outcome === 'no_match' ? 'close_match' : 'no_match'),
      })
      t.match(wrongOverride.problem, { code: 'verification-mismatch' }, `${what}: another outcome was accepted`)
      const made = (await createByKey(client, { ...change, verificationOverride: accept(outcome) })).body
      t.match(
        made.verification,
        { ...said, override: { acceptOutcome: outcome, reason: REASON, by: made.createdBy, at: String } },
        what,
      )
      continue
    }
    const made = (await createByKey(client, change)).body
    t.match(made.verification, { ...said, override: null, requestedName: made.name }, what)
    if (scheme === 'cop')
      t.equal(
        Date.parse(made.verification!.validUntil!) - Date.parse(made.verification!.checkedAt),
        90 * 86_400_000,
        'kept for 90 days',
      )
    else t.equal(made.verification!.validUntil, null, 'never kept')
  }
})

t.test('what the operator lets customers accept', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  t.match(
    (await createByKey(client, { name: 'Nomatch BV', verificationOverride: accept('no_match') })).problem,
    { code: 'verification-mismatch' },
    'a miss is not for customers to accept unless the operator says so',
  )
  t.equal(
    (await createByKey(client, { name: 'Closematch BV', verificationOverride: accept('close_match') })).status,
    201,
  )
  await world.query(`update operator set recipient_require_verification = true`)
  t.match((await createByKey(client, { name: 'Unverifiable BV' })).problem, {
    code: 'verification-mismatch',
    verification: { outcome: 'unavailable' },
  })
  await world.query(`update operator set recipient_allowed_overrides = '{unavailable}'`)
  t.equal(
    (await createByKey(client, { name: 'Unverifiable BV', verificationOverride: accept('unavailable') })).status,
    201,
  )
})

t.test('on demand', async (t) => {
  await using world = await createWorld()
  const { client, recipients } = world.seeded
  const before = await client.get<Recipient>(`/recipients/${recipients.GBP}`)
  t.equal(before.body.verification, null)
  const verified = await client.send(`/v1/recipients/${recipients.GBP}/verify`, { method: 'POST' })
  t.equal(verified.status, 200)
  const after = await client.get<Recipient>(`/recipients/${recipients.GBP}`)
  t.strictSame(after.body.verification, verified.body)
  t.match(verified.body, { scheme: 'cop', outcome: 'match', reasonCode: null })
  t.not(after.headers.get('etag'), before.headers.get('etag'))
  t.match((await client.send(`/v1/recipients/${recipients.USD}/verify`, { method: 'POST' })).problem, {
    status: 422,
    code: 'verification-unavailable',
    scheme: 'none',
  })
  t.match((await client.send(`/v1/recipients/${randomUUID()}/verify`, { method: 'POST' })).problem, { status: 404 })
  const close = (await createByKey(client, { name: 'Closematch BV', verificationOverride: accept('close_match') })).body
  t.match(
    (await client.send(`/v1/recipients/${close.id}/verify`, { method: 'POST' })).body,
    { outcome: 'close_match', override: { reason: REASON } },
    'what was accepted stands while the bank says the same',
  )
  const owner = await world.person('owner').signIn()
  t.match(
    (await patchAs(owner, recipients.GBP, { name: 'Nomatch Ltd' })).problem,
    { code: 'verification-mismatch' },
    'a change is checked like a new one',
  )
  t.equal((await client.recipient(recipients.GBP)).name, 'London Supplies Ltd')
})

t.test('every payment by SEPA is checked again, others as long as their bank stands by it', async (t) => {
  const asked: PayeeQuestion[] = []
  let answer: (question: PayeeQuestion) => Promise<PayeeAnswer> = async ({ scheme }) => ({
    code: scheme === 'vop' ? 'MTCH' : null,
    matchedName: null,
  })
  await using world = await createWorld({
    overrides: {
      payees: {
        verifyPayee: async (question) => {
          asked.push(question)
          return await answer(question)
        },
      },
    },
  })
  const { client, balances, recipients } = world.seeded
  const pay = (currency: 'EUR' | 'GBP' | 'USD', change: object = {}) =>
    client.post<Payment>('/payments', {
      ...paymentBody(balances[currency], recipients[currency], 100, currency),
      ...change,
    })
  for (const expected of [1, 2]) {
    t.match((await pay('EUR')).body.verification, {
      scheme: 'vop',
      outcome: 'match',
      reasonCode: 'MTCH',
      requestedName: 'Amsterdam Trading BV',
    })
    t.equal(asked.length, expected)
  }
  t.match(asked[0], { scheme: 'vop', iban: 'NL77SBOX0100000001', name: 'Amsterdam Trading BV', type: 'business' })
  t.equal((await pay('USD')).body.verification, null)
  t.equal(asked.length, 2, 'nobody is asked about dollars')

  await client.send(`/v1/recipients/${recipients.GBP}/verify`, { method: 'POST' })
  t.equal(asked.length, 3)
  t.match((await pay('GBP')).body.verification, { scheme: 'cop', outcome: 'match' })
  t.equal(asked.length, 3, 'the answer of a moment ago stands')
  await world.query(
    `update recipient set verification = verification || '{"validUntil":"2020-01-01T00:00:00.000Z"}', version = version + 1 where id = $1`,
    [recipients.GBP],
  )
  t.equal((await pay('GBP')).status, 201)
  t.equal(asked.length, 4, 'an old one does not')

  answer = async () => ({ code: 'CMTC', matchedName: PAYEE })
  const key = randomUUID()
  const refused = await client.post('/payments', paymentBody(balances.EUR, recipients.EUR, 100), key)
  t.match(refused.problem, {
    status: 422,
    code: 'verification-mismatch',
    verification: { outcome: 'close_match', matchedName: PAYEE },
  })
  const again = await client.post('/payments', paymentBody(balances.EUR, recipients.EUR, 100), key)
  t.equal(again.text, refused.text, 'the no is kept under its key')
  const accepted = (await pay('EUR', { verificationOverride: accept('close_match') })).body
  t.match(accepted.verification, {
    outcome: 'close_match',
    override: { acceptOutcome: 'close_match', reason: REASON, by: accepted.createdBy },
  })
  t.strictSame((await client.payment(accepted.id)).verification, accepted.verification)
  answer = async () => ({ code: 'NMTC', matchedName: null })
  t.match((await pay('EUR', { verificationOverride: accept('no_match') })).problem, { code: 'verification-mismatch' })

  answer = async () => {
    throw new Error('The partner is down.')
  }
  t.match(
    (await pay('EUR')).body.verification,
    { outcome: 'unavailable', reasonCode: 'NOAP' },
    'payments do not wait for those who are down',
  )
  await world.query('update operator set recipient_require_verification = true')
  await until('the node has heard of it', async () => (await pay('EUR')).status === 422)
  await client.paymentsSettled()
})

t.test('what was accepted for a recipient stands for its payments', async (t) => {
  await using world = await createWorld()
  await setMode(world, 'none')
  const owner = await world.person('owner').signIn()
  const { client, balances } = world.seeded
  const made = (await createAs(owner, { name: 'Closematch BV', verificationOverride: accept('close_match') })).body
  const paid = (await client.createPayment(paymentBody(balances.EUR, made.id, 100))).body
  t.match(paid.verification, { outcome: 'close_match', override: { reason: REASON } })
  await world.query(`update operator set recipient_allowed_overrides = '{}'`)
  await until(
    'it is no longer accepted',
    async () => (await client.createPayment(paymentBody(balances.EUR, made.id, 100))).status === 422,
  )
  await client.paymentsSettled()
})

t.test('the sandbox decides by tokens in the name', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const status = async (id: string) => (await client.recipient(id)).status
  for (const mode of ['customer_tier', 'operator_queue']) {
    await setMode(world, mode)
    const yes = (await createByKey(client, { name: 'Good SBX:APPROVE BV' })).body
    const no = (await createByKey(client, { name: 'Bad SBX:REJECT BV' })).body
    t.strictSame([yes.status, no.status], ['pending_approval', 'pending_approval'])
    world.advance(5_000)
    await until(`${mode}: approved`, async () => (await status(yes.id)) === 'active')
    await until(`${mode}: rejected`, async () => (await status(no.id)) === 'rejected')
  }
})

t.test("payments say what their recipient's country wants to know", async (t) => {
  await using world = await createWorld()
  const customer = await world.customer({
    balances: [
      { currency: 'AED', amount: 100_000n },
      { currency: 'CHF', amount: 100_000n },
    ],
  })
  const [aed, chf] = customer.balanceIds as [string, string]
  const make = async (change: Partial<RecipientCreate>) => {
    const { id } = (await createByKey(customer.client, { name: 'Country SBX:APPROVE', ...change })).body
    world.advance(5_000)
    await until('it is approved', async () => (await customer.client.recipient(id)).status === 'active')
    return id
  }
  const address = (country: string) => ({ line1: 'Street 1', city: 'Town', postalCode: '1000', country })
  const emirates = await make({ currency: 'AED', bank: { iban: 'AE070331234567890123456' }, address: address('AE') })
  const pay = (body: object) => customer.client.post<Payment>('/payments', body)
  t.match((await pay(paymentBody(aed, emirates, 100, 'AED'))).problem, {
    errors: [{ field: '/purposeCode', code: 'required' }],
  })
  t.match((await pay({ ...paymentBody(aed, emirates, 100, 'AED'), purposeCode: 'P0103' })).problem, {
    errors: [{ field: '/purposeCode', code: 'invalid_format' }],
  })
  t.equal((await pay({ ...paymentBody(aed, emirates, 100, 'AED'), purposeCode: 'GDS' })).status, 201)
  const bill = await make({ currency: 'CHF', bank: { iban: 'CH4431999123000889012' }, address: address('CH') })
  t.match((await pay(paymentBody(chf, bill, 100, 'CHF'))).problem, {
    errors: [{ field: '/reference', code: 'invalid_format' }],
  })
  t.match((await pay({ ...paymentBody(chf, bill, 100, 'CHF'), reference: '210000000003139471430009018' })).problem, {
    errors: [{ field: '/reference', code: 'invalid_checksum' }],
  })
  t.equal(
    (await pay({ ...paymentBody(chf, bill, 100, 'CHF'), reference: '21 00000 00003 13947 14300 09017' })).status,
    201,
  )
  await customer.client.paymentsSettled()
})

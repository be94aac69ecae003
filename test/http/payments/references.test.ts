/**
 * References, symbols, purposes and end-to-end ids of payments, over HTTP: creation, check, drafts, schedules, notes.
 */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { addDays } from '../../../lib/base/clock.ts'
import type { Payment, PaymentCheck } from '../../../lib/payments/payment-schema.ts'
import { railDate } from '../../../lib/rails/business-days.ts'
import type { RecipientCreate, RecipientRequirements } from '../../../lib/recipients/recipient-schema.ts'
import { createWorld, paymentBody } from '../../support/world.ts'
import { createByKey } from '../recipients/support.ts'

const ADDRESS = { line1: 'Rue 1', city: 'Zürich', postalCode: '8001', country: 'CH' }

t.test('references and what travels with them', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const currencies = ['EUR', 'SEK', 'NOK', 'CZK', 'CHF', 'PLN'] as const
  const customer = await world.customer({
    balances: currencies.map((currency) => ({ currency, amount: 1_000_000n })),
  })
  const { client } = customer
  const balanceOf = (currency: string) => customer.balanceIds[currencies.indexOf(currency as 'EUR')]!
  const recipient = async (currency: string, bank: RecipientCreate['bank'], more: Partial<RecipientCreate> = {}) => {
    const made = await createByKey(client, { currency, bank, ...more })
    if (made.status !== 201) throw new Error(made.text)
    // Lets what waits for people go on, without their signing in.
    await world.query('delete from outbox where object_id in (select id from approval where subject_id = $1)', [
      made.body.id,
    ])
    await world.query('delete from approval where subject_id = $1', [made.body.id])
    await world.query(`update recipient set status = 'active', approval = null, version = version + 1 where id = $1`, [
      made.body.id,
    ])
    return made.body.id
  }
  const recipients = {
    EUR: customer.recipients.EUR,
    SEK: await recipient('SEK', { bankCountry: 'SE', bankgiro: '991-2346' }),
    NOK: await recipient('NOK', { bankCountry: 'NO', accountNumber: '86011117947' }),
    CZK: await recipient('CZK', { iban: 'CZ6508000000192000145399' }),
    CHF: await recipient('CHF', { iban: 'CH9300762011623852957' }, { address: ADDRESS }),
    PLN: await recipient('PLN', { iban: 'PL61109010140000071219812874', bic: 'SBOXPL2A' }, { address: ADDRESS }),
  }
  const patch = <Body>(path: string, change: object) =>
    client.send<Body>(`/v1${path}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', 'if-match': '*' },
      body: JSON.stringify(change),
    })
  const body = (currency: keyof typeof recipients, change: object = {}) => ({
    ...paymentBody(balanceOf(currency), recipients[currency], 1_000, currency),
    ...change,
  })

  await t.test('what does not agree is refused by the creation and by the check alike', async (t) => {
    for (const [currency, change, field, code] of [
      ['EUR', { reference: 'RF19539007547034' }, '/reference', 'invalid_checksum'],
      ['CHF', { reference: 'RF19539007547034' }, '/reference', 'invalid_checksum'],
      ['SEK', { reference: '1234567898' }, '/reference', 'invalid_checksum'],
      ['NOK', { reference: '1234567898' }, '/reference', 'invalid_checksum'],
      ['CZK', { metadata: { VS: 'X1' } }, '/metadata/VS', 'invalid_format'],
      ['CZK', { metadata: { KS: '308' } }, '/metadata/KS', 'invalid_format'],
      ['CZK', { metadata: { SS: '12345678901' } }, '/metadata/SS', 'invalid_format'],
      ['EUR', { endToEndId: 'Größe' }, '/endToEndId', 'invalid_characters'],
      ['EUR', { purposeCode: 'QQQQ' }, '/purposeCode', 'invalid_value'],
    ] as const) {
      const refused = await client.post<Payment>('/payments', body(currency, change), randomUUID())
      t.match(refused.problem, { status: 422, errors: [{ field, code }] }, `${currency} ${JSON.stringify(change)}`)
      const check = (await client.post<PaymentCheck>('/payments/validate', body(currency, change))).body
      t.match(check, { valid: false, issues: [{ severity: 'error', field, code }] })
    }
  })

  await t.test('what agrees is sent as it was written', async (t) => {
    for (const [currency, change] of [
      ['EUR', { reference: 'RF18 5390 0754 7034', endToEndId: 'INV-2026/42', purposeCode: 'SUPP' }],
      ['EUR', { reference: 'RF19 is our contract' }],
      ['SEK', { reference: '1234567897' }],
      ['NOK', { reference: '12345678903' }],
      ['CZK', { reference: 'Faktura 42', metadata: { VS: '20260042', KS: '0308', SS: '7', note: 'x' } }],
      ['CHF', { reference: 'RF18539007547034' }],
      ['PLN', { reference: 'Faktura 42', requestedRail: 'swift' }],
    ] as const) {
      const made = await client.post<Payment>('/payments', body(currency, change), randomUUID())
      t.equal(made.status, 201, made.text)
      t.match(made.body, change)
    }
  })

  await t.test('notes and drafts keep the symbols whole', async (t) => {
    const made = (await client.post<Payment>('/payments', body('CZK', { metadata: { VS: '1' } }), randomUUID())).body
    const note = (metadata: object) => patch<Payment>(`/payments/${made.id}`, { metadata })
    t.match((await note({ VS: 'one' })).problem, { status: 422, errors: [{ field: '/metadata/VS' }] })
    t.match((await note({ VS: '2', note: 'one' })).body, { metadata: { VS: '2', note: 'one' } })
    const draft = (
      await client.post<Payment>('/payments', body('CZK', { draft: true, metadata: { VS: 'one' } }), randomUUID())
    ).body
    t.match((await client.post(`/payments/${draft.id}/submit`, {}, randomUUID())).problem, {
      status: 422,
      errors: [{ field: '/metadata/VS' }],
    })
  })

  await t.test('a schedule is held to what its payments will be held to', async (t) => {
    const schedule = (currency: 'CZK' | 'NOK', change: object) =>
      client.post<{ readonly id: string }>(
        '/scheduled-payments',
        {
          recipientId: recipients[currency],
          sourceBalanceId: balanceOf(currency),
          amount: { amountMinor: '1000', currency },
          reference: 'Rent',
          frequency: 'monthly',
          startDate: addDays(railDate('cz_certis', world.now()), 7),
          ...change,
        },
        randomUUID(),
      )
    t.match((await schedule('NOK', { reference: '1234567898' })).problem, {
      errors: [{ field: '/reference', code: 'invalid_checksum' }],
    })
    t.match((await schedule('CZK', { metadata: { VS: 'one' } })).problem, { errors: [{ field: '/metadata/VS' }] })
    const made = await schedule('CZK', { metadata: { VS: '1' } })
    t.equal(made.status, 201, made.text)
    t.match((await patch(`/scheduled-payments/${made.body.id}`, { metadata: { VS: 'one' } })).problem, {
      status: 422,
      errors: [{ field: '/metadata/VS' }],
    })
  })

  await t.test('the requirements say all of it', async (t) => {
    const shown = async (currency: string, country: string) =>
      (await client.get<RecipientRequirements>(`/recipients/requirements?currency=${currency}&country=${country}`)).body
    const czech = await shown('CZK', 'CZ')
    t.match(
      czech.paymentFields.filter(({ name }) => name.startsWith('/metadata/')),
      [
        { name: '/metadata/VS', maxLength: 10, required: false, rails: ['cz_certis'] },
        { name: '/metadata/KS', minLength: 4, maxLength: 10 },
        { name: '/metadata/SS', maxLength: 10 },
      ],
    )
    t.match(
      czech.rails.find(({ rail }) => rail === 'swift'),
      { cutOff: { time: '16:00', zone: 'UTC' }, alternatives: [['/bank/bic', '/bank/iban', '/address']] },
    )
    t.match(
      (await shown('SEK', 'SE')).paymentFields.find(({ label }) => label === 'OCR number'),
      { name: '/reference', checks: ['luhn'], rails: ['se_domestic'] },
    )
    t.match(
      (await shown('NOK', 'NO')).paymentFields.find(({ label }) => label === 'KID'),
      { name: '/reference', checks: ['kid'], rails: ['no_domestic'] },
    )
    t.match(
      (await shown('EUR', 'NL')).paymentFields.find(({ name }) => name === '/purposeCode'),
      { required: false, checks: ['purpose_code'] },
    )
    t.match(
      (await shown('RON', 'RO')).fields.find(({ name }) => name === '/purpose'),
      { requiredWhen: '/bank/iban is an account of the treasury (TREZ)' },
    )
  })
})

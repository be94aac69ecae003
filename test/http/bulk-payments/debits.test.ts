/** Files of mandates and of collections: checked, previewed, made once, and refused where a request would be. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { addDays, dateIn } from '../../../lib/base/clock.ts'
import type { Collection } from '../../../lib/direct-debits/collection-schema.ts'
import type { Mandate } from '../../../lib/direct-debits/mandate-schema.ts'
import { createWorld } from '../../support/world.ts'
import { faults, rowsOf, sendFile, table, uploaded, type UploadOptions } from './support.ts'
import { settled, stalled, submit, submitted } from './submitting.ts'

// Nothing is sent to the sandbox bank, which would collect what is made.
const world = await createWorld({ dispatch: false })
const { client, balances } = world.seeded
t.teardown(async () => {
  await world.audit()
  await world[Symbol.asyncDispose]()
})

const MANDATES: UploadOptions = { fileName: 'mandates.csv', fields: { format: 'mandates_csv' } }
const COLLECTIONS: UploadOptions = { fileName: 'collections.csv', fields: { format: 'collections_csv' } }
const IBAN = 'NL50SBOX0100000002'

const mandatesOf = async () => (await client.list<Mandate>('/mandates', { limit: 100 })).body.data
const collectionsOf = async () => (await client.list<Collection>('/collections', { limit: 100 })).body.data

async function signed(change: object = {}): Promise<Mandate> {
  const { body, text, status } = await client.post<Mandate>(
    '/mandates',
    {
      direction: 'collect',
      scheme: 'sepa_dd_core',
      balanceId: balances.EUR,
      counterparty: { name: 'Ada Payer', iban: IBAN },
      signedAt: '2026-01-05',
      ...change,
    },
    randomUUID(),
  )
  if (status !== 201) throw new Error(text)
  return body
}

/** The first weekday (1 to 7) at least a month ahead. */
function dayAhead(weekday: number): string {
  let day = addDays(dateIn(world.now(), 'UTC'), 31)
  while (Temporal.PlainDate.from(day).dayOfWeek !== weekday) day = addDays(day, 1)
  return day
}

await t.test('every valid row of a file of mandates becomes a mandate, and the others say what is wrong', async (t) => {
  const file = table(
    [
      'scheme',
      'balance_id',
      'counterparty_name',
      'iban',
      'sort_code',
      'account_number',
      'amount_limit',
      'signed_at',
      'reference',
      'metadata.contract',
    ],
    ['sepa_dd_core', balances.EUR!, 'Ada Payer', IBAN, '', '', '500.00', '2026-05-04', 'CONTRACT-1', 'C-1'],
    ['bacs_dd', balances.GBP!, 'Lumen Ltd', '', '99-00-01', '12345678', '', '', '', ''],
    ['sepa_dd_core', balances.GBP!, 'Ada Payer', IBAN, '', '', '', '', '', ''],
    ['sepa_dd_core', balances.EUR!, 'Ada Payer', 'NL51SBOX0100000002', '', '', '', '', '', ''],
    ['sepa_dd_core', balances.EUR!, 'Ada Payer', IBAN, '', '', '5.001', '', '', ''],
    ['sepa_dd_core', balances.EUR!, 'Ada Payer', IBAN, '', '', '', '2999-01-01', '', ''],
    ['sepa_dd_core', balances.EUR!, 'Ada Payer', IBAN, '', '', '', '', 'CONTRACT-1', ''],
    ['pigeon', balances.EUR!, 'Ada Payer', IBAN, '', '', '', '', '', ''],
    ['sepa_dd_core', 'main', 'Ada Payer', IBAN, '', '', '', '', '', ''],
  )
  const bulk = await uploaded(client, file, MANDATES)
  t.match(bulk, {
    status: 'ready',
    format: 'mandates_csv',
    counts: { total: 9, valid: 2, invalid: 7 },
    totals: [],
    sourceBalanceId: null,
  })
  const rows = await rowsOf(client, bulk)
  t.strictSame(faults(rows), [
    [],
    [],
    ['balance_id currency_mismatch'],
    ['iban invalid_format'],
    ['amount_limit invalid_value'],
    ['signed_at invalid_value'],
    ['reference invalid_value'],
    ['scheme invalid_value'],
    ['balance_id invalid_format'],
  ])
  t.match(rows[0], {
    recipientName: 'Ada Payer',
    maskedIdentifier: 'NL50****0002',
    reference: 'CONTRACT-1',
    sourceBalanceId: balances.EUR,
    amount: null,
    mandateId: null,
  })
  t.equal((await mandatesOf()).length, 0, 'nothing is made before')
  t.match(await submitted(client, bulk.id), { status: 'submitted', counts: { submitted: 2, failed: 0 } })
  const made = await mandatesOf()
  const [first, second] = await rowsOf(client, bulk)
  t.strictSame(new Set(made.map(({ id }) => id)), new Set([first!.mandateId, second!.mandateId]))
  t.match(
    made.find(({ id }) => id === first!.mandateId),
    {
      status: 'active',
      reference: 'CONTRACT-1',
      amountLimit: { amountMinor: '50000', currency: 'EUR' },
      metadata: { contract: 'C-1' },
      counterparty: { iban: 'NL50****0002' },
    },
  )
  t.match(first, { status: 'submitted', paymentId: null, collectionId: null })
  const again = await uploaded(client, file, { ...MANDATES, fields: { ...MANDATES.fields, allowDuplicate: 'true' } })
  t.strictSame(
    faults(await rowsOf(client, again)).slice(0, 2),
    [['reference invalid_value'], []],
    'a reference is taken',
  )
})

await t.test('a file of collections is previewed row by row, and each valid row becomes a collection', async (t) => {
  const limited = await signed({ amountLimit: { amountMinor: '5000', currency: 'EUR' }, reference: 'LIMITED' })
  const once = await signed({ sequenceType: 'one_off' })
  const taken = await client.post<Collection>(
    '/collections',
    { mandateId: limited.id, amount: { amountMinor: '100', currency: 'EUR' }, reference: 'First', externalId: 'TAKEN' },
    randomUUID(),
  )
  t.equal(taken.status, 201, taken.text)
  const due = dayAhead(3)
  const stranger = await world.customer({ balances: [{ currency: 'EUR', amount: 0n }] })
  const theirs = await stranger.client.post<Mandate>(
    '/mandates',
    {
      direction: 'collect',
      scheme: 'sepa_dd_core',
      balanceId: stranger.balanceIds[0],
      counterparty: { name: 'Ada Payer', iban: IBAN },
      signedAt: '2026-01-05',
    },
    randomUUID(),
  )
  const file = table(
    ['mandate_id', 'mandate_reference', 'currency', 'amount', 'reference', 'due_date', 'external_id', 'metadata.run'],
    [limited.id, '', 'EUR', '49.90', 'May', due, 'S-1', '5'],
    ['', 'LIMITED', 'EUR', '12', 'June', '', '', ''],
    [limited.id, '', 'EUR', '50.01', 'Too much', '', '', ''],
    [limited.id, '', 'GBP', '5', 'Pounds', '', '', ''],
    [limited.id, '', 'EUR', '5', 'Sunday', dayAhead(7), '', ''],
    [limited.id, '', 'EUR', '5', 'Today', dateIn(world.now(), 'UTC'), '', ''],
    [limited.id, '', 'EUR', '5', 'Twice', '', 'S-1', ''],
    [limited.id, '', 'EUR', '5', 'Taken', '', 'TAKEN', ''],
    [once.id, '', 'EUR', '5', 'Once', '', '', ''],
    [once.id, '', 'EUR', '5', 'Once more', '', '', ''],
    ['', 'NOBODY', 'EUR', '5', 'Nobody', '', '', ''],
    [theirs.body.id, '', 'EUR', '5', 'Theirs', '', '', ''],
    ['LIMITED', '', 'EUR', '5', 'No id', '', '', ''],
    ['', 'LIMITED', 'EUR', '12', 'June', '', '', ''],
    ['', '', 'EUR', '5', 'None', '', '', ''],
    [limited.id, '', 'EUR', '5', '', '', '', ''],
  )
  const bulk = await uploaded(client, file, COLLECTIONS)
  const rows = await rowsOf(client, bulk)
  t.strictSame(faults(rows), [
    [],
    [],
    ['amount too_large'],
    ['currency currency_mismatch'],
    ['due_date not_business_day'],
    ['due_date too_small'],
    ['external_id duplicate_external_id'],
    ['external_id duplicate_external_id'],
    [],
    ['mandate_id not_payable'],
    ['mandate_reference not_found'],
    ['mandate_id not_found'],
    ['mandate_id invalid_format'],
    [],
    ['mandate_id required'],
    ['reference required'],
  ])
  t.match(bulk, {
    status: 'ready',
    counts: { valid: 4, invalid: 12 },
    totals: [{ currency: 'EUR', amountMinor: '7890', rows: 4 }],
  })
  t.match(rows[0], {
    recipientName: 'Ada Payer',
    maskedIdentifier: 'NL50****0002',
    amount: { amountMinor: '4990', currency: 'EUR' },
    executionDate: due,
    sourceBalanceId: balances.EUR,
    externalId: 'S-1',
    collectionId: null,
  })
  t.ok((rows[1]!.executionDate ?? '') > dateIn(world.now(), 'UTC'), 'the earliest date is shown')
  t.match(rows[13]!.warnings, [{ code: 'possible_duplicate' }])
  t.equal((await collectionsOf()).length, 1, 'nothing is made before')

  // Between the check and the run another collection takes an external id, and the payer suspends a mandate.
  await client.post(
    '/collections',
    {
      mandateId: limited.id,
      amount: { amountMinor: '100', currency: 'EUR' },
      reference: 'Meanwhile',
      externalId: 'S-1',
    },
    randomUUID(),
  )
  const staff = await world.person('operations').signIn()
  await staff.post(`/mandates/${once.id}/status-reports`, {
    status: 'suspended',
    reportedAt: new Date(world.now()).toISOString(),
  })
  const accepted = await submit(client, bulk.id)
  t.match(accepted.body, { job: { kind: 'bulk_payment_submit' }, approval: null })
  t.match(await settled(client, bulk.id), { status: 'partially_submitted', counts: { submitted: 2, failed: 2 } })
  const done = await rowsOf(client, bulk)
  t.match(
    [done[0], done[8]],
    [
      { status: 'failed', collectionId: null, errors: [{ column: 'external_id', code: 'duplicate_external_id' }] },
      { status: 'failed', collectionId: null, errors: [{ column: 'mandate_id', code: 'not_payable' }] },
    ],
  )
  const made = await collectionsOf()
  t.equal(made.length, 4)
  t.match(
    made.find(({ id }) => id === done[1]!.collectionId),
    { reference: 'June', createdVia: 'bulk', mandateId: limited.id, status: 'pending', sequenceType: 'recurring' },
  )
  t.strictSame(
    (
      await world.query<{ status: string }>('select status from outbox where object_id = $1 order by created_at', [
        done[1]!.collectionId,
      ])
    ).map(({ status }) => status),
    ['pending'],
    'a collection of a file has the event of a single one',
  )
})

await t.test('a run that stands still goes on where it was, and makes nothing twice', async (t) => {
  const { id } = await signed()
  const file = (rows: number) =>
    table(
      ['mandate_id', 'currency', 'amount', 'reference'],
      ...Array.from({ length: rows }, (_, nth) => [id, 'EUR', '1', `Row ${nth}`]),
    )
  const options = { ...COLLECTIONS, fields: { ...COLLECTIONS.fields, name: 'SBX:STALL' } }
  const bulk = await uploaded(client, file(60), options)
  t.match(bulk, { status: 'ready', counts: { valid: 60 } })
  await submit(client, bulk.id)
  await stalled(client, bulk.id)
  t.equal((await submit(client, bulk.id)).status, 202)
  t.match(await settled(client, bulk.id), { status: 'submitted', counts: { submitted: 60 } })
  const [{ count }] = (await world.query<{ count: string }>('select count(*) from collection where mandate_id = $1', [
    id,
  ])) as [{ count: string }]
  t.equal(Number(count), 60)
  t.match(
    await uploaded(client, file(750), COLLECTIONS),
    { counts: { valid: 690, invalid: 60 } },
    'a mandate has 750 pending collections at most',
  )
})

await t.test('each kind of file has its template', async (t) => {
  for (const [name, options] of [
    ['mandates', MANDATES],
    ['collections', COLLECTIONS],
  ] as const) {
    const reply = await client.download(`/bulk-payments/templates/${name}_csv`)
    t.match(reply.headers.get('content-disposition'), `filename="${name}.csv"`)
    const rows = await rowsOf(client, await uploaded(client, reply.bytes, options))
    t.strictSame(
      rows.map(({ errors }) => errors.map(({ code }) => code)),
      [['not_found'], ['not_found']],
      'its balances and mandates are examples',
    )
  }
})

await t.test('what does not fit a file of debits is refused', async (t) => {
  const file = table(['mandate_id', 'currency', 'amount', 'reference'], [randomUUID(), 'EUR', '1', 'x'])
  for (const [field, value] of [
    ['sourceBalanceId', balances.EUR!],
    ['createMissingRecipients', 'true'],
    ['skipPayeeVerification', 'true'],
  ] as const)
    t.match(
      (await sendFile(client, file, { ...COLLECTIONS, fields: { ...COLLECTIONS.fields, [field]: value } })).problem,
      { status: 422, errors: [{ field: `/${field}`, code: 'not_applicable' }] },
    )
  t.match(await uploaded(client, file, { fields: { allowDuplicate: 'true' } }), {
    status: 'invalid',
    fileErrors: [{ code: 'unknown_column' }, { code: 'missing_column' }],
  })
  await world.query(`update operator set features = features || '{"payments.direct_debits": false}'`)
  await world.restart()
  t.match((await sendFile(client, `${file}\n`, COLLECTIONS)).problem, {
    status: 404,
    code: 'feature-disabled',
    feature: 'payments.direct_debits',
  })
  await world.query(`update operator set features = features || '{"payments.direct_debits": true}'`)
  await world.restart()
})

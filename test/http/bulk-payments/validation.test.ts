/** The rows of bulk payments, looked at: whom they pay, what is wrong with them, what is odd, and looking again. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { BulkPaymentRow } from '../../../lib/bulk-payments/bulk-payment-schema.ts'
import type { Recipient } from '../../../lib/recipients/recipient-schema.ts'
import { until } from '../../support/until.ts'
import type { Person } from '../../support/person.ts'
import { createWorld, paymentBody } from '../../support/world.ts'
import { createByKey, decideAs, newIban, setMode } from '../recipients/support.ts'
import { faults, readBulk, recipientsMade, rowsOf, sendFile, sendRows, table, uploaded, validated } from './support.ts'

/** Banks that keep everybody waiting until they are told to answer. */
let waiting: (() => void)[] | null = null
const world = await createWorld({
  overrides: {
    payees: {
      async verifyPayee({ name }) {
        if (waiting !== null)
          await new Promise<void>((resolve) => {
            waiting?.push(resolve)
          })
        return {
          code: name.includes('Close')
            ? 'CMTC'
            : name.includes('Wrong')
              ? 'NMTC'
              : name.includes('Mute')
                ? 'NOAP'
                : 'MTCH',
          matchedName: null,
        }
      },
    },
  },
})
t.teardown(() => world[Symbol.asyncDispose]())
const { client, balances, recipients } = world.seeded
const day = (days: number): string => new Date(world.now() + days * 86_400_000).toISOString().slice(0, 10)
const warned = (rows: readonly BulkPaymentRow[]): string[][] =>
  rows.map(({ warnings }) => warnings.map(({ code }) => code))
const rowOf = (change: object = {}) => ({
  recipientId: recipients.EUR,
  currency: 'EUR',
  amount: '1.00',
  reference: 'Bill',
  ...change,
})
let files = 0
let person: Person | null = null
/** A member of the customer who decides. */
async function owner(): Promise<Person> {
  if (person === null) {
    person = world.person('owner')
    await person.signIn()
  }
  return person
}
const sent = async (rows: readonly object[], options: object = {}) =>
  await validated(
    client,
    (await sendRows(client, { name: `File ${++files}`, allowDuplicate: true, ...options, rows })).body,
  )

t.test('whom a row pays', async (t) => {
  const stranger = await world.customer({ balances: [] })
  const [{ id: unapproved }] = (await world.query<{ id: string }>(
    `select id from recipient where customer_id = $1 and status = 'pending_approval'`,
    [client.tenantId],
  )) as [{ id: string }]
  const bulk = await sent([
    rowOf(),
    rowOf({ iban: 'NL77 SBOX 0100 0000 01', bankCountry: 'nl', reference: '2' }),
    rowOf({ iban: newIban(), reference: '3' }),
    rowOf({ recipientId: undefined, recipientName: 'Anybody', iban: 'NL77SBOX0100000001', reference: '4' }),
    rowOf({ recipientId: undefined, recipientName: 'Somebody New', iban: newIban(), reference: '5' }),
    rowOf({ recipientId: stranger.recipients.EUR, reference: '6' }),
    rowOf({ recipientId: 'Lumen', reference: '7' }),
    rowOf({ recipientId: undefined, recipientName: 'Lumen', iban: 'NL77SBOX0100000002', reference: '8' }),
    rowOf({ recipientId: undefined, iban: newIban(), reference: '9' }),
    rowOf({ recipientId: unapproved, reference: '10' }),
  ])
  t.match(bulk, {
    status: 'ready',
    counts: { total: 10, valid: 3, invalid: 7 },
    totals: [{ currency: 'EUR', amountMinor: '300', rows: 3 }],
  })
  const rows = await rowsOf(client, bulk)
  t.strictSame(faults(rows), [
    [],
    [],
    ['recipient_id invalid_value'],
    [],
    ['recipient_name recipient_not_found'],
    ['recipient_id recipient_not_found'],
    ['recipient_id invalid_format'],
    ['iban invalid_checksum'],
    ['recipient_name required'],
    ['recipient_id recipient_not_approved'],
  ])
  t.strictSame(
    rows.slice(0, 4).map(({ recipientId, recipientName }) => [recipientId, recipientName]),
    Array(4).fill([recipients.EUR, 'Amsterdam Trading BV']),
  )
  t.match(rows[4], { recipientId: null, recipientName: 'Somebody New', maskedIdentifier: /^NL\d\d\*\*\*\*\d{4}$/ })
})

t.test('what a payment would be refused for', async (t) => {
  const paid = (
    await client.createPayment({
      ...paymentBody(balances.EUR, recipients.EUR, 777),
      externalId: 'TAKEN',
      reference: 'Seven',
    })
  ).body
  await until(
    'its transaction',
    async () => (await world.query('select from account_transaction where source_id = $1', [paid.id])).length > 0,
  )
  const bulk = await sent([
    rowOf({ externalId: 'TAKEN', reference: '1' }),
    rowOf({ externalId: 'TWICE', reference: '2' }),
    rowOf({ externalId: 'TWICE', reference: '3' }),
    rowOf({ currency: 'GBP', reference: '4' }),
    rowOf({ rail: 'chaps', reference: '5' }),
    rowOf({ rail: 'pigeon', reference: '6' }),
    rowOf({ executionDate: day(-3), reference: '7' }),
    rowOf({ executionDate: day(400), reference: '8' }),
    rowOf({ sourceBalanceId: balances.GBP, reference: '9' }),
    rowOf({ reference: 'ß'.repeat(140) }),
    rowOf({ amount: '1.001', reference: '11' }),
    rowOf({ currency: 'SEK', recipientId: undefined, recipientName: 'X', reference: '12' }),
    rowOf({ chargeBearer: 'nobody', reference: '13' }),
    rowOf({ amount: '7.77', reference: 'Seven' }),
    rowOf({ reference: 'Twin' }),
    rowOf({ reference: 'Twin' }),
  ])
  const rows = await rowsOf(client, bulk)
  t.strictSame(faults(rows), [
    ['external_id duplicate_external_id'],
    [],
    ['external_id duplicate_external_id'],
    ['currency currency_mismatch'],
    ['rail rail_unavailable'],
    ['rail invalid_value'],
    ['execution_date in_past'],
    ['execution_date too_far_ahead'],
    ['source_balance_id quote_required'],
    ['reference invalid_characters'],
    ['amount invalid_value'],
    ['recipient_name too_short', 'source_balance_id required'],
    ['charge_bearer invalid_value'],
    [],
    [],
    [],
  ])
  t.strictSame(
    warned(rows).slice(-3),
    [['possible_duplicate'], [], ['possible_duplicate']],
    `like ${paid.id}, and like one another`,
  )

  const ids = async (query: Record<string, string>) =>
    (await rowsOf(client, bulk, query)).map(({ rowNumber }) => rowNumber)
  t.strictSame(await ids({ 'filter[status]': 'valid' }), [2, 14, 15, 16])
  t.strictSame(await ids({ 'filter[status]': 'valid', sort: '-rowNumber', limit: '1' }), [16, 15, 14, 2])
  t.strictSame(await ids({ 'filter[errorCode]': 'in_past,too_far_ahead' }), [7, 8])
  t.strictSame(await ids({ 'filter[status]': 'invalid', limit: '3' }), [1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13])
  t.strictSame(await ids({ 'filter[recipientId]': recipients.GBP }), [])
  t.strictSame(await ids({ 'filter[paymentStatus]': 'completed' }), [])
  const { createdAt } = (await rowsOf(client, bulk, { limit: '1' }))[0]!
  t.equal((await ids({ 'filter[createdFrom]': createdAt })).length, rows.length)
  t.strictSame(await ids({ 'filter[createdFrom]': new Date(Date.parse(createdAt) + 3_600_000).toISOString() }), [])
  t.strictSame(await ids({ 'filter[createdTo]': new Date(Date.parse(createdAt) - 3_600_000).toISOString() }), [])
  const list = async (query: Record<string, string>) =>
    (await client.list<{ id: string }>('/bulk-payments', { limit: 100, ...query })).body.data.map(({ id }) => id)
  t.ok((await list({ 'filter[format]': 'json', 'filter[status]': 'ready' })).includes(bulk.id))
  t.notOk((await list({ 'filter[format]': 'csv' })).includes(bulk.id))
  t.notOk((await list({ 'filter[status]': 'cancelled' })).includes(bulk.id))
  t.ok((await list({ 'filter[createdBy]': bulk.createdBy, sort: 'createdAt' })).includes(bulk.id))

  t.match(
    await sent([rowOf({ reference: 'Good' }), rowOf({ amount: '0', reference: 'Bad' })], { requireAllValid: true }),
    { status: 'invalid', counts: { valid: 1, invalid: 1 } },
  )
  t.match(await sent([rowOf({ amount: '0' })]), { status: 'invalid', counts: { valid: 0, invalid: 1 }, totals: [] })
})

t.test('a day that is none for the rail is moved, and said', async (t) => {
  const saturday = Temporal.PlainDate.from(day(14))
    .add({ days: (6 - Temporal.PlainDate.from(day(14)).dayOfWeek + 7) % 7 })
    .toString()
  const monday = Temporal.PlainDate.from(saturday).add({ days: 2 })
  await world.query('update provider_connection set config = $1', [JSON.stringify({ realCalendar: true })])
  const bulk = await sent([rowOf({ rail: 'sepa', executionDate: saturday })])
  await world.query(`update provider_connection set config = '{}'`)
  const rows = await rowsOf(client, bulk)
  t.strictSame(warned(rows), [['date_moved']], JSON.stringify(rows))
  t.ok(rows[0]!.executionDate! >= monday.toString())
})

t.test('names are checked as for a single payment, unless a business does without', async (t) => {
  await world.query(`update operator set recipient_allowed_overrides = '{close_match}'`)
  await setMode(world, 'none')
  const { body: close } = await createByKey(client, {
    name: 'Close Ltd',
    verificationOverride: { acceptOutcome: 'close_match', reason: 'We know them.' },
  })
  await decideAs(
    t,
    await owner(),
    (await client.get<Recipient>(`/recipients/${close.id}`)).body.approval!.approvalId!,
    'approved',
  )
  const rows = [
    rowOf({ recipientId: close.id, reference: '1' }),
    rowOf({ recipientId: recipients.EUR, reference: '2' }),
  ]
  await world.query(`update recipient set name = 'Wrong Ltd', version = version + 1 where id = $1`, [recipients.EUR])
  await world.restart()
  const checked = await rowsOf(client, await sent(rows))
  t.strictSame(faults(checked), [[], ['recipient_name verification_mismatch']])
  t.strictSame(warned(checked), [['close_match'], []])
  t.match(await sent(rows, { skipPayeeVerification: true }), { counts: { valid: 2 } })
  await world.query(`update recipient set name = 'Mute Ltd', version = version + 1 where id = $1`, [recipients.EUR])
  await world.restart()
  t.strictSame(warned(await rowsOf(client, await sent([rows[1]!]))), [['verification_unavailable']])
  await world.query(`update recipient set name = 'Amsterdam Trading BV', version = version + 1 where id = $1`, [
    recipients.EUR,
  ])
  await world.restart()
})

t.test('recipients that are missing are made, looked at by people, and paid when they are approved', async (t) => {
  const iban = newIban()
  const csv = table(
    ['recipient_name', 'currency', 'amount', 'reference', 'iban', 'recipient_email'],
    ['Nova BV', 'EUR', '5', 'A', iban, 'a@nova.example'],
    ['Nova BV', 'EUR', '6', 'B', iban, ''],
    ['Wrong BV', 'EUR', '7', 'C', newIban(), ''],
    ['Mail BV', 'EUR', '7', 'D', newIban(), 'nowhere'],
  )
  const bulk = await uploaded(client, csv, { fields: { createMissingRecipients: 'true' } })
  t.match(bulk, { status: 'invalid', counts: { invalid: 4 } })
  const rows = await rowsOf(client, bulk)
  t.strictSame(faults(rows), [
    ['recipient_id recipient_not_approved'],
    ['recipient_id recipient_not_approved'],
    ['recipient_name verification_mismatch'],
    ['recipient_email invalid_format'],
  ])
  const made = await recipientsMade(world, ['Nova BV', 'Wrong BV', 'Mail BV'])
  t.match(made, [{ name: 'Nova BV', status: 'pending_approval', email: 'a@nova.example' }])
  t.equal(rows[1]!.recipientId, made[0]!.id, 'of two rows with one account there is one recipient')
  const { body: pending } = await client.get<Recipient>(`/recipients/${made[0]!.id}`)
  await decideAs(t, await owner(), pending.approval!.approvalId!, 'approved')
  waiting = []
  const key = randomUUID()
  const again = await client.post<typeof bulk>(`/bulk-payments/${bulk.id}/revalidate`, undefined, key)
  t.equal(again.status, 202, again.text)
  const repeated = await client.post<typeof bulk>(`/bulk-payments/${bulk.id}/revalidate`, undefined, key)
  t.strictSame([repeated.status, repeated.text], [202, again.text], 'the same key is the same answer')
  t.match(again.body, { status: 'validating', counts: { total: 4, pending: 4, valid: 0, invalid: 0 }, totals: [] })
  t.not(again.body.jobId, bulk.jobId)
  await until('a bank that is asked', () => waiting!.length > 0)
  t.match(
    await rowsOf(client, bulk),
    Array(4).fill({ status: 'pending', errors: [], warnings: [] }),
    'until the job comes to them',
  )
  for (const go of waiting) go()
  waiting = null
  t.match(await validated(client, bulk), {
    status: 'ready',
    counts: { total: 4, pending: 0, valid: 2, invalid: 2 },
    totals: [{ amountMinor: '1100', rows: 2 }],
  })
  t.strictSame(
    (await rowsOf(client, bulk)).map(({ id }) => id),
    rows.map(({ id }) => id),
    'the rows are the same ones',
  )
  t.equal((await recipientsMade(world, ['Nova BV', 'Wrong BV', 'Mail BV'])).length, 1)
})

t.test('counts move while a file is read, and a file that is cancelled is left alone', async (t) => {
  waiting = []
  const csv = table(
    ['recipient_id', 'currency', 'amount', 'reference'],
    ...Array.from({ length: 600 }, (_, nth) => [recipients.EUR, 'EUR', '1', `Row ${nth}`]),
  )
  const [moving, cancelled] = [(await sendFile(client, csv)).body, (await sendFile(client, `${csv}\n`)).body]
  const release = async (count: number) => {
    for (let left = count; left > 0; left--) (await until('a bank that is asked', () => waiting!.pop()))()
  }
  await release(500)
  t.match(
    await until('the first rows', async () => {
      const bulk = await readBulk(client, moving.id)
      return bulk.counts.total > 0 ? bulk : null
    }),
    { status: 'validating', counts: { total: 500, valid: 500 }, lastProgressAt: String },
  )
  t.match((await client.post(`/bulk-payments/${moving.id}/revalidate`, undefined)).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'validating',
    allowed: ['ready', 'invalid'],
  })
  await release(100)
  const ready = await validated(client, moving)
  t.match(ready, { status: 'ready', counts: { total: 600, valid: 600 } })

  await until('the second file', () => waiting!.length > 0)
  const stopped = await client.post<typeof ready>(`/bulk-payments/${cancelled.id}/cancel`, undefined, 'cancel-once')
  t.match(stopped.body, { status: 'cancelled', closedAt: String })
  t.equal(
    (await client.post(`/bulk-payments/${cancelled.id}/cancel`, undefined, 'cancel-once')).text,
    stopped.text,
    'its key keeps the answer',
  )
  t.match((await client.post(`/bulk-payments/${cancelled.id}/cancel`, undefined)).problem, {
    status: 409,
    code: 'not-cancellable',
    currentStatus: 'cancelled',
  })
  t.match((await client.post(`/bulk-payments/${cancelled.id}/revalidate`, undefined)).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'cancelled',
  })
  t.match((await client.get(`/jobs/${cancelled.jobId!}`)).body, { status: 'cancelled' })
  for (const go of waiting) go()
  waiting = null
  const more = await uploaded(client, csv, { fields: { allowDuplicate: 'true' } })
  t.match(more, { status: 'ready', counts: { valid: 600 } }, 'whoever comes next is read')
  t.match(await readBulk(client, cancelled.id), { status: 'cancelled', counts: { total: 0 } })
  t.strictSame(await rowsOf(client, cancelled), [], 'nothing was written of it')
  t.match(
    (await client.post(`/bulk-payments/${more.id}/cancel`, undefined)).body,
    { status: 'cancelled' },
    'one that is ready, too',
  )
  t.equal((await uploaded(client, `${csv}\n`)).status, 'ready', 'what was cancelled is sent in again without a word')
})

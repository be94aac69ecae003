/** Hostile files sent in: a clear error, nothing half done, and the next file is read as ever. */
import t from 'tap'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import { BULK_FILE_BYTES_MAX } from '../../../lib/bulk-payments/limits.ts'
import { HOSTILE_FILES } from '../../support/hostile-files.ts'
import { createWorld, paymentBody } from '../../support/world.ts'
import { faults, readBulk, rowsOf, sendFile, table, uploaded, validated } from './support.ts'

const world = await createWorld()
t.teardown(() => world[Symbol.asyncDispose]())
const { client, recipients, balances } = world.seeded
const HEADER = ['recipient_id', 'currency', 'amount', 'reference']
/** Larger ones are read the same way, and are with the reader's own tests. */
const SIZE_MAX = 1_000_000

t.test(
  'each makes a bulk payment that is invalid and says why, with no row, no payment and no recipient',
  async (t) => {
    const count = async () =>
      (
        await world.query<{ recipients: string; payments: string }>(
          'select (select count(*) from recipient) as recipients, (select count(*) from payment) as payments',
        )
      )[0]
    const before = await count()
    let sent = 0
    let last = ''
    for (const { name, fileName, code, content } of HOSTILE_FILES) {
      const file = await content()
      if (file.length > SIZE_MAX) continue
      sent += 1
      const reply = await sendFile(client, file, {
        fileName,
        fields: { createMissingRecipients: 'true', allowDuplicate: 'true' },
      })
      t.equal(reply.status, 202, `${name}: ${reply.text}`)
      const bulk = await validated(client, reply.body)
      t.match(
        bulk,
        { status: 'invalid', fileErrors: [{ code, message: String }], counts: { total: 0 }, totals: [] },
        name,
      )
      t.strictSame(
        await world.query('select row_number from bulk_payment_row where bulk_payment_id = $1', [bulk.id]),
        [],
      )
      last = bulk.id
    }
    t.match((await client.post(`/bulk-payments/${last}/submit`, undefined)).problem, {
      status: 409,
      code: 'invalid-transition',
    })
    t.ok(sent > 25, `${sent} files`)
    t.strictSame(await count(), before)
    t.equal((await uploaded(client, table(HEADER, [recipients.EUR, 'EUR', '1', 'Bill']))).status, 'ready')
  },
)

t.test('while one line as long as a file may be is read, others are served', async (t) => {
  const line = Buffer.concat([Buffer.from(`${HEADER.join()}\n`), Buffer.alloc(BULK_FILE_BYTES_MAX - 100, 'x')])
  const sending = sendFile(client, line)
  const payment = await client.post<Payment>('/payments', paymentBody(balances.EUR, recipients.EUR, 100))
  t.equal(payment.status, 201, payment.text)
  const { body } = await sending
  t.match(await validated(client, body), { status: 'invalid', fileErrors: [{ code: 'too_large' }] })
  const over = await sendFile(client, Buffer.concat([line, line.subarray(0, 200)]))
  t.match(over.problem, { status: 413, code: 'payload-too-large' })
  t.equal((await client.get('/health')).status, 200)
})

t.test('what is wrong with one row is said of that row', async (t) => {
  const long = 'x'.repeat(200)
  const bulk = await uploaded(
    client,
    table(
      HEADER,
      [recipients.EUR, 'EUR', '1', '\u0007bell'],
      [recipients.EUR, 'EUR', '1', '\u202eelif'],
      [recipients.EUR, 'EUR', '1e3', 'x'],
      [recipients.EUR, 'EUR', '0x10', 'x'],
      [recipients.EUR, 'EUR', '٣', 'x'],
      [recipients.EUR, 'EUR', '1', long],
      ["'; drop table payment; --", 'EUR', '1', 'x'],
      [recipients.EUR, '__proto__', '1', 'x'],
      [recipients.EUR, 'EUR', '2', 'Bill 2'],
    ),
  )
  t.equal(bulk.status, 'ready')
  t.strictSame(
    faults(await rowsOf(client, bulk)).map((found) => found[0] ?? null),
    [
      'reference invalid_characters',
      'reference invalid_characters',
      'amount invalid_format',
      'amount invalid_format',
      'amount invalid_format',
      'reference too_long',
      'recipient_id invalid_format',
      'currency too_long',
      null,
    ],
  )
})

t.test('a text that begins like a formula stays a text, and the ending of a name decides nothing', async (t) => {
  const bulk = await uploaded(
    client,
    table(
      [...HEADER, 'internal_note'],
      [recipients.EUR, 'EUR', '1', 'Bill 3', '=HYPERLINK("http://x")'.replaceAll('"', '')],
    ),
    { fileName: 'payments.xlsx' },
  )
  t.match(bulk, { status: 'ready', format: 'csv', fileName: 'payments.xlsx' })
  const wrong = await uploaded(client, table(HEADER, [recipients.EUR, 'EUR', '1', 'Bill 4']), {
    fields: { format: 'xlsx' },
  })
  t.match(await readBulk(client, wrong.id), {
    status: 'invalid',
    format: 'xlsx',
    fileErrors: [{ code: 'not_well_formed' }],
  })
})

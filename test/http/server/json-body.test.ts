import t from 'tap'
import Type from 'typebox'
import { inspectJson } from '../../../http/server/json-body.ts'
import { ExportRequest } from '../../../lib/transactions/export-schema.ts'
import { FundsRequestUpdate } from '../../../lib/funds-requests/funds-request-schema.ts'
import { SimWebhookEvent } from '../../../lib/webhooks/webhook-schema.ts'
import { compileBody } from '../../../lib/contract/validation.ts'
import { BALANCE, fakeWorld, PAYMENT_BODY, startFake } from './fake-world.ts'

const world = fakeWorld()
const service = await startFake(world)
t.teardown(service.stop)

const nested = (levels: number) => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels)

t.test('ids are written in lower case at every depth of a body', async (t) => {
  const Id = Type.String({ format: 'uuid' })
  const body = compileBody(
    Type.Object({
      id: Id,
      ids: Type.Array(Id),
      name: Type.String(),
      pricing: Type.Object({ defaultTemplateId: Type.Union([Id, Type.Null()]), name: Type.String() }),
      rows: Type.Array(Type.Object({ recipientId: Id })),
      either: Type.Union([Type.Object({ balanceId: Id }), Type.Null()]),
    }),
    undefined,
  )
  const [upper, lower] = ['0199A0B1-0000-7000-8000-00000000ABCD', '0199a0b1-0000-7000-8000-00000000abcd']
  const { value, errors } = body.validate(
    {
      id: upper,
      ids: [upper],
      name: upper,
      pricing: { defaultTemplateId: upper, name: 'ABC' },
      rows: [{ recipientId: upper }],
      either: { balanceId: upper },
    },
    false,
  )
  t.strictSame(errors, [])
  t.strictSame(value, {
    id: lower,
    ids: [lower],
    name: upper,
    pricing: { defaultTemplateId: lower, name: 'ABC' },
    rows: [{ recipientId: lower }],
    either: { balanceId: lower },
  })
})

t.test('what is not a JSON document is 400', async (t) => {
  for (const [name, body] of [
    ['empty', ''],
    ['broken', '{"a":'],
    ['two documents', '{} {}'],
    ['duplicate member', '{"reference":"a","reference":"b"}'],
    ['duplicate member, spelt differently', '{"reference":"a","\\u0072eference":"b"}'],
    ['duplicate nested member', '{"amount":{"currency":"EUR","currency":"USD"}}'],
    ['duplicate prototype', '{"__proto__":1,"__proto__":2}'],
    ['too deep', nested(21)],
    ['lone surrogate', '{"reference":"\\ud800"}'],
    ['number out of range', '{"reference":1e999}'],
  ] as const) {
    const response = await service.post('/v1/payments', body)
    t.equal(response.status, 400, name)
    t.equal((await response.json()).code, 'malformed-request', name)
  }
  const latin1 = await service.post('/v1/payments', Buffer.from('{"reference":"Z\xfcrich"}', 'latin1'))
  t.equal(latin1.status, 400, 'bytes that are not UTF-8')
})

t.test('what is JSON but not the right kind is 422', async (t) => {
  for (const body of ['[]', '"text"', '5', 'null', 'true', nested(20)]) {
    t.equal((await service.post('/v1/payments', body)).status, 422, body)
  }
})

t.test('colons, quotes and backslashes in text are not mistaken for structure', async (t) => {
  for (const reference of [':', '":"', '\\', '\\\\', 'a\\":b', '\\\\":', '{"a":1}', 'a:b:c']) {
    const text = JSON.stringify({ reference, list: [{ a: reference }, reference] })
    t.doesNotThrow(() => inspectJson(text, JSON.parse(text)), text)
    const twice = `{"reference":${JSON.stringify(reference)},"reference":1}`
    t.throws(() => inspectJson(twice, JSON.parse(twice)), twice)
  }
})

t.test('only JSON is read, up to 256 KiB', async (t) => {
  for (const type of [
    'text/plain',
    'application/xml',
    'application/json; charset=latin1',
    'application/x-www-form-urlencoded',
  ]) {
    const response = await service.post('/v1/payments', PAYMENT_BODY, { 'content-type': type })
    t.equal(response.status, 415, type)
    t.match(await response.json(), { code: 'unsupported-media-type', supported: ['application/json'] })
  }
  t.equal(
    (await service.post('/v1/payments', PAYMENT_BODY, { 'content-type': 'Application/JSON; charset=UTF-8' })).status,
    201,
  )
  t.equal((await service.post('/v1/payments', PAYMENT_BODY, { 'content-encoding': 'zstd' })).status, 415)
  const large = await service.post('/v1/payments', { ...PAYMENT_BODY, internalNote: 'x'.repeat(256 * 1024) })
  t.equal(large.status, 413)
  t.match(await large.json(), { code: 'payload-too-large', maxBytes: 262_144 })
})

async function errorsOf(change: object): Promise<{ field: string; code: string; params?: object }[]> {
  const response = await service.post('/v1/payments', { ...PAYMENT_BODY, ...change })
  if (response.status === 201) return []
  t.equal(response.status, 422)
  return (await response.json()).errors
}

t.test('every error of a body is named by pointer and code', async (t) => {
  const { reference: _reference, ...withoutReference } = PAYMENT_BODY
  const missing = await service.post('/v1/payments', withoutReference)
  t.match((await missing.json()).errors, [{ field: '/reference', code: 'required' }])

  for (const [change, field, code] of [
    [{ amount: { amountMinor: 12500, currency: 'EUR' } }, '/amount/amountMinor', 'invalid_type'],
    [{ amount: { amountMinor: '0', currency: 'EUR' } }, '/amount/amountMinor', 'too_small'],
    [{ amount: { amountMinor: '-5', currency: 'EUR' } }, '/amount/amountMinor', 'too_small'],
    [{ amount: { amountMinor: '1.50', currency: 'EUR' } }, '/amount/amountMinor', 'invalid_format'],
    [{ amount: { amountMinor: ' 150', currency: 'EUR' } }, '/amount/amountMinor', 'invalid_format'],
    [{ amount: { amountMinor: '0150', currency: 'EUR' } }, '/amount/amountMinor', 'invalid_format'],
    [{ amount: { amountMinor: '9223372036854775808', currency: 'EUR' } }, '/amount/amountMinor', 'too_large'],
    [{ amount: { amountMinor: '1'.repeat(40), currency: 'EUR' } }, '/amount/amountMinor', 'too_large'],
    [{ amount: { amountMinor: '5', currency: 'eur' } }, '/amount/currency', 'invalid_format'],
    [{ amount: { amountMinor: '5' } }, '/amount/currency', 'required'],
    [{ amount: { amountMinor: '5', currency: 'EUR', exponent: 2 } }, '/amount/exponent', 'unknown_field'],
    [{ sourceBalanceId: 'x' }, '/sourceBalanceId', 'invalid_format'],
    [{ reference: '' }, '/reference', 'too_short'],
    [{ reference: '   ' }, '/reference', 'too_short'],
    [{ reference: 'a\u0007b' }, '/reference', 'invalid_characters'],
    [{ reference: 'a\nb' }, '/reference', 'invalid_characters'],
    [{ externalId: 'x'.repeat(65) }, '/externalId', 'too_long'],
    [{ externalId: 5 }, '/externalId', 'invalid_type'],
    [{ chargeBearer: 'nobody' }, '/chargeBearer', 'invalid_value'],
    [{ requestedRail: 'pigeon' }, '/requestedRail', 'invalid_value'],
    [{ executionDate: '2026-02-30' }, '/executionDate', 'invalid_format'],
    [{ executionDate: '0000-01-01' }, '/executionDate', 'invalid_format'],
    [{ documentIds: Array(11).fill(BALANCE) }, '/documentIds', 'too_long'],
    [{ documentIds: ['x'] }, '/documentIds/0', 'invalid_format'],
    [{ notifyRecipient: 'yes' }, '/notifyRecipient', 'invalid_type'],
    [
      { verificationOverride: { acceptOutcome: 'no_match', reason: 'short' } },
      '/verificationOverride/reason',
      'too_short',
    ],
    [{ metadata: { 'bad key': 'x' } }, '/metadata/bad key', 'invalid_format'],
    [{ metadata: { k: 5 } }, '/metadata/k', 'invalid_type'],
    [{ metadata: { k: 'x'.repeat(501) } }, '/metadata/k', 'too_long'],
    [
      { metadata: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, 'x'])) },
      '/metadata',
      'too_long',
    ],
    [
      { metadata: Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`k${index}`, 'x'.repeat(500)])) },
      '/metadata',
      'too_large',
    ],
    [{ nonsense: 1 }, '/nonsense', 'unknown_field'],
    [{ 'a/b~c': 1 }, '/a~1b~0c', 'unknown_field'],
    [{ status: 'completed' }, '/status', 'read_only_field'],
    [{ id: BALANCE }, '/id', 'read_only_field'],
  ] as const) {
    const errors = await errorsOf(change)
    t.same(
      errors.map((error) => [error.field, error.code]),
      [[field, code]],
      `${field} ${code}`,
    )
  }
  t.match(await errorsOf({ externalId: 'x'.repeat(65) }), [{ params: { max: 64 } }])
  t.equal(
    (await errorsOf(Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x${index}`, 1])))).length <= 64,
    true,
    'errors are bounded',
  )
})

t.test('an amount of either sign fits 64 bits', (t) => {
  const event = compileBody(SimWebhookEvent, undefined)
  const errors = (amountMinor: string) =>
    event
      .validate({ type: 'balance.low', amount: { amountMinor, currency: 'EUR' } }, false)
      .errors.map(({ field, code }) => `${field} ${code}`)
  for (const amount of ['9223372036854775807', '-9223372036854775808', '0', '-1']) t.same(errors(amount), [], amount)
  for (const amount of ['9223372036854775808', '-9223372036854775809', '9999999999999999999'])
    t.same(errors(amount), ['/amount/amountMinor too_large'], amount)
  t.end()
})

t.test('one value has one complaint, in words', (t) => {
  const request = compileBody(ExportRequest, undefined)
  const errors = (body: object) =>
    request.validate({ format: 'csv', ...body }, false).errors.map(({ field, code, message }) => [field, code, message])
  t.same(errors({ filter: { amountFrom: 5 } }), [
    ['/filter/amountFrom', 'invalid_type', 'Must be string or boolean or array.'],
  ])
  t.same(errors({ filter: { amountFrom: '' } }), [
    ['/filter/amountFrom', 'too_short', 'Must have at least 1 character.'],
  ])
  t.same(errors({ filter: { status: [5] } }), [['/filter/status/0', 'invalid_type', 'Must be string.']])
  t.same(errors({ format: 'pdf' }), [['/format', 'invalid_value', 'Must be one of csv, xlsx, json, camt053, mt940.']])
  t.same(errors({ q: 5 }), [['/q', 'invalid_type', 'Must be string.']])
  t.same(errors({ q: 'a' }), [['/q', 'too_short', 'Must have at least 2 characters.']])
  t.same(errors({ columns: [] }), [['/columns', 'too_short', 'Must have at least 1 item.']])
  t.same(errors({ columns: ['id', 'id'] }), [['/columns', 'invalid_value', 'Must not have the same item twice.']])
  t.end()
})

t.test('a time is one that can be read and written again', (t) => {
  const update = compileBody(FundsRequestUpdate, undefined)
  const errors = (expiresAt: string) =>
    update.validate({ expiresAt }, false).errors.map(({ field, code }) => `${field} ${code}`)
  for (const time of [
    '2026-12-31T23:59:59Z',
    '2026-12-31t23:59:59.1234567z',
    '2024-02-29T00:00:00+14:00',
    '0001-01-01T00:00:00Z',
  ])
    t.same(errors(time), [], time)
  for (const time of [
    '2026-12-31T23:59:60Z',
    '2026-12-31T00:00:00Z[Europe/Paris]',
    '2026-12-31T00:00:00+01:00[u-ca=iso8601]',
    '9999-12-31T23:59:59-12:00',
    '0001-01-01T00:00:00+01:00',
    '0000-06-01T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-12-31T24:00:00Z',
    '2026-12-31T00:00:00',
    '2026-12-31',
    'tomorrow',
  ])
    t.same(errors(time), ['/expiresAt invalid_format'], time)
  t.end()
})

t.test('a member called __proto__ is unknown and harmless', async (t) => {
  const text = JSON.stringify(PAYMENT_BODY).slice(0, -1)
  const top = await service.post('/v1/payments', `${text},"__proto__":{"draft":true}}`)
  t.equal(top.status, 422)
  t.match((await top.json()).errors, [{ field: '/__proto__', code: 'unknown_field' }])
  const metadata = await service.post('/v1/payments', `${text},"metadata":{"__proto__":"ü"}}`)
  t.equal(metadata.status, 422)
  t.match((await metadata.json()).errors, [{ field: '/metadata/__proto__' }])
  t.equal(Object.getPrototypeOf({}), Object.prototype)
  t.equal(({} as { draft?: boolean }).draft, undefined)
})

t.test('text is trimmed and composed, ids are lower case, everything documented is accepted', async (t) => {
  const response = await service.post('/v1/payments', {
    ...PAYMENT_BODY,
    sourceBalanceId: BALANCE.toUpperCase(),
    reference: '  Zu\u0308rich \u{1f3e6} ',
    requestedRail: null,
    quoteId: null,
    executionDate: '2026-02-28',
    chargeBearer: 'shared',
    purposeCode: 'SUPP',
    purpose: 'Supplies',
    endToEndId: 'E2E-1',
    externalId: 'INV-1',
    documentIds: [BALANCE.toUpperCase()],
    internalNote: null,
    notifyRecipient: true,
    verificationOverride: null,
    draft: false,
    metadata: { note: ' \u00fcber ' },
  })
  t.equal(response.status, 201)
  t.match(world.createdPayments.at(-1)?.body, {
    sourceBalanceId: BALANCE,
    reference: 'Z\u00fcrich \u{1f3e6}',
    documentIds: [BALANCE],
    metadata: { note: '\u00fcber' },
  })
})

t.test('lengths are counted in code points', async (t) => {
  t.same(await errorsOf({ externalId: '\u{1f3e6}'.repeat(64) }), [])
  t.match(await errorsOf({ externalId: '\u{1f3e6}'.repeat(65) }), [{ field: '/externalId', code: 'too_long' }])
})

t.test('a transfer has its own body', async (t) => {
  const response = await service.post('/v1/transfers', {
    fromBalanceId: BALANCE,
    toBalanceId: BALANCE,
    amount: { amountMinor: '1', currency: 'EUR' },
  })
  t.equal(response.status, 201)
  t.equal(world.createdTransfers.length, 1)
})

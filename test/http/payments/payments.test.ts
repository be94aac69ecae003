import { randomBytes, randomUUID } from 'node:crypto'

import pg from 'pg'
import t from 'tap'
import type { Test } from 'tap'

import type { Payment } from '../../../lib/payments/payment-schema.ts'
import { generateApiKey } from '../../../lib/identity/api-key.ts'
import { addDays } from '../../../lib/base/clock.ts'
import { railDate } from '../../../lib/rails/business-days.ts'
import type { Client, ProblemBody, RawRequest, Reply } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import { createWorld, NODES, paymentBody, transferBody } from '../../support/world.ts'
import type { World } from '../../support/world.ts'

/** The members that the contract documents for customers; `processing` exists while the payment is queued. */
const FIELDS = [
  'amount',
  'approvalId',
  'approvedAt',
  'bulkPaymentId',
  'bulkRowId',
  'cancellable',
  'cancelledAt',
  'chargeBearer',
  'completedAt',
  'createdAt',
  'createdBy',
  'createdVia',
  'customerId',
  'documentIds',
  'endToEndId',
  'estimatedArrival',
  'exception',
  'exchangeId',
  'executionDate',
  'externalId',
  'failedAt',
  'failure',
  'fee',
  'feeTax',
  'fees',
  'fundsRequestId',
  'id',
  'instant',
  'internalNote',
  'metadata',
  'notifyRecipient',
  'number',
  'purpose',
  'purposeCode',
  'quoteId',
  'rail',
  'recall',
  'recipient',
  'recipientId',
  'reference',
  'requestedRail',
  'return',
  'returnedAmount',
  'scheduledPaymentId',
  'sentAt',
  'sourceBalanceId',
  'sourceBalanceName',
  'status',
  'statusReason',
  'submittedAt',
  'submittedBy',
  'totalDebit',
  'uetr',
  'updatedAt',
  'verification',
]

const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const OPENING = 10_000_000n

const eur = (amountMinor: number | bigint) => ({ amountMinor: String(amountMinor), currency: 'EUR' })

/** Everything about money that a caller can see, and how many rows of everything there are. */
async function snapshot(world: World, client: Client): Promise<unknown> {
  const balances = (await client.list<{ id: string }>('/balances', { limit: 100 })).body.data
  const lists: unknown = await Promise.all(
    balances.flatMap(({ id }): Promise<unknown>[] => [
      client.journal(id),
      client.holds(id, 'active,captured,released,expired'),
    ]),
  )
  const payments = (await client.list<Payment>('/payments', { limit: 100, withTotal: true })).body
  const [rows] =
    await world.query(`select (select count(*) from payment) as payments, (select count(*) from posting) as postings,
    (select count(*) from hold) as holds, (select count(*) from transfer) as transfers, (select count(*) from outbox) as events,
    (select count(*) from status_update) as updates, (select count(*) from partner_instruction) as instructions`)
  // The place of a queued payment is an estimate, and moves with time. About midnight (UTC) a recorded
  // refusal moves the version of the balance, and with it the time of its change.
  return {
    balances: balances.map((balance) => ({ ...balance, updatedAt: null })),
    lists,
    payments: payments.data.map(({ processing: _, ...payment }) => payment),
    page: payments.page,
    rows,
  }
}

function isProblem(t: Test, reply: Reply<unknown>, status: number, code: string, what: string): ProblemBody {
  t.equal(reply.status, status, `${what}: ${reply.text}`)
  t.match(reply.headers.get('content-type'), /^application\/problem\+json/, `${what}: is a problem document`)
  t.equal(reply.headers.get('content-language'), 'en')
  t.equal(reply.headers.get('cache-control'), 'no-store')
  const problem = reply.problem
  t.match(problem, { status, code, title: String, detail: String, retryable: Boolean, instance: /^\/v1\// }, what)
  t.ok(problem.type.endsWith(`/${code}`), `${what}: ${problem.type}`)
  t.equal(problem.requestId, reply.headers.get('x-request-id'), `${what}: the request id is in header and body`)
  return problem
}

t.test('a payment is answered as the contract says, before and after the bank has it', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, balances, recipients } = world.seeded
  const body = {
    ...paymentBody(balances.EUR, recipients.EUR, 1250),
    externalId: 'INV-1',
    metadata: { costCentre: '4711' },
    internalNote: 'for Anna',
  }
  const created = await client.createPayment(body)
  t.equal(created.status, 201, created.text)
  const payment = created.body
  t.strictSame(
    Object.keys(payment).sort(),
    [...FIELDS, 'processing'].sort(),
    'every documented field is there, and no other',
  )
  t.match(payment, {
    id: UUID_V7,
    customerId: client.tenantId,
    number: /^PAY[0-9A-HJKMNP-TV-Z]{10}$/,
    externalId: 'INV-1',
    status: 'processing',
    statusReason: null,
    sourceBalanceId: balances.EUR,
    sourceBalanceName: 'EUR account',
    recipientId: recipients.EUR,
    recipient: {
      name: 'Amsterdam Trading BV',
      type: 'business',
      maskedIdentifier: 'NL77****0001',
      currency: 'EUR',
      bankCountry: 'NL',
    },
    amount: eur(1250),
    fee: null,
    totalDebit: eur(1250),
    chargeBearer: 'shared',
    requestedRail: null,
    rail: 'sepa_instant',
    reference: 'Invoice 42',
    instant: true,
    uetr: null,
    createdVia: 'api_key',
    internalNote: 'for Anna',
    notifyRecipient: false,
    metadata: { costCentre: '4711' },
    createdAt: TIMESTAMP,
    updatedAt: TIMESTAMP,
    submittedAt: TIMESTAMP,
    estimatedArrival: TIMESTAMP,
    processing: { status: 'queued', position: 1, etaSeconds: Number, estimatedAt: TIMESTAMP },
  })
  t.strictSame([payment.fees, payment.documentIds], [[], []])
  t.strictSame([payment.sentAt, payment.completedAt, payment.failedAt, payment.failure], [null, null, null, null])
  t.equal(payment.endToEndId, payment.number)
  t.equal(created.headers.get('location'), `/v1/payments/${payment.id}`)
  t.match(created.headers.get('etag'), /^W\/"1-[0-9a-f]{12}"$/)
  t.equal(created.headers.get('cache-control'), 'no-store')
  t.equal(created.headers.get('content-type'), 'application/json')
  t.notOk(created.headers.has('idempotency-replayed'))

  const queued = await client.payment(payment.id)
  t.match(queued, { status: 'processing', processing: { status: 'queued', position: 1 } })
  t.strictSame(
    { ...queued, processing: null },
    { ...payment, processing: null },
    'the resource is what the creation answered',
  )
  t.match(await client.balance(balances.EUR), {
    bookBalance: eur(OPENING),
    heldBalance: eur(1250),
    availableBalance: eur(OPENING - 1250n),
  })
  const holds = await client.holds(balances.EUR)
  t.equal(holds.length, 1)
  t.match(holds[0], {
    amount: eur(1250),
    status: 'active',
    subjectType: 'payment',
    subjectId: payment.id,
    resolvedAt: null,
    capturedAmount: null,
  })
  t.equal((await client.journal(balances.EUR)).length, 1, 'a hold is no journal line')

  await world.restart({ dispatch: true })
  const completed = await client.paymentReaching(payment.id, 'completed')
  t.strictSame(Object.keys(completed).sort(), FIELDS, 'processing is gone, everything else is still there')
  t.match(completed, {
    status: 'completed',
    sentAt: TIMESTAMP,
    completedAt: TIMESTAMP,
    failedAt: null,
    failure: null,
    statusReason: null,
  })
  t.ok(completed.sentAt! >= payment.createdAt && completed.completedAt! >= completed.sentAt!, 'the times are in order')
  t.match(await client.balance(balances.EUR), {
    bookBalance: eur(OPENING - 1250n),
    heldBalance: eur(0),
    availableBalance: eur(OPENING - 1250n),
  })
  const [line, opening, ...rest] = await client.journal(balances.EUR)
  t.match(line, {
    sequence: 2,
    direction: 'debit',
    amount: eur(1250),
    runningBalance: eur(OPENING - 1250n),
    type: 'outgoing_payment',
    source: { object: 'payment', id: payment.id },
    reference: 'Invoice 42',
    counterpartyName: 'Amsterdam Trading BV',
    reversalOfEntryId: null,
  })
  t.match(opening, {
    sequence: 1,
    direction: 'credit',
    amount: eur(OPENING),
    runningBalance: eur(OPENING),
    type: 'incoming_payment',
  })
  t.strictSame(rest, [])
  t.strictSame(await client.holds(balances.EUR), [])
  const captured = await client.holds(balances.EUR, 'captured')
  t.match(captured, [{ id: holds[0]!.id, status: 'captured', capturedAmount: eur(1250), resolvedAt: TIMESTAMP }])
  t.match((await client.get(`/payments/${payment.id}`)).headers.get('etag'), /^W\/"[2-9]-/, 'the version has moved on')
})

t.test('a payment completes within seconds', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const begin = world.now()
  const { id } = (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 999))).body
  await client.paymentReaching(id, 'completed')
  const seconds = (world.now() - begin) / 1000
  t.ok(seconds > 1.5 && seconds < 10, `an instant rail takes two seconds; this took ${seconds}`)
})

t.test('the same key again is the same answer to the byte, whatever has happened since', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const key = randomUUID()
  const body = { ...paymentBody(balances.EUR, recipients.EUR, 1500), metadata: { b: '2', a: '1' } }
  const first = await client.createPayment(body, key)
  t.equal(first.status, 201)
  const isReplay = async (what: string, again: Promise<Reply<Payment>>) => {
    const reply = await again
    t.equal(reply.status, 201, what)
    t.equal(reply.text, first.text, `${what}: the same bytes`)
    t.equal(reply.headers.get('idempotency-replayed'), 'true', what)
    for (const name of ['location', 'etag', 'content-type'])
      t.equal(reply.headers.get(name), first.headers.get(name), `${what}: ${name}`)
  }
  await isReplay('at once', client.createPayment(body, key))
  await isReplay(
    'with members in another order',
    client.createPayment(
      {
        reference: body.reference,
        metadata: { a: '1', b: '2' },
        amount: body.amount,
        recipientId: body.recipientId,
        sourceBalanceId: body.sourceBalanceId,
      },
      key,
    ),
  )
  await isReplay('with the key as a structured-field string', client.post('/payments', body, `"${key}"`))
  await client.paymentReaching(first.body.id, 'completed')
  await isReplay('after completion', client.createPayment(body, key))
  await world.restart()
  await isReplay('after a restart', client.createPayment(body, key))

  const reused = isProblem(
    t,
    await client.createPayment({ ...body, reference: 'Invoice 43' }, key),
    422,
    'idempotency-key-reused',
    'the same key with another body',
  )
  const firstUsedAt = Date.parse(reused['firstUsedAt'] as string)
  t.ok(Math.abs(firstUsedAt - Date.parse(first.body.createdAt)) < 1000, 'it tells when the key was first used')
  isProblem(
    t,
    await client.createPayment({ ...body, nonsense: 1 } as never, key),
    422,
    'idempotency-key-reused',
    'a broken body under a used key',
  )

  t.equal((await client.list('/payments', { withTotal: true })).body.page.total, 1, 'there is one payment')
  const other = await client.createTransfer(transferBody(balances.EUR, balances.EUR, 1), key)
  t.equal(other.problem.code, 'validation-error', 'the key belongs to its path: another operation does not know it')
  t.equal((await client.balance(balances.EUR)).bookBalance.amountMinor, String(OPENING - 1500n))
})

t.test('the same key in flight moves money once', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, balances, recipients } = world.seeded
  const body = paymentBody(balances.EUR, recipients.EUR, 700)

  await t.test('twenty at once', async (t) => {
    const key = randomUUID()
    const replies = await Promise.all(Array.from({ length: 20 }, () => client.createPayment(body, key)))
    const fresh = replies.filter((reply) => reply.status === 201 && !reply.headers.has('idempotency-replayed'))
    t.equal(fresh.length, 1, 'one of them made it')
    for (const reply of replies) {
      if (reply.status === 201) t.equal(reply.text, fresh[0]!.text)
      else {
        isProblem(t, reply, 409, 'idempotency-key-in-use', 'one that came while it ran')
        t.equal(reply.headers.get('retry-after'), '1')
      }
    }
    t.equal((await client.createPayment(body, key)).text, fresh[0]!.text)
  })

  // Without leases a key in use is known to the node that has it; the others wait for the row and then give its answer.
  const homeless = NODES > 1 && 'the customer has no single home'
  await t.test('while the first one is held up in the database', { skip: homeless }, async (t) => {
    const blocker = new pg.Client({ connectionString: world.databaseUrl })
    await blocker.connect()
    try {
      await blocker.query('begin')
      await blocker.query('select 1 from balance where id = $1 for update', [balances.EUR])
      const key = randomUUID()
      const first = client.createPayment(body, key)
      await until(
        'the commit waits for the row',
        async () =>
          (await world.query("select 1 from pg_locks where not granted and locktype in ('transactionid', 'tuple')"))
            .length > 0,
      )
      const others = await Promise.all(Array.from({ length: 19 }, () => client.createPayment(body, key)))
      for (const reply of others) {
        const problem = isProblem(t, reply, 409, 'idempotency-key-in-use', 'the same key meanwhile')
        t.equal(problem.retryable, true)
        t.equal(problem.retryAfterSeconds, 1)
        t.equal(reply.headers.get('retry-after'), '1')
      }
      await blocker.query('rollback')
      t.equal((await first).status, 201)
      t.equal((await client.createPayment(body, key)).text, (await first).text)
    } finally {
      await blocker.end()
    }
  })
  t.equal(
    (await client.list('/payments', { withTotal: true })).body.page.total,
    homeless ? 1 : 2,
    'a payment for each key',
  )
  t.equal((await client.balance(balances.EUR)).heldBalance.amountMinor, homeless ? '700' : '1400')
})

t.test('a no is remembered: the same key says no even when the money has come', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, balanceIds, recipients } = await world.customer({
    balances: [
      { currency: 'EUR', amount: 5000n },
      { currency: 'EUR', amount: 20_000n, name: 'Savings' },
    ],
  })
  const [poor, rich] = balanceIds as [string, string]
  const key = randomUUID()
  const body = paymentBody(poor, recipients.EUR, 6000)
  const before = await snapshot(world, client)
  const no = await client.createPayment(body, key)
  const problem = isProblem(t, no, 409, 'insufficient-funds', 'too little money')
  t.match(problem, { retryable: false, available: eur(5000), required: eur(6000), instance: '/v1/payments' })
  t.strictSame(await snapshot(world, client), before, 'nothing has changed')

  t.equal((await client.createTransfer(transferBody(rich, poor, 10_000))).status, 201)
  const again = await client.createPayment(body, key)
  t.equal(again.status, 409)
  t.equal(again.text, no.text, 'the same bytes')
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  await world.restart()
  t.equal((await client.createPayment(body, key)).text, no.text, 'also after a restart')
  t.equal((await client.createPayment(body)).status, 201, 'another key is another question')
})

t.test('64 payments of 10.00 at once against 100.00: ten of them, no more and no fewer', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, balanceIds, recipients } = await world.customer({ balances: [{ currency: 'EUR', amount: 10_000n }] })
  const balanceId = balanceIds[0]!
  const replies = await Promise.all(
    Array.from({ length: 64 }, () => client.createPayment(paymentBody(balanceId, recipients.EUR, 1000))),
  )
  const refused = replies.filter(({ status }) => status === 409)
  t.equal(replies.filter(({ status }) => status === 201).length, 10)
  t.equal(refused.length, 54)
  for (const reply of refused) {
    const problem = isProblem(t, reply, 409, 'insufficient-funds', 'one too many')
    t.match(problem, { available: { amountMinor: /^\d+$/, currency: 'EUR' }, required: eur(1000) })
    t.ok(
      BigInt((problem['available'] as { amountMinor: string }).amountMinor) < 1000n,
      'what was available was too little',
    )
  }
  t.match(await client.balance(balanceId), {
    bookBalance: eur(10_000),
    heldBalance: eur(10_000),
    availableBalance: eur(0),
  })
  t.equal((await client.holds(balanceId)).length, 10)
  const numbers = replies.filter(({ status }) => status === 201).map(({ body }) => body.number)
  t.equal(new Set(numbers).size, 10, 'every payment has a number of its own')
  await world.restart({ dispatch: true })
  await client.paymentsSettled()
  t.match(await client.balance(balanceId), { bookBalance: eur(0), heldBalance: eur(0), availableBalance: eur(0) })
})

t.test('the sandbox refuses 1301 to 1312 as its catalogue says, and the money is back', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const outcomes = [
    [1301, 'AC01', 'invalid_account_details'],
    [1302, 'AC04', 'account_closed'],
    [1303, 'AC06', 'account_blocked'],
    [1304, 'AM04', 'insufficient_funds'],
    [1305, 'BE01', 'name_mismatch'],
    [1306, 'AG01', 'account_not_eligible'],
    [1307, 'RC01', 'invalid_account_details'],
    [1308, 'RR04', 'declined'],
    [1309, 'MS03', 'refused_by_recipient_bank'],
    [1310, 'AM05', 'duplicate'],
    [1311, 'AM02', 'amount_limit_exceeded'],
    [1312, 'TM01', 'cutoff_missed'],
  ] as const
  await Promise.all(
    outcomes.map(async ([amount, schemeCode, code]) => {
      const key = randomUUID()
      const created = await client.createPayment(paymentBody(balances.EUR, recipients.EUR, amount), key)
      const failed = await client.paymentReaching(created.body.id, 'failed')
      t.match(
        failed,
        {
          status: 'failed',
          failure: { code, schemeCode, message: /./, retryable: Boolean, at: TIMESTAMP },
          statusReason: { code },
          failedAt: TIMESTAMP,
          completedAt: null,
        },
        `${amount}`,
      )
      t.equal(
        (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, amount), key)).text,
        created.text,
        `${amount}: the key still answers with the creation`,
      )
    }),
  )
  // Faster Payments carry no colon, so there the token has a slash.
  const named = await client.createPayment({
    ...paymentBody(balances.GBP, recipients.GBP, 4000, 'GBP'),
    reference: 'SBX/AC04 x',
  })
  t.match(await client.paymentReaching(named.body.id, 'failed'), {
    rail: 'faster_payments',
    failure: { code: 'account_closed' },
  })
  t.match(await client.balance(balances.EUR), {
    bookBalance: eur(OPENING),
    heldBalance: eur(0),
    availableBalance: eur(OPENING),
  })
  const lines = await client.journal(balances.EUR)
  t.equal(lines.length, 1 + 2 * outcomes.length, 'out and back again')
  for (const line of lines.filter(({ reversalOfEntryId }) => reversalOfEntryId !== null)) {
    const reversed = lines.find(({ entryId }) => entryId === line.reversalOfEntryId)
    t.match(line, { direction: 'credit', amount: reversed?.amount, source: reversed?.source })
  }
  t.equal(lines.filter(({ reversalOfEntryId }) => reversalOfEntryId !== null).length, outcomes.length)
})

t.test('a bank that does not answer leaves an exception that reconciliation resolves, or does not', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const pay = async (amount: number) =>
    (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, amount))).body.id
  const [settles, stays] = await Promise.all([pay(1501), pay(1503)])
  const exception = await client.paymentReaching(settles, 'exception')
  t.match(
    exception,
    { status: 'exception', exception: null, completedAt: null, failure: null },
    'customers do not see why',
  )
  t.notOk('processing' in exception)
  await client.paymentReaching(stays, 'exception')
  t.match(
    await client.balance(balances.EUR),
    { bookBalance: eur(OPENING - 3004n), heldBalance: eur(0) },
    'the money stays out while nobody knows',
  )
  const asked = async () =>
    Number(
      (
        await world.query<{ attempts: number }>('select attempts from partner_instruction where payment_id = $1', [
          stays,
        ])
      )[0]?.attempts,
    )
  const attempts = await asked()
  world.advance(60_000)
  t.match(await client.paymentReaching(settles, 'completed'), { completedAt: TIMESTAMP, failure: null })
  await until('the bank was asked about the other one too', async () => (await asked()) > attempts)
  t.equal((await client.payment(stays)).status, 'exception', 'and it still does not know')
  t.equal((await client.journal(balances.EUR)).length, 3, 'nothing was sent twice')
})

t.test('every bad request gets its own answer and changes nothing', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, balances, recipients } = world.seeded
  const stranger = await world.customer({ balances: [{ currency: 'EUR', amount: 100_000n }] })
  const [pending] = (await client.list<{ id: string }>('/recipients', { 'filter[status]': 'pending_approval' })).body
    .data
  const good = paymentBody(balances.EUR, recipients.EUR, 1000)
  const existing = (await client.createPayment({ ...good, externalId: 'TAKEN' })).body
  const money = (amountMinor: unknown, currency: unknown = 'EUR') => ({ ...good, amount: { amountMinor, currency } })
  const today = railDate('sepa_instant', world.now())
  const raw = (body: RawRequest['body'], headers: RawRequest['headers'] = {}): RawRequest => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID(), ...headers },
    ...(body === undefined ? {} : { body }),
  })
  const json = (body: unknown, headers: RawRequest['headers'] = {}) => raw(JSON.stringify(body), headers)

  interface Case {
    readonly request: RawRequest
    readonly query?: string
    readonly status: number
    readonly code: string
    /** Field and code of the only error. */
    readonly error?: readonly [field: string, code: string]
    readonly members?: Readonly<Record<string, unknown>>
    readonly headers?: Readonly<Record<string, string>>
  }
  const invalid = (body: unknown, field: string, code: string): Case => ({
    request: json(body),
    status: 422,
    code: 'validation-error',
    error: [field, code],
  })
  const malformed = (request: RawRequest, field?: string, code?: string): Case => ({
    request,
    status: 400,
    code: 'malformed-request',
    ...(field === undefined ? {} : { error: [field, code!] as const }),
  })

  const cases: Readonly<Record<string, Case>> = {
    'no key': {
      request: json(good, { authorization: undefined }),
      status: 401,
      code: 'unauthenticated',
      headers: { 'www-authenticate': 'Bearer' },
    },
    'another scheme': { request: json(good, { authorization: 'Basic YTpi' }), status: 401, code: 'unauthenticated' },
    'a malformed key': {
      request: json(good, { authorization: 'Bearer nonsense' }),
      status: 401,
      code: 'invalid-api-key',
      headers: { 'www-authenticate': 'Bearer' },
    },
    'an unknown key': {
      request: json(good, { authorization: `Bearer ${generateApiKey('test', randomBytes).secret}` }),
      status: 401,
      code: 'invalid-api-key',
    },
    'another tenant': { request: json(good, { 'x-tenant-id': stranger.id }), status: 403, code: 'tenant-forbidden' },
    'no tenant': malformed(json(good, { 'x-tenant-id': undefined }), 'header.X-Tenant-Id', 'required'),
    'a malformed tenant': malformed(json(good, { 'x-tenant-id': 'me' }), 'header.X-Tenant-Id', 'invalid_format'),
    'a malformed request id': malformed(json(good, { 'x-request-id': 'a b' }), 'header.X-Request-Id', 'invalid_format'),
    'no idempotency key': malformed(json(good, { 'idempotency-key': undefined }), 'header.Idempotency-Key', 'required'),
    'an empty idempotency key': malformed(
      json(good, { 'idempotency-key': '""' }),
      'header.Idempotency-Key',
      'invalid_format',
    ),
    'an idempotency key with a space': malformed(
      json(good, { 'idempotency-key': 'a b' }),
      'header.Idempotency-Key',
      'invalid_format',
    ),
    'an idempotency key of 256 characters': malformed(
      json(good, { 'idempotency-key': 'k'.repeat(256) }),
      'header.Idempotency-Key',
      'invalid_format',
    ),
    'an unknown query parameter': { ...malformed(json(good), 'query.dryRun', 'unknown_field'), query: '?dryRun=true' },
    'money as a JSON number': invalid(money(1000), '/amount/amountMinor', 'invalid_type'),
    'an amount of 0': invalid(money('0'), '/amount/amountMinor', 'too_small'),
    'a negative amount': invalid(money('-1000'), '/amount/amountMinor', 'too_small'),
    'an amount past int64': invalid(money('9223372036854775808'), '/amount/amountMinor', 'too_large'),
    'an amount of 40 digits': invalid(money('9'.repeat(40)), '/amount/amountMinor', 'too_large'),
    'a decimal amount': invalid(money('10.00'), '/amount/amountMinor', 'invalid_format'),
    'an amount with an exponent': invalid(money('1e3'), '/amount/amountMinor', 'invalid_format'),
    'an amount with a leading zero': invalid(money('01000'), '/amount/amountMinor', 'invalid_format'),
    'an amount above 10^15': {
      request: json(money('1000000000000001')),
      status: 422,
      code: 'limit-exceeded',
      members: { limit: { kind: 'single', amount: eur(10n ** 15n) } },
    },
    'an amount of 10^15': {
      request: json(money('1000000000000000')),
      status: 409,
      code: 'insufficient-funds',
      members: { required: eur(10n ** 15n) },
    },
    'an unknown field': invalid({ ...good, nonsense: 1 }, '/nonsense', 'unknown_field'),
    'an unknown field of money': invalid(
      { ...good, amount: { ...good.amount, value: 1 } },
      '/amount/value',
      'unknown_field',
    ),
    'a read-only field': invalid({ ...good, status: 'completed' }, '/status', 'read_only_field'),
    'no reference': invalid({ ...good, reference: undefined }, '/reference', 'required'),
    'a body that is no object': {
      request: json([good]),
      status: 422,
      code: 'validation-error',
      error: ['', 'invalid_type'],
    },
    'the currency of neither': invalid(money('1000', 'GBP'), '/amount/currency', 'currency_mismatch'),
    'a currency in small letters': invalid(money('1000', 'eur'), '/amount/currency', 'invalid_format'),
    'a balance in another currency': invalid({ ...good, sourceBalanceId: balances.GBP }, '/quoteId', 'quote_required'),
    "a stranger's balance": invalid(
      { ...good, sourceBalanceId: stranger.balanceIds[0] },
      '/sourceBalanceId',
      'not_found',
    ),
    'a balance that is nobody’s': invalid({ ...good, sourceBalanceId: randomUUID() }, '/sourceBalanceId', 'not_found'),
    "a stranger's recipient": invalid({ ...good, recipientId: stranger.recipients.EUR }, '/recipientId', 'not_found'),
    'a recipient that is nobody’s': invalid({ ...good, recipientId: randomUUID() }, '/recipientId', 'not_found'),
    'a recipient id that is no id': invalid({ ...good, recipientId: 'Anna' }, '/recipientId', 'invalid_format'),
    'a recipient that waits for approval': {
      request: json({ ...good, recipientId: pending!.id }),
      status: 422,
      code: 'recipient-not-approved',
      members: { recipientStatus: 'pending_approval' },
    },
    'broken JSON': malformed(raw('{"sourceBalanceId": ')),
    'a member twice': malformed(raw(JSON.stringify(good).replace('{', '{"reference":"Other",'))),
    'no body': malformed(raw(undefined)),
    'bytes that are not UTF-8': malformed(
      raw(
        Buffer.concat([Buffer.from(JSON.stringify(good).slice(0, -2)), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
      ),
    ),
    'a body over 256 KiB': {
      request: json({ ...good, internalNote: 'x'.repeat(256 * 1024) }),
      status: 413,
      code: 'payload-too-large',
      members: { maxBytes: 262_144 },
    },
    'a form': {
      request: raw('a=b', { 'content-type': 'application/x-www-form-urlencoded' }),
      status: 415,
      code: 'unsupported-media-type',
      members: { supported: ['application/json'] },
    },
    'JSON called text': {
      request: json(good, { 'content-type': 'text/plain' }),
      status: 415,
      code: 'unsupported-media-type',
    },
    'JSON in Latin-1': {
      request: json(good, { 'content-type': 'application/json; charset=iso-8859-1' }),
      status: 415,
      code: 'unsupported-media-type',
    },
    'an answer that is not JSON': { request: json(good, { accept: 'text/html' }), status: 406, code: 'not-acceptable' },
    'a draft to nobody': invalid({ ...good, draft: true, recipientId: randomUUID() }, '/recipientId', 'not_found'),
    'a draft from nowhere': invalid(
      { ...good, draft: true, sourceBalanceId: randomUUID() },
      '/sourceBalanceId',
      'not_found',
    ),
    'a draft with the id of another payment': {
      request: json({ ...good, draft: true, externalId: 'TAKEN' }),
      status: 409,
      code: 'duplicate-external-id',
      members: { existingId: existing.id },
    },
    'a quote': invalid({ ...good, quoteId: randomUUID() }, '/quoteId', 'not_found'),
    'a date that is too far away': invalid(
      { ...good, executionDate: addDays(today, 367) },
      '/executionDate',
      'too_far_ahead',
    ),
    'a document': invalid({ ...good, documentIds: [randomUUID()] }, '/documentIds/0', 'not_found'),
    'a date that has passed': invalid({ ...good, executionDate: '2020-02-29' }, '/executionDate', 'in_past'),
    'a date that does not exist': invalid({ ...good, executionDate: '2025-02-29' }, '/executionDate', 'invalid_format'),
    'a reference of 141 characters on SEPA': invalid({ ...good, reference: 'x'.repeat(141) }, '/reference', 'too_long'),
    'a reference that SEPA cannot carry': invalid({ ...good, reference: 'Müller' }, '/reference', 'invalid_characters'),
    'a reference with a double slash on SEPA': invalid(
      { ...good, reference: 'a//b' },
      '/reference',
      'invalid_characters',
    ),
    'a reference with a control character': invalid(
      { ...good, reference: 'a\u0007b' },
      '/reference',
      'invalid_characters',
    ),
    'a reference of 19 characters on Faster Payments': invalid(
      { ...paymentBody(balances.GBP, recipients.GBP, 1000, 'GBP'), reference: 'x'.repeat(19) },
      '/reference',
      'too_long',
    ),
    'a reference of spaces': invalid({ ...good, reference: '   ' }, '/reference', 'too_short'),
    'an unknown rail': invalid({ ...good, requestedRail: 'pigeon' }, '/requestedRail', 'invalid_value'),
    'a rail of another currency': {
      request: json({ ...good, requestedRail: 'chaps' }),
      status: 422,
      code: 'rail-unavailable',
      members: { rails: [{ rail: 'chaps', reason: 'wrong_currency' }] },
    },
    'an external id that is taken': {
      request: json({ ...good, externalId: 'TAKEN' }),
      status: 409,
      code: 'duplicate-external-id',
      members: { existingId: existing.id },
    },
    'an external id of 65 characters': invalid({ ...good, externalId: 'x'.repeat(65) }, '/externalId', 'too_long'),
    'a metadata key with a space': invalid({ ...good, metadata: { 'a b': '1' } }, '/metadata/a b', 'invalid_format'),
    'metadata that is no text': invalid({ ...good, metadata: { a: 1 } }, '/metadata/a', 'invalid_type'),
    'GET with a body’s method': {
      request: { method: 'PUT' },
      status: 405,
      code: 'method-not-allowed',
      headers: { allow: 'GET, HEAD, POST' },
    },
  }
  const before = await snapshot(world, client)
  for (const [name, { request, query = '', status, code, error, members, headers }] of Object.entries(cases)) {
    const reply = await client.send(`/v1/payments${query}`, request)
    const problem = isProblem(t, reply, status, code, name)
    if (error !== undefined) {
      t.match(
        problem.errors?.map(({ field, code }) => [field, code]),
        [error],
        `${name}: ${JSON.stringify(problem.errors)}`,
      )
      t.equal(problem.errors?.length, 1, `${name}: one thing is wrong: ${JSON.stringify(problem.errors)}`)
    }
    if (members !== undefined) t.match(problem, members, name)
    for (const [header, value] of Object.entries(headers ?? {}))
      t.equal(reply.headers.get(header), value, `${name}: ${header}`)
    t.strictSame(await snapshot(world, client), before, `${name}: nothing has changed`)
  }
  t.equal((await client.createPayment({ ...good, executionDate: today })).status, 201, 'and a good one still works')
})

t.test('a key that was answered with 400 or 422 for its form is still free', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, balances, recipients } = world.seeded
  const key = randomUUID()
  const good = paymentBody(balances.EUR, recipients.EUR, 1000)
  t.equal((await client.createPayment({ ...good, nonsense: 1 } as never, key)).status, 422)
  t.equal((await client.createPayment({ ...good, recipientId: randomUUID() }, key)).status, 422)
  t.equal((await client.createPayment({ ...good, quoteId: randomUUID() }, key)).status, 422)
  const created = await client.createPayment(good, key)
  t.equal(created.status, 201, 'only decisions are remembered')
  t.notOk(created.headers.has('idempotency-replayed'))
})

t.test('ids, texts and keys are taken as the contract says', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, balances, recipients } = world.seeded
  const shouted = await client.createPayment({
    ...paymentBody(balances.EUR.toUpperCase(), recipients.EUR.toUpperCase(), 1),
    reference: '  Invoice 42 ',
  })
  t.match(shouted.body, { sourceBalanceId: balances.EUR, recipientId: recipients.EUR, reference: 'Invoice 42' })
  t.equal((await client.get(`/payments/${shouted.body.id.toUpperCase()}`)).status, 200)
  const echoed = await client.post('/payments', paymentBody(balances.EUR, recipients.EUR, 2), randomUUID(), {
    'x-request-id': 'erp:run-7',
  })
  t.equal(echoed.headers.get('x-request-id'), 'erp:run-7')
  const decomposed = await client.createPayment({
    ...paymentBody(balances.EUR, recipients.EUR, 3),
    internalNote: 'Mu\u0308ller',
  })
  t.equal(decomposed.body.internalNote, 'M\u00fcller', 'text is kept in NFC')
  t.equal((await client.get(`/payments/${randomUUID()}`)).problem.code, 'not-found')
  t.equal((await client.get('/payments/nonsense')).problem.code, 'malformed-request')
  const stranger = await world.customer({ balances: [{ currency: 'EUR', amount: 1n }] })
  isProblem(t, await stranger.client.get(`/payments/${shouted.body.id}`), 404, 'not-found', "a stranger's payment")
})

/**
 * Two customers of one operator: the key and the owner of the second try the ids of the first in every operation of the
 * OpenAPI document. Nothing but 403, 404 or a 422 that names the field comes back, and nothing of the first is shown.
 */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { totpCode } from '../../lib/identity/totp.ts'
import type { StepUpAction } from '../../lib/identity/step-up.ts'
import { routes } from '../../http/server/routes.ts'
import { openapiDocument } from '../../http/openapi/openapi.ts'
import type { Route } from '../../http/route/route.ts'
import { CUSTOMER_SCOPES } from '../../lib/identity/api-key.ts'
import { PDF, upload } from '../http/documents/upload.ts'
import { Client, type PageBody, type Reply } from '../support/client.ts'
import { mailsIn } from '../support/mails.ts'
import { Person } from '../support/person.ts'
import { until } from '../support/until.ts'
import { createWorld, paymentBody, transferBody, type World } from '../support/world.ts'

const DAY_MS = 86_400_000
const PASSWORD = 'correct horse battery'
const eur = (minor: number) => ({ amountMinor: String(minor), currency: 'EUR' })

type Ids = Readonly<Record<string, string>>

/** An owner and a key of a customer, and the ids of what it has, by the names of parameters and members. */
interface Tenant {
  readonly id: string
  readonly owner: Person
  readonly client: Client
  readonly ids: Ids
}

/** Makes something of each kind for the seeded customer. */
async function first(world: World): Promise<Tenant> {
  const { client, balances, recipients } = world.seeded
  const id = client.tenantId
  const owner = await world.person('owner').signIn()
  const proven = [
    'membership.change',
    'settings.change',
    'integrator_webhook.change',
    'statement.full_export',
    'card.manage',
  ]
  for (const action of proven) await owner.stepUp(action)
  const made = async (reply: Promise<Reply<{ id: string }>>): Promise<string> => {
    const { body } = await reply
    return body.id
  }
  const post = (path: string, body?: object) => made(client.post<{ id: string }>(path, body, randomUUID()))
  const asOwner = (path: string, body: object) => made(owner.post<{ id: string }>(path, body))
  const paymentId = await made(client.createPayment(paymentBody(balances.EUR, recipients.EUR, 100)))
  await client.paymentReaching(paymentId, 'completed')
  const heldPaymentId = await made(client.createPayment(paymentBody(balances.EUR, recipients.EUR, 1_602)))
  await client.paymentReaching(heldPaymentId, 'on_hold')
  const reviewer = await world.person('compliance').signIn()
  const [hold] = (await reviewer.get<PageBody<{ id: string }>>('/compliance-holds')).body.data
  const questionId = await made(reviewer.post(`/compliance-holds/${hold!.id}/questions`, { text: 'Which invoice?' }))
  const otherBalance = await asOwner('/balances', { currency: 'EUR', name: 'Payroll' })
  const transferId = await made(client.createTransfer(transferBody(balances.EUR, otherBalance, 10)))
  const day = (days: number) => new Date(world.now() + days * DAY_MS).toISOString().slice(0, 10)
  const quote = (kind: string, more: object = {}) =>
    post('/exchanges/quotes', {
      sellCurrency: 'EUR',
      buyCurrency: 'USD',
      amount: eur(2_000_000),
      fixedSide: 'sell',
      kind,
      ...more,
    })
  const exchangeId = await post('/exchanges', { quoteId: await quote('spot') })
  const forwardId = await post('/forward-contracts', {
    quoteId: await quote('forward', { settlementDate: day(40) }),
    acceptTerms: true,
  })
  const heldRateId = await post('/held-rates', { quoteId: await quote('held_rate', { holdMinutes: 60 }) })
  const payer = { name: 'Amsterdam Trading BV' }
  const fundsRequestId = await post('/funds-requests', {
    balanceId: balances.EUR,
    amount: eur(5),
    payer,
    description: 'X',
  })
  const scheduledPaymentId = await post('/scheduled-payments', {
    recipientId: recipients.EUR,
    sourceBalanceId: balances.EUR,
    amount: eur(5),
    reference: 'Rent',
    frequency: 'monthly',
    startDate: day(5),
  })
  const rows = [{ recipientId: recipients.EUR, currency: 'EUR', amount: '1.00', reference: 'Row' }]
  const bulkPaymentId = await post('/bulk-payments', { name: 'File', rows })
  await owner.send('PUT', `/customers/${id}/settings/approved-domains`, { domains: ['a.example'] }, { 'if-match': '*' })
  const invitationId = await asOwner(`/customers/${id}/invitations`, { email: 'x@a.example', role: 'viewer' })
  const teamId = await asOwner(`/customers/${id}/teams`, { name: 'Team' })
  const address = { line1: 'Dam 1', city: 'Amsterdam', country: 'NL' }
  const addressId = await asOwner(`/customers/${id}/settings/addresses`, { kind: 'operating', address })
  const webhookId = await asOwner('/integrator-webhooks', {
    url: 'https://example.com/hook',
    events: ['payment.created'],
  })
  const deliveryId = await asOwner(`/integrator-webhooks/${webhookId}/test`, {})
  const challenge = await owner.post<{ challengeId: string }>('/step-up/challenges', { action: 'settings.change' })
  const documentId = (
    await upload<{ id: string }>(world, owner, '/documents', { bytes: PDF, fields: { purpose: 'payment_support' } })
  ).body.id
  const [transaction] = (await client.list<{ id: string }>(`/transactions?filter[sourceId]=${paymentId}`)).body.data
  const transactionId = transaction!.id
  const attachmentId = (
    await upload<{ id: string }>(world, owner, `/transactions/${transactionId}/attachments`, { bytes: PDF })
  ).body.id
  const annotationId = await asOwner(`/transactions/${transactionId}/annotations`, { text: 'Seen.' })
  const jobId = await post(`/balances/${balances.EUR}/statements`, { from: day(-3), to: day(0), formats: ['pdf'] })
  const statementId = await until('the statement is there', async () => {
    const job = (await client.get<{ result: { statementId: string } | null }>(`/jobs/${jobId}`)).body
    return job.result?.statementId ?? false
  })
  const collected = await client.post<{ details: { incomingDebitRef: string } }>('/simulations/incoming-debits', {
    balanceId: balances.EUR,
    amount: eur(1),
    creditorName: 'City Power',
    scheme: 'sepa_dd_core',
  })
  const incomingDebitId = collected.body.details.incomingDebitRef
  await until(
    'the debit is there',
    async () => (await client.get(`/incoming-debits/${incomingDebitId}`)).status === 200,
  )
  const holderUserId = (await owner.get<{ user: { id: string } }>('/sessions/current')).body.user.id
  const cardId = await asOwner('/cards', { balanceId: balances.EUR, holderUserId, type: 'virtual' })
  const used = await client.post<{ details: { cardTransactionId: string } }>(
    `/simulations/cards/${cardId}/transactions`,
    { phase: 'authorisation', amount: eur(1) },
    randomUUID(),
  )
  const { cardTransactionId } = used.body.details
  const mandateId = await post('/mandates', {
    direction: 'collect',
    scheme: 'sepa_dd_core',
    balanceId: balances.EUR,
    counterparty: { name: 'Slow Payer', iban: 'NL77SBOX0100000001' },
  })
  const collectionId = await post('/collections', { mandateId, amount: eur(1), reference: 'Fee' })
  const stored = async (sql: string): Promise<string> => {
    const [row] = await world.query<{ id: string }>(sql, [id])
    return row!.id
  }
  return {
    id,
    owner,
    client,
    ids: {
      customerId: id,
      paymentId,
      heldPaymentId,
      questionId,
      transferId,
      exchangeId,
      forwardId,
      heldRateId,
      fundsRequestId,
      scheduledPaymentId,
      bulkPaymentId,
      mandateId,
      collectionId,
      invitationId,
      teamId,
      addressId,
      webhookId,
      deliveryId,
      documentId,
      transactionId,
      attachmentId,
      annotationId,
      jobId,
      statementId,
      challengeId: challenge.body.challengeId,
      sessionId: owner.sessionId,
      quoteId: await quote('spot'),
      balanceId: balances.EUR,
      recipientId: recipients.EUR,
      incomingDebitId,
      cardId,
      cardTransactionId,
      incomingPaymentId: await stored('select id from incoming_payment where customer_id = $1 limit 1'),
      reviewedId: await stored(`select id from recipient where customer_id = $1 and status = 'pending_approval'`),
      approvalId: await stored('select id from approval where customer_id = $1 limit 1'),
      apiKeyId: await stored('select id from api_key where tenant_id = $1 limit 1'),
      membershipId: await stored(`select id from membership where tenant_id = $1 and role = 'owner'`),
      factorId: await stored(
        'select f.id from mfa_factor f join membership m on m.user_id = f.user_id where m.tenant_id = $1 limit 1',
      ),
      // The case of a seeded customer is approved, so its persons no longer change.
      personId: await stored(
        `insert into kyb_person (id, customer_id, kind, details, created_at, updated_at) values (uuidv7(), $1, 'person', '{}', now(), now()) returning id`,
      ),
      notificationId: await stored('select id from notification where tenant_id = $1 limit 1'),
    },
  }
}

/** Makes a second customer, whose owner comes in by the link and makes a key. */
async function second(world: World): Promise<Tenant> {
  const staff = await world.person('operator_admin').signIn()
  const email = 'vera@second.example'
  const primaryOwner = { email, firstName: 'Vera', lastName: 'Vis' }
  const made = await staff.post<{ id: string }>('/customers', {
    legalName: 'Second BV',
    incorporationCountry: 'NL',
    primaryOwner,
  })
  const { id } = made.body
  const token = await until('the link is mailed', async () => {
    const mail = (await mailsIn(world.dataDir)).find((text) => text.includes(email))
    return mail === undefined ? false : (/\/invitations\/([\w-]+)/.exec(mail)![1] as string)
  })
  const person = (totpSecret: string) =>
    new Person({ url: () => world.url, login: { email, password: PASSWORD, totpSecret }, tenantId: id, now: world.now })
  const newcomer = person('')
  await newcomer.send('POST', `/invitations/${token}/accept`, { password: PASSWORD }, {}, null)
  await newcomer.signIn()
  const factor = (await newcomer.post<{ id: string; secret: string }>('/users/me/mfa-factors', { kind: 'totp' })).body
  await newcomer.post(`/users/me/mfa-factors/${factor.id}/verify`, { code: totpCode(factor.secret, world.now()) })
  // No operation approves a customer yet.
  await world.query(`update customer set status = 'active', version = version + 1 where id = $1`, [id])
  const owner = await person(factor.secret).signIn()
  const actions: readonly StepUpAction[] = [
    'api_key.create',
    'api_key.revoke',
    'recipient.create',
    'recipient.update',
    'payment.above_threshold',
    'statement.full_export',
    'integrator_webhook.change',
    'membership.change',
    'settings.change',
    'exchange.above_threshold',
  ]
  for (const action of actions) await owner.stepUp(action)
  const key = (
    await owner.post<{ secret: string }>('/api-keys', { name: 'Second', environment: 'test', scopes: CUSTOMER_SCOPES })
  ).body.secret
  const client = new Client({ url: () => world.url, apiKey: key, tenantId: id })
  await until('every node knows of the status', async () => {
    const replies = [
      await owner.post('/balances', { currency: 'USD' }),
      await owner.post('/balances', { currency: 'GBP' }),
    ]
    return replies.every(({ status }) => status === 201)
  })
  const balanceId = (await owner.post<{ id: string }>('/balances', { currency: 'EUR' })).body.id
  const recipient = {
    type: 'business',
    name: 'Amsterdam Trading BV',
    currency: 'EUR',
    bank: { iban: 'NL77SBOX0100000001' },
  }
  const keyed = { 'idempotency-key': randomUUID() }
  const recipientId = (await owner.post<{ id: string }>('/recipients', recipient, keyed)).body.id
  const quoteId = (
    await client.post<{ id: string }>('/exchanges/quotes', {
      sellCurrency: 'EUR',
      buyCurrency: 'USD',
      amount: eur(1_000),
      fixedSide: 'sell',
    })
  ).body.id
  return { id, owner, client, ids: { customerId: id, balanceId, recipientId, quoteId } }
}

interface Operation {
  readonly operationId: string
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> }
}

/** Members of bodies that name something: those whose name ends in the name of an id. */
const idOf = (member: string, ids: Ids): string | undefined =>
  ids[member] ?? Object.entries(ids).find(([name]) => member.toLowerCase().endsWith(name.toLowerCase()))?.[1]

/** Lists the pointers of the members of a body that name something. */
function pointersOf(body: unknown, ids: Ids, at = ''): string[] {
  if (typeof body !== 'object' || body === null) return []
  return Object.entries(body).flatMap(([name, value]) =>
    typeof value === 'string' && name.endsWith('Id') && idOf(name, ids) !== undefined
      ? [`${at}/${name}`]
      : pointersOf(value, ids, `${at}/${name}`),
  )
}

/** Writes the ids of a body anew. */
function withIds(body: unknown, idAt: (pointer: string, name: string) => string | undefined, at = ''): unknown {
  if (Array.isArray(body)) return body.map((item, nth) => withIds(item, idAt, `${at}/${nth}`))
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      typeof value === 'string' && name.endsWith('Id')
        ? (idAt(`${at}/${name}`, name) ?? value)
        : withIds(value, idAt, `${at}/${name}`),
    ]),
  )
}

/** Answers of operations that refuse a foreign id in another way. */
const OTHERWISE: Readonly<Record<string, (reply: Reply<unknown>, pointer: string) => boolean>> = {
  // The rows of a file are checked after the answer, so the row is invalid; see the end of the test.
  // The owner's file is then the key's, which the same customer has sent before.
  createBulkPayment: ({ status, text }) => status === 202 || text.includes('duplicate-file'),
  // The check of a payment lists what its creation would refuse.
  validatePayment: ({ status, text }, pointer) =>
    status === 200 && text.includes('"valid":false') && text.includes(`"field":"${pointer}"`),
  // A session that has its second factor answers no challenge at all, its own or another's.
  verifySessionMfa: ({ status, problem }) => status === 409 && problem.code === 'invalid-transition',
}

t.test('the ids of a customer are nothing to another', async (t) => {
  await using world = await createWorld()
  const [one, two] = [await first(world), await second(world)]
  const { paths } = openapiDocument(routes) as unknown as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  }
  const declared = new Map(routes.map((route) => [route.operationId, route]))
  // Ids of staff's own: no customer reaches their operations at all.
  const staffOnly: Ids = Object.fromEntries(
    [
      'templateId',
      'ruleId',
      'connectionId',
      'eventId',
      'holdId',
      'caseId',
      'alertId',
      'reviewId',
      'itemId',
      'exceptionId',
      'reconciliationId',
      'breakId',
      'adjustmentId',
      'entryId',
      'reportId',
      'staffId',
      'fileId',
    ].map((name) => [name, randomUUID()]),
  )
  const words: Ids = { kind: 'payment', format: 'csv' }
  const pathIds = (path: string): Ids => ({
    ...one.ids,
    ...staffOnly,
    ...(path.startsWith('/forward-contracts') ? { exchangeId: one.ids['forwardId'] as string } : {}),
    ...(path === '/recipients/{recipientId}/approval' ? { recipientId: one.ids['reviewedId'] as string } : {}),
    ...(path.startsWith('/payments/{paymentId}/questions') ? { paymentId: one.ids['heldPaymentId'] as string } : {}),
    ...(path.startsWith('/held-rates') ? { exchangeId: one.ids['heldRateId'] as string } : {}),
    ...words,
  })
  const before = await traces(world, one.id)
  let calls = 0

  const send = async (
    route: Route,
    caller: Client | Person,
    path: string,
    { body, tenant }: { readonly body?: unknown; readonly tenant: string },
  ): Promise<Reply<unknown>> => {
    calls += 1
    const token = caller instanceof Person ? caller.token : undefined
    const client =
      caller instanceof Person ? new Client({ url: () => world.url, apiKey: token!, tenantId: '' }) : caller
    return await client.send(`/v1${path}`, {
      method: route.method.toUpperCase(),
      headers: {
        'x-tenant-id': tenant,
        'if-match': route.ifMatch === undefined ? undefined : '*',
        'idempotency-key': route.idempotency === 'none' ? undefined : randomUUID(),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }
  /** Nothing of the first customer may be in an answer but what was sent. */
  const showsNothing = (name: string, reply: Reply<unknown>, sent: string): void => {
    for (const [kind, id] of Object.entries(one.ids))
      if (!sent.includes(id)) t.notOk(reply.text.includes(id), `${name} shows the ${kind} of another customer`)
  }

  for (const [path, methods] of Object.entries(paths))
    for (const [method, { operationId, requestBody }] of Object.entries(methods)) {
      const route = declared.get(operationId)
      if (route === undefined || route.callers === 'public') continue
      const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
      const ids = pathIds(path)
      for (const name of parameters) t.ok(ids[name], `${operationId}: there is a ${name} to try`)
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] as string)
      const example = requestBody?.content['application/json']?.example
      const pointers = pointersOf(example, one.ids)
      const namesFirst = parameters.some((name) => name in one.ids)
      // With one of its ids foreign at a time; the ids of a path are foreign all.
      const bodies = namesFirst
        ? [{ pointer: null, body: withIds(example, (_, name) => idOf(name, two.ids) ?? idOf(name, one.ids)) }]
        : pointers.map((pointer) => ({
            pointer,
            body: withIds(example, (at, name) => idOf(name, at === pointer ? one.ids : { ...one.ids, ...two.ids })),
          }))
      const tries = bodies.length > 0 ? bodies : [{ pointer: null, body: example }]
      for (const caller of [two.client, two.owner]) {
        const who = `${caller instanceof Person ? 'owner' : 'key'}, ${method} ${path}`
        for (const { pointer, body } of tries) {
          // What names nothing of the first customer is only read: it shows nothing of the first.
          if (!namesFirst && pointer === null && method !== 'get') continue
          const name = `${who}${pointer === null ? '' : ` ${pointer}`}`
          const reply = await send(route, caller, filled, { body, tenant: two.id })
          const { status } = reply
          showsNothing(name, reply, `${filled}${JSON.stringify(body ?? '')}`)
          const isRefused =
            status === 403 ||
            status === 404 ||
            (pointer !== null &&
              ((status === 422 && reply.problem.errors?.some(({ field }) => field === pointer)) ||
                OTHERWISE[operationId]?.(reply, pointer)))
          if (namesFirst || pointer !== null) t.ok(isRefused, `${name}: ${status} ${reply.text.slice(0, 200)}`)
          if (route.tenant === 'none') continue
          const asFirst = await send(route, caller, filled, { body, tenant: one.id })
          t.equal(asFirst.problem.code, 'tenant-forbidden', `${name}, for the first`)
        }
      }
      // What is refused to the second customer is there: its own customer reads it.
      if (method === 'get' && namesFirst && route.tenant !== 'operator' && route.callers !== 'staff') {
        const replies = [
          await send(route, one.client, filled, { tenant: one.id }),
          await send(route, one.owner, filled, { tenant: one.id }),
        ]
        t.ok(
          replies.some(({ status }) => status !== 404),
          `${operationId} is there for its own customer: ${replies.map(({ text }) => text.slice(0, 200))}`,
        )
      }
    }

  const rows = [{ recipientId: one.ids['recipientId'], currency: 'EUR', amount: '1.00', reference: 'Row' }]
  const file = await two.client.post<{ id: string }>('/bulk-payments', { name: 'File', rows }, randomUUID())
  await until('the row with the recipient of another customer is not valid', async () => {
    const listed = await two.client.list<{ status: string }>(`/bulk-payments/${file.body.id}/rows`)
    return (listed.body as PageBody<{ status: string }>).data.some(({ status }) => status === 'invalid')
  })
  t.strictSame(await traces(world, one.id), before, 'nothing of the first customer has changed')
  t.comment(`${calls} calls`)
})

/** What a change of a customer leaves behind. */
const traces = (world: World, id: string) =>
  world.query(
    `select (select count(*) from audit_event where tenant_id = $1 and action not like 'session.%' and action not like 'step_up.%') as changes,
      (select count(*) from payment where customer_id = $1) as payments, (select count(*) from recipient where customer_id = $1) as recipients,
      (select max(version) from recipient where customer_id = $1) as recipient_version, (select count(*) from hold where customer_id = $1) as holds,
      (select string_agg(status, ',' order by id) from payment where customer_id = $1) as statuses`,
    [id],
  )

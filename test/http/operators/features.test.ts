/** The twelve feature flags: the operations that each of them gates, and what the answers say when it is off. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { routes } from '../../../http/server/routes.ts'
import type { Route } from '../../../http/route/route.ts'
import type { Quote } from '../../../lib/exchange/exchange-schema.ts'
import { FEATURE_DEFAULTS, flagsOfAny, type Feature } from '../../../lib/operators/features.ts'
import type { FeatureFlags } from '../../../lib/operators/operator-schema.ts'
import { createWorld, type World } from '../../support/world.ts'

/** The operations that a flag gates as a whole. */
const GATED: Readonly<Record<Feature, string>> = {
  cards:
    'activateCard closeCard createCard freezeCard getCard getCardTransaction listCardTransactions listCards ' +
    'simulateCardTransaction unfreezeCard updateCardControls updateCardLimits',
  'developer.self_serve': '',
  'exchange.forwards':
    'createForwardContract createForwardDrawdown getForwardContract listForwardContracts listForwardDrawdowns payForwardDeposit',
  'exchange.held_rates':
    'cancelHeldRate createHeldRate createHeldRateDrawdown getHeldRate listHeldRateDrawdowns listHeldRates',
  // Quotes and exchanges are of a kind that their body tells.
  'exchange.spot': '',
  'payments.bulk':
    'cancelBulkPayment createBulkPayment downloadBulkReport downloadBulkTemplate getBulkPayment listBulkPaymentRows ' +
    'listBulkPayments revalidateBulkPayment submitBulkPayment',
  'payments.direct_debits':
    'applyCollectionResponse cancelCollection cancelMandate confirmIncomingDebit createCollection createMandate ' +
    'downloadCollectionFile getCollection getCollectionFile getCollectionResponse getDebitControls ' +
    'getIncomingDebit getMandate getMandateDocument listCollectionFiles listCollectionResponseLines ' +
    'listCollectionResponses listCollections listIncomingDebits listMandates noteCollectionNotice ' +
    'refundIncomingDebit refuseIncomingDebit reportCollectionStatus reportMandateStatus reverseCollection ' +
    'simulateCollectionStatus simulateMandateStatus updateDebitControls updateMandate uploadCollectionResponse',
  'payments.funds_requests':
    'allocateIncomingPayment cancelFundsRequest createFundsRequest getFundsRequest listFundsRequests remindFundsRequest ' +
    'updateFundsRequest',
  'payments.recalls': 'requestPaymentRecall',
  'payments.scheduled':
    'cancelScheduledPayment createScheduledPayment getScheduledPayment listScheduledPaymentOccurrences ' +
    'listScheduledPayments pauseScheduledPayment resumeScheduledPayment simulateScheduledRun updateScheduledPayment',
  webhooks:
    'createIntegratorWebhook deleteIntegratorWebhook getIntegratorWebhook listIntegratorWebhooks listWebhookDeliveries ' +
    'redeliverWebhook resetSandbox rotateIntegratorWebhookSecret simulateWebhookEvent testIntegratorWebhook ' +
    'updateIntegratorWebhook',
}
/** The operations that are gated by the kind that the request, or its quote, names. */
const BY_KIND = 'addMoney createExchange createPayment createQuote getIndicativeRates refreshQuote submitPayment'
/** The operations that exist only where there is a sandbox; test/start/init.test.ts asks a node without one for each. */
const SANDBOX =
  'listSimulations resetSandbox simulateCardTransaction simulateCollectionStatus simulateExchangeStatus ' +
  'simulateFxRateMove simulateIncomingDebit simulateIncomingPayment simulateIncomingRecall simulateKycOutcome ' +
  'simulateMandateStatus simulatePaymentRecall simulatePaymentReturn simulatePaymentStatus ' +
  'simulateSandboxIncomingPayment simulateSandboxPaymentStatus simulateScheduledRun simulateStatement ' +
  'simulateWebhookEvent'

const words = (text: string): readonly string[] => text.split(' ').filter((word) => word !== '')
const named = (wanted: (route: Route) => boolean): readonly string[] =>
  routes
    .filter(wanted)
    .map(({ operationId }) => operationId)
    .toSorted()
const FEATURES = Object.keys(FEATURE_DEFAULTS) as Feature[]

async function switcher(world: World) {
  const admin = await world.person('operator_admin').signIn()
  return async (flags: Partial<Record<Feature, boolean>>) =>
    (await admin.send<FeatureFlags>('PATCH', '/operator/feature-flags', { flags }, { 'if-match': '*' })).body.flags
}

t.test('the declarations of the routes are the table', (t) => {
  for (const feature of FEATURES)
    t.strictSame(
      named((route) => route.feature === feature),
      words(GATED[feature]).toSorted(),
      feature,
    )
  t.strictSame(
    named(({ feature, problems }) => feature === undefined && problems.includes('feature-disabled')),
    words(BY_KIND).toSorted(),
  )
  t.strictSame(
    named(({ sandbox }) => sandbox !== undefined),
    words(SANDBOX).toSorted(),
  )
  t.strictSame(
    [...FEATURES, 'sandbox'].toSorted(),
    [
      'cards',
      'developer.self_serve',
      'exchange.forwards',
      'exchange.held_rates',
      'exchange.spot',
      'payments.bulk',
      'payments.direct_debits',
      'payments.funds_requests',
      'payments.recalls',
      'payments.scheduled',
      'sandbox',
      'webhooks',
    ],
    'the flags of the contract',
  )
  t.end()
})

t.test('each operation of a feature that is off answers 404, on every node', async (t) => {
  await using world = await createWorld({ nodes: 2 })
  const { client } = world.seeded
  const owner = await world.person('owner').signIn()
  const clerk = await world.person('operations').signIn()
  const turn = await switcher(world)
  const call = async ({ method, path, callers }: Route) => {
    const request = {
      method: method.toUpperCase(),
      headers: { 'idempotency-key': randomUUID(), 'if-match': '*', 'content-type': 'application/json' },
      ...(method === 'get' ? {} : { body: '{}' }),
    }
    const target = path.replaceAll(/\{[^}]+\}/g, () => randomUUID())
    return callers === 'key'
      ? await client.send(`/v1${target}`, request)
      : await (callers === 'staff' ? clerk : owner).send(
          request.method,
          target,
          method === 'get' ? undefined : {},
          request.headers,
        )
  }
  for (const feature of FEATURES) {
    const gated = routes.filter((route) => route.feature === feature)
    t.equal((await turn({ [feature]: false }))[feature], false)
    for (const route of gated)
      t.match(
        (await call(route)).problem,
        { status: 404, code: 'feature-disabled', feature, detail: `The operator has switched ${feature} off.` },
        `${feature}: ${route.operationId}`,
      )
    t.match((await owner.get('/sessions/current')).body, { flags: { [feature]: false, sandbox: true } })
    t.equal((await turn({ [feature]: true }))[feature], true)
    // Reads alone: what writes might reset the sandbox.
    for (const route of gated.filter(({ method }) => method === 'get')) {
      const reply = await call(route)
      t.notMatch(reply.text, 'feature-disabled', `${route.operationId} is there again`)
    }
    t.match((await owner.get('/sessions/current')).body, { flags: { [feature]: true } })
  }
  t.strictSame(await world.query('select from scheduled_payment'), [], 'nothing was made')
})

t.test('a quote or an exchange is refused by the kind that is off', async (t) => {
  await using world = await createWorld({ nodes: 2 })
  const { client, balances } = world.seeded
  const turn = await switcher(world)
  const amount = { amountMinor: '1000', currency: 'EUR' }
  const side = { sellCurrency: 'EUR', buyCurrency: 'GBP', amount, fixedSide: 'sell' }
  const settlementDate = new Date(world.now() + 30 * 86_400_000).toISOString().slice(0, 10)
  const quote = (body: object = {}) => client.post<Quote>('/exchanges/quotes', { ...side, ...body })
  const kept = (await quote()).body
  const off = (feature: string) => ({ status: 404, code: 'feature-disabled', feature })
  await turn({ 'exchange.spot': false })
  for (const reply of [
    await quote(),
    await quote(),
    await client.post(`/exchanges/quotes/${kept.id}/refresh`, undefined),
    await client.post('/exchanges', { quoteId: kept.id }, randomUUID()),
    await client.get('/exchanges/rates?sellCurrency=EUR'),
    await client.post(
      '/add-money',
      { method: 'conversion', balanceId: balances.GBP, fromBalanceId: balances.EUR, amount, fixedSide: 'sell' },
      randomUUID(),
    ),
  ])
    t.match(reply.problem, off('exchange.spot'), reply.text)
  await turn({ 'exchange.spot': true, 'exchange.forwards': false, 'exchange.held_rates': false })
  t.equal((await quote()).status, 201)
  t.match((await quote({ kind: 'forward', settlementDate })).problem, off('exchange.forwards'))
  t.match((await quote({ kind: 'held_rate' })).problem, off('exchange.held_rates'))
  t.strictSame(await world.query('select from exchange'), [])
})

t.test('a person of no operator gets the defaults, and one of several what any of them has switched on', (t) => {
  const all = Object.fromEntries(FEATURES.map((feature) => [feature, false])) as Record<Feature, boolean>
  t.strictSame(flagsOfAny([]), FEATURE_DEFAULTS)
  t.strictSame(flagsOfAny([all, { ...all, cards: true }]), { ...all, cards: true })
  t.end()
})

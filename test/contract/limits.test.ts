/** The limits of the contract against those of the product: rate-limit policies, sizes, counts and features. */
import t from 'tap'
import { POLICIES } from '../../http/route/rate-policies.ts'
import { routes } from '../../http/server/routes.ts'
import { SUBMISSIONS_MAX } from '../../lib/bulk-payments/bulk-payment.ts'
import {
  BULK_FILE_BYTES_MAX,
  BULK_ROWS_MAX,
  UNPACKED_BYTES_MAX,
  UNPACKED_TIMES_MAX,
} from '../../lib/bulk-payments/limits.ts'
import { OPEN_BALANCES_MAX } from '../../lib/balances/balance.ts'
import { HOUR_MS, MINUTE_MS } from '../../lib/base/clock.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { ATTACHMENTS_MAX, maxBytesOf } from '../../lib/documents/document.ts'
import { OPEN_MAX } from '../../lib/funds-requests/funds-request.ts'
import { SESSION_ABSOLUTE_MS, SESSION_IDLE_MS } from '../../lib/identity/session.ts'
import { FEATURE_DEFAULTS } from '../../lib/operators/features.ts'
import {
  CONCURRENT,
  CONTRACT_POLICIES,
  COUNTED_ON_FIRST_RENDERING,
  FEATURES,
  POLICY_OPERATIONS,
  SETTING_DEFAULTS,
  SIZES,
} from './data/limits.ts'
import { words } from './data/table.ts'
import { onlyKnown, onlyKnownBeyond } from './known.ts'
import { sourcesOf } from './sources.ts'

t.test('each rate-limit policy has the quotas of the contract', (t) => {
  for (const { name, partition, quotas } of CONTRACT_POLICIES) {
    const policy = POLICIES[name as keyof typeof POLICIES]
    t.equal(policy?.partition, partition, `${name}: its buckets`)
    t.equal(policy?.quotas.map(({ units, windowSeconds }) => `${units}/${windowSeconds}`).join(' '), quotas, name)
  }
  const known = new Set(CONTRACT_POLICIES.map(({ name }) => name))
  onlyKnownBeyond(
    t,
    'limits',
    Object.keys(POLICIES).filter((name) => !known.has(name)),
  )
  t.end()
})

const missing: string[] = []

t.test('each policy counts the operations of the contract', (t) => {
  for (const { name, operations } of POLICY_OPERATIONS) {
    for (const id of words(operations)) {
      const limits = routes.find(({ operationId }) => operationId === id)?.limits ?? []
      if (!(limits as readonly string[]).includes(name)) missing.push(`${id} is not counted by ${name}`)
    }
  }
  for (const id of COUNTED_ON_FIRST_RENDERING) {
    const handler = routes.find(({ operationId }) => operationId === id)?.handle.toString() ?? ''
    if (!handler.includes('limitRendering')) missing.push(`${id} is not counted when it is rendered`)
  }
  t.end()
})

/** Constants that only their own file needs, by the name under which it has them. */
const CONSTANTS: Readonly<Partial<Record<keyof typeof SIZES, readonly [path: string, name: string]>>> = {
  jsonBody: ['http/server/json-body.ts', 'BODY_BYTES_MAX'],
  jsonDepth: ['http/server/json-body.ts', 'DEPTH_MAX'],
  bulkJsonBody: ['http/bulk-payments/bulk-payments.ts', 'JSON_BYTES_MAX'],
  headers: ['http/server/server.ts', 'HEADER_BYTES_MAX'],
  target: ['http/server/app.ts', 'TARGET_BYTES_MAX'],
  recipients: ['actors/recipients/make-recipient.ts', 'RECIPIENTS_MAX'],
  activeKeys: ['actors/identity/create-api-key.ts', 'ACTIVE_KEYS_MAX'],
  members: ['actors/identity/invite-member.ts', 'MEMBERS_MAX'],
  scheduledPayments: ['actors/scheduled-payments/create-schedule.ts', 'SCHEDULES_MAX'],
}

/** The value of `NAME = 64 * 1024`, or of a number. */
function constantIn(text: string, name: string): number | undefined {
  const [, product] = new RegExp(`\\b${name} = ([0-9_* ]+)`).exec(text) ?? []
  return product?.split('*').reduce((value, factor) => value * Number(factor.replaceAll('_', '')), 1)
}

t.test('sizes and counts are those of the contract', async (t) => {
  const sources = new Map((await sourcesOf(['http', 'actors'])).map(({ path, text }) => [path, text]))
  const read = Object.entries(CONSTANTS).map(([size, [path, name]]) => [
    size,
    constantIn(sources.get(path) ?? '', name),
  ])
  const product: Readonly<Record<string, number | undefined>> = {
    ...Object.fromEntries(read),
    bulkFile: BULK_FILE_BYTES_MAX,
    bulkUnpackedFactor: UNPACKED_TIMES_MAX,
    document: maxBytesOf('payment_support'),
    attachment: maxBytesOf('transaction_attachment'),
    kybDocument: maxBytesOf('kyb'),
    balances: OPEN_BALANCES_MAX,
    bulkRows: BULK_ROWS_MAX,
    bulkUnpacked: UNPACKED_BYTES_MAX,
    attachmentsOfTransaction: ATTACHMENTS_MAX,
    webhookAnswer: LIMITS.webhookAnswerBytesMax,
    openFundsRequests: OPEN_MAX,
    webhookEndpoints: LIMITS.webhookEndpointsMax,
  }
  for (const [name, wanted] of Object.entries(SIZES))
    if (product[name] !== wanted) missing.push(`${name} is ${product[name]}, not ${wanted}`)
  const limiter = sources.get('http/access/rate-limits.ts') ?? ''
  t.strictSame({ bulkSubmissions: SUBMISSIONS_MAX, requestsOfKey: constantIn(limiter, 'CONCURRENCY_MAX') }, CONCURRENT)
})

t.test('sessions end when the contract says', (t) => {
  const settings = Object.fromEntries(SETTING_DEFAULTS.map(({ name, value }) => [name, Number(value)]))
  t.equal(SESSION_IDLE_MS, settings['sessions.idleMinutes']! * MINUTE_MS)
  t.equal(SESSION_ABSOLUTE_MS, settings['sessions.absoluteHours']! * HOUR_MS)
  t.end()
})

t.test('features are on and off as the contract says', (t) => {
  for (const { name, on } of FEATURES) {
    const has = (FEATURE_DEFAULTS as Readonly<Record<string, boolean>>)[name]
    if (has === undefined) missing.push(`feature ${name}`)
    else t.equal(has, on === 'yes', name)
  }
  const known = new Set(FEATURES.map(({ name }) => name))
  t.strictSame(
    Object.keys(FEATURE_DEFAULTS).filter((name) => !known.has(name)),
    [],
  )
  t.end()
})

t.test('what is missing or different is known', (t) => {
  onlyKnown(t, 'limits', missing)
  t.end()
})

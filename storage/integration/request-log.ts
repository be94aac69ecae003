/** The request log and its roll-up by day, read by key. By hand: the log has partitions by time. */
import { DAY_MS, timestamp } from '../../lib/base/clock.ts'
import type { Database } from '../db/database.ts'
import { REQUEST_LOG_DAYS } from '../db/partitions.ts'
import { pick } from '../db/columns.ts'
import { bigintExpression, expression, from, instantExpression, select } from '../db/select.ts'
import { ApiKey } from '../identity/api-key-entity.ts'

/** Steps of the roll-up per doubling of the duration. */
const STEPS_PER_DOUBLING = 4

/** Kinds of answers. */
export type AnswerClass = 'success' | 'client_error' | 'server_error' | 'rate_limited'

const OUTCOMES: Readonly<Record<AnswerClass, string>> = {
  success: 'status < 400',
  client_error: 'status between 400 and 499 and status <> 429',
  server_error: 'status >= 500',
  rate_limited: 'status = 429',
}

/** The owner of keys: an operator with its customers, or a single customer. */
export interface KeyOwner {
  readonly id: string
  readonly kind: 'operator' | 'customer'
}

const ownedBy = ({ kind }: KeyOwner): string =>
  kind === 'operator' ? 'k.operator_id' : `k.level = 'customer' and k.tenant_id`

export interface LogQuestion {
  readonly limit: number
  /** Only calls with this outcome; null for all. */
  readonly outcome: AnswerClass | null
}

const CALL = select({
  method: expression<string>('method'),
  route: expression<string>('route'),
  status: expression<number>('status'),
  durationMs: expression<number>('duration_ms'),
  requestId: expression<string>('request_id'),
})

/** Lists the last calls of a key, newest first; null when the owner has no such key. */
export async function listRequests(
  database: Database,
  owner: KeyOwner,
  apiKeyId: string,
  { limit, outcome, now }: LogQuestion & { readonly now: number },
) {
  const [known] = await database.query({
    name: `request_log_owner_${owner.kind}`,
    text: `select 1 from api_key k where k.id = $1 and ${ownedBy(owner)} = $2`,
    values: [apiKeyId, owner.id],
  })
  if (known === undefined) return null
  const since = timestamp(now - REQUEST_LOG_DAYS * DAY_MS)
  const rows = await database.query({
    name: `request_log_${outcome ?? 'all'}`,
    values: [apiKeyId, since, limit],
    text: `select ${CALL.sql} from request_log
      where principal_id = $1 and at >= $2::timestamptz and ${outcome === null ? 'true' : OUTCOMES[outcome]} order by at desc limit $3`,
  })
  // Read after the calls, so that no call shown is missing in the counts. The window begins within a day and the counts
  // are by day, so the first day counts in full.
  const counts = await database.query<[number, string]>({
    name: 'request_log_counts',
    values: [apiKeyId, since],
    text: `select status, sum(requests) from api_usage_day where api_key_id = $1 and day >= ($2::timestamptz at time zone 'UTC')::date group by 1 order by 1`,
  })
  return {
    apiKeyId,
    retentionDays: REQUEST_LOG_DAYS,
    statusCounts: Object.fromEntries(counts.map(([status, requests]) => [String(status), Number(requests)])),
    data: rows.map((row) => {
      const { durationMs, requestId, ...call } = CALL.read(row)
      return {
        ...call,
        durationMs: Math.round(durationMs),
        requestId,
      }
    }),
  }
}

/** The period of a usage report; its key, null for all keys; and its customer, null for all customers. */
export interface UsageReportQuery {
  /** Days in UTC, both ends included. */
  readonly from: string
  readonly to: string
  readonly apiKeyId: string | null
  readonly environment: 'live' | 'test' | null
  readonly customerId: string | null
}

/** Keys shown singly in one report, at most. */
const REPORT_KEYS_MAX = 200

interface Counters {
  requests: number
  success: number
  clientErrors: number
  serverErrors: number
  rateLimited: number
  firstUsedMs: number | null
  lastUsedMs: number | null
  readonly steps: Map<number, number>
}

const noCounters = (): Counters => ({
  requests: 0,
  success: 0,
  clientErrors: 0,
  serverErrors: 0,
  rateLimited: 0,
  firstUsedMs: null,
  lastUsedMs: null,
  steps: new Map(),
})

const KEY = select(pick(from(ApiKey, 'k'), ['id', 'name', 'prefix', 'level', 'tenantId', 'environment']))

const USAGE = select({
  apiKeyId: expression<string>('u.api_key_id'),
  day: expression<string>('u.day::text'),
  operationId: expression<string>('u.operation_id'),
  status: expression<number>('u.status'),
  step: expression<number>('u.duration_step'),
  requests: expression<string>('u.requests'),
  firstMs: instantExpression('u.first_at'),
  lastMs: instantExpression('u.last_at'),
})
type UsageRow = ReturnType<typeof USAGE.read>

/**
 * Reports the use of keys between two days. The totals include all keys of the query; single figures only the 200
 * newest keys.
 */
export async function reportUsage(
  database: Database,
  owner: KeyOwner,
  question: UsageReportQuery & { readonly deprecated: ReadonlySet<string>; readonly now: number },
) {
  const { from, to, apiKeyId, environment, customerId, deprecated, now } = question
  const scope = `${ownedBy(owner)} = $1 and ($2::uuid is null or k.id = $2) and ($3::text is null or k.environment = $3)
    and ($4::uuid is null or (k.level = 'customer' and k.tenant_id = $4))`
  const values = [owner.id, apiKeyId, environment, customerId]
  const [keys, usage] = await Promise.all([
    database.query({
      name: `usage_keys_${owner.kind}`,
      values: [...values, REPORT_KEYS_MAX],
      text: `select ${KEY.sql} from api_key k where ${scope} order by k.created_at desc, k.id desc limit $5`,
    }),
    database.query({
      name: `usage_days_${owner.kind}`,
      values: [...values, from, to],
      text: `select ${USAGE.sql} from api_key k join api_usage_day u on u.api_key_id = k.id where ${scope} and u.day between $5::date and $6::date order by u.day`,
    }),
  ])
  const totals = noCounters()
  const byKey = new Map<
    string,
    {
      readonly counters: Counters
      readonly days: Map<string, { requests: number; errors: number }>
      readonly operations: Map<string, number>
    }
  >()
  for (const each of usage) {
    const row = USAGE.read(each)
    const { apiKeyId: id, day, operationId, status } = row
    const requests = Number(row.requests)
    add(totals, row, requests)
    let key = byKey.get(id)
    if (key === undefined) {
      key = { counters: noCounters(), days: new Map(), operations: new Map() }
      byKey.set(id, key)
    }
    add(key.counters, row, requests)
    const ofDay = key.days.get(day) ?? { requests: 0, errors: 0 }
    ofDay.requests += requests
    if (status >= 400) ofDay.errors += requests
    key.days.set(day, ofDay)
    if (deprecated.has(operationId)) key.operations.set(operationId, (key.operations.get(operationId) ?? 0) + requests)
  }
  return {
    from,
    to,
    generatedAt: timestamp(now),
    totals: countersJson(totals),
    keys: keys.map((each) => {
      const { id, name, prefix, level, tenantId, environment: keyEnvironment } = KEY.read(each)
      const used = byKey.get(id)
      return {
        apiKeyId: id,
        name,
        prefix,
        customerId: level === 'customer' ? tenantId : null,
        environment: keyEnvironment,
        ...countersJson(used?.counters ?? noCounters()),
        days: Array.from(used?.days ?? [], ([date, counts]) => ({ date, ...counts })),
        deprecatedOperations: Array.from(used?.operations ?? [], ([operationId, requests]) => ({
          operationId,
          requests,
        })),
      }
    }),
  }
}

const USAGE_OF_DAY = select({
  date: expression<string>('d::date::text'),
  requests: bigintExpression('coalesce(sum(u.requests), 0)'),
  errors: bigintExpression('coalesce(sum(u.requests) filter (where u.status >= 400), 0)'),
  rateLimited: bigintExpression('coalesce(sum(u.requests) filter (where u.status = 429), 0)'),
})

/** Counts the calls of all keys of an operator on each of the last seven days, today last. */
export async function usageOfLastDays(database: Database, operatorId: string, now: number) {
  const rows = await database.query({
    name: 'usage_last_days',
    values: [operatorId, timestamp(now), REQUEST_LOG_DAYS],
    text: `select ${USAGE_OF_DAY.sql}
      from generate_series(($2::timestamptz at time zone 'UTC')::date - ($3::int - 1), ($2::timestamptz at time zone 'UTC')::date, interval '1 day') d
      left join (api_usage_day u join api_key k on k.id = u.api_key_id and k.operator_id = $1) on u.day = d::date
      group by 1 order by 1`,
  })
  return rows.map((row) => {
    const { date, requests, errors, rateLimited } = USAGE_OF_DAY.read(row)
    return { date, requests: Number(requests), errors: Number(errors), rateLimited: Number(rateLimited) }
  })
}

/** Counts the keys of an operator with calls within the last 24 hours. */
export async function keysUsedLately(database: Database, operatorId: string, now: number): Promise<number> {
  const [row] = await database.query<[string]>({
    name: 'usage_keys_lately',
    values: [operatorId, timestamp(now - DAY_MS)],
    text: `select count(distinct u.api_key_id) from api_key k join api_usage_day u on u.api_key_id = k.id
      where k.operator_id = $1 and u.day >= ($2::timestamptz at time zone 'UTC')::date and u.last_at >= $2::timestamptz`,
  })
  return Number((row as [string])[0])
}

function add(counters: Counters, { status, step, firstMs, lastMs }: UsageRow, requests: number): void {
  counters.requests += requests
  if (status < 400) counters.success += requests
  else if (status === 429) counters.rateLimited += requests
  else if (status < 500) counters.clientErrors += requests
  else counters.serverErrors += requests
  counters.firstUsedMs = Math.min(counters.firstUsedMs ?? firstMs, firstMs)
  counters.lastUsedMs = Math.max(counters.lastUsedMs ?? lastMs, lastMs)
  counters.steps.set(step, (counters.steps.get(step) ?? 0) + requests)
}

function countersJson({
  requests,
  success,
  clientErrors,
  serverErrors,
  rateLimited,
  firstUsedMs,
  lastUsedMs,
  steps,
}: Counters) {
  return {
    requests,
    success,
    clientErrors,
    serverErrors,
    rateLimited,
    p50Ms: percentile(steps, requests, 0.5),
    p95Ms: percentile(steps, requests, 0.95),
    firstUsedAt: firstUsedMs === null ? null : timestamp(Math.round(firstUsedMs)),
    lastUsedAt: lastUsedMs === null ? null : timestamp(Math.round(lastUsedMs)),
  }
}

/** The histogram step of a duration; the middle of a step is 2^(step / 4) milliseconds. */
export function stepOf(durationMs: number): number {
  return durationMs <= 0
    ? -STEPS_PER_DOUBLING * 10
    : Math.max(-STEPS_PER_DOUBLING * 10, Math.round(Math.log2(durationMs) * STEPS_PER_DOUBLING))
}

/**
 * The duration, in milliseconds to one decimal, that the fraction `part` of the calls did not exceed; 0 without any
 * calls.
 */
export function percentile(steps: ReadonlyMap<number, number>, requests: number, part: number): number {
  let rest = Math.ceil(requests * part)
  for (const [step, count] of [...steps].sort(([left], [right]) => left - right)) {
    rest -= count
    if (rest <= 0) return Math.round(2 ** (step / STEPS_PER_DOUBLING) * 10) / 10
  }
  return 0
}

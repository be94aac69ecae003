/** Schemas of API usage: the calls of a key, and the operator's overview of its integrations. */
import Type, { type Static } from 'typebox'
import { CalendarDate, Nullable, Timestamp, Uuid, Words } from '../contract/primitives.ts'

const count = (description: string) => Type.Integer({ minimum: 0, description })

export const KeyEnvironment = Words('ApiKeyEnvironment', ['live', 'test'], '`test` keys work where there is a sandbox.')

export const RequestOutcome = Words(
  'RequestOutcome',
  ['success', 'client_error', 'server_error', 'rate_limited'],
  'The class of the status, in this order: below 400; 4xx other than 429; 5xx; 429.',
)

export const ApiKeyRequestLog = Type.Object(
  {
    apiKeyId: Uuid,
    retentionDays: Type.Integer({ description: 'The number of days that single calls are kept.', examples: [7] }),
    statusCounts: Type.Record(Type.String({ pattern: '^[1-5][0-9]{2}$' }), Type.Integer({ minimum: 0 }), {
      description: 'Answers per HTTP status over the time that calls are kept.',
      examples: [{ 200: 5120, 201: 240, 409: 3 }],
    }),
    data: Type.Array(
      Type.Object(
        {
          method: Type.String({ examples: ['POST'] }),
          route: Type.String({
            description: 'The path template of the operation, without values.',
            examples: ['/payments/{paymentId}'],
          }),
          status: Type.Integer({ examples: [201] }),
          durationMs: Type.Integer({ minimum: 0, examples: [12] }),
          requestId: Type.String({ examples: ['01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f'] }),
        },
        { title: 'ApiKeyRequest' },
      ),
      { description: 'Newest first.' },
    ),
  },
  { title: 'ApiKeyRequestLog' },
)
export type ApiKeyRequestLog = Static<typeof ApiKeyRequestLog>

const counters = {
  requests: count('The number of all calls: the sum of the four counts below.'),
  success: count('Answers below 400.'),
  clientErrors: count('Answers from 400 to 499 but 429.'),
  serverErrors: count('Answers from 500.'),
  rateLimited: count('Answers 429.'),
  p50Ms: Type.Number({ minimum: 0, description: 'The median duration of calls, within a tenth; 0 without calls.' }),
  p95Ms: Type.Number({
    minimum: 0,
    description: 'The 95th percentile of the duration of calls, within a tenth; 0 without calls.',
  }),
  firstUsedAt: Nullable(Timestamp),
  lastUsedAt: Nullable(Timestamp),
}

export const ApiUsageCounters = Type.Object(counters, { title: 'ApiUsageCounters' })

export const ApiKeyUsage = Type.Object(
  {
    apiKeyId: Uuid,
    name: Type.String(),
    prefix: Type.String({ description: 'The first characters of the key.' }),
    customerId: Nullable(Uuid, { description: 'Null for keys of the operator itself.' }),
    environment: KeyEnvironment,
    ...counters,
    days: Type.Array(
      Type.Object({
        date: CalendarDate,
        requests: count('All calls.'),
        errors: count('Answers from 400, 429 included.'),
      }),
      { description: 'Days with calls, in UTC, oldest first.' },
    ),
    deprecatedOperations: Type.Array(
      Type.Object({
        operationId: Type.String(),
        requests: count('All calls.'),
      }),
      { description: 'Deprecated operations that were called.' },
    ),
  },
  { title: 'ApiKeyUsage' },
)

export const ApiUsageReport = Type.Object(
  {
    from: CalendarDate,
    to: CalendarDate,
    generatedAt: Timestamp,
    totals: ApiUsageCounters,
    keys: Type.Array(ApiKeyUsage, {
      maxItems: 200,
      description: 'Newest key first, at most 200; the totals are those of all keys.',
    }),
  },
  { title: 'ApiUsageReport' },
)
export type ApiUsageReport = Static<typeof ApiUsageReport>

export const IntegrationHome = Type.Object(
  {
    operatorId: Uuid,
    generatedAt: Timestamp,
    activeConnectionId: Nullable(Uuid, { description: 'The connection that new balances are opened with.' }),
    connections: Type.Array(
      Type.Object(
        {
          id: Uuid,
          name: Type.String(),
          provider: Type.String({ examples: ['sandbox'] }),
          environment: Type.String(),
          role: Type.String(),
          status: Type.String(),
          healthy: Type.Boolean(),
          lastHealthAt: Nullable(Timestamp),
        },
        { title: 'IntegrationConnection' },
      ),
    ),
    apiKeys: Type.Object({
      active: count('Active keys.'),
      live: count('Active keys for live use.'),
      test: count('Active keys for the sandbox.'),
      operatorLevel: count('Active keys of the operator itself.'),
      usedLast24h: count('Keys with a call within the last 24 hours.'),
    }),
    usageLast7Days: Type.Array(
      Type.Object({
        date: CalendarDate,
        requests: count('All calls.'),
        errors: count('Answers from 400, 429 included.'),
        rateLimited: count('Answers 429.'),
      }),
      { minItems: 7, maxItems: 7, description: 'Days in UTC, today last.' },
    ),
    integratorWebhooks: Type.Object({
      endpoints: count('All endpoints.'),
      active: count('Active endpoints.'),
      paused: count('Endpoints paused by their owner or after failures.'),
      failed: count('Endpoints paused after failures.'),
      deliveriesPending: count('Waiting deliveries.'),
      deliveriesFailed24h: count('Deliveries that failed within a day.'),
      lastDeliveryAt: Nullable(Timestamp),
    }),
    links: Type.Object(
      Object.fromEntries(
        ['portal', 'reference', 'gettingStarted', 'sandbox', 'changelog', 'openapi'].map((name) => [
          name,
          Type.String({ format: 'uri' }),
        ]),
      ) as Record<
        'portal' | 'reference' | 'gettingStarted' | 'sandbox' | 'changelog' | 'openapi',
        ReturnType<typeof Type.String>
      >,
    ),
  },
  { title: 'IntegrationHome' },
)
export type IntegrationHome = Static<typeof IntegrationHome>

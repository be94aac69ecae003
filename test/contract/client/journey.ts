/**
 * The program of an integrator, written against a client that was generated from the document alone: signing in,
 * making a key, paying with it. It is compiled against the document of the day and run against a live service.
 */
import createClient, { type Middleware } from 'openapi-fetch'
import type { components, paths } from './generated.ts'

type Problem = components['schemas']['Problem']
type Payment = components['schemas']['Payment']

export interface Traveller {
  readonly baseUrl: string
  readonly email: string
  readonly password: string
  /** The code that the authenticator shows now. */
  readonly code: () => string
  readonly customerId: string
  readonly balanceId: string
  readonly recipientId: string
}

export interface Travelled {
  readonly payment: Payment
  readonly replayed: string | null
  readonly refusal: Problem
  readonly names: readonly string[]
  readonly unchanged: number
}

/** Bodies of successes; anything else ends the journey with what it says. */
function done<Data>({ data, error }: { readonly data?: Data; readonly error?: unknown }): Data {
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data
}

export async function travel({ baseUrl, email, password, code, customerId, balanceId, recipientId }: Traveller): Promise<Travelled> {
  let credential = ''
  const authorize: Middleware = {
    onRequest: ({ request }) => {
      if (credential !== '') request.headers.set('authorization', `Bearer ${credential}`)
      return request
    },
  }
  const client = createClient<paths>({ baseUrl })
  client.use(authorize)
  const tenant = { 'X-Tenant-Id': customerId }

  const opened = done(await client.POST('/sessions', { body: { email, password } }))
  credential = opened.token
  const challengeId = opened.mfa?.challengeId ?? ''
  credential = done(await client.POST('/sessions/current/mfa', { body: { challengeId, method: 'totp', code: code() } })).token
  const challenge = done(await client.POST('/step-up/challenges', { params: { header: tenant }, body: { action: 'api_key.create' } }))
  const proven = done(await client.POST('/step-up/challenges/{challengeId}/verify', {
    params: { header: tenant, path: { challengeId: challenge.challengeId } }, body: { method: challenge.preferredMethod, code: code() },
  }))
  credential = proven.token
  const key = done(await client.POST('/api-keys', {
    params: { header: tenant }, body: { name: 'Generated client', environment: 'test', scopes: ['payments:read', 'payments:write', 'balances:read'] },
  }))
  const keys = done(await client.GET('/api-keys', { params: { header: tenant, query: { sort: 'name', limit: 50, filter: { status: 'active' }, withTotal: true } } }))

  credential = key.secret
  const header = { ...tenant, 'Idempotency-Key': 'generated-1' }
  const body = { sourceBalanceId: balanceId, recipientId, amount: { amountMinor: '1250', currency: 'EUR' }, reference: 'Invoice 42' }
  const payment = done(await client.POST('/payments', { params: { header }, body }))
  const again = await client.POST('/payments', { params: { header }, body })
  const read = await client.GET('/payments/{paymentId}', { params: { header: tenant, path: { paymentId: payment.id } } })
  const unchanged = await client.GET('/payments/{paymentId}', {
    params: { header: { ...tenant, 'If-None-Match': read.response.headers.get('etag') ?? '' }, path: { paymentId: payment.id } },
  })
  const refused = await client.POST('/payments', { params: { header: { ...tenant, 'Idempotency-Key': 'generated-2' } }, body: { ...body, amount: { amountMinor: '0', currency: 'EUR' } } })
  if (refused.error === undefined) throw new Error('A payment of nothing was taken.')
  return {
    payment, replayed: again.response.headers.get('idempotency-replayed'), refusal: refused.error, names: keys.data.map(({ name }) => name), unchanged: unchanged.response.status,
  }
}

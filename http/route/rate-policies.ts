/** Rate-limit policies: how many calls of each kind are permitted in a period. */
import type { Quota } from '../../lib/security/token-buckets.ts'

/** A rate-limit policy: its quotas apply to each bucket of its partition. */
export interface Policy {
  readonly name: string
  readonly partition: Partition
  readonly quotas: readonly [Quota, ...Quota[]]
}

/** Makes a policy. Each quota is given as units of one request, and a window in seconds. */
export const per = (
  name: string,
  partition: Partition,
  ...quotas: readonly (readonly [units: number, windowSeconds: number])[]
): Policy => ({
  name,
  partition,
  quotas: quotas.map(([units, windowSeconds]) => ({ units, windowSeconds })) as unknown as [Quota],
})

/** The policies, each with its quota in units of one request and its window in seconds. */
export const POLICIES = {
  'anon-ip': per('anon-ip', 'address', [60, 60]),
  login: per('login', 'address', [100, 300]),
  'login-email': per('login', 'email', [5, 900]),
  // Counts the wrong credentials of an address; right credentials take nothing.
  'failed-credentials': per('failed-credentials', 'address', [60, 60]),
  'key-read': per('key-read', 'key', [30_000, 60]),
  'key-write': per('key-write', 'key', [12_000, 60]),
  'key-burst': per('key-burst', 'key', [1_000, 1]),
  session: per('session', 'user', [600, 60]),
  tenant: per('tenant', 'tenant', [90_000, 60]),
  money: per('money', 'customer', [12_000, 60]),
  quotes: per('quotes', 'customer', [6_000, 60]),
  // These operations can be used to probe the account names of others: the limit per minute stops a script, the limit
  // per day a patient one.
  verify: per('verify', 'customer', [600, 60], [20_000, 86_400]),
  search: per('search', 'principal', [600, 60]),
  export: per('export', 'customer', [20, 3_600]),
  upload: per('upload', 'customer', [60, 3_600]),
  'customer-create': per('customer-create', 'key', [10, 60]),
  'webhook-test': per('webhook-test', 'resource', [10, 60]),
  'webhook-redeliver': per('webhook-redeliver', 'resource', [60, 60]),
  simulate: per('simulate', 'principal', [1_200, 60]),
  // A partner sends the webhooks of all customers from a few addresses, a thousand a second and after an outage more.
  'partner-webhook': per('partner-webhook', 'address', [120_000, 60]),
} as const satisfies Record<string, Policy>

export type PolicyId = keyof typeof POLICIES

/** Policies that a route may declare in addition to those of its kind of call. */
export type RoutePolicy =
  | 'money'
  | 'quotes'
  | 'verify'
  | 'export'
  | 'upload'
  | 'customer-create'
  | 'webhook-test'
  | 'webhook-redeliver'
  | 'simulate'
  | 'login'
  | 'partner-webhook'

/** The property of a call by which its buckets are kept. */
export type Partition = 'address' | 'email' | 'key' | 'user' | 'principal' | 'customer' | 'tenant' | 'resource'

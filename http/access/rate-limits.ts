/**
 * Rate limits: determines the policies of a call, and admits the call while each of them has units left.
 *
 * Promises
 *  * All policies of a call are checked before units are taken from any; a refused call takes nothing. When several are
 *    exhausted, the answer gives the time of the policy that takes longest to refill, and names all of them.
 *  * The limits are checked before the rest of the request is read, so a 429 never uses up an Idempotency-Key.
 *  * Counting costs no round trip. A single node counts in memory. Several nodes exchange through `RateCounters` the
 *    units they have taken, SHARE_MS later. Until then each node may also give away units that another has given, which
 *    is less than a thousandth of the quotas per minute.
 *
 * Why the counting is done here and not by the library: rate-limiter-flexible counts in fixed windows (a client may use
 * two quotas around the edge of a window) and answers with one promise per policy. For the four policies of
 * POST /payments it took 2.0 to 3.2 µs and eight promises; the counting here takes 0.3 to 0.5 µs with the text of its
 * header, of a request of about 70 µs. The library is used for counting in Redis (storage/redis/rate-counters.ts).
 *
 * Cost of the limits and the request log, on two cores: the limits take 0.35 µs of the node per call; the log takes
 * 1.9 µs of the node and 7.5 µs of Postgres (a thousand calls per statement). At 4 000 payments a second these cores
 * have 500 µs for each payment, so both together take 2 %. Measured for whole payments (100 balances, 64 connections,
 * ten rounds in turn with and without both, on a shared machine), the node took 133 µs with and 139 µs without at best,
 * 173 µs and 192 µs in the median: the difference is less than the machine's variation.
 */
import type { Clock } from '../../lib/base/clock.ts'
import { refuse } from '../../lib/base/problems.ts'
import type { RateCounters } from '../../lib/security/rate-counters.ts'
import type { Bucket } from '../../lib/security/token-buckets.ts'
import type { Route } from '../route/route.ts'
import { POLICIES, type Partition, type PolicyId } from '../route/rate-policies.ts'
import { addressBlock } from './address-block.ts'
import { createMeters, FAILED_CREDENTIALS, type Meter, SHARES_PER_UNIT, shareUnits } from './rate-meters.ts'

/** Calls of one key that one node executes at a time. */
const CONCURRENCY_MAX = 256
const CONCURRENCY = 'concurrency'

/** How often nodes exchange the units they have taken. */
const SHARE_MS = 250

/** The caller, as limits see it. */
export interface LimitedCaller {
  readonly kind: 'key' | 'session'
  /** Id of the key or of the user. */
  readonly principalId: string
  readonly tenantId: string
}

/** The client's address, and the resource that a call is about. */
export interface CallPlace {
  readonly address: string
  readonly resourceId: string
}
const NOWHERE: CallPlace = { address: '', resourceId: '' }

/** An admitted call. */
export interface Pass {
  /** `RateLimit-Policy` and `RateLimit`, name and value in turn. */
  readonly headers: readonly string[]
  /** To be called once, when the call has been answered. */
  settle(status: number): void
}

/** The limits of one route, prepared. */
export interface RouteLimits {
  readonly key: readonly Meter[]
  readonly session: readonly Meter[]
  readonly anonymous: readonly Meter[]
  /** The same, with the policy of searches added. */
  readonly keySearch: readonly Meter[]
  readonly sessionSearch: readonly Meter[]
}

const SEARCHES = /(?:^|&)(?:q|withTotal)=/
const NO_METERS: readonly Meter[] = []

/** Lists the policies of a route for each kind of caller, from its declaration. */
export function policiesOf(route: Pick<Route, 'method' | 'callers' | 'limits'>): {
  readonly key: PolicyId[]
  readonly session: PolicyId[]
  readonly anonymous: PolicyId[]
} {
  if (route.limits === 'none') return { key: [], session: [], anonymous: [] }
  const own = route.limits ?? []
  return {
    key: [route.method === 'get' ? 'key-read' : 'key-write', 'key-burst', 'tenant', ...own],
    // Counts by key do not limit people.
    session: ['session', 'tenant', ...own.filter((policy) => POLICIES[policy].partition !== 'key')],
    anonymous: own.includes('partner-webhook')
      ? ['partner-webhook']
      : ['anon-ip', ...own.filter((policy) => policy === 'login')],
  }
}

/** Settings and dependencies of the rate limits. */
export interface RateLimitsOptions {
  readonly clock: Clock
  /** Null on a single node. */
  readonly counters?: RateCounters | null
  /** Called when the counters cannot be reached. */
  readonly onError?: (error: unknown, what: string) => void
  /** Multiplies every quota. Measuring the cost of limits needs quotas that are never reached. */
  readonly scale?: number
}

/** The rate limits of one node. */
export class RateLimits implements Disposable {
  readonly #clock: Clock
  readonly #meters: ReadonlyMap<PolicyId, readonly Meter[]>
  readonly #underWay = new Map<string, number>()
  readonly #concurrencyMax: number
  readonly #onError: (error: unknown, what: string) => void
  /** The text of a policy header, for each list of meters. */
  readonly #policyTexts = new WeakMap<readonly Meter[], string>()
  readonly #timer: NodeJS.Timeout | null = null
  #refused = 0

  constructor({ clock, counters = null, onError = () => undefined, scale = 1 }: RateLimitsOptions) {
    this.#clock = clock
    this.#onError = onError
    this.#concurrencyMax = CONCURRENCY_MAX * scale
    this.#meters = createMeters(scale)
    if (counters !== null) {
      this.#timer = setInterval(() => void this.#share(counters), SHARE_MS)
      this.#timer.unref()
    }
  }

  /** Calls refused so far. */
  get refused(): number {
    return this.#refused
  }

  /** Prepares the limits of a route. */
  prepare(route: Pick<Route, 'method' | 'callers' | 'limits' | 'list'>): RouteLimits {
    const { key, session, anonymous } = policiesOf(route)
    const meters = (policies: readonly PolicyId[]) =>
      policies.flatMap((policy) => this.#meters.get(policy) as readonly Meter[])
    const searchable = route.list !== undefined && key.length > 0
    return {
      key: meters(key),
      session: meters(session),
      anonymous: meters(anonymous),
      keySearch: searchable ? meters([...key, 'search']) : NO_METERS,
      sessionSearch: searchable ? meters([...session, 'search']) : NO_METERS,
    }
  }

  /**
   * Admits an authenticated call. `from` holds the client's address and the first id in the path, for policies whose
   * buckets are kept by address or resource.
   *
   * @throws ProblemError `rate-limited`; before that, `onRefusal` gets the headers of the answer
   */
  admit(
    limits: RouteLimits,
    caller: LimitedCaller,
    querystring: string,
    onRefusal: (headers: readonly string[]) => void,
    from: CallPlace = NOWHERE,
  ): Pass | null {
    const searching = querystring !== '' && limits.keySearch.length > 0 && SEARCHES.test(querystring)
    const key = caller.kind === 'key'
    const meters = key ? (searching ? limits.keySearch : limits.key) : searching ? limits.sessionSearch : limits.session
    if (meters.length === 0) return null
    if (key && (this.#underWay.get(caller.principalId) ?? 0) >= this.#concurrencyMax) {
      this.#refuse([CONCURRENCY], 1, this.#headers(meters, `"${CONCURRENCY}";r=0;t=1`, true), onRefusal)
    }
    return this.#take(
      meters,
      (partition) => {
        switch (partition) {
          case 'tenant':
          case 'customer':
            return caller.tenantId
          case 'resource':
            return from.resourceId.toLowerCase()
          case 'address':
            return addressBlock(from.address)
          default:
            return caller.principalId
        }
      },
      key ? caller.principalId : null,
      onRefusal,
    )
  }

  /** Admits a call without a credential. @throws ProblemError `rate-limited` */
  admitAnonymous(limits: RouteLimits, address: string, onRefusal: (headers: readonly string[]) => void): Pass | null {
    if (limits.anonymous.length === 0) return null
    return this.#take(limits.anonymous, () => addressBlock(address), null, onRefusal)
  }

  /**
   * Counts an attempt to sign in against the e-mail address that it names, whichever client sends it. The client's
   * address is counted where the route declares `login`.
   *
   * @throws ProblemError `rate-limited`
   */
  admitLogin(email: string): void {
    this.#take(
      this.#meters.get('login-email') as readonly Meter[],
      () => email.trim().normalize('NFC').toLowerCase(),
      null,
      () => undefined,
    )
  }

  /**
   * Counts a document that is rendered for a customer. A stored document is sent again without being counted.
   *
   * @throws ProblemError `rate-limited`
   */
  admitRendering(customerId: string): void {
    this.#take(
      this.#meters.get('export') as readonly Meter[],
      () => customerId,
      null,
      () => undefined,
    )
  }

  /** How many more credentials of an address may fail now; failures on all nodes count. */
  failuresLeft(address: string): number {
    const { bucket } = this.#failures(address)
    return bucket.units
  }

  /** Counts one wrong credential of an address. */
  countFailure(address: string): void {
    const { meter, bucket } = this.#failures(address)
    meter.buckets.give(bucket, -1)
    bucket.unshared += SHARES_PER_UNIT
  }

  /**
   * Refuses a credential without a look-up.
   *
   * @throws ProblemError `rate-limited`; before, `onRefusal` gets the answer's headers
   */
  refuseFailing(address: string, onRefusal: (headers: readonly string[]) => void): never {
    const { meters, bucket } = this.#failures(address)
    this.#exhausted(meters, [bucket], false, onRefusal)
  }

  #failures(address: string): { readonly meters: readonly Meter[]; readonly meter: Meter; readonly bucket: Bucket } {
    const meters = this.#meters.get(FAILED_CREDENTIALS) as readonly Meter[]
    const meter = meters[0] as Meter
    return { meters, meter, bucket: meter.buckets.at(addressBlock(address), this.#clock.now()) }
  }

  [Symbol.dispose](): void {
    if (this.#timer !== null) clearInterval(this.#timer)
  }

  #take(
    meters: readonly Meter[],
    partitionOf: (partition: Partition) => string,
    keyId: string | null,
    onRefusal: (headers: readonly string[]) => void,
  ): Pass {
    const now = this.#clock.now()
    const taken: Bucket[] = new Array(meters.length)
    let least = 0
    let leastShare = Infinity
    let exhausted = false
    for (let index = 0; index < meters.length; index++) {
      const { buckets, partition } = meters[index] as Meter
      const bucket = buckets.at(partitionOf(partition), now)
      taken[index] = bucket
      if (bucket.units < 1) exhausted = true
      const share = (bucket.units - 1) / buckets.quota.units
      if (share < leastShare) {
        leastShare = share
        least = index
      }
    }
    if (exhausted) this.#exhausted(meters, taken, keyId !== null, onRefusal)
    for (const bucket of taken) {
      bucket.units -= 1
      bucket.unshared += SHARES_PER_UNIT
    }
    const bucket = taken[least] as Bucket
    const { name, buckets } = meters[least] as Meter
    const left = `"${name}";r=${Math.floor(bucket.units)};t=${buckets.secondsUntil(bucket, buckets.quota.units)}`
    if (keyId !== null) this.#underWay.set(keyId, (this.#underWay.get(keyId) ?? 0) + 1)
    return {
      headers: this.#headers(meters, left, keyId !== null),
      settle: (status) => this.#settle(meters, taken, keyId, status),
    }
  }

  #settle(meters: readonly Meter[], taken: readonly Bucket[], keyId: string | null, status: number): void {
    if (keyId !== null) {
      const others = (this.#underWay.get(keyId) as number) - 1
      if (others === 0) this.#underWay.delete(keyId)
      else this.#underWay.set(keyId, others)
    }
    // A 304 sends no body, so the call counts half.
    if (status !== 304) return
    for (const [index, { buckets }] of meters.entries()) {
      const bucket = taken[index] as Bucket
      buckets.give(bucket, 1 / SHARES_PER_UNIT)
      bucket.unshared -= 1
    }
  }

  #exhausted(
    meters: readonly Meter[],
    taken: readonly Bucket[],
    byKey: boolean,
    onRefusal: (headers: readonly string[]) => void,
  ): never {
    const empty = meters
      .flatMap((meter, index) => {
        const bucket = taken[index] as Bucket
        return bucket.units < 1
          ? [{ name: meter.name, seconds: Math.max(1, meter.buckets.secondsUntil(bucket, 1)) }]
          : []
      })
      .sort((left, right) => right.seconds - left.seconds)
    const { name, seconds } = empty[0] as { name: string; seconds: number }
    this.#refuse(
      [...new Set(empty.map((one) => one.name))],
      seconds,
      this.#headers(meters, `"${name}";r=0;t=${seconds}`, byKey),
      onRefusal,
    )
  }

  #refuse(
    violatedPolicies: readonly string[],
    retryAfterSeconds: number,
    headers: readonly string[],
    onRefusal: (headers: readonly string[]) => void,
  ): never {
    this.#refused += 1
    onRefusal(headers)
    refuse(
      'rate-limited',
      `Too many requests under the policy ${violatedPolicies.join(', ')}. Send it again in ${retryAfterSeconds} s.`,
      {
        retryAfterSeconds,
        extra: { violatedPolicies },
      },
    )
  }

  #headers(meters: readonly Meter[], left: string, byKey: boolean): readonly string[] {
    let policies = this.#policyTexts.get(meters)
    if (policies === undefined) {
      const texts = meters.map(({ name, buckets: { quota } }) => `"${name}";q=${quota.units};w=${quota.windowSeconds}`)
      if (byKey) texts.push(`"${CONCURRENCY}";q=${this.#concurrencyMax};qu="concurrent-requests"`)
      policies = texts.join(', ')
      this.#policyTexts.set(meters, policies)
    }
    return ['RateLimit-Policy', policies, 'RateLimit', left]
  }

  async #share(counters: RateCounters): Promise<void> {
    try {
      await shareUnits([...this.#meters.values()].flat(), counters)
    } catch (error) {
      this.#onError(error, 'rate limits are counted by each node for itself')
    }
  }
}

/**
 * Assigns shards to several nodes: heartbeats show which nodes live, every node computes the same assignment of shards
 * from that (`lib/shards/shard-assignment.ts`), and the owner of a shard has a lease in Redis, taken, extended and
 * released through redlock.
 *
 * - S1: A lease is valid only while this process's monotonic clock has not reached its end, counted from before the
 *   command that took or extended it was sent. The end is checked on every question, never by a timer: a process that
 *   was stopped owns nothing from its first instruction on.
 * - S2: A node gives up only shards that another live node should have, and notifies its listeners before it releases
 *   them.
 * - S3: No shard is taken while the membership may be incomplete: after Redis lost its memory, the nodes first meet
 *   again.
 * - S4: Redis keeps only facts that the nodes can repeat: wiped, restarted or failed over, the next heartbeats restore
 *   it.
 * - S5: Time in Redis only counts forwards, by steps hardly longer than a heartbeat: neither a moved clock nor an
 *   outage makes a living node look dead.
 * - S6: Redis is not trusted: the entry of a node (address and shards) is signed with a key of NODE_SECRET, together
 *   with the namespace, the process and the time. An entry that was forged, changed, moved or replayed is ignored. An
 *   attacker who writes to Redis can still remove leases and entries and give one shard to two nodes: callers get 503
 *   and commands are decided again, but money stays right (I3).
 *
 * Leases are an optimisation: they save wasted work and give background work a single node. The version check in the
 * commit keeps money right (I3), so a rare moment with two owners (Redis loses writes in a failover) costs only a
 * retry.
 *
 * Measured with four nodes on one machine: 8 heartbeats and 256 extensions a second cost Redis 4 ms of each second and
 * a node 4 ms; a stopped node's shards are taken 50 ms after it began to stop, a new node has its share 80 ms after its
 * start.
 */
import { randomUUID } from 'node:crypto'

import Redlock, { ResourceLockedError, type ExecutionError, type Lock } from 'redlock'

import { HOUR_MS, type Clock } from '../../lib/base/clock.ts'
import { StartError } from '../../lib/base/errors.ts'
import { CLOCK_DIFFERENCE_MAX_MS, NodeProof } from '../../lib/security/node-proof.ts'
import { assign } from '../../lib/shards/shard-assignment.ts'
import { SHARD_COUNT } from '../../lib/shards/shard.ts'
import type { ShardHome, Shards, ShardsState } from '../../lib/shards/shards.ts'
import { connectRedis } from './redis.ts'
import type { RedisClient } from './redis.ts'

export interface RedisShardsSettings {
  readonly heartbeatMs: number
  readonly silenceMaxMs: number
  readonly leaseTtlMs: number
  readonly extendAfterMs: number
  readonly meetMs: number
  readonly startMaxMs: number
  readonly inParallelMax: number
}

const SETTINGS: RedisShardsSettings = {
  /** Interval of heartbeats: four of them fit before a node counts as dead. */
  heartbeatMs: 500,
  /** A node silent for this long is dead: longer than a garbage collection, shorter than the timeout of a caller. */
  silenceMaxMs: 2_000,
  /** A dead node's shards are free after this; with one more heartbeat they have a new owner in under 4 s. */
  leaseTtlMs: 3_000,
  /** The interval of extensions: two of them may fail before a lease is lost. */
  extendAfterMs: 1_000,
  /** After this time every live node has sent a heartbeat since Redis lost its memory (S3). */
  meetMs: 1_000,
  /** Timeout of the start: a Redis that does not answer then is a wrong address more often than an outage. */
  startMaxMs: 10_000,
  /** Concurrent lease commands: they share a round trip, and their replies do not block the event loop for long. */
  inParallelMax: 64,
}

/**
 * Minimum time between two turns that news of other nodes cause: a restarting cluster sends many at once, and one turn
 * answers them all.
 */
const NEWS_GAP_MS = 20
/** Maximum delay until listeners learn that a lease has expired; `owns` is exact at every moment (S1). */
const SWEEP_MS = 100
/** Longer than any entry of a node. */
const ENTRY_CHARACTERS_MAX = 1_024
/** Ignored entries are logged at most once in this time. */
const PASSED_OVER_LOG_MS = 10_000
/** Expiry of the keys of a namespace that no node uses any more. */
const FORGET_AFTER_MS = HOUR_MS
/** Clock drift against Redis that redlock assumes: the share, and the constant (expiry is counted in milliseconds). */
const DRIFT_SHARE = 0.01
const DRIFT_MS = 2

export interface ShardsLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface RedisShardsOptions {
  readonly redisUrl: string
  /** The name of the nodes' database: nodes of the same namespace share shards. */
  readonly namespace: string
  readonly nodeId: string
  /** The address at which other nodes reach this one. */
  readonly nodeUrl: string
  /** The same on every node: entries signed with another secret are ignored. */
  readonly nodeSecret: string
  /**
   * Identifies one start of a process, so that a restarted node is not mistaken for its earlier process. A random UUID
   * by default.
   */
  readonly instance?: string
  readonly clock: Clock
  readonly log: ShardsLog
  readonly settings?: Partial<RedisShardsSettings>
}

interface Lease {
  readonly shard: number
  readonly lock: Lock
  /** On the monotonic clock: the time it was last taken or extended, and its end. */
  readonly since: number
  readonly until: number
}

interface Member {
  /** The node's `instance`. */
  readonly key: string
  readonly nodeUrl: string
  readonly held: ReadonlySet<number>
}

/** The state in Redis at one heartbeat. */
interface View {
  readonly members: readonly Member[]
  /** Whether every live node has had the time to send a heartbeat (S3). */
  readonly complete: boolean
  /** Time of the request, on the monotonic clock. */
  readonly at: number
}

type Change = Parameters<Parameters<Shards['onChange']>[0]>[0]

/**
 * Lua: records this node's heartbeat and its shards, removes silent nodes, returns the living ones. Time only counts
 * forwards and in small steps (S5), so `beats.ms` is how long this membership has been beating. A change is published
 * as news.
 */
const BEAT = `
  local seen, members, beats = KEYS[1], KEYS[2], KEYS[3]
  local key, told, silenceMax, stepMax, forgetAfter, channel = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], ARGV[6]
  local time = redis.call('time')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local last = redis.call('hmget', beats, 'at', 'ms')
  local step = last[1] and now - tonumber(last[1]) or 0
  local ms = (tonumber(last[2] or '0')) + math.max(0, math.min(step, stepMax))
  redis.call('hset', beats, 'at', string.format('%.0f', now), 'ms', string.format('%.0f', ms))

  local before = redis.call('hget', members, key) or ''
  local news = string.sub(before, 1, #told) ~= told
  redis.call('zadd', seen, ms, key)
  redis.call('hset', members, key, told .. ARGV[7])
  for _, silent in ipairs(redis.call('zrangebyscore', seen, '-inf', '(' .. string.format('%.0f', ms - silenceMax))) do
    redis.call('zrem', seen, silent)
    redis.call('hdel', members, silent)
    news = true
  end
  for i = 1, 3 do redis.call('pexpire', KEYS[i], forgetAfter) end
  if news then redis.call('publish', channel, key) end
  return { string.format('%.0f', ms), redis.call('hgetall', members) }
`

const LEAVE = `
  redis.call('zrem', KEYS[1], ARGV[1])
  redis.call('hdel', KEYS[2], ARGV[1])
  return redis.call('publish', ARGV[2], ARGV[1])
`

/**
 * Lua: shortens leases that last longer than a lease can (after Redis's clock was set back), so that they end within
 * one lease.
 */
const CURTAIL = `
  for _, key in ipairs(KEYS) do
    local left = redis.call('pttl', key)
    if left == -1 or left > tonumber(ARGV[1]) then redis.call('pexpire', key, ARGV[1]) end
  end
  return #KEYS
`

export class RedisShards implements Shards {
  readonly #options: RedisShardsOptions
  readonly #settings: RedisShardsSettings
  readonly #key: string
  readonly #proof: NodeProof
  readonly #prefix: string
  readonly #channel: string
  readonly #listeners: ((change: Change) => void)[] = []
  /** By shard. A lease in here may have ended: check with `#holds`. */
  readonly #leases: (Lease | undefined)[] = new Array<Lease | undefined>(SHARD_COUNT).fill(undefined)
  #connection: {
    readonly commands: RedisClient
    readonly subscription: RedisClient
    readonly redlock: Redlock
  } | null = null
  #view: View | null = null
  /** By shard: the other live node that has it, as of the view. */
  #elsewhere: readonly (ShardHome | undefined)[] = []
  /** The assigned owner of each shard, for the membership it was computed from. */
  #target: { readonly membership: string; readonly homes: readonly string[] } = { membership: '', homes: [] }
  /** The entry that the last heartbeat wrote. */
  #told = ''
  /**
   * Length of this node's last outage of Redis, and the monotonic time until which other nodes' entries may be as old
   * as it.
   */
  #outage = { ms: 0, until: Number.NEGATIVE_INFINITY }
  #passedOver = { keys: '', at: Number.NEGATIVE_INFINITY }
  #answers = true
  /** The error by which the connection was last lost: commands that fail without a connection do not have it. */
  #trouble: unknown = null
  #news = false
  #wake: () => void = () => undefined
  #stopping: Promise<void> | null = null
  #running: Promise<void> = Promise.resolve()
  #sweeper: NodeJS.Timeout | undefined

  constructor(options: RedisShardsOptions) {
    this.#options = options
    this.#settings = { ...SETTINGS, ...options.settings }
    this.#key = options.instance ?? randomUUID()
    this.#proof = new NodeProof(options.nodeSecret)
    // The braces keep all keys in one slot of a Redis Cluster; the encoding keeps braces in a namespace from changing
    // that.
    this.#prefix = `{vostro:${encodeURIComponent(options.namespace)}}`
    this.#channel = `${this.#prefix}:news`
  }

  homeOf(shard: number): ShardHome {
    const now = performance.now()
    if (this.#holds(shard, now)) return HERE
    // A view as old as a lease proves nothing: its shards may have other owners by now.
    if (this.#view === null || now - this.#view.at >= this.#settings.leaseTtlMs) return NOWHERE
    return this.#elsewhere[shard] ?? NOWHERE
  }

  owns(shard: number): boolean {
    return this.#holds(shard, performance.now())
  }

  owned(): readonly number[] {
    const now = performance.now()
    return ALL_SHARDS.filter((shard) => this.#holds(shard, now))
  }

  onChange(listener: (change: Change) => void): void {
    this.#listeners.push(listener)
  }

  state(): ShardsState {
    const fresh = this.#view !== null && performance.now() - this.#view.at < this.#settings.leaseTtlMs
    return {
      nodeId: this.#options.nodeId,
      held: this.owned().length,
      total: SHARD_COUNT,
      nodes: fresh ? Math.max(1, this.#view!.members.length) : 1,
    }
  }

  /** Connects and joins the other nodes. @throws StartError when Redis does not answer within `startMaxMs`. */
  async start(): Promise<void> {
    const { redisUrl } = this.#options
    const commands = connectRedis(redisUrl, 'commands')
    const subscription = connectRedis(redisUrl, 'subscription')
    for (const client of [commands, subscription]) {
      client.on('error', (error) => (this.#trouble = error))
      client.on('ready', () => {
        this.#trouble = null
        this.#hear()
      })
    }
    subscription.on('message', (_channel: string, from: string) => {
      if (from !== this.#key) this.#hear()
    })
    // Renewed with every connection; it can only fail because this node leaves.
    subscription.subscribe(this.#channel).catch(() => undefined)
    // Redlock retries nothing: the next turn does, with a newer view.
    const redlock = new Redlock([commands], { retryCount: 0, driftFactor: DRIFT_SHARE })
    this.#connection = { commands, subscription, redlock }
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS)

    const deadline = performance.now() + this.#settings.startMaxMs
    this.#running = this.#run()
    while (this.#view === null && this.#stopping === null) {
      if (performance.now() > deadline) {
        const reason =
          this.#trouble instanceof Error && this.#trouble.message !== '' ? ` (${this.#trouble.message})` : ''
        await this.stop()
        throw new StartError(
          `Redis did not answer within ${this.#settings.startMaxMs} ms${reason}; start it or correct REDIS_URL.`,
        )
      }
      await new Promise((resolve) => setTimeout(resolve, NEWS_GAP_MS))
    }
  }

  stop(): Promise<void> {
    return (this.#stopping ??= this.#leave())
  }

  async #leave(): Promise<void> {
    // `#stopping` is not set during this first, synchronous part: let the caller's assignment happen before the loop
    // checks it.
    await Promise.resolve()
    this.#wake()
    await this.#running
    clearInterval(this.#sweeper)
    const connection = this.#connection
    if (connection === null) return
    try {
      await this.#giveUp(this.#held())
      // Last, and with news: nodes that receive the news find the leases free.
      await connection.commands.eval(
        LEAVE,
        2,
        `${this.#prefix}:seen`,
        `${this.#prefix}:members`,
        this.#key,
        this.#channel,
      )
    } catch {
      // Redis cannot be reached: the leases expire by themselves, and the other nodes notice the silence.
    }
    this.#view = null
    connection.commands.disconnect()
    connection.subscription.disconnect()
  }

  // ---- the turn ----------------------------------------------------------------------------------------------------------

  async #run(): Promise<void> {
    while (this.#stopping === null) {
      const started = performance.now()
      try {
        this.#news = false
        await this.#turn(this.#connection!)
        this.#note(true)
      } catch (error) {
        if (this.#trouble === null || this.#connection!.commands.status === 'ready') this.#trouble = error
        // Before this node has joined, `start` reports the error.
        if (this.#view !== null) this.#note(false)
      }
      if (this.#stopping !== null) return
      // News shorten the wait, but not below the gap.
      await this.#pause(NEWS_GAP_MS, true)
      if (this.#news) continue
      // While the nodes meet no shard can be taken, so check more often whether the meeting is over.
      const beatMs = this.#settings.heartbeatMs / (this.#view?.complete === false ? 4 : 1)
      await this.#pause(beatMs - (performance.now() - started), false)
    }
  }

  async #turn(connection: { readonly redlock: Redlock; readonly commands: RedisClient }): Promise<void> {
    const view = await this.#beat(connection.commands)
    this.#sweep()
    // Leases due before the middle of the next pause are extended now; otherwise most would be extended one heartbeat
    // late.
    const due = performance.now() - this.#settings.extendAfterMs + this.#settings.heartbeatMs / 2
    await this.#extend(
      connection.redlock,
      this.#held().filter((lease) => lease.since <= due),
    )
    if (view.complete) {
      const homes = this.#homesFor(view)
      await this.#giveUp(this.#held().filter((lease) => homes[lease.shard] !== this.#key))
      await this.#takeMissing(connection, homes)
    }
    // Other nodes forward requests by the written entry, so a changed entry is written now and not at the next
    // heartbeat.
    if (this.#stopping === null && this.#tell() !== this.#told) await this.#beat(connection.commands)
  }

  async #beat(commands: RedisClient): Promise<View> {
    const at = performance.now()
    const { heartbeatMs, silenceMaxMs, meetMs } = this.#settings
    const told = this.#tell()
    const [beatMs, flat] = (await commands.eval(
      BEAT,
      3,
      `${this.#prefix}:seen`,
      `${this.#prefix}:members`,
      `${this.#prefix}:beats`,
      this.#key,
      told,
      silenceMaxMs,
      // A heartbeat that is a little late still counts as one.
      Math.ceil(heartbeatMs * 1.5),
      FORGET_AFTER_MS,
      this.#channel,
      this.#signature(told),
    )) as [string, string[]]
    this.#told = told
    const members = this.#believed(flat, at)
    this.#view = { members, complete: Number(beatMs) >= meetMs, at }

    const elsewhere: (ShardHome | undefined)[] = []
    for (const { key, nodeUrl, held } of members) {
      // An earlier process at this very address: forwarding there would be a request to this node itself.
      if (key === this.#key || nodeUrl === this.#options.nodeUrl) continue
      const home: ShardHome = { kind: 'there', nodeUrl, instance: key }
      for (const shard of held) elsewhere[shard] = home
    }
    this.#elsewhere = elsewhere
    return this.#view
  }

  /**
   * The body of this node's entry: its shards and its address, each followed by a space. The time and the signature
   * come after it.
   */
  #tell(): string {
    return `${toBits(this.owned())} ${this.#options.nodeUrl} `
  }

  #signature(told: string): string {
    const time = `${this.#options.clock.now()}`
    return `${time} ${this.#proof.sign('member', [this.#prefix, this.#key, told, time])}`
  }

  /**
   * Selects the nodes whose entries are signed for this namespace, this node and this time (S6). `flat`: keys and
   * entries in turn.
   */
  #believed(flat: readonly string[], at: number): Member[] {
    const { clock } = this.#options
    const { heartbeatMs, silenceMaxMs } = this.#settings
    // Until the other nodes have written again, their entries from before an outage are as old as the outage (S5).
    const silentMs = this.#view === null ? 0 : at - this.#view.at
    if (silentMs > 2 * heartbeatMs) this.#outage = { ms: silentMs, until: at + silenceMaxMs }
    const ageMaxMs = CLOCK_DIFFERENCE_MAX_MS + (at < this.#outage.until ? this.#outage.ms : 0)
    const members: Member[] = []
    const unsigned: string[] = []
    const untimely: string[] = []
    for (let i = 0; i + 1 < flat.length; i += 2) {
      const key = flat[i]!
      const [held = '', nodeUrl = '', time = '', signature = ''] = flat[i + 1]!.slice(0, ENTRY_CHARACTERS_MAX).split(
        ' ',
      )
      const ageMs = clock.now() - Number(time)
      // This node needs no proof of itself: a clock change during a heartbeat must not make it give up its shards.
      if (key === this.#key) members.push({ key, nodeUrl: this.#options.nodeUrl, held: new Set(this.owned()) })
      else if (!this.#proof.isSigned('member', [this.#prefix, key, `${held} ${nodeUrl} `, time], signature))
        unsigned.push(key.slice(0, 64))
      else if (ageMs > ageMaxMs || ageMs < -CLOCK_DIFFERENCE_MAX_MS) untimely.push(`${nodeUrl} (${key}, ${ageMs} ms)`)
      else members.push({ key, nodeUrl, held: fromBits(held) })
    }
    this.#notePassedOver(unsigned, untimely, at)
    return members
  }

  /** Logs ignored entries: when they change, and at most once in PASSED_OVER_LOG_MS. */
  #notePassedOver(unsigned: readonly string[], untimely: readonly string[], at: number): void {
    // Ages change at each check, so only the nodes are compared.
    const keys = [...unsigned, ...untimely.map((text) => text.slice(0, text.lastIndexOf(',')))].sort().join()
    if (keys === this.#passedOver.keys || at - this.#passedOver.at < PASSED_OVER_LOG_MS) return
    this.#passedOver = { keys, at }
    const { log, nodeId } = this.#options
    if (unsigned.length > 0) {
      log.error(
        { nodeId, count: unsigned.length, entries: unsigned.slice(0, 8) },
        'entries of nodes in Redis are not signed with this NODE_SECRET and are ignored: those nodes have another NODE_SECRET, or an attacker writes to Redis',
      )
    }
    if (untimely.length > 0) {
      log.error(
        { nodeId, count: untimely.length, entries: untimely.slice(0, 8), maxMs: CLOCK_DIFFERENCE_MAX_MS },
        'entries of nodes in Redis were signed at another time and are ignored: the clocks of the nodes differ too much, or the entries are old',
      )
    }
  }

  #homesFor(view: View): readonly string[] {
    const keys = view.members.map((member) => member.key).sort()
    const membership = keys.join()
    if (this.#target.membership !== membership) this.#target = { membership, homes: assign(keys, SHARD_COUNT) }
    return this.#target.homes
  }

  /** Takes the assigned shards that no live node holds. */
  async #takeMissing(
    connection: { readonly redlock: Redlock; readonly commands: RedisClient },
    homes: readonly string[],
  ): Promise<void> {
    const claimed = new Set(this.#view?.members.flatMap((member) => (member.key === this.#key ? [] : [...member.held])))
    const missing = ALL_SHARDS.filter(
      (shard) => homes[shard] === this.#key && this.#leases[shard] === undefined && !claimed.has(shard),
    )
    if (missing.length === 0) return

    const gained: number[] = []
    const refused: string[] = []
    try {
      await this.#each(missing, async (shard) => {
        const lease = await this.#take(connection.redlock, shard)
        if (lease === null) refused.push(this.#leaseKey(shard))
        else {
          this.#leases[shard] = lease
          gained.push(shard)
        }
      })
    } finally {
      this.#notify({ gained: gained.sort((a, b) => a - b), lost: [] })
    }
    if (refused.length > 0)
      await connection.commands.eval(CURTAIL, refused.length, ...refused, this.#settings.leaseTtlMs)
  }

  /** `null`: another node has it. */
  async #take(redlock: Redlock, shard: number): Promise<Lease | null> {
    const since = performance.now()
    try {
      const lock = await redlock.acquire([this.#leaseKey(shard)], this.#settings.leaseTtlMs)
      return this.#leaseOf(shard, lock, since)
    } catch (error) {
      if (await isLocked(error)) return null
      throw error
    }
  }

  async #extend(redlock: Redlock, leases: readonly Lease[]): Promise<void> {
    const lost: number[] = []
    try {
      await this.#each(leases, async (lease) => {
        if (!this.#holds(lease.shard, performance.now())) return
        const renewed = await this.#renew(redlock, lease)
        // The sweep was faster: its listeners were told that the lease is lost, so it stays lost.
        if (this.#leases[lease.shard] !== lease) {
          if (renewed !== null) await release(renewed)
          return
        }
        this.#leases[lease.shard] = renewed ?? undefined
        if (renewed === null) lost.push(lease.shard)
      })
    } finally {
      this.#notify({ gained: [], lost: lost.sort((a, b) => a - b) })
    }
  }

  /** `null`: the lease is lost and another node has the shard. */
  async #renew(redlock: Redlock, lease: Lease): Promise<Lease | null> {
    const since = performance.now()
    // Redlock would refuse by the wall clock, which may have been moved; here the monotonic clock decides (S1).
    lease.lock.expiration = Number.POSITIVE_INFINITY
    try {
      const lock = await redlock.extend(lease.lock, this.#settings.leaseTtlMs)
      return this.#leaseOf(lease.shard, lock, since)
    } catch (error) {
      // Redis lost the lease and no other node has taken it: take it again, as if it had been kept (S4).
      if (await isLocked(error)) return this.#take(redlock, lease.shard)
      throw error
    }
  }

  #leaseOf(shard: number, lock: Lock, since: number): Lease {
    const { leaseTtlMs } = this.#settings
    return { shard, lock, since, until: since + leaseTtlMs * (1 - DRIFT_SHARE) - DRIFT_MS }
  }

  /** Stops owning, notifies the listeners, and only then releases the shards for other nodes (S2). */
  async #giveUp(leases: readonly Lease[]): Promise<void> {
    if (leases.length === 0) return
    for (const lease of leases) this.#leases[lease.shard] = undefined
    this.#notify({ gained: [], lost: leases.map((lease) => lease.shard) })
    await this.#each(leases, (lease) => release(lease))
  }

  /** Notifies the listeners of expired leases. */
  #sweep(): void {
    const now = performance.now()
    const ended = this.#held().filter((lease) => now >= lease.until)
    for (const lease of ended) this.#leases[lease.shard] = undefined
    this.#notify({ gained: [], lost: ended.map((lease) => lease.shard) })
  }

  // ---- small parts -------------------------------------------------------------------------------------------------------

  #holds(shard: number, now: number): boolean {
    const lease = this.#leases[shard]
    return lease !== undefined && now < lease.until
  }

  /** The leases this node has not released; some may have expired. */
  #held(): Lease[] {
    return this.#leases.filter((lease) => lease !== undefined)
  }

  #leaseKey(shard: number): string {
    return `${this.#prefix}:lease:${shard}`
  }

  #notify(change: Change): void {
    if (change.gained.length === 0 && change.lost.length === 0) return
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        // An error in one listener must not keep the others from their notification, nor the leases from their
        // extension.
        this.#options.log.error({ err: error }, 'a listener to shard changes failed')
      }
    }
  }

  /** Runs the work for all items, a bounded number at once; after the first failure no more is started. */
  async #each<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
    let next = 0
    let failed = false
    const lane = async (): Promise<void> => {
      while (next < items.length && !failed) {
        try {
          await work(items[next++]!)
        } catch (error) {
          failed = true
          throw error
        }
      }
    }
    const lanes = Array.from({ length: Math.min(this.#settings.inParallelMax, items.length) }, lane)
    const failure = (await Promise.allSettled(lanes)).find((result) => result.status === 'rejected')
    if (failure !== undefined) throw failure.reason
  }

  /** Receives news of a change on another node: run a turn now. */
  #hear(): void {
    this.#news = true
    this.#wake()
  }

  #pause(ms: number, throughNews: boolean): Promise<void> {
    if (ms <= 0 || this.#stopping !== null) return Promise.resolve()
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        this.#wake = () => undefined
        resolve()
      }
      const timer = setTimeout(done, ms)
      this.#wake = () => {
        if (!throughNews || this.#stopping !== null) done()
      }
    })
  }

  /** Logs each change once: an outage of an hour is two lines. */
  #note(answers: boolean): void {
    if (answers === this.#answers) return
    this.#answers = answers
    const { nodeId } = this.#options
    if (answers) this.#options.log.info({ nodeId }, 'Redis answers again; shards are assigned again')
    else
      this.#options.log.warn(
        { nodeId, err: this.#trouble },
        'Redis does not answer; shards are kept until their leases end',
      )
  }
}

const HERE: ShardHome = { kind: 'here' }
const NOWHERE: ShardHome = { kind: 'nowhere' }
const ALL_SHARDS: readonly number[] = Array.from({ length: SHARD_COUNT }, (_, shard) => shard)

/** Whether redlock failed because another node has the lease, and not because Redis failed. */
async function isLocked(error: unknown): Promise<boolean> {
  const attempts = (error as Partial<ExecutionError>).attempts ?? []
  const votes = (await Promise.all(attempts)).flatMap((attempt) => [...attempt.votesAgainst.values()])
  return votes.length > 0 && votes.every((vote) => vote instanceof ResourceLockedError)
}

async function release(lease: Lease): Promise<void> {
  try {
    await lease.lock.release()
  } catch (error) {
    // Redis lost the lease, or gave it to another node: either way it is released already.
    if (!(await isLocked(error))) throw error
  }
}

function toBits(shards: readonly number[]): string {
  const bits = Buffer.alloc(Math.ceil(SHARD_COUNT / 8))
  for (const shard of shards) bits[shard >> 3]! |= 1 << (shard & 7)
  return bits.toString('base64')
}

function fromBits(text: string): ReadonlySet<number> {
  const bits = Buffer.from(text, 'base64')
  return new Set(ALL_SHARDS.filter((shard) => ((bits[shard >> 3] ?? 0) >> (shard & 7)) & 1))
}

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

import { HOUR_MS } from '../../lib/base/clock.ts'
import { StartError } from '../../lib/base/errors.ts'
import { assign } from '../../lib/shards/shard-assignment.ts'
import { SHARD_COUNT } from '../../lib/shards/shard.ts'
import type { ShardHome, Shards, ShardsState } from '../../lib/shards/shards.ts'
import { connectRedis } from './redis.ts'
import type { RedisClient } from './redis.ts'
import { BEAT, LEAVE } from './membership-scripts.ts'
import { entryOf, type NodeEntry, NodeEntries } from './node-entries.ts'
import { type RedisShardsOptions, type RedisShardsSettings, SETTINGS } from './redis-shards-options.ts'
import { inParallel, type Lease, ShardLeases } from './shard-leases.ts'
import { TurnPause } from './turn-pause.ts'

/**
 * Minimum time between two turns that news of other nodes cause: a restarting cluster sends many at once, and one turn
 * answers them all.
 */
const NEWS_GAP_MS = 20
/** Maximum delay until listeners learn that a lease has expired; `owns` is exact at every moment (S1). */
const SWEEP_MS = 100
/** Expiry of the keys of a namespace that no node uses any more. */
const FORGET_AFTER_MS = HOUR_MS
/** The state in Redis at one heartbeat. */
interface View {
  readonly members: readonly NodeEntry[]
  /** Whether every live node has had the time to send a heartbeat (S3). */
  readonly complete: boolean
  /** Time of the request, on the monotonic clock. */
  readonly at: number
}

/** The connection, once `start` has made it. */
interface Connection {
  readonly commands: RedisClient
  readonly subscription: RedisClient
  readonly leases: ShardLeases
}

type Change = Parameters<Parameters<Shards['onChange']>[0]>[0]

export class RedisShards implements Shards {
  readonly #options: RedisShardsOptions
  readonly #settings: RedisShardsSettings
  readonly #key: string
  readonly #prefix: string
  readonly #channel: string
  readonly #entries: NodeEntries
  readonly #listeners: ((change: Change) => void)[] = []
  /** By shard. A lease in here may have ended: check with `#holds`. */
  readonly #leases: (Lease | undefined)[] = new Array<Lease | undefined>(SHARD_COUNT).fill(undefined)
  #connection: Connection | null = null
  #view: View | null = null
  /** By shard: the other live node that has it, as of the view. */
  #elsewhere: readonly (ShardHome | undefined)[] = []
  /** The assigned owner of each shard, for the membership it was computed from. */
  #target: { readonly membership: string; readonly homes: readonly string[] } = { membership: '', homes: [] }
  /** The entry that the last heartbeat wrote. */
  #told = ''
  #answers = true
  /** The error by which the connection was last lost: commands that fail without a connection do not have it. */
  #trouble: unknown = null
  readonly #pause = new TurnPause()
  #stopping: Promise<void> | null = null
  #running: Promise<void> = Promise.resolve()
  #sweeper: NodeJS.Timeout | undefined

  constructor(options: RedisShardsOptions) {
    this.#options = options
    this.#settings = { ...SETTINGS, ...options.settings }
    this.#key = options.instance ?? randomUUID()
    // The braces keep all keys in one slot of a Redis Cluster; the encoding keeps braces in a namespace from changing
    // that.
    this.#prefix = `{vostro:${encodeURIComponent(options.namespace)}}`
    this.#channel = `${this.#prefix}:news`
    this.#entries = new NodeEntries(options, this.#settings, this.#prefix)
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
        this.#pause.hear()
      })
    }
    subscription.on('message', (_channel: string, from: string) => {
      if (from !== this.#key) this.#pause.hear()
    })
    // Renewed with every connection; it can only fail because this node leaves.
    subscription.subscribe(this.#channel).catch(() => undefined)
    const leases = new ShardLeases(commands, this.#prefix, this.#settings.leaseTtlMs)
    this.#connection = { commands, subscription, leases }
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
    this.#pause.stop()
    await this.#running
    clearInterval(this.#sweeper)
    const connection = this.#connection
    if (connection === null) return
    try {
      await this.#giveUp(connection, this.#held())
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

  // ---- the turn ----

  async #run(): Promise<void> {
    while (this.#stopping === null) {
      const started = performance.now()
      try {
        this.#pause.news = false
        await this.#turn(this.#connection!)
        this.#note(true)
      } catch (error) {
        if (this.#trouble === null || this.#connection!.commands.status === 'ready') this.#trouble = error
        // Before this node has joined, `start` reports the error.
        if (this.#view !== null) this.#note(false)
      }
      if (this.#stopping !== null) return
      // News shorten the wait, but not below the gap.
      await this.#pause.wait(NEWS_GAP_MS, true)
      if (this.#pause.news) continue
      // While the nodes meet no shard can be taken, so check more often whether the meeting is over.
      const beatMs = this.#settings.heartbeatMs / (this.#view?.complete === false ? 4 : 1)
      await this.#pause.wait(beatMs - (performance.now() - started), false)
    }
  }

  async #turn(connection: Connection): Promise<void> {
    const view = await this.#beat(connection.commands)
    this.#sweep()
    // Leases due before the middle of the next pause are extended now; otherwise most would be extended one heartbeat
    // late.
    const due = performance.now() - this.#settings.extendAfterMs + this.#settings.heartbeatMs / 2
    await this.#extend(
      connection.leases,
      this.#held().filter((lease) => lease.since <= due),
    )
    if (view.complete) {
      const homes = this.#homesFor(view)
      await this.#giveUp(
        connection,
        this.#held().filter((lease) => homes[lease.shard] !== this.#key),
      )
      await this.#takeMissing(connection, homes)
    }
    // Other nodes forward requests by the written entry, so a changed entry is written now and not at the next
    // heartbeat.
    if (this.#stopping === null && entryOf(this.owned(), this.#options.nodeUrl) !== this.#told)
      await this.#beat(connection.commands)
  }

  async #beat(commands: RedisClient): Promise<View> {
    const at = performance.now()
    const { heartbeatMs, silenceMaxMs, meetMs } = this.#settings
    const told = entryOf(this.owned(), this.#options.nodeUrl)
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
      this.#entries.signature(this.#key, told),
    )) as [string, string[]]
    this.#told = told
    const own = { key: this.#key, nodeUrl: this.#options.nodeUrl, held: new Set(this.owned()) }
    const members = this.#entries.believed(flat, own, this.#view?.at ?? null, at)
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

  #homesFor(view: View): readonly string[] {
    const keys = view.members.map((member) => member.key).sort()
    const membership = keys.join()
    if (this.#target.membership !== membership) this.#target = { membership, homes: assign(keys, SHARD_COUNT) }
    return this.#target.homes
  }

  /** Takes the assigned shards that no live node holds. */
  async #takeMissing({ leases }: Pick<Connection, 'leases'>, homes: readonly string[]): Promise<void> {
    const claimed = new Set(this.#view?.members.flatMap((member) => (member.key === this.#key ? [] : [...member.held])))
    const missing = ALL_SHARDS.filter(
      (shard) => homes[shard] === this.#key && this.#leases[shard] === undefined && !claimed.has(shard),
    )
    if (missing.length === 0) return

    const gained: number[] = []
    const refused: number[] = []
    try {
      await inParallel(missing, this.#settings.inParallelMax, async (shard) => {
        const lease = await leases.take(shard)
        if (lease === null) refused.push(shard)
        else {
          this.#leases[shard] = lease
          gained.push(shard)
        }
      })
    } finally {
      this.#notify({ gained: gained.sort((a, b) => a - b), lost: [] })
    }
    if (refused.length > 0) await leases.curtail(refused)
  }

  async #extend(leases: ShardLeases, due: readonly Lease[]): Promise<void> {
    const lost: number[] = []
    try {
      await inParallel(due, this.#settings.inParallelMax, async (lease) => {
        if (!this.#holds(lease.shard, performance.now())) return
        const renewed = await leases.renew(lease)
        // The sweep was faster: its listeners were told that the lease is lost, so it stays lost.
        if (this.#leases[lease.shard] !== lease) {
          if (renewed !== null) await leases.release(renewed)
          return
        }
        this.#leases[lease.shard] = renewed ?? undefined
        if (renewed === null) lost.push(lease.shard)
      })
    } finally {
      this.#notify({ gained: [], lost: lost.sort((a, b) => a - b) })
    }
  }

  /** Stops owning, notifies the listeners, and only then releases the shards for other nodes (S2). */
  async #giveUp({ leases }: Pick<Connection, 'leases'>, given: readonly Lease[]): Promise<void> {
    if (given.length === 0) return
    for (const lease of given) this.#leases[lease.shard] = undefined
    this.#notify({ gained: [], lost: given.map((lease) => lease.shard) })
    await inParallel(given, this.#settings.inParallelMax, (lease) => leases.release(lease))
  }

  /** Notifies the listeners of expired leases. */
  #sweep(): void {
    const now = performance.now()
    const ended = this.#held().filter((lease) => now >= lease.until)
    for (const lease of ended) this.#leases[lease.shard] = undefined
    this.#notify({ gained: [], lost: ended.map((lease) => lease.shard) })
  }

  // ---- small parts ----

  #holds(shard: number, now: number): boolean {
    const lease = this.#leases[shard]
    return lease !== undefined && now < lease.until
  }

  /** The leases this node has not released; some may have expired. */
  #held(): Lease[] {
    return this.#leases.filter((lease) => lease !== undefined)
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

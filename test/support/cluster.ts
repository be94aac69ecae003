/**
 * A cluster of real processes, and a way to cause every fault that a cluster can have: nodes (`node
 * http/server/main.ts`), each with its own proxy to one Postgres, and one Redis. All run on the loopback interface, and
 * end on disposal.
 *
 *   await using cluster = await Cluster.open({ nodes: 3 })
 *   const customer = await cluster.customer([100_00n, 50_00n])
 *   await cluster.nodes[0].stall(9_000)
 *
 * Postgres does not wait for the disk here: the machine does not lose power, and bytes that a process wrote before it
 * was killed are kept by the kernel. Postgres does record the time of each commit, which the checker needs.
 */
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, open, readFile, rm, stat, type FileHandle } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

import pg from 'pg'

import { systemClock } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { createIdSource } from '../../lib/base/ids.ts'
import { NO_POLICY, termsJson, type Tier } from '../../lib/approvals/policy.ts'
import { generateSessionToken, tokenHash } from '../../lib/identity/session.ts'
import { audit } from '../../storage/audit/audit.ts'
import { Database } from '../../storage/db/database.ts'
import { policyId } from '../../storage/approvals/policies.ts'
import { createSandboxCustomer, createSandboxOperator } from '../../storage/seed/seed-customers.ts'
import type { CreatedCustomer, SandboxOperator } from '../../storage/seed/seed-customers.ts'
import { startClusterPostgres } from './cluster-postgres.ts'
import { startNode, type NodeProcess } from './node-process.ts'
import { ensureRedisServer } from './redis.ts'
import { until } from './until.ts'
import { Wire } from './wire.ts'
import { removeDirectory } from './remove-directory.ts'

const run = promisify(execFile)

/** Duration of a lease, as the nodes set it. */
export const LEASE_MS = 3_000
/**
 * Size of the disk for the tables: enough for ten minutes of torture, so that it is full only when the test fills it.
 */
const DISK_MEGABYTES = 512
/** The disk is filled in large steps first, and then in steps of one page. */
const FILL_BYTES = [1 << 20, 8_192] as const
/** SQLSTATE of a deadlock. The losing statement has changed nothing. */
const DEADLOCK = '40P01'
const STOP_DEADLINE_MS = 15_000
/** A node without its Redis ends after ten seconds; a supervisor starts it again. */
const STARTS_MAX = 6
const RESTART_MS = 500

export interface ClusterOptions {
  readonly nodes: number
  /** False: the nodes have no Redis, and each assumes that it is the only node. */
  readonly redis?: boolean
  readonly env?: Readonly<Record<string, string>>
}

/** A node: a process, or the place of one that has ended. */
export class ClusterNode {
  readonly url: string
  readonly name: string
  readonly wire: Wire
  readonly #dataDir: string
  readonly #env: Readonly<Record<string, string>>
  #process: NodeProcess | null = null
  #stalled = false
  /** Lines that the node has logged as errors, over all its processes. */
  readonly errors: string[] = []

  readonly metricsUrl: string

  constructor(options: {
    readonly name: string
    readonly port: number
    readonly metricsPort: number
    readonly wire: Wire
    readonly dataDir: string
    readonly env: Readonly<Record<string, string>>
  }) {
    this.name = options.name
    this.url = `http://127.0.0.1:${options.port}`
    this.metricsUrl = `http://127.0.0.1:${options.metricsPort}/metrics`
    this.wire = options.wire
    this.#dataDir = options.dataDir
    this.#env = {
      ...options.env,
      PORT: String(options.port),
      METRICS_PORT: String(options.metricsPort),
      NODE_URL: this.url,
      NODE_ID: options.name,
      DATABASE_URL: options.wire.url,
    }
  }

  get running(): boolean {
    return this.#process !== null
  }
  get stalled(): boolean {
    return this.#stalled
  }

  /**
   * Starts the node as a supervisor does: starts it again when it ends because Postgres or Redis is unavailable.
   *
   * @throws Error when it does not start at all
   */
  async start(): Promise<void> {
    for (let attempt = 1; this.#process === null; attempt++) {
      try {
        this.#process = await startNode(this.#dataDir, this.#env)
      } catch (error) {
        if (attempt === STARTS_MAX) throw error
        await pause(RESTART_MS)
      }
    }
  }

  /** Kills the process with SIGKILL. */
  async kill(): Promise<void> {
    const running = this.#process
    this.#process = null
    if (running === null) return
    if (this.#stalled) running.kill('SIGCONT')
    this.#stalled = false
    running.kill('SIGKILL')
    await running.ended
    this.#collect(running)
  }

  /** Stops the process with SIGTERM. @returns its exit code, or null when it had to be killed */
  async stop(): Promise<number | null> {
    const running = this.#process
    this.#process = null
    if (running === null) return 0
    running.kill('SIGTERM')
    const killer = setTimeout(() => running.kill('SIGKILL'), STOP_DEADLINE_MS)
    const { code } = await running.ended
    clearTimeout(killer)
    this.#collect(running)
    return code
  }

  /** Pauses the process for this long, whatever it is doing. */
  async stall(ms: number): Promise<void> {
    const running = this.#process
    if (running === null) return
    running.kill('SIGSTOP')
    this.#stalled = true
    await pause(ms)
    this.#stalled = false
    running.kill('SIGCONT')
  }

  /** The number of shards and nodes that the node reports; null when it does not answer. */
  async shards(): Promise<{ readonly status: number; readonly held: number; readonly nodes: number } | null> {
    try {
      const response = await fetch(`${this.url}/ready`, { signal: AbortSignal.timeout(2_000) })
      const { checks } = (await response.json()) as { checks: readonly { name: string; held: number; nodes: number }[] }
      const shards = checks.find(({ name }) => name === 'shards')
      return shards === undefined ? null : { status: response.status, held: shards.held, nodes: shards.nodes }
    } catch {
      // A node that does not answer is an expected result.
      return null
    }
  }

  /** Reads one metric of the node. @throws Error when there is none with this name */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(this.metricsUrl)).text()
    const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]
    if (value === undefined) throw new Error(`${this.name} has no metric ${name}.`)
    return Number(value)
  }

  /** Collects the lines that the running process has logged as errors. */
  look(): void {
    if (this.#process !== null) this.#errorsOf(this.#process)
  }

  #collect(ended: NodeProcess): void {
    this.#errorsOf(ended)
  }

  readonly #seen = new WeakMap<NodeProcess, number>()
  #errorsOf(process: NodeProcess): void {
    const text = process.stdout + process.stderr
    const from = this.#seen.get(process) ?? 0
    this.#seen.set(process, text.length)
    this.errors.push(
      ...text
        .slice(from)
        .split('\n')
        .filter((line) => line.startsWith('{') || /^\s+at |Error/.test(line)),
    )
  }
}

/** A Redis that can be stopped and started again at the same address. It stores nothing on disk. */
export class ClusterRedis {
  readonly port: number
  readonly #program: string
  readonly #directory: string
  readonly #args: readonly string[]
  #child: ChildProcess | null = null

  constructor(options: {
    readonly port: number
    readonly program: string
    readonly directory: string
    readonly args?: readonly string[]
  }) {
    this.#args = options.args ?? []
    this.port = options.port
    this.#program = options.program
    this.#directory = options.directory
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  /** Starts it; two faults at once may both want to, and a second process would find the port taken and end. */
  async start(): Promise<void> {
    if (this.#child === null) this.#spawn()
    await until('Redis listens', () => listens(this.port))
  }

  #spawn(): void {
    const child = spawn(
      this.#program,
      [
        ...this.#args,
        '--port',
        String(this.port),
        '--bind',
        '127.0.0.1',
        '--dir',
        this.#directory,
        '--save',
        '',
        '--appendonly',
        'no',
      ],
      { stdio: 'ignore' },
    )
    this.#child = child
    const kill = () => child.kill('SIGKILL')
    process.once('exit', kill)
    child.once('exit', () => {
      process.removeListener('exit', kill)
      if (this.#child === child) this.#child = null
    })
  }

  async stop(): Promise<void> {
    const child = this.#child
    this.#child = null
    if (child === null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  /** Deletes all data with FLUSHALL. */
  async wipe(): Promise<void> {
    const socket = connect({ host: '127.0.0.1', port: this.port })
    await once(socket, 'connect')
    socket.write('FLUSHALL\r\n')
    await once(socket, 'data')
    socket.destroy()
  }
}

/** A disk for the tables that is small enough to be filled. */
export interface SmallDisk {
  fill(): Promise<void>
  free(): Promise<void>
}

/** A running cluster, and the faults that a test can cause in it. */
export class Cluster implements AsyncDisposable {
  readonly nodes: readonly ClusterNode[]
  /** Null when the nodes have no Redis. */
  readonly redis: ClusterRedis | null
  /** Address of Postgres itself, without a proxy. */
  readonly databaseUrl: string
  readonly operator: SandboxOperator
  readonly #postgresPid: () => Promise<number | null>
  readonly #directory: string
  readonly #mounts: string[]
  readonly #held: AsyncDisposableStack
  readonly #admin: pg.Pool

  private constructor(
    parts: Pick<Cluster, 'nodes' | 'redis' | 'databaseUrl' | 'operator'> & {
      readonly postgresPid: () => Promise<number | null>
      readonly directory: string
      readonly mounts: string[]
      readonly held: AsyncDisposableStack
      readonly admin: pg.Pool
    },
  ) {
    this.nodes = parts.nodes
    this.redis = parts.redis
    this.databaseUrl = parts.databaseUrl
    this.operator = parts.operator
    this.#postgresPid = parts.postgresPid
    this.#directory = parts.directory
    this.#mounts = parts.mounts
    this.#held = parts.held
    this.#admin = parts.admin
  }

  /** @throws Error when a part does not start; nothing is left running then */
  static async open({ nodes: count, redis: withRedis = true, env = {} }: ClusterOptions): Promise<Cluster> {
    await using made = new AsyncDisposableStack()
    const directory = await mkdtemp(join(tmpdir(), 'vostro-cluster-'))
    made.defer(() => removeDirectory(directory))
    await chmod(directory, 0o711)
    // Unmounts after Postgres has stopped, because its files are on these mounts; also when the run ends early.
    const mounts: string[] = []
    const unmount = () => {
      for (const path of mounts.splice(0)) spawnSync('umount', ['-l', path])
    }
    process.once('exit', unmount)
    made.defer(() => {
      process.removeListener('exit', unmount)
      unmount()
    })
    const postgres = await startClusterPostgres(join(directory, 'postgres'))
    made.defer(() => postgres.stop())
    const pidFile = join(directory, 'postgres/postgres/postmaster.pid')
    const postgresPid = async () => Number((await readFile(pidFile, 'utf8').catch(() => '')).split('\n')[0]) || null
    // Postgres has a session of its own and would keep running, so a run that ends early kills it.
    let lastPid = await postgresPid()
    const orphan = () => {
      try {
        if (lastPid !== null) process.kill(lastPid, 'SIGQUIT')
      } catch {
        /* The process has ended already. */
      }
    }
    const watch = setInterval(() => {
      void postgresPid().then((pid) => {
        lastPid = pid ?? lastPid
      })
    }, 1_000)
    watch.unref()
    process.once('exit', orphan)
    made.defer(() => {
      clearInterval(watch)
      process.removeListener('exit', orphan)
    })

    const admin = new pg.Pool({ connectionString: postgres.url, max: 4, application_name: 'torture' })
    admin.on('error', () => undefined)
    made.defer(() => admin.end())
    const database = new Database(postgres.url, 1)
    const operator = await createSandboxOperator(
      { database, clock: systemClock, ids: createIdSource(systemClock) },
      'Torture Operator',
    )
    await database.close()

    let redis: ClusterRedis | null = null
    if (withRedis) {
      // This call installs Redis if necessary. The cluster starts another one, because it must be free to kill it.
      await (await ensureRedisServer()).stop()
      redis = new ClusterRedis({ port: await freePort(), program: await redisProgram(), directory })
      made.defer(() => redis?.stop())
      await redis.start()
    }
    const shared = {
      NODE_SECRET: randomBytes(32).toString('hex'),
      SECRETS_KEY: randomBytes(32).toString('hex'),
      RATE_LIMITS: 'off',
      LOG_LEVEL: 'error',
      ...(redis === null ? {} : { REDIS_URL: redis.url }),
      ...env,
    }
    const nodes: ClusterNode[] = []
    for (let nth = 1; nth <= count; nth++) {
      const wire = await Wire.open(postgres.url)
      made.defer(() => wire.close())
      const dataDir = join(directory, `node${nth}`)
      await mkdir(dataDir)
      const node = new ClusterNode({
        name: `n${nth}`,
        port: await freePort(),
        metricsPort: await freePort(),
        wire,
        dataDir,
        env: shared,
      })
      nodes.push(node)
      made.defer(() => node.kill())
    }
    const results = await Promise.allSettled(nodes.map((node) => node.start()))
    const failed = results.find(({ status }) => status === 'rejected')
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason
    const cluster = new Cluster({
      nodes,
      redis,
      databaseUrl: postgres.url,
      operator,
      postgresPid,
      directory,
      mounts,
      held: made.move(),
      admin,
    })
    await cluster.settled()
    return cluster
  }

  get live(): readonly ClusterNode[] {
    return this.nodes.filter(({ running, stalled }) => running && !stalled)
  }

  /** Waits until the running nodes hold all shards together. Without leases each of them holds all shards at once. */
  async settled(deadlineMs = 30_000): Promise<void> {
    await until(
      'the shards have their homes',
      async () => {
        const states = await Promise.all(this.live.map((node) => node.shards()))
        return (
          states.every((state) => state?.status === 200) &&
          states.reduce((sum, state) => sum + (state?.held ?? 0), 0) >= 256 &&
          states.every((state) => state?.nodes === this.live.length || state?.held === 256)
        )
      },
      { deadlineMs, pollMs: 50 },
    )
  }

  /** Queries Postgres itself. Waits while Postgres is down, because tests stop it, and retries after a deadlock. */
  async query<Row extends object>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return await until(
      'Postgres answers',
      async () => {
        try {
          return (await this.#admin.query<Row>(sql, [...values])).rows
        } catch (error) {
          if (isLost(error) || (error as { code?: string }).code === DEADLOCK) return null
          throw error
        }
      },
      { deadlineMs: 60_000, pollMs: 50 },
    )
  }

  /** Returns the audit checks that failed, with the rows that they found. */
  async brokenBooks(): Promise<readonly object[]> {
    const client = new pg.Client({ connectionString: this.databaseUrl })
    await client.connect()
    try {
      return (await audit(client)).checks.filter(({ disagreeing }) => disagreeing > 0)
    } finally {
      await client.end()
    }
  }

  /** Creates a customer with balances of these amounts, in euro by default. */
  async customer(
    amounts: readonly (bigint | { readonly currency: CurrencyCode; readonly amount: bigint })[],
  ): Promise<CreatedCustomer> {
    const database = new Database(this.databaseUrl, 1)
    try {
      const number = randomBytes(6).toString('hex')
      return await createSandboxCustomer(
        { database, clock: systemClock, ids: createIdSource(systemClock), ...this.operator },
        {
          legalName: `Customer ${number}`,
          number,
          recipients: true,
          balances: amounts.map((amount) => (typeof amount === 'bigint' ? { currency: 'EUR', amount } : amount)),
        },
      )
    } finally {
      await database.close()
    }
  }

  /** Sets an approval policy: one approval for payments of a customer above this amount, in minor units of the euro. */
  async approvesAbove(customerId: string, amount: bigint): Promise<void> {
    const tier: Tier = {
      tier: 1,
      minAmount: amount + 1n,
      maxAmount: null,
      requiredApprovals: 1,
      approverRoles: ['owner', 'admin', 'approver'],
      approverUserIds: [],
      approverTeamIds: [],
      allowSelfApproval: false,
      distinctTeams: false,
      expiresAfterHours: 168,
    }
    const terms = termsJson({ ...NO_POLICY, enabled: true, currency: 'EUR', tiers: [tier] })
    await this.query(
      `insert into approval_policy (id, customer_id, kind, version, terms, effective_from, updated_by, updated_at) values ($1, $2, 'payment', 1, $3, now(), $2, now())`,
      [policyId(customerId, 'payment'), customerId, JSON.stringify(terms)],
    )
  }

  /** Creates a new person with a role in a tenant, signed in. @returns the token of the session */
  async session({
    level,
    tenantId,
    role,
  }: {
    readonly level: 'customer' | 'operator'
    readonly tenantId: string
    readonly role: string
  }): Promise<string> {
    const ids = createIdSource(systemClock)
    const [user, token] = [ids.next(), generateSessionToken(randomBytes)]
    await this.query(
      `insert into platform_user (id, email, email_key, name, password_changed_at, status, created_at, updated_at) values ($1::uuid, $1::text, $1::text, $2, now(), 'active', now(), now())`,
      [user, role],
    )
    await this.query(
      `insert into membership (id, user_id, level, tenant_id, operator_id, role, status, created_at, updated_at, is_primary_owner)
      values ($1, $2, $3, $4, $5, $6, 'active', now(), now(), $6 = 'owner')`,
      [ids.next(), user, level, tenantId, this.operator.operatorId, role],
    )
    // Staff without a second factor can do nothing. The session is past asking for a code, so nobody opens its secret.
    if (level === 'operator')
      await this.query(
        `insert into mfa_factor (id, user_id, kind, name, status, secret, created_at) values ($1, $2, 'totp', 'Test', 'active', '', now())`,
        [ids.next(), user],
      )
    await this.query(
      `insert into session (id, user_id, token_sha256, status, address, created_at, last_seen_at, expires_at)
      values ($1, $2, decode($3, 'hex'), 'active', '127.0.0.1', now(), now(), now() + interval '12 hours')`,
      [ids.next(), user, tokenHash(token)],
    )
    return token
  }

  /** Kills Postgres, as a crash would, and waits until it is back. */
  async crashPostgres(): Promise<void> {
    const pid = await this.#postgresPid()
    if (pid === null) throw new Error('There is no Postgres to stop.')
    process.kill(pid, 'SIGQUIT')
    // The process that holds the directory starts another Postgres by itself.
    await until(
      'Postgres is back',
      async () => {
        const next = await this.#postgresPid()
        return (
          next !== null &&
          next !== pid &&
          (await this.query('select 1').then(
            () => true,
            () => false,
          ))
        )
      },
      { deadlineMs: 60_000, pollMs: 50 },
    )
  }

  /** Ends every Postgres session of the nodes. @returns how many */
  async terminateBackends(): Promise<number> {
    return (
      await this.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'vostro%' and application_name not like 'vostro instance%'`,
      )
    ).length
  }

  /** Moves the tables to a separate disk. @returns the reason, as text, when this machine cannot do that */
  async smallDisk(): Promise<SmallDisk | string> {
    if (process.getuid?.() !== 0) return 'a small disk needs root to mount it'
    const path = join(this.#directory, 'disk')
    await mkdir(path)
    try {
      await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MEGABYTES}m,mode=0700`, 'tmpfs', path])
    } catch (error) {
      return `a small disk cannot be mounted here (${(error as Error).message.trim().split('\n').at(-1)})`
    }
    this.#mounts.push(path)
    const owner = await stat(join(this.#directory, 'postgres/postgres'))
    await chown(path, owner.uid, owner.gid)
    await this.query(`create tablespace small location '${path}'`)
    await this.query('alter table all in tablespace pg_default set tablespace small')
    await this.query('alter index all in tablespace pg_default set tablespace small')
    const ballast = join(path, 'ballast')
    return {
      async fill() {
        const file = await open(ballast, 'w')
        try {
          for (const size of FILL_BYTES) await writeUntilFull(file, Buffer.alloc(size))
        } finally {
          await file.close()
        }
      },
      async free() {
        await rm(ballast, { force: true })
      },
    }
  }

  /** Locks the bank's order table for a while, so that the bank answers nothing. */
  async stallBank(ms: number): Promise<void> {
    const client = new pg.Client({ connectionString: this.databaseUrl })
    client.on('error', () => undefined)
    try {
      await client.connect()
      await client.query('begin')
      await client.query('lock table sandbox_order in access exclusive mode')
      await pause(ms)
      await client.query('rollback')
    } catch (error) {
      // Postgres was crashed meanwhile, so the lock is gone.
      if (!isLost(error)) throw error
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  /** Makes the bank repeat its messages, about payments and about incoming money. @returns how many messages */
  async bankRepeats(): Promise<number> {
    const payments =
      await this.query(`update sandbox_order set state = 'accepted', due_at = now() where state in ('settled', 'rejected') and next_event = state
      and reference in (select reference from sandbox_order order by received_at desc limit 500) returning 1`)
    const credits = await this.query(
      `update sandbox_message set acknowledged_at = null where id in (select id from sandbox_message where acknowledged_at is not null order by due_at desc limit 100) returning 1`,
    )
    return payments.length + credits.length
  }

  /** Adds a second connection to the sandbox bank, and a rule that sends payments of `from` euro cents and more there. */
  async secondConnection(from: bigint): Promise<void> {
    await this.query(
      `with first as (select * from provider_connection where role = 'primary' and status = 'active' limit 1), second as (
        insert into provider_connection (id, operator_id, provider, environment, role, status, name, fallback_currencies, created_at)
        select uuidv7(), operator_id, provider, environment, 'fallback', 'active', 'Second bank', '{EUR,GBP,USD}', created_at from first
        returning id, operator_id, created_at)
      insert into routing_rule (id, operator_id, priority, currency, amount_min, connection_id, created_at, updated_at)
        select uuidv7(), operator_id, 10, 'EUR', $1, id, created_at, created_at from second`,
      [from],
    )
  }

  /** Takes one connection down for a while: payments leave through the other. */
  async connectionDown(role: 'primary' | 'fallback', ms: number): Promise<void> {
    const becomes = async (health: string) => {
      await this.query(
        `update provider_connection set health = $2, version = version + 1 where role = $1 and status = 'active'`,
        [role, health],
      )
    }
    await becomes('down')
    await pause(ms)
    await becomes('healthy')
  }

  /** Makes the bank contradict its last message, for orders without a next message. @returns how many messages */
  async bankContradicts(): Promise<number> {
    return (
      await this.query(`update sandbox_order set state = 'accepted', next_event = case state when 'settled' then 'rejected' else 'settled' end, due_at = now()
      where state in ('settled', 'rejected') and next_event is distinct from 'returned' and reference in (select reference from sandbox_order order by received_at desc limit 500) returning 1`)
    ).length
  }

  /** Delays the bank's messages about orders. @returns how many orders */
  async bankIsLate(ms: number): Promise<number> {
    return (
      await this.query(
        `update sandbox_order set due_at = due_at + $1 * interval '1 millisecond' where state = 'accepted' and due_at is not null returning 1`,
        [ms],
      )
    ).length
  }

  /** Makes orders that the bank never answered known to it, so that a look-up finds them. @returns how many orders */
  async bankRemembers(): Promise<number> {
    const payments = await this.query(
      `update sandbox_order set due_at = now() where state = 'unanswered' and next_event is not null and due_at > now() returning 1`,
    )
    const exchanges = await this.query(
      `update sandbox_fx_order set due_at = now() where state = 'unanswered' and next_event is not null and due_at > now() returning 1`,
    )
    return payments.length + exchanges.length
  }

  /** Makes all pending look-ups at the bank due now. @returns how many payments and exchanges */
  async askBankNow(): Promise<number> {
    const payments = await this.query(
      'update partner_instruction set attention_at = now() where attention_at > now() returning 1',
    )
    return (
      payments.length + (await this.query('update fx_order set due_at = now() where due_at > now() returning 1')).length
    )
  }

  /** Makes all pending decisions of the sandbox's reviewer due now. @returns how many */
  async reviewNow(): Promise<number> {
    return (
      await this.query(
        `update compliance_hold set wake_at = now() where status = 'open' and wake_at > now() returning 1`,
      )
    ).length
  }

  /** Makes payments that wait for money check for it now. @returns how many */
  async payDueNow(): Promise<number> {
    return (await this.query(`update payment_due set due_at = now() where due_at > now() returning 1`)).length
  }

  /** Resumes jobs that a sandbox was told to pause. @returns how many */
  async jobsGoOn(): Promise<number> {
    return (
      await this.query(
        `update job set due_at = now() where lease is null and due_at > now() + interval '1 hour' returning 1`,
      )
    ).length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#held.disposeAsync()
  }
}

async function writeUntilFull(file: FileHandle, block: Buffer): Promise<void> {
  try {
    for (;;) await file.write(block)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}

/** Whether an error means that the connection or the server was lost: no SQLSTATE, or one of class 08 or 57. */
function isLost(error: unknown): boolean {
  const { code } = error as { code?: string }
  return code === undefined || /^(08|57)...$|^E[A-Z]+$/.test(code)
}

/** The Redis program on this machine. @throws Error when there is none */
export async function redisProgram(): Promise<string> {
  for (const name of ['redis-server', 'valkey-server']) {
    if (
      await run(name, ['--version']).then(
        () => true,
        () => false,
      )
    )
      return name
  }
  throw new Error('These tests stop and start Redis themselves: install redis-server or valkey-server.')
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
      .once('connect', () => {
        socket.destroy()
        resolve(true)
      })
      .once('error', () => resolve(false))
  })
}

/** Finds a free port of the loopback interface. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

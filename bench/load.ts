/**
 * The load generator. It runs in a process of its own and shares the machine with what it measures, so it is written
 * for little work per request: raw sockets, requests rendered beforehand, a parser that reads two numbers, and one
 * array for all latencies. On two cores it takes 13 to 18 µs of processor time a request, two thirds of it in the
 * kernel, against 52 µs of the bare server: it drives 35 000 requests a second from one core.
 *
 * Two ways to load a server:
 *  * closed loop: every connection sends its next request when the answer to the last has come. It finds the peak.
 *  * open loop: requests fall due at a fixed rate, whatever the server does. A request's latency counts from when it
 *    was due, also when it had to wait for a free connection, so a server that falls behind cannot hide it.
 */
import { Arrivals } from './arrivals.ts'
import { Histogram } from './histogram.ts'
import { LoadConnection, render, type Rendered } from './load-connection.ts'
import type { Latencies, LoadPlan, LoadReport } from './load-plan.ts'
import { answerParent, tellMeasurement, type Tell } from './process.ts'

const DRAIN_SECONDS = 10
/** How often an open loop looks at what has fallen due. It adds up to this to every latency, and spares a core. */
const TICK_MS = 1

const UNAVAILABLE = 503

/** The operations of a measurement, by how they ended. */
class Tally {
  readonly #all = new Histogram()
  readonly #accepted = new Histogram()
  readonly #refused = new Histogram()
  #failures = 0

  /** Counts an operation. @param status of its last answer; null when none came */
  add(ms: number, succeeded: boolean, status: number | null): void {
    this.#all.record(ms * 1000)
    if (succeeded) this.#accepted.record(ms * 1000)
    else {
      this.#failures += 1
      if (status === UNAVAILABLE) this.#refused.record(ms * 1000)
    }
  }

  report(
    seconds: number,
  ): Pick<
    LoadReport,
    'rate' | 'operations' | 'failures' | 'p50Ms' | 'p99Ms' | 'maxMs' | 'histogram' | 'accepted' | 'refused'
  > {
    const accepted = latencies(this.#accepted)
    return {
      rate: accepted.count / seconds,
      operations: accepted.count + this.#failures,
      failures: this.#failures,
      p50Ms: this.#all.quantile(0.5) / 1000,
      p99Ms: this.#all.quantile(0.99) / 1000,
      maxMs: this.#all.max / 1000,
      histogram: this.#all.sparse(),
      accepted,
      refused: latencies(this.#refused),
    }
  }
}

function latencies(histogram: Histogram): Latencies {
  return { count: histogram.total, p50Ms: histogram.quantile(0.5) / 1000, p99Ms: histogram.quantile(0.99) / 1000 }
}

/** A run of a plan. */
class LoadRun {
  readonly operations: readonly (readonly Rendered[])[]
  readonly requestBytesMax: number
  readonly #plan: LoadPlan
  readonly #tell: Tell
  readonly #arrivals: Arrivals | null
  readonly #connections: LoadConnection[] = []
  readonly #idle: LoadConnection[] = []
  readonly #tally = new Tally()
  readonly #statuses = new Map<number, number>()
  readonly #allStatuses = new Map<number, number>()
  readonly #errors = new Map<string, number>()
  #alive = 0
  #inFlight = 0
  #unanswered = 0
  // Everything before `from` is warm-up. Set when the connections stand.
  #start = 0
  #from = Number.POSITIVE_INFINITY
  #until = Number.POSITIVE_INFINITY
  /** Whether the time of the measurement is over. */
  #over = false
  #finish: () => void = () => undefined

  constructor(plan: LoadPlan, tell: Tell) {
    this.#plan = plan
    this.#tell = tell
    const { host } = new URL(plan.targets[0]!)
    this.operations = plan.operations.map((operation) => operation.map((request) => render(request, host)))
    this.requestBytesMax = Math.max(...this.operations.flat().map(({ bytes }) => bytes.length))
    const { arrivalsPerSecond: perSecond, warmupSeconds, seconds } = plan
    this.#arrivals = perSecond === undefined ? null : new Arrivals({ perSecond, warmupSeconds, seconds })
  }

  async run(): Promise<LoadReport> {
    const { seconds, warmupSeconds, drainSeconds = DRAIN_SECONDS } = this.#plan
    await this.#connect()
    this.#start = performance.now()
    this.#from = this.#start + warmupSeconds * 1000
    this.#until = this.#from + seconds * 1000
    const finished = new Promise<void>((resolve) => {
      this.#finish = resolve
    })
    using _ = tellMeasurement(this.#tell, { warmupSeconds, seconds })
    const ended = setTimeout(
      () => {
        this.#over = true
        this.#finishIfDone()
      },
      (warmupSeconds + seconds) * 1000,
    )
    const patience = setTimeout(() => this.#finish(), (warmupSeconds + seconds + drainSeconds) * 1000)
    const ticker = this.#begin()
    await finished
    clearTimeout(ended)
    clearTimeout(patience)
    clearInterval(ticker)
    this.#giveUp()
    return {
      ...this.#tally.report(seconds),
      unanswered: this.#unanswered,
      statuses: Object.fromEntries(this.#statuses),
      allStatuses: Object.fromEntries(this.#allStatuses),
      errors: Object.fromEntries(this.#errors),
    }
  }

  onStatus(status: number): void {
    this.#allStatuses.set(status, (this.#allStatuses.get(status) ?? 0) + 1)
    // Answers of the warm-up's last requests may fall into the measurement; in a count of tens of thousands it is no
    // matter.
    if (performance.now() >= this.#from) this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
  }

  onDone(connection: LoadConnection, succeeded: boolean, status: number): void {
    const now = performance.now()
    this.#inFlight -= 1
    this.#account(connection, now, succeeded, status)
    if (this.#arrivals !== null) {
      this.#idle.push(connection)
      this.#pump(now)
    } else if (now < this.#until) {
      this.#inFlight += 1
      connection.start(now, false)
    }
    this.#finishIfDone()
  }

  onLost(connection: LoadConnection, reason: string): void {
    this.#errors.set(reason, (this.#errors.get(reason) ?? 0) + 1)
    this.#alive -= 1
    if (connection.busy) {
      connection.busy = false
      this.#inFlight -= 1
      this.#unanswered += 1
      this.#account(connection, performance.now(), false, null)
    }
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
    if (this.#alive === 0) this.#finish()
    else this.#finishIfDone()
  }

  async #connect(): Promise<void> {
    const targets = this.#plan.targets.map((target) => new URL(target))
    for (let nth = 0; nth < this.#plan.connections; nth++) {
      this.#connections.push(await LoadConnection.open(this, targets[nth % targets.length]!, nth * 7_919 + 1))
      this.#alive += 1
    }
  }

  /** Sends the first requests. @returns the beat of an open loop */
  #begin(): NodeJS.Timeout | undefined {
    if (this.#arrivals !== null) {
      this.#idle.push(...this.#connections)
      return setInterval(() => this.#pump(performance.now()), TICK_MS)
    }
    for (const connection of this.#connections) {
      this.#inFlight += 1
      connection.start(performance.now(), false)
    }
    return undefined
  }

  /** Sends what has fallen due and has a connection to go over; the rest stays due. */
  #pump(now: number): void {
    while (this.#idle.length > 0) {
      const arrival = this.#arrivals!.take(now - this.#start)
      if (arrival === null) return
      this.#inFlight += 1
      this.#idle.pop()!.start(this.#start + arrival.dueMs, arrival.counted)
    }
  }

  /** A closed loop counts what ends within the measurement; an open one what falls due in it, whenever it ends. */
  #account(
    { since, counted }: Pick<LoadConnection, 'since' | 'counted'>,
    now: number,
    succeeded: boolean,
    status: number | null,
  ): void {
    const counts = this.#arrivals === null ? now >= this.#from && now < this.#until : counted
    if (counts) this.#tally.add(now - since, succeeded, status)
  }

  #finishIfDone(): void {
    if (this.#over && this.#inFlight === 0 && (this.#arrivals?.left ?? 0) === 0) this.#finish()
  }

  /** A request without an answer counts with the time that it has waited, and as failed. */
  #giveUp(): void {
    const end = performance.now()
    for (const connection of this.#connections) {
      if (connection.busy) {
        this.#unanswered += 1
        this.#account(connection, end, false, null)
      }
      connection.close()
    }
    if (this.#arrivals === null) return
    for (;;) {
      const arrival = this.#arrivals.take(Number.POSITIVE_INFINITY)
      if (arrival === null) return
      this.#account({ since: this.#start + arrival.dueMs, counted: arrival.counted }, end, false, null)
    }
  }
}

/** Runs a plan in this process. @param tell is called when the measurement begins and when it ends */
export async function runLoad(plan: LoadPlan, tell: Tell = () => undefined): Promise<LoadReport> {
  return await new LoadRun(plan, tell).run()
}

if (process.argv[1] === import.meta.filename) answerParent<LoadPlan, LoadReport>(runLoad)

/** Tells a load balancer whether this node is ready for requests. */
import type { Readiness } from '../../lib/contract/health.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { isAnswering, type Database } from '../../storage/db/database.ts'

export class Start {
  #over = false

  /** Records that the start of the node is over. */
  end(): void {
    this.#over = true
  }

  /**
   * Reports whether the node is ready: the start is over and the sandbox is stored, the database answers, and the
   * shards of this node are known.
   */
  async readiness({ database, shards }: { readonly database: Database; readonly shards: Shards }): Promise<Readiness> {
    const from = performance.now()
    const postgres = await isAnswering(database)
    const latencyMs = Math.round(performance.now() - from)
    const { nodeId, held, total, nodes } = shards.state()
    const checks = [
      { name: 'postgres', ok: postgres, latencyMs },
      { name: 'shards', ok: nodes > 0, latencyMs: 0, nodeId, held, total, nodes },
      { name: 'start', ok: this.#over, latencyMs: 0 },
    ]
    return { status: checks.every(({ ok }) => ok) ? 'ready' : 'not_ready', checks }
  }
}

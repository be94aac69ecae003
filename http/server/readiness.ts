/** Tells a load balancer whether this node is ready for requests. */
import type { Readiness } from '../../lib/contract/health.ts'
import { NO_OPERATOR } from '../../lib/operators/first-entry.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { isAnswering, type Database } from '../../storage/db/database.ts'
import { hasOperator } from '../../storage/operators/operators.ts'

export class Start {
  #over = false
  /** True once there is an operator; operators are never deleted. */
  #entered = false

  /** Records that the start of the node is over. */
  end(): void {
    this.#over = true
  }

  /** Returns whether the database has an operator, without which the node can do nothing. @throws the driver's errors */
  async isEntered({ pool }: Pick<Database, 'pool'>): Promise<boolean> {
    this.#entered ||= await hasOperator(pool)
    return this.#entered
  }

  /**
   * Reports whether the node is ready: the start is over and the sandbox is stored, the database answers and has an
   * operator, and the shards of this node are known.
   */
  async readiness({ database, shards }: { readonly database: Database; readonly shards: Shards }): Promise<Readiness> {
    const from = performance.now()
    const postgres = await isAnswering(database)
    const latencyMs = Math.round(performance.now() - from)
    const { nodeId, held, total, nodes } = shards.state()
    // Null: unknown, because the database does not answer.
    const entered = await this.isEntered(database).catch(() => null)
    const checks = [
      { name: 'postgres', ok: postgres, latencyMs },
      { name: 'shards', ok: nodes > 0, latencyMs: 0, nodeId, held, total, nodes },
      { name: 'operator', ok: entered === true, latencyMs: 0, ...(entered === false ? { detail: NO_OPERATOR } : {}) },
      { name: 'start', ok: this.#over, latencyMs: 0 },
    ]
    return { status: checks.every(({ ok }) => ok) ? 'ready' : 'not_ready', checks }
  }
}

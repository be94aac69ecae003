/** The shard ownership of a single node: it owns every shard from start to stop. */
import type { ShardHome, Shards, ShardsState } from '../../lib/shards/shards.ts'
import { SHARD_COUNT } from '../../lib/shards/shard.ts'

const HERE: ShardHome = { kind: 'here' }

export class InProcessShards implements Shards {
  readonly #nodeId: string
  constructor(nodeId: string) {
    this.#nodeId = nodeId
  }

  homeOf(): ShardHome {
    return HERE
  }
  owns(): boolean {
    return true
  }
  owned(): null {
    return null
  }
  onChange(): void {
    /* Ownership never changes. */
  }
  state(): ShardsState {
    return { nodeId: this.#nodeId, held: SHARD_COUNT, total: SHARD_COUNT, nodes: 1 }
  }
  async start(): Promise<void> {
    /* There is no other node. */
  }
  async stop(): Promise<void> {
    /* No other node takes the shards. */
  }
}

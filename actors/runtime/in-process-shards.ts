/** The homes of a single node: every shard is here, from the start to the end. */
import type { ShardHome, Shards, ShardsState } from '../../lib/shards/shards.ts'
import { SHARD_COUNT } from '../../lib/shards/shard.ts'

const HERE: ShardHome = { kind: 'here' }

export class InProcessShards implements Shards {
  readonly #nodeId: string
  constructor(nodeId: string) { this.#nodeId = nodeId }

  homeOf(): ShardHome { return HERE }
  owns(): boolean { return true }
  owned(): null { return null }
  onChange(): void { /* Nothing ever changes. */ }
  state(): ShardsState { return { nodeId: this.#nodeId, held: SHARD_COUNT, total: SHARD_COUNT, nodes: 1 } }
  async start(): Promise<void> { /* Nobody to join. */ }
  async stop(): Promise<void> { /* Nobody to give them to. */ }
}

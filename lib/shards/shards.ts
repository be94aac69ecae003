/**
 * The home node of each shard: the port for a single node and for several.
 *
 * A home saves wasted work and gives background work one place; the correctness of money never depends on it (I3). So a
 * home may be wrong for a moment: stale knowledge costs a hop or a retry, nothing else.
 */
export type ShardHome =
  | { readonly kind: 'here' }
  /** The home is another node. */
  | ({ readonly kind: 'there' } & NodeAddress)
  /** The home has left, or the shard is moving to another node. */
  | { readonly kind: 'nowhere' }

/** The address for forwarded requests, and the id of the process: a restarted process is another instance. */
export interface NodeAddress {
  readonly nodeUrl: string
  readonly instance: string
}

export interface ShardsState {
  readonly nodeId: string
  readonly held: number
  readonly total: number
  /** Live nodes, this one included. */
  readonly nodes: number
}

export interface Shards {
  homeOf(shard: number): ShardHome
  /** Tells whether this node may do the shard's background work now. */
  owns(shard: number): boolean
  /** Returns the shards owned now, ascending; null for all of them. */
  owned(): readonly number[] | null
  /** Registers a listener, which is called with the gained and lost shards. */
  onChange(listener: (change: { readonly gained: readonly number[]; readonly lost: readonly number[] }) => void): void
  state(): ShardsState
  /** Joins the cluster; resolves when this node is a member, not when it has shards. */
  start(): Promise<void>
  /** Releases its shards, so that other nodes can take them at once, and leaves. */
  stop(): Promise<void>
}

/**
 * Which node is home to which shard: the port that one node and several share.
 *
 * A home saves wasted work and gives background work one place; it is never what keeps money right (I3). So a home may be
 * wrong for a moment: too old knowledge costs a hop or a retry, nothing else.
 */
export type ShardHome =
  | { readonly kind: 'here' }
  /** Another node. */
  | { readonly kind: 'there' } & NodeAddress
  /** Its node is gone, or it is changing hands. */
  | { readonly kind: 'nowhere' }

/** Where a node takes forwarded requests, and which process it is: one that was started anew is another. */
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
  /** Whether this node may do the shard's background work now. */
  owns(shard: number): boolean
  /** The shards owned now, ascending; null for all of them. */
  owned(): readonly number[] | null
  /** Called with the shards that came and went. */
  onChange(listener: (change: { readonly gained: readonly number[]; readonly lost: readonly number[] }) => void): void
  state(): ShardsState
  /** Joins; resolves when this node has taken part, not when it has shards. */
  start(): Promise<void>
  /** Gives its shards up, so that others can have them at once, and leaves. */
  stop(): Promise<void>
}

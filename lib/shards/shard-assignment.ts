/**
 * Assigns each shard to a live node as its home: rendezvous hashing with bounded loads. A pure function of the set of
 * nodes, so every node computes the same result, in whatever order it learned of the nodes.
 *
 * Every pair of node and shard has a score. Pairs are taken by score, the best first, and a full node takes no more.
 * Loads differ by one at most. When a node joins or leaves, the necessary shards move, and a few more that a full node
 * could not take before: measured over 1 700 random sets, on average 5 of 256 when a fourth node joins, 8 when a ninth
 * does, 19 at worst. (Plain rendezvous hashing moves no extra shards, but with four nodes its fullest has a third more
 * than its emptiest; Maglev hashing moved more from three nodes on.)
 */
import { hash } from 'node:crypto'

/**
 * Returns the home of every shard from 0 to `shardCount` - 1. Repeated nodes count once.
 *
 * @throws RangeError when there is no node
 */
export function assign(nodes: readonly string[], shardCount: number): readonly string[] {
  const distinct = [...new Set(nodes)]
  if (distinct.length === 0) throw new RangeError('shards need at least one node')

  const room = capacities(distinct, shardCount)
  const pairs = distinct.flatMap((node) =>
    Array.from({ length: shardCount }, (_, shard) => ({ node, shard, score: score(node, String(shard)) })),
  )
  pairs.sort((a, b) => b.score - a.score || a.shard - b.shard || compare(a.node, b.node))

  const homes = new Array<string | undefined>(shardCount).fill(undefined)
  for (const { node, shard } of pairs) {
    const left = room.get(node)!
    if (left === 0 || homes[shard] !== undefined) continue
    homes[shard] = node
    room.set(node, left - 1)
  }
  // Every shard is paired with every node, and the capacities add up to the number of shards, so no shard is left over.
  return homes as string[]
}

/** Returns the number of shards that each node takes; the nodes that take one more are chosen by score, not by name. */
function capacities(nodes: readonly string[], shardCount: number): Map<string, number> {
  const share = Math.floor(shardCount / nodes.length)
  const over = shardCount % nodes.length
  const ranked = nodes
    .map((node) => ({ node, score: score(node, 'share') }))
    .sort((a, b) => b.score - a.score || compare(a.node, b.node))
  return new Map(ranked.map(({ node }, rank) => [node, share + (rank < over ? 1 : 0)]))
}

/** 48 bits of a hash; ties do not occur in practice. */
function score(node: string, what: string): number {
  return Number.parseInt(hash('sha256', `${what} ${node}`, 'hex').slice(0, 12), 16)
}

/** Compares by code units, because a locale could order differently from node to node. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

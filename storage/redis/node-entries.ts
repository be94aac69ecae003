/**
 * The entries of nodes in Redis: address and shards of a node, signed with a key of NODE_SECRET, together with the
 * namespace, the process and the time (S6 in redis-shards.ts).
 */
import { CLOCK_DIFFERENCE_MAX_MS, NodeProof } from '../../lib/security/node-proof.ts'
import { SHARD_COUNT } from '../../lib/shards/shard.ts'
import type { RedisShardsOptions, RedisShardsSettings } from './redis-shards-options.ts'

/** Longer than any entry of a node. */
const ENTRY_CHARACTERS_MAX = 1_024
/** Ignored entries are logged at most once in this time. */
const PASSED_OVER_LOG_MS = 10_000

/** A live node, as its entry states it. */
export interface NodeEntry {
  /** The node's `instance`. */
  readonly key: string
  readonly nodeUrl: string
  readonly held: ReadonlySet<number>
}

/** Writes the entry of this node, and reads those of the others. */
export class NodeEntries {
  readonly #options: Pick<RedisShardsOptions, 'nodeId' | 'nodeSecret' | 'clock' | 'log'>
  readonly #settings: Pick<RedisShardsSettings, 'heartbeatMs' | 'silenceMaxMs'>
  readonly #prefix: string
  readonly #proof: NodeProof
  /**
   * Length of this node's last outage of Redis, and the monotonic time until which other nodes' entries may be as old
   * as it.
   */
  #outage = { ms: 0, until: Number.NEGATIVE_INFINITY }
  #passedOver = { keys: '', at: Number.NEGATIVE_INFINITY }

  constructor(
    options: Pick<RedisShardsOptions, 'nodeId' | 'nodeSecret' | 'clock' | 'log'>,
    settings: Pick<RedisShardsSettings, 'heartbeatMs' | 'silenceMaxMs'>,
    prefix: string,
  ) {
    this.#options = options
    this.#settings = settings
    this.#prefix = prefix
    this.#proof = new NodeProof(options.nodeSecret)
  }

  /** Signs the entry of the process `key`: its time and signature, which follow the body (`entryOf`). */
  signature(key: string, body: string): string {
    const time = `${this.#options.clock.now()}`
    return `${time} ${this.#proof.sign('member', [this.#prefix, key, body, time])}`
  }

  /**
   * Selects the nodes whose entries are signed for this namespace, this node and this time (S6). `flat`: keys and
   * entries in turn; `viewAt`: the monotonic time of the last view, null without any; `at`: of this one.
   */
  believed(flat: readonly string[], own: NodeEntry, viewAt: number | null, at: number): NodeEntry[] {
    const { heartbeatMs, silenceMaxMs } = this.#settings
    // Until the other nodes have written again, their entries from before an outage are as old as the outage (S5).
    const silentMs = viewAt === null ? 0 : at - viewAt
    if (silentMs > 2 * heartbeatMs) this.#outage = { ms: silentMs, until: at + silenceMaxMs }
    const ageMaxMs = CLOCK_DIFFERENCE_MAX_MS + (at < this.#outage.until ? this.#outage.ms : 0)
    const members: NodeEntry[] = []
    const unsigned: string[] = []
    const untimely: string[] = []
    for (let i = 0; i + 1 < flat.length; i += 2) {
      const key = flat[i]!
      const [held = '', nodeUrl = '', time = '', signature = ''] = flat[i + 1]!.slice(0, ENTRY_CHARACTERS_MAX).split(
        ' ',
      )
      const ageMs = this.#options.clock.now() - Number(time)
      // This node needs no proof of itself: a clock change during a heartbeat must not make it give up its shards.
      if (key === own.key) members.push(own)
      else if (!this.#proof.isSigned('member', [this.#prefix, key, `${held} ${nodeUrl} `, time], signature))
        unsigned.push(key.slice(0, 64))
      else if (ageMs > ageMaxMs || ageMs < -CLOCK_DIFFERENCE_MAX_MS) untimely.push(`${nodeUrl} (${key}, ${ageMs} ms)`)
      else members.push({ key, nodeUrl, held: fromBits(held) })
    }
    this.#notePassedOver(unsigned, untimely, at)
    return members
  }

  /** Logs ignored entries: when they change, and at most once in PASSED_OVER_LOG_MS. */
  #notePassedOver(unsigned: readonly string[], untimely: readonly string[], at: number): void {
    // Ages change at each check, so only the nodes are compared.
    const keys = [...unsigned, ...untimely.map((text) => text.slice(0, text.lastIndexOf(',')))].sort().join()
    if (keys === this.#passedOver.keys || at - this.#passedOver.at < PASSED_OVER_LOG_MS) return
    this.#passedOver = { keys, at }
    const { log, nodeId } = this.#options
    if (unsigned.length > 0) {
      log.error(
        { nodeId, count: unsigned.length, entries: unsigned.slice(0, 8) },
        'entries of nodes in Redis are not signed with this NODE_SECRET and are ignored: those nodes have another NODE_SECRET, or an attacker writes to Redis',
      )
    }
    if (untimely.length > 0) {
      log.error(
        { nodeId, count: untimely.length, entries: untimely.slice(0, 8), maxMs: CLOCK_DIFFERENCE_MAX_MS },
        'entries of nodes in Redis were signed at another time and are ignored: the clocks of the nodes differ too much, or the entries are old',
      )
    }
  }
}

/** The body of a node's entry: its shards and its address, each followed by a space. */
export const entryOf = (shards: readonly number[], nodeUrl: string): string => `${toBits(shards)} ${nodeUrl} `

function toBits(shards: readonly number[]): string {
  const bits = Buffer.alloc(Math.ceil(SHARD_COUNT / 8))
  for (const shard of shards) bits[shard >> 3]! |= 1 << (shard & 7)
  return bits.toString('base64')
}

const ALL_SHARDS: readonly number[] = Array.from({ length: SHARD_COUNT }, (_, shard) => shard)

function fromBits(text: string): ReadonlySet<number> {
  const bits = Buffer.from(text, 'base64')
  return new Set(ALL_SHARDS.filter((shard) => ((bits[shard >> 3] ?? 0) >> (shard & 7)) & 1))
}

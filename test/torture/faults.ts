/** The faults of a torture: each happens, lasts, and is over when its promise resolves. */
import { setTimeout as pause } from 'node:timers/promises'

import { LEASE_MS, type Cluster, type ClusterNode, type SmallDisk } from '../support/cluster.ts'
import type { Random } from '../support/random.ts'
import type { Partner } from './partner.ts'

export interface Scene {
  readonly cluster: Cluster
  readonly random: Random
  /** Null: this machine has none. */
  readonly disk: SmallDisk | null
  /** The bank, where it tells by webhooks. */
  readonly partner: Partner
  /** Sends far more than can be taken, for a while. */
  readonly flood: (ms: number) => Promise<void>
}

export interface Fault {
  readonly name: string
  readonly happen: (scene: Scene) => Promise<void>
  /** Whether it can happen here. */
  readonly possible?: (scene: Scene) => boolean
}

/** Several nodes, and at least one that is left. */
const several = ({ cluster }: Scene): boolean => cluster.live.length > 1
const hasRedis = ({ cluster }: Scene): boolean => cluster.redis !== null
const pick = ({ cluster, random }: Scene): ClusterNode => random.pick(cluster.live)

export const FAULTS: readonly Fault[] = [
  {
    name: 'node killed',
    async happen(scene) {
      const node = pick(scene)
      await node.kill()
      await pause(scene.random.int(500, 6_000))
      await node.start()
    },
  },
  {
    name: 'node stopped and started',
    async happen(scene) {
      const node = pick(scene)
      const code = await node.stop()
      if (code !== 0) throw new Error(`${node.name} did not stop within 10 s but ended with ${code}.`)
      await pause(scene.random.int(200, 2_000))
      await node.start()
    },
  },
  { name: 'node stalls for three leases', possible: several, happen: (scene) => pick(scene).stall(3 * LEASE_MS) },
  { name: 'node stalls for a moment', happen: (scene) => pick(scene).stall(scene.random.int(200, 2_500)) },
  {
    name: 'Redis wiped',
    possible: hasRedis,
    happen: ({ cluster }) =>
      cluster.redis!.wipe().catch((error: NodeJS.ErrnoException) => {
        // Another fault has taken it away meanwhile, and what it kept with it.
        if (error.code !== 'ECONNRESET' && error.code !== 'ECONNREFUSED') throw error
      }),
  },
  {
    name: 'Redis restarted',
    possible: hasRedis,
    async happen({ cluster }) {
      await cluster.redis!.stop()
      await cluster.redis!.start()
    },
  },
  {
    name: 'Redis gone for 20 s',
    possible: hasRedis,
    async happen({ cluster }) {
      await cluster.redis!.stop()
      await pause(20_000)
      await cluster.redis!.start()
    },
  },
  { name: 'Postgres crashed', happen: ({ cluster }) => cluster.crashPostgres() },
  {
    name: 'sessions terminated',
    async happen({ cluster }) {
      await cluster.terminateBackends()
    },
  },
  {
    name: 'answers to COMMIT lost',
    async happen(scene) {
      const { wire } = pick(scene)
      wire.loseCommitAnswers(scene.random.int(1, 5))
      await pause(1_500)
      wire.mend()
    },
  },
  {
    name: 'node cut off from Postgres',
    async happen(scene) {
      const { wire } = pick(scene)
      wire.cut()
      await pause(scene.random.int(500, 5_000))
      wire.mend()
    },
  },
  {
    name: 'disk full',
    possible: ({ disk }) => disk !== null,
    async happen({ disk, random }) {
      await disk!.fill()
      await pause(random.int(1_000, 4_000))
      await disk!.free()
    },
  },
  { name: 'bank answers nobody for 4 s', happen: ({ cluster }) => cluster.stallBank(4_000) },
  {
    name: 'connection down',
    async happen({ cluster, random }) {
      await cluster.connectionDown(random.pick(['primary', 'fallback'] as const), random.int(500, 5_000))
    },
  },
  {
    name: 'bank repeats itself',
    async happen({ cluster }) {
      await cluster.bankRepeats()
    },
  },
  {
    name: 'bank contradicts itself',
    async happen({ cluster }) {
      await cluster.bankContradicts()
    },
  },
  {
    name: 'bank is late',
    async happen({ cluster }) {
      await cluster.bankIsLate(8_000)
    },
  },
  {
    name: 'webhooks doubled and in no order',
    async happen({ partner }) {
      const { taken, sent } = await partner.tell()
      if (taken === 0 && sent > 0) throw new Error(`No node took any of ${sent} webhooks.`)
    },
  },
  {
    name: 'connection fails over and back under webhooks',
    async happen({ cluster, partner, random }) {
      for (const role of random.chance(0.5) ? (['primary', 'fallback'] as const) : (['fallback', 'primary'] as const))
        await Promise.all([cluster.connectionDown(role, random.int(500, 2_500)), partner.tell()])
    },
  },
  { name: 'flood', happen: ({ flood }) => flood(4_000) },
]

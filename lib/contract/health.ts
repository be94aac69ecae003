/** Health and readiness, read by load balancers and monitors. */
import Type, { type Static } from 'typebox'
import { Timestamp } from './primitives.ts'

export const Health = Type.Object(
  {
    status: Type.Literal('ok'),
    version: Type.String({ description: 'Version of the deployed build.' }),
    commit: Type.String(),
    time: Timestamp,
  },
  { title: 'Health' },
)
export type Health = Static<typeof Health>

export const Readiness = Type.Object(
  {
    status: Type.Enum(['ready', 'not_ready']),
    checks: Type.Array(
      Type.Object({
        name: Type.String(),
        ok: Type.Boolean(),
        latencyMs: Type.Number(),
        detail: Type.Optional(Type.String({ description: 'What to do about a check that fails.' })),
        nodeId: Type.Optional(Type.String()),
        held: Type.Optional(Type.Integer({ description: 'Shards at home on this node.' })),
        total: Type.Optional(Type.Integer()),
        nodes: Type.Optional(Type.Integer({ description: 'Live nodes.' })),
      }),
    ),
  },
  { title: 'Readiness' },
)
export type Readiness = Static<typeof Readiness>

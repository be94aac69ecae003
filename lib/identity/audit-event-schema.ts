/** The audit trail of changes made by people and keys. */
import Type, { type Static } from 'typebox'
import { list } from '../contract/list.ts'
import { Nullable, Timestamp, Uuid, Words } from '../contract/primitives.ts'

const State = Nullable(Type.Record(Type.String(), Type.Unknown()), {
  description: 'The changed members without secrets; null when the resource did not exist.',
})

export const AuditEvent = Type.Object(
  {
    id: Uuid,
    at: Timestamp,
    customerId: Nullable(Uuid),
    actor: Type.Object(
      { type: Words('AuditActorType', ['member', 'staff', 'key', 'system']), id: Uuid, name: Type.String() },
      { title: 'AuditActor' },
    ),
    action: Type.String({ examples: ['api_key.created'] }),
    object: Type.Object({ type: Type.String(), id: Uuid }, { title: 'AuditObject' }),
    before: State,
    after: State,
    address: Nullable(Type.String()),
    requestId: Nullable(Type.String()),
  },
  { title: 'AuditEvent' },
)
export type AuditEvent = Static<typeof AuditEvent>

export const auditEventList = list({
  filters: {
    actorId: { kind: 'ids' },
    action: { kind: 'text', max: 60 },
    objectType: { kind: 'text', max: 40 },
    objectId: { kind: 'ids' },
    customerId: { kind: 'ids', operatorOnly: true },
    from: { kind: 'timeFrom' },
    to: { kind: 'timeTo' },
  },
  sorts: ['-at'],
})

/** An account of the operator at a banking partner. */
import { defineEntity, p } from '@mikro-orm/core'
import { Operator } from '../operators/operator-entity.ts'

/**
 * The trigger as the migration defines it: nodes that cache a connection's capabilities are notified when it changes.
 */
const TELL_NODES = `create trigger connection_changed after update on provider_connection
  for each row execute function exchange_changed('connection')`

export const ProviderConnection = defineEntity({
  name: 'ProviderConnection',
  tableName: 'provider_connection',
  properties: {
    id: p.uuid().primary(),
    operator: () =>
      p
        .manyToOne(Operator)
        .fieldName('operator_id')
        .foreignKeyName('provider_connection_operator_id_fkey')
        .updateRule('no action')
        .deleteRule('no action')
        .index(false),
    provider: p.text(),
    environment: p.text(),
    role: p.text(),
    status: p.text(),
    name: p.text(),
    config: p.json().defaultRaw(`'{}'`),
    version: p.integer().defaultRaw('1'),
    updatedBy: p.uuid().fieldName('updated_by').nullable(),
    updatedAt: p.datetime().fieldName('updated_at').columnType('timestamptz').nullable(),
    createdAt: p.datetime().fieldName('created_at').columnType('timestamptz'),
  },
  triggers: [{ name: 'connection_changed', timing: 'after', events: ['update'], expression: TELL_NODES }],
})

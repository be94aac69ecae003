/** An account of the operator at a banking partner. */
import { defineEntity, p } from '@mikro-orm/core'
import { Operator } from './operator.ts'

export const ProviderConnection = defineEntity({
  name: 'ProviderConnection',
  tableName: 'provider_connection',
  properties: {
    id: p.uuid().primary(),
    operator: () => p.manyToOne(Operator).fieldName('operator_id').foreignKeyName('provider_connection_operator_id_fkey').updateRule('no action').deleteRule('no action').index(false),
    provider: p.text(),
    environment: p.text(),
    role: p.text(),
    status: p.text(),
    name: p.text(),
    config: p.json().defaultRaw(`'{}'`),
    createdAt: p.datetime().fieldName('created_at').columnType('timestamptz'),
  },
})

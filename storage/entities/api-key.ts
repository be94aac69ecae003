/** A key of a customer or of the operator itself. Only the hash of its text is kept. */
import { defineEntity, p } from '@mikro-orm/core'
import { Operator } from './operator.ts'

export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_key',
  properties: {
    id: p.uuid().primary(),
    level: p.text(),
    tenantId: p.uuid().fieldName('tenant_id'),
    operator: () => p.manyToOne(Operator).fieldName('operator_id').foreignKeyName('api_key_operator_id_fkey').updateRule('no action').deleteRule('no action').index(false),
    name: p.text(),
    environment: p.text(),
    prefix: p.text(),
    sha256: p.uint8array(),
    scopes: p.array().columnType('text[]'),
    status: p.text(),
    expiresAt: p.datetime().fieldName('expires_at').columnType('timestamptz').nullable(),
    createdBy: p.uuid().fieldName('created_by'),
    createdAt: p.datetime().fieldName('created_at').columnType('timestamptz'),
  },
  uniques: [{ name: 'api_key_sha256_unique', properties: ['sha256'] }],
})

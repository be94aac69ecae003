/** A key of a customer or of the operator itself. Only the hash of its text is stored. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'
import { Operator } from '../operators/operator-entity.ts'

/** The trigger as the migration defines it: nodes that cache a key are notified when it changes. */
const TELL_NODES = `create trigger api_key_changed after delete or update of name, status, scopes, ip_allowlist, expires_at, grace_ends_at on api_key
  for each row execute function api_key_changed()`

export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_key',
  properties: {
    id: p.uuid().primary(),
    level: p.text().$type<'customer' | 'operator'>(),
    tenantId: p.uuid().fieldName('tenant_id'),
    operator: () =>
      p
        .manyToOne(Operator)
        .fieldName('operator_id')
        .foreignKeyName('api_key_operator_id_fkey')
        .updateRule('no action')
        .deleteRule('no action')
        .index(false),
    name: p.text(),
    environment: p.text().$type<'live' | 'test'>(),
    prefix: p.text(),
    sha256: p.uint8array(),
    scopes: p.array().columnType('text[]'),
    status: p.text().$type<'active' | 'rotating' | 'revoked'>(),
    expiresAt: instant().fieldName('expires_at').nullable(),
    createdBy: p.uuid().fieldName('created_by'),
    createdAt: instant().fieldName('created_at'),
    ipAllowlist: p.array().fieldName('ip_allowlist').columnType('text[]').defaultRaw(`'{}'`),
    version: p.bigint().defaultRaw('1'),
    graceEndsAt: instant().fieldName('grace_ends_at').nullable(),
    replacedById: p.uuid().fieldName('replaced_by_id').nullable(),
    replacesId: p.uuid().fieldName('replaces_id').nullable(),
    lastUsedAt: instant().fieldName('last_used_at').nullable(),
    lastUsedIp: p.text().fieldName('last_used_ip').nullable(),
    revokedAt: instant().fieldName('revoked_at').nullable(),
    revokedBy: p.uuid().fieldName('revoked_by').nullable(),
    expiryWarnedDays: p.smallint().fieldName('expiry_warned_days').nullable(),
  },
  indexes: [
    { name: 'api_key_tenant', properties: ['tenantId', 'id'] },
    { name: 'api_key_expiring', properties: ['expiresAt'], where: `status = 'active' and expires_at is not null` },
    {
      name: 'api_key_tenant_name',
      expression: 'create index api_key_tenant_name on api_key (tenant_id, lower(name), id)',
    },
  ],
  triggers: [{ name: 'api_key_changed', timing: 'after', events: ['update', 'delete'], expression: TELL_NODES }],
  uniques: [{ name: 'api_key_sha256_unique', properties: ['sha256'] }],
})

/** A webhook endpoint of an integrator; its secrets are stored encrypted. */
import { defineEntity, p } from '@mikro-orm/core'
import { Customer } from '../customers/customer-entity.ts'
import { Operator } from '../operators/operator-entity.ts'

export const WebhookEndpoint = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoint',
  properties: {
    id: p.uuid().primary(),
    level: p.text(),
    tenantId: p.uuid().fieldName('tenant_id'),
    operator: () =>
      p
        .manyToOne(Operator)
        .fieldName('operator_id')
        .foreignKeyName('webhook_endpoint_operator_id_fkey')
        .updateRule('no action')
        .deleteRule('no action')
        .index(false),
    customer: () =>
      p
        .manyToOne(Customer)
        .fieldName('customer_id')
        .foreignKeyName('webhook_endpoint_customer_id_fkey')
        .updateRule('no action')
        .deleteRule('no action')
        .index(false)
        .nullable(),
    shard: p.smallint(),
    url: p.text(),
    events: p.array().columnType('text[]'),
    description: p.text().nullable(),
    status: p.text(),
    disabledReason: p.text().fieldName('disabled_reason').nullable(),
    statusChangedAt: p.datetime().fieldName('status_changed_at').columnType('timestamptz').nullable(),
    secret: p.uint8array(),
    secretHint: p.text().fieldName('secret_hint'),
    previousSecret: p.uint8array().fieldName('previous_secret').nullable(),
    previousSecretExpiresAt: p.datetime().fieldName('previous_secret_expires_at').columnType('timestamptz').nullable(),
    consecutiveFailures: p.integer().fieldName('consecutive_failures').defaultRaw('0'),
    failingSince: p.datetime().fieldName('failing_since').columnType('timestamptz').nullable(),
    lastDeliveryAt: p.datetime().fieldName('last_delivery_at').columnType('timestamptz').nullable(),
    lastSuccessAt: p.datetime().fieldName('last_success_at').columnType('timestamptz').nullable(),
    apiVersion: p.text().fieldName('api_version'),
    version: p.bigint().defaultRaw('1'),
    createdBy: p.uuid().fieldName('created_by'),
    createdAt: p.datetime().fieldName('created_at').columnType('timestamptz'),
    updatedAt: p.datetime().fieldName('updated_at').columnType('timestamptz'),
  },
  indexes: [{ name: 'webhook_endpoint_tenant', properties: ['tenantId', 'id'] }],
})

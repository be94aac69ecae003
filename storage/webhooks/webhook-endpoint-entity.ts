/** A webhook endpoint of an integrator; its secrets are stored encrypted. */
import type { EventType } from '../../lib/base/event-types.ts'
import { defineEntity, p } from '@mikro-orm/core'
import { workTriggers } from '../db/due-work.ts'
import { bigVersion, instant, managed } from '../db/entity-types.ts'
import { Customer } from '../customers/customer-entity.ts'
import { Operator } from '../operators/operator-entity.ts'
import type { EndpointStatus } from '../../lib/webhooks/envelope.ts'

export const WebhookEndpoint = managed(
  defineEntity({
    name: 'WebhookEndpoint',
    tableName: 'webhook_endpoint',
    triggers: workTriggers('webhook_endpoint', null, [
      'failing_since',
      'old.failing_since is null and new.failing_since is not null',
    ]),
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
      events: p.array().$type<EventType[]>().columnType('text[]'),
      description: p.text().nullable(),
      status: p.text().$type<EndpointStatus>(),
      disabledReason: p.text().fieldName('disabled_reason').nullable(),
      statusChangedAt: instant().fieldName('status_changed_at').nullable(),
      secret: p.uint8array(),
      secretHint: p.text().fieldName('secret_hint'),
      previousSecret: p.uint8array().fieldName('previous_secret').nullable(),
      previousSecretExpiresAt: instant().fieldName('previous_secret_expires_at').nullable(),
      consecutiveFailures: p.integer().fieldName('consecutive_failures').defaultRaw('0'),
      failingSince: instant().fieldName('failing_since').nullable(),
      lastDeliveryAt: instant().fieldName('last_delivery_at').nullable(),
      lastSuccessAt: instant().fieldName('last_success_at').nullable(),
      apiVersion: p.text().fieldName('api_version'),
      version: bigVersion(),
      createdBy: p.uuid().fieldName('created_by'),
      createdAt: instant().fieldName('created_at'),
      updatedAt: instant().fieldName('updated_at'),
      /** The transactions that were over when the endpoint was created: it is not told of their events. Null: of none. */
      createdSnapshot: p
        .string()
        .columnType('pg_snapshot')
        .fieldName('created_snapshot')
        .nullable()
        .defaultRaw('pg_current_snapshot()'),
    },
    indexes: [{ name: 'webhook_endpoint_tenant', properties: ['tenantId', 'id'] }],
  }),
)

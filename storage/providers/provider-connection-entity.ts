/** An account of the operator at a banking partner. */
import { defineEntity, p } from '@mikro-orm/core'
import type {
  ConnectionMigration,
  ConnectionRole,
  ConnectionStatus,
  ContractModel,
  WebhookRegistration,
} from '../../lib/providers/connection.ts'
import type { HealthState } from '../../lib/providers/health.ts'
import type { ProviderEnvironment } from '../../lib/providers/provider.ts'
import type { CalendarTerms } from '../../lib/rails/business-days.ts'
import { instant, managed } from '../db/entity-types.ts'
import { Operator } from '../operators/operator-entity.ts'

/** The members of a connection's configuration that the service itself reads: other members stay as they are. */
interface ConnectionConfig extends CalendarTerms {
  /** Of a sandbox: whether cut-offs and calendars apply. */
  readonly realCalendar?: boolean
  /** False: the operator itself buys and sells, because the partner exchanges nothing. */
  readonly capabilities?: { readonly fx: boolean }
}

/**
 * The trigger as the migration defines it: nodes that cache a connection's capabilities are notified when it changes.
 */
const TELL_NODES = `create trigger connection_changed after update on provider_connection
  for each row execute function exchange_changed('connection')`

/** Nodes keep connections open, and are told which to open anew. */
const TELL_OPEN = `create trigger provider_connection_told after update of provider, environment, status, settings, credentials, webhook_secret on provider_connection
  for each row execute function provider_connection_told()`
/** As above, for nodes that route payments. */
const TELL_ROUTING = `create trigger connection_routes_changed after insert or update or delete on provider_connection
  for each row execute function routing_changed()`

export const ProviderConnection = managed(
  defineEntity({
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
      environment: p.text().$type<ProviderEnvironment>(),
      role: p.text().$type<ConnectionRole>(),
      status: p.text().$type<ConnectionStatus>(),
      name: p.text(),
      customerId: p.uuid().fieldName('customer_id').nullable(),
      config: p.json().$type<ConnectionConfig>().defaultRaw(`'{}'`),
      settings: p.json().$type<Readonly<Record<string, unknown>>>().defaultRaw(`'{}'`),
      fallbackCurrencies: p
        .array()
        .$type<readonly string[]>()
        .columnType('text[]')
        .fieldName('fallback_currencies')
        .defaultRaw(`'{}'`),
      contractModel: p.text().$type<ContractModel>().fieldName('contract_model').nullable(),
      credentials: p.uint8array().nullable(),
      credentialsKid: p.text().fieldName('credentials_kid').nullable(),
      credentialsFingerprint: p.text().fieldName('credentials_fingerprint').nullable(),
      credentialsUpdatedAt: instant().fieldName('credentials_updated_at').nullable(),
      webhookSecret: p.uint8array().fieldName('webhook_secret').nullable(),
      webhookSecretUpdatedAt: instant().fieldName('webhook_secret_updated_at').nullable(),
      webhookRegistration: p
        .text()
        .$type<WebhookRegistration>()
        .fieldName('webhook_registration')
        .defaultRaw(`'pending'`),
      verifiedAt: instant().fieldName('verified_at').nullable(),
      activatedAt: instant().fieldName('activated_at').nullable(),
      drainingAt: instant().fieldName('draining_at').nullable(),
      retiredAt: instant().fieldName('retired_at').nullable(),
      // Changed by a statement of its own, which leaves the version: it is no change by a person.
      health: p.text().$type<HealthState>().defaultRaw(`'healthy'`),
      migration: p.json().$type<ConnectionMigration>().nullable(),
      version: p.integer().version(),
      updatedBy: p.uuid().fieldName('updated_by').nullable(),
      updatedAt: instant().fieldName('updated_at').nullable(),
      createdAt: instant().fieldName('created_at'),
    },
    indexes: [{ name: 'provider_connection_operator', properties: ['operator', 'id'] }],
    uniques: [
      {
        name: 'provider_connection_primary',
        expression: `create unique index provider_connection_primary on provider_connection (operator_id, environment, customer_id) nulls not distinct
          where status = 'active' and role = 'primary'`,
      },
    ],
    triggers: [
      { name: 'connection_changed', timing: 'after', events: ['update'], expression: TELL_NODES },
      { name: 'provider_connection_told', timing: 'after', events: ['update'], expression: TELL_OPEN },
      {
        name: 'connection_routes_changed',
        timing: 'after',
        events: ['insert', 'update', 'delete'],
        expression: TELL_ROUTING,
      },
    ],
  }),
)

/** An account of the operator at a banking partner. */
import { defineEntity, p } from '@mikro-orm/core'
import type { CalendarTerms } from '../../lib/rails/business-days.ts'
import { instant, managed } from '../db/entity-types.ts'
import { Operator } from '../operators/operator-entity.ts'

/** The configuration of a connection, as far as the service reads it: other members stay as they are. */
interface ConnectionConfig extends CalendarTerms {
  /** Of a sandbox: whether cut-offs and calendars apply. */
  readonly realCalendar?: boolean
}

/**
 * The trigger as the migration defines it: nodes that cache a connection's capabilities are notified when it changes.
 */
const TELL_NODES = `create trigger connection_changed after update on provider_connection
  for each row execute function exchange_changed('connection')`

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
      environment: p.text(),
      role: p.text(),
      status: p.text(),
      name: p.text(),
      config: p.json().$type<ConnectionConfig>().defaultRaw(`'{}'`),
      version: p.integer().version(),
      updatedBy: p.uuid().fieldName('updated_by').nullable(),
      updatedAt: instant().fieldName('updated_at').nullable(),
      createdAt: instant().fieldName('created_at'),
    },
    triggers: [{ name: 'connection_changed', timing: 'after', events: ['update'], expression: TELL_NODES }],
  }),
)

/** A message of a provider, kept so that it counts once. Only the commit writes it. */
import { defineEntity, p } from '@mikro-orm/core'
import type { ProviderEvent } from '../../lib/providers/effects.ts'
import { instant } from '../db/entity-types.ts'

export const ProviderEventRow = defineEntity({
  name: 'ProviderEventRow',
  tableName: 'provider_event',
  properties: {
    id: p.uuid().primary(),
    connectionId: p.uuid().fieldName('connection_id'),
    type: p.text().$type<ProviderEvent['type']>(),
    objectId: p.uuid().fieldName('object_id'),
    code: p.text().nullable(),
    receivedAt: instant().fieldName('received_at'),
  },
  indexes: [
    {
      name: 'provider_event_ranges',
      expression:
        'create index provider_event_ranges on provider_event using brin (received_at, object_id uuid_minmax_multi_ops) with (pages_per_range = 32)',
    },
  ],
})

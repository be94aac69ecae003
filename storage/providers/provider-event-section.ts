/** The section of the commit statement for the messages of providers. */
import type { ProviderEvent } from '../../lib/providers/effects.ts'
import { alike, insert, rowsOf } from '../commit/section.ts'

export const PROVIDER_EVENTS = rowsOf(
  'providerEvents',
  alike(
    insert<ProviderEvent>('provider_event', {
      id: 'uuid',
      connectionId: 'uuid',
      type: 'text',
      objectId: 'uuid',
      code: 'text',
      receivedAt: 'timestamptz',
    }),
    ['type', 'code'],
  ),
)

/** Banking days and cut-off times of an operator's connections. */
import { resource } from '../route/answer.ts'
import { route, type CurrentContext } from '../route/route.ts'
import { ConnectionCalendar, ConnectionCalendarUpdate } from '../../lib/providers/connection-calendar-schema.ts'
import type { ReadServices } from '../route/services.ts'

const STAFF = {
  tag: 'providers',
  callers: 'staff',
  capability: 'providers.manage',
  scope: null,
  tenant: 'operator',
  idempotency: 'none',
} as const
const current = async (
  { tenant, params }: CurrentContext<'/provider-connections/{connectionId}/calendar'>,
  { connectionCalendars }: ReadServices,
) => (tenant === null ? null : await connectionCalendars.get(tenant.id, params.connectionId))

export const getConnectionCalendar = route({
  ...STAFF,
  method: 'get',
  path: '/provider-connections/{connectionId}/calendar',
  operationId: 'getConnectionCalendar',
  summary: 'Read by what days a connection works',
  success: { status: 200, description: 'What is set for it.', schema: ConnectionCalendar, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { connectionCalendars }) =>
    resource(await connectionCalendars.get(tenant.id, params.connectionId)),
})

export const updateConnectionCalendar = route({
  ...STAFF,
  method: 'patch',
  path: '/provider-connections/{connectionId}/calendar',
  operationId: 'updateConnectionCalendar',
  summary: 'Change by what days a connection works',
  description:
    'Only what is given changes; lists are given whole. It counts for whatever is decided after the answer; payments that wait for their day keep it.',
  ifMatch: true,
  current,
  body: ConnectionCalendarUpdate,
  success: { status: 200, description: 'What is set for it now.', schema: ConnectionCalendar, etag: true },
  problems: [],
  handle: async ({ caller, params, body, expectedVersion }, { connectionCalendars }) =>
    resource(await connectionCalendars.update(caller, params.connectionId, body, expectedVersion)),
})

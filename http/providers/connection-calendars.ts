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
  summary: 'Read the calendar of a connection',
  success: { status: 200, description: 'The calendar.', schema: ConnectionCalendar, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { connectionCalendars }) =>
    resource(await connectionCalendars.get(tenant.id, params.connectionId)),
})

export const updateConnectionCalendar = route({
  ...STAFF,
  method: 'patch',
  path: '/provider-connections/{connectionId}/calendar',
  operationId: 'updateConnectionCalendar',
  summary: 'Change the calendar of a connection',
  description:
    'Members that are left out stay unchanged; lists are replaced as a whole. The calendar applies to every ' +
    'decision after the answer; payments that wait for their day keep their day.',
  ifMatch: true,
  current,
  body: ConnectionCalendarUpdate,
  success: { status: 200, description: 'The calendar after the change.', schema: ConnectionCalendar, etag: true },
  problems: [],
  handle: async ({ caller, params, body, expectedVersion }, { connectionCalendars }) =>
    resource(await connectionCalendars.update(caller, params.connectionId, body, expectedVersion)),
})

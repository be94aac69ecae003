/** The audit trail of changes made by people. */
import { page } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { AuditEvent, auditEventList } from '../../lib/identity/audit-event-schema.ts'
import { PageOf } from '../../lib/contract/page.ts'

export const listAuditEvents = route({
  method: 'get',
  path: '/audit-events',
  operationId: 'listAuditEvents',
  tag: 'tenants',
  summary: 'List audit events',
  description: 'A customer reads its own audit trail, an operator its own and those of its customers.',
  callers: 'session',
  capability: 'audit.read',
  scope: null,
  tenant: 'any',
  idempotency: 'none',
  list: auditEventList,
  success: {
    status: 200,
    description: 'A page of changes, newest first.',
    schema: PageOf('AuditEventPage', AuditEvent),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { identity }) => page(list, await identity.listAuditEvents(list)),
})

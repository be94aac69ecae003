/** Services of providers for handlers. */
import type { createConnectionCalendars } from '../../actors/providers/connection-calendars.ts'
import type { createConnectionService } from '../../actors/providers/connections/connection-service.ts'
import type { createInboxService } from '../../actors/providers/inbox/inbox-service.ts'
import type { createRoutingService } from '../../actors/providers/routing/routing-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly connectionCalendars: ReturnType<typeof createConnectionCalendars>
    readonly providerConnections: ReturnType<typeof createConnectionService>
    readonly providerEvents: ReturnType<typeof createInboxService>
    readonly routing: ReturnType<typeof createRoutingService>
  }
}

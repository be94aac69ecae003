/** Services of providers for handlers. */
import type { createConnectionCalendars } from '../../actors/providers/connection-calendars.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly connectionCalendars: ReturnType<typeof createConnectionCalendars>
  }
}

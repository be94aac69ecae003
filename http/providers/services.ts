/** Services of providers for handlers. */
import type {
  ConnectionCalendarCommands,
  ConnectionCalendarReads,
} from '../../actors/providers/connection-calendars.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly connectionCalendars: ConnectionCalendarReads
  }
  interface Services {
    readonly connectionCalendars: ConnectionCalendarReads & ConnectionCalendarCommands
  }
}

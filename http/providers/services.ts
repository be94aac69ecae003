/** Services of providers, as handlers get them. */
import type { ConnectionCalendarCommands, ConnectionCalendarReads } from '../connection-calendars.ts'

declare module '../services.ts' {
  interface ReadServices {
    readonly connectionCalendars: ConnectionCalendarReads
  }
  interface Services {
    readonly connectionCalendars: ConnectionCalendarReads & ConnectionCalendarCommands
  }
}

/** Services of customers, as handlers get them. */
import type { CustomerLifeCommands, CustomerLifeReads } from '../customer-life.ts'
import type { SettingsCommands, SettingsReads } from '../customer-settings.ts'

declare module '../services.ts' {
  interface ReadServices {
    readonly customers: SettingsReads & CustomerLifeReads
  }
  interface Services {
    readonly customers: SettingsReads & CustomerLifeReads & SettingsCommands & CustomerLifeCommands
  }
}

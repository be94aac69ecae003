/** Services of customers for handlers. */
import type { CustomerLifeCommands, CustomerLifeReads } from '../../actors/customers/customer-life.ts'
import type { SettingsCommands, SettingsReads } from '../../actors/customers/customer-settings.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly customers: SettingsReads & CustomerLifeReads
  }
  interface Services {
    readonly customers: SettingsReads & CustomerLifeReads & SettingsCommands & CustomerLifeCommands
  }
}

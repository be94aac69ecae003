/** Services of recipients, as handlers get them. */
import type { RecipientReads } from '../../actors/recipients/recipient-reads.ts'
import type { BankLookups } from '../bank-lookups.ts'
import type { RecipientCommands } from '../recipients.ts'

declare module '../services.ts' {
  interface ReadServices {
    readonly recipients: RecipientReads
    readonly bankLookups: BankLookups
  }
  interface Services {
    readonly recipients: RecipientReads & RecipientCommands
  }
}

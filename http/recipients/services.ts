/** Services of recipients for handlers. */
import type { RecipientReads } from '../../actors/recipients/recipient-reads.ts'
import type { BankLookups } from '../../actors/recipients/bank-lookups.ts'
import type { RecipientCommands } from '../../actors/recipients/recipient-operations.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly recipients: RecipientReads
    readonly bankLookups: BankLookups
  }
  interface Services {
    readonly recipients: RecipientReads & RecipientCommands
  }
}

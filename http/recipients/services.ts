/** Services of recipients for handlers. */
import type { RecipientService } from '../../actors/recipients/recipient-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly recipients: RecipientService
    readonly bankLookups: RecipientService['bankLookups']
  }
}

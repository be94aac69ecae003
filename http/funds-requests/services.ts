/** Services of funds requests for handlers. */
import type { FundsRequestService } from '../../actors/funds-requests/funds-request-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly fundsRequests: FundsRequestService
  }
}

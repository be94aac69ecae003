/** Services of funds requests for handlers. */
import type { FundsRequestCommands, FundsRequestReads } from '../../actors/funds-requests/funds-request-operations.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly fundsRequests: FundsRequestReads
  }
  interface Services {
    readonly fundsRequests: FundsRequestReads & FundsRequestCommands
  }
}

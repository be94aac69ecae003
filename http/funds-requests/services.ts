/** Services of funds requests, as handlers get them. */
import type { FundsRequestCommands, FundsRequestReads } from '../../actors/funds-requests/funds-request-operations.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly fundsRequests: FundsRequestReads
  }
  interface Services {
    readonly fundsRequests: FundsRequestReads & FundsRequestCommands
  }
}

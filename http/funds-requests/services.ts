/** Services of funds requests, as handlers get them. */
import type { FundsRequestCommands, FundsRequestReads } from '../funds-requests.ts'

declare module '../services.ts' {
  interface ReadServices {
    readonly fundsRequests: FundsRequestReads
  }
  interface Services {
    readonly fundsRequests: FundsRequestReads & FundsRequestCommands
  }
}

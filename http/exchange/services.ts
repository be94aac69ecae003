/** Services of exchange, as handlers get them. */
import type { ContractCommands, ContractReads } from '../contracts.ts'
import type { ExchangeCommands, ExchangeReads } from '../exchanges.ts'

declare module '../services.ts' {
  interface ReadServices {
    readonly contracts: ContractReads
    readonly exchanges: ExchangeReads
  }
  interface Services {
    readonly contracts: ContractReads & ContractCommands
    readonly exchanges: ExchangeReads & ExchangeCommands
  }
}

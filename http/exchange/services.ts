/** Services of exchange for handlers. */
import type { ContractCommands, ContractReads } from '../../actors/exchange/contract-operations.ts'
import type { ExchangeCommands, ExchangeReads } from '../../actors/exchange/exchange-operations.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly contracts: ContractReads
    readonly exchanges: ExchangeReads
  }
  interface Services {
    readonly contracts: ContractReads & ContractCommands
    readonly exchanges: ExchangeReads & ExchangeCommands
  }
}

/** Services of exchange for handlers. */
import type { ExchangeService } from '../../actors/exchange/exchange-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly contracts: ExchangeService['contracts']
    readonly exchanges: ExchangeService
  }
}

/** Services of cards for handlers. */
import type { CardService } from '../../actors/cards/card-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly cards: CardService
  }
}

/** Services of statements for handlers. */
import type { StatementService } from '../../actors/statements/statement-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly statements: StatementService
  }
}

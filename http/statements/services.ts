/** Services of statements for handlers. */
import type { StatementCommands, StatementReads } from '../../actors/statements/statement-operations.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly statements: StatementReads
  }
  interface Services {
    readonly statements: StatementReads & StatementCommands
  }
}

/** Services of statements, as handlers get them. */
import type { StatementCommands, StatementReads } from '../statements.ts'

declare module '../services.ts' {
  interface ReadServices {
    readonly statements: StatementReads
  }
  interface Services {
    readonly statements: StatementReads & StatementCommands
  }
}

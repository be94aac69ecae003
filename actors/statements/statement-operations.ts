/** The operations on statements for the HTTP layer. A job makes the statements (actors/statements/statement-job.ts). */
import { timestamp } from '../../lib/base/clock.ts'
import { moneyJson } from '../../lib/base/money.ts'
import { refuse, refuseNotFound } from '../../lib/base/problems.ts'
import { FORMATS, statementFileName, type StatementFormat } from '../../lib/statements/statement.ts'
import { findFile } from '../../storage/documents/files.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { findStatement, listStatements } from '../../storage/statements/statement-queries.ts'
import { statementBalance, statementFile, type StatementRecord } from '../../storage/statements/statements.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type { DownloadLink } from '../../lib/contract/download-link.ts'
import type { SimStatement, Statement, statementList, StatementRequest } from '../../lib/statements/statement-schema.ts'
import type { SimulationResult } from '../../lib/contract/simulation.ts'
import type { Job } from '../../lib/jobs/job-schema.ts'
import type { Command, CommandAnswer, Idempotency, Versioned } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { StatementDeps } from './insert-statement-job.ts'
import { requestStatement } from './request-statement.ts'
import { simulateStatement } from './simulate-statement.ts'

/** The reads. Null means: no such row in this tenant. */
export interface StatementReads {
  list(query: ListQuery<typeof statementList> & { readonly balanceId: string }): Promise<ListResult<Statement> | null>
  get(tenant: Tenant, balanceId: string, id: string): Promise<Versioned<Statement> | null>
  hasBalance(tenant: Tenant, balanceId: string): Promise<boolean>
  /** Creates a link to the file. @throws ProblemError `not-found`, `document-not-ready` */
  download(tenant: Tenant, balanceId: string, id: string, format: StatementFormat): Promise<DownloadLink>
}

/** The writes. Every refusal is thrown as a problem, except the outcomes recorded under an idempotency key. */
export interface StatementCommands {
  request(by: Caller, command: Command<StatementRequest>, balanceId: string): Promise<CommandAnswer<Job, 202>>
  simulate(
    by: Caller,
    body: SimStatement,
    idempotency: Idempotency | null,
  ): Promise<CommandAnswer<SimulationResult, 202>>
}

function statementView(statement: StatementRecord): Versioned<Statement> {
  const { id, kind, sequenceNumber, from, to, currency, status, jobId, version } = statement
  const money = (amountMinor: bigint) => moneyJson({ amountMinor, currency })
  return {
    version,
    view: {
      id,
      balanceId: statement.holder.balanceId,
      kind,
      sequenceNumber,
      from,
      to,
      currency,
      openingBalance: money(statement.opening),
      closingBalance: money(statement.closing),
      totalCredits: money(statement.credits),
      totalDebits: money(statement.debits),
      lineCount: statement.creditCount + statement.debitCount,
      formats: [...statement.formats],
      status,
      jobId,
      createdAt: timestamp(statement.createdAt),
    },
  }
}

/** Creates the reads of statements. */
export function createStatementReads({
  database,
  clock,
  downloads,
}: Pick<StatementDeps, 'database' | 'clock' | 'downloads'>): StatementReads {
  const db = readDatabase(database)
  return {
    async list(query) {
      const found = await listStatements(database, db, query)
      return found === null ? null : { ...found, rows: found.rows.map((row) => statementView(row).view) }
    },
    async get(tenant, balanceId, id) {
      const found = await findStatement(database, tenant, balanceId, id)
      return found === null ? null : statementView(found)
    },
    hasBalance: async (tenant, balanceId) => (await statementBalance(database, tenant.id, balanceId)) !== null,
    async download(tenant, balanceId, id, format) {
      const statement = await findStatement(database, tenant, balanceId, id)
      if (statement === null) refuseNotFound()
      if (statement.status === 'preparing')
        refuse('document-not-ready', 'The statement is being prepared.', { retryAfterSeconds: 1 })
      const fileId = await statementFile(database, id, format)
      const file = fileId === null ? null : await findFile(database, fileId, clock.now())
      if (file === null) refuse('not-found', `The statement has no file in the format ${format}.`)
      return downloads.link({
        id: file.id,
        contentType: FORMATS[format].contentType,
        fileName: `${statementFileName(statement)}.${FORMATS[format].ending}`,
      })
    },
  }
}

/** Creates the commands of statements. */
export function createStatementCommands(deps: StatementDeps): StatementCommands {
  return {
    request: (by, command, balanceId) => requestStatement(deps, by, command, balanceId),
    simulate: (by, body, idempotency) => simulateStatement(deps, by, body, idempotency),
  }
}

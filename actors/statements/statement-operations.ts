/** The operations on statements for the HTTP layer. A job makes the statements (actors/statements/statement-job.ts). */
import type { SimulationResult } from '../../lib/contract/simulation.ts'
import type { Job } from '../../lib/jobs/job-schema.ts'
import { createHash } from 'node:crypto'
import type { Jobs } from '../jobs/jobs.ts'
import type { StatementJobRequest } from './statement-job.ts'
import { DAY_MS, dateIn, timestamp } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { FAIL_TOKEN } from '../../lib/jobs/job.ts'
import { moneyJson } from '../../lib/base/money.ts'
import { refuse, refuseField } from '../../lib/base/problems.ts'
import {
  FORMATS,
  monthOf,
  STATEMENT_DAYS_MAX,
  STATEMENT_FORMATS,
  statementFileName,
  type StatementFormat,
} from '../../lib/statements/statement.ts'
import type { Database } from '../../storage/db/database.ts'
import { findFile } from '../../storage/documents/files.ts'
import { writeAudit } from '../../storage/trail/trail.ts'
import { insertJob } from '../../storage/jobs/jobs.ts'
import { writeEvent } from '../../storage/outbox/outbox.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { findStatement, listStatements } from '../../storage/statements/statement-queries.ts'
import {
  holderOf,
  planStatement,
  statementBalance,
  statementFile,
  statementOfMonth,
  type StatementBalance,
  type StatementRecord,
} from '../../storage/statements/statements.ts'
import type { DownloadReads } from '../documents/downloads.ts'
import { auditCaller } from '../commands/trail.ts'
import type { ByCaller } from '../../lib/identity/caller.ts'
import { createJobView } from '../jobs/job-operations.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import { runOnce, decideOnce, type RunOnceDeps } from '../commands/run-once.ts'
import type { DownloadLink } from '../../lib/contract/download-link.ts'
import type { SimStatement, Statement, statementList, StatementRequest } from '../../lib/statements/statement-schema.ts'
import type { Command, CommandAnswer, Idempotency, Versioned } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

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
  request(by: ByCaller, command: Command<StatementRequest>, balanceId: string): Promise<CommandAnswer<Job, 202>>
  simulate(
    by: ByCaller,
    body: SimStatement,
    idempotency: Idempotency | null,
  ): Promise<CommandAnswer<SimulationResult, 202>>
}

export interface StatementDeps extends RunOnceDeps {
  readonly database: Database
  readonly ids: IdSource
  readonly clock: { now(): number }
  readonly problemBase: string
  readonly sandbox: boolean
  readonly downloads: DownloadReads
  /** Notified of jobs that are requested on this node. */
  readonly jobs: Pick<Jobs, 'nudge'>
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
      if (statement === null) refuse('not-found', 'No such resource exists in this tenant.')
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

/** Checks that a period can have a statement. @throws ProblemError when it cannot */
function checkPeriod({ from, to }: Pick<StatementRequest, 'from' | 'to'>, now: number): void {
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  if (to > dateIn(now, 'UTC')) refuseField('/to', 'too_far_ahead', 'Lies in the future.')
  if (days < 1) refuseField('/from', 'invalid_value', 'Must not be after the end of the period.')
  if (days > STATEMENT_DAYS_MAX)
    refuseField('/from', 'too_large', `A statement covers at most ${STATEMENT_DAYS_MAX} days.`, {
      max: STATEMENT_DAYS_MAX,
    })
}

/** Computes a value in the form of a UUID that is the same for equal requests. */
export function fingerprintOf(question: unknown): string {
  const hex = createHash('sha256').update(JSON.stringify(question)).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}

/** Creates the commands of statements. */
export function createStatementCommands(world: StatementDeps): StatementCommands {
  const { database, clock, ids, sandbox } = world
  const jobView = createJobView(world)

  async function balanceOf(by: ByCaller, balanceId: string): Promise<StatementBalance> {
    const balance = await statementBalance(database, by.tenant.id, balanceId)
    return balance ?? refuse('not-found', 'No such resource exists in this tenant.')
  }

  /** Finds the statement of the previous month, and the request that makes it when it is missing. */
  async function lastMonth(
    balance: StatementBalance,
  ): Promise<{ readonly statement: StatementRecord | null; readonly request: StatementJobRequest }> {
    const period = monthOf(Temporal.PlainDate.from(dateIn(clock.now(), 'UTC')).subtract({ months: 1 }).toString())
    const request: StatementJobRequest = {
      balanceId: balance.id,
      kind: 'monthly',
      ...period,
      formats: STATEMENT_FORMATS,
      fails: false,
    }
    return { statement: await statementOfMonth(database, balance.id, period.to), request }
  }

  return {
    async request(by, command, balanceId) {
      const { body } = command
      const balance = await balanceOf(by, balanceId)
      const answer = await decideOnce(world, command, 202, async (client) => {
        const now = clock.now()
        checkPeriod(body, now)
        const fails = sandbox && body.language?.includes(FAIL_TOKEN) === true
        if (body.language !== undefined && !fails && !/^en(-[A-Za-z]{2})?$/.test(body.language)) {
          refuseField('/language', 'invalid_value', 'There are statements in English only.')
        }
        const formats = STATEMENT_FORMATS.filter((format) => body.formats.includes(format))
        const request: StatementJobRequest = { balanceId, kind: 'custom', from: body.from, to: body.to, formats, fails }
        const id = ids.next()
        const job = await insertJob(client, {
          id,
          tenantId: by.tenant.id,
          operatorId: balance.operatorId,
          customerId: by.tenant.id,
          shard: balance.shard,
          kind: 'statement',
          request,
          fingerprint: fingerprintOf(request),
          subject: { object: 'balance', id: balanceId },
          requestedBy: by.principal.id,
          requestId: by.requestId,
          now,
        })
        if (job.id === id) {
          await writeAudit(client, {
            ...auditCaller(by),
            id: ids.next(),
            tenantId: by.tenant.id,
            at: now,
            action: 'statement.requested',
            object: { type: 'balance', id: balanceId },
            before: null,
            after: { jobId: id, from: body.from, to: body.to, formats },
          })
        }
        return { shown: jobView(job), made: { id: job.id, location: `/v1/jobs/${job.id}` } }
      })
      world.jobs.nudge()
      return answer
    },

    async simulate(by, { balanceId }, idempotency) {
      const balance = await balanceOf(by, balanceId)
      const { statement, request } = await lastMonth(balance)
      const holder = await holderOf(database, balanceId)
      return await runOnce(world, idempotency, 202, async (client) => {
        const now = clock.now()
        let statementId = statement?.id ?? null
        if (statementId === null) {
          const job = await insertJob(client, {
            id: ids.next(),
            tenantId: by.tenant.id,
            operatorId: balance.operatorId,
            customerId: by.tenant.id,
            shard: balance.shard,
            kind: 'statement',
            request,
            fingerprint: fingerprintOf(request),
            subject: { object: 'balance', id: balanceId },
            requestedBy: by.principal.id,
            requestId: by.requestId,
            now,
          })
          // Planned now, so that the event can name the statement; the job adds its files.
          const planned = await planStatement(client, {
            id: ids.next(),
            jobId: job.id,
            ...request,
            balance,
            holder,
            now,
          })
          statementId = planned?.id ?? null
        }
        if (statementId === null)
          refuse('simulation-not-possible', 'The month before has no statement of its own.', {
            extra: { currentStatus: 'none', connectionProvider: 'sandbox' },
          })
        const eventId = ids.next()
        await writeEvent(client, {
          id: eventId,
          createdAt: now,
          customerId: balance.customerId,
          operatorId: balance.operatorId,
          shard: balance.shard,
          type: 'statement.available',
          object: 'statement',
          objectId: statementId,
          status: 'ready',
          previousStatus: null,
          amount: null,
          currency: null,
          sandbox: true,
          related: { object: 'balance', id: balanceId },
        })
        return {
          simulationId: ids.next(),
          kind: 'statement',
          status: 'queued',
          provider: 'platform',
          providerEventIds: [],
          providerReference: null,
          details: { statementId, balanceId, eventId },
        }
      })
    },
  }
}

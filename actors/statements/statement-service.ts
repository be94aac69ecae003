/** Statements: requests for them, the jobs that write them, and the calendar that requests the regular ones. */
import type { DownloadReads } from '../documents/downloads.ts'
import type { JobService } from '../jobs/job-service.ts'
import type { Node } from '../runtime/node.ts'
import { StatementCalendar } from './statement-calendar.ts'
import { statementJob } from './statement-job.ts'
import { createStatementCommands, createStatementReads } from './statement-operations.ts'

/** The nouns that statements need. */
export interface StatementServiceParts {
  readonly jobs: Pick<JobService, 'jobs' | 'addKinds'>
  readonly downloads: { readonly reads: DownloadReads }
}

export type StatementService = ReturnType<typeof createStatementService>

/** Creates the service. */
export function createStatementService(node: Node, { jobs, downloads }: StatementServiceParts) {
  jobs.addKinds({ statement: statementJob({ ...node, documents: node.workers.documents }) })
  const calendar = new StatementCalendar(node)
  const deps = { ...node, jobs: jobs.jobs, downloads: downloads.reads }
  return {
    reads: createStatementReads(deps),
    commands: createStatementCommands(deps),
    // The calendar of a new installation has to begin once.
    background: [{ name: 'calendar of statements', start: () => calendar.begin(), stop: () => undefined }],
    tasks: [calendar.task()],
  }
}

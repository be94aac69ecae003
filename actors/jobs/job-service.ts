/** Jobs: work that takes longer than a request. Each noun adds its own kinds. */
import type { DownloadReads } from '../documents/downloads.ts'
import type { Node } from '../runtime/node.ts'
import { createJobCommands, createJobReads } from './job-operations.ts'
import { Jobs, type JobsOptions } from './jobs.ts'

export type JobService = ReturnType<typeof createJobService>

/** Creates the service. Other nouns add their kinds of jobs before the background starts. */
export function createJobService(node: Node, { downloads }: { readonly downloads: { readonly reads: DownloadReads } }) {
  const kinds: JobsOptions['kinds'] = {}
  const jobs = new Jobs({ ...node, kinds })
  const deps = { ...node, jobs, downloads: downloads.reads }
  return {
    reads: createJobReads(deps),
    commands: createJobCommands(deps),
    tasks: jobs.tasks(),
    jobs,
    /** Adds the work of some kinds of jobs. */
    addKinds(added: JobsOptions['kinds']): void {
      Object.assign(kinds, added)
    },
  }
}

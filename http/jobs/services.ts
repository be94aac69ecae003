/** Services of jobs for handlers. */
import type { JobCommands, JobReads } from '../../actors/jobs/job-operations.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly jobs: JobReads
  }
  interface Services {
    readonly jobs: JobReads & JobCommands
  }
}

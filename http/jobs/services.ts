/** Services of jobs, as handlers get them. */
import type { JobCommands, JobReads } from '../jobs.ts'

declare module '../services.ts' {
  interface ReadServices {
    readonly jobs: JobReads
  }
  interface Services {
    readonly jobs: JobReads & JobCommands
  }
}

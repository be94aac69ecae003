/** Services of jobs for handlers. */
import type { JobService } from '../../actors/jobs/job-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly jobs: JobService
  }
}

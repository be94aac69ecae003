/** Describes the sandbox's rule for jobs, for the catalogue that integrators read. */
import { FAIL_CODE } from '../jobs/job.ts'
import type { CatalogueRule } from './triggers.ts'

export function jobRules(): readonly CatalogueRule[] {
  return [
    {
      topic: 'jobs',
      rule: `SBX:${FAIL_CODE} in a column of an export, or in the language of a statement: the job fails`,
    },
  ]
}

/** The section of the commit statement for facts about recipients that decisions rest on. */
import { FACT_STALE, fence, gathered, NO_DETAIL, type CommandRef, type Fence } from '../commit/section.ts'

interface FactRow extends CommandRef {
  readonly version: bigint
}

/** A recipient that has changed makes the decision stale. */
export const FACT_FENCES: Fence<FactRow, ReturnType<typeof FACT_STALE.of>> = gathered(
  'facts',
  fence<FactRow, ReturnType<typeof FACT_STALE.of>>(
    FACT_STALE,
    'fact_fence',
    { command: 'integer', id: 'uuid', version: 'bigint' },
    (source, bound) => `${NO_DETAIL} from ${source}
  left join (select r.id, r.version from recipient r where r.id = any(${bound('id')})) r on r.id = u.id
  where r.version is distinct from u.version`,
  ),
  ({ recipientId, version }, batch) => batch.add(FACT_FENCES, { command: batch.nth, id: recipientId, version }),
)

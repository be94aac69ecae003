/** The sections of the commit statement for uses of documents. */
import type { DocumentUse } from '../../lib/documents/effects.ts'
import { FACT_STALE, fence, gathered, NO_DETAIL, section, type CommandRef, type Section } from '../commit/section.ts'

/** Writes which objects use a document; a use that is recorded already stays. */
export const DOCUMENT_USES: Section<DocumentUse> = gathered(
  'documentUses',
  section<DocumentUse>(
    'document_use',
    { documentId: 'uuid', object: 'text', objectId: 'uuid' },
    (source) => `document_use_written as (
  insert into document_use (document_id, object, object_id) select u.document_id, u.object, u.object_id from ${source} where (select ok from verdict) on conflict do nothing)`,
  ),
  (use, batch) => {
    batch.add(DOCUMENT_USES, use)
    batch.add(DOCUMENT_FENCES, { command: batch.nth, id: use.documentId })
  },
)

/** Waits for a concurrent deletion of a document. A document that is gone or not clean makes the decision stale. */
export const DOCUMENT_FENCES = fence<CommandRef, ReturnType<typeof FACT_STALE.of>>(
  FACT_STALE,
  'document_fence',
  { command: 'integer', id: 'uuid' },
  (source, bound) => `${NO_DETAIL} from ${source}
  left join (select d.id, d.status from document d where d.id = any(${bound('id')}) for key share) d on d.id = u.id
  where d.status is distinct from 'clean'`,
)

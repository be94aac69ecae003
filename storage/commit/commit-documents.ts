/** The sections of the commit statement (commit.ts) for uses of documents. */
import type { DocumentUse } from '../../lib/documents/effects.ts'
import { column, NO_DETAIL, section, type CommandRef } from './commit-section.ts'

/** Writes which objects use a document; a use that is recorded already stays. */
export const DOCUMENT_USES = section<DocumentUse>(
  'document_use',
  [
    column('document_id', 'uuid', (u) => u.documentId),
    column('object', 'text', (u) => u.object),
    column('object_id', 'uuid', (u) => u.objectId),
  ],
  (source) => `document_use_written as (
  insert into document_use (document_id, object, object_id) select u.document_id, u.object, u.object_id from ${source} where (select ok from verdict) on conflict do nothing)`,
)

/** Waits for a concurrent deletion of a document. A document that is gone or not clean makes the decision stale. */
export const DOCUMENT_FENCES = section<CommandRef>(
  'document_fence',
  [column('command', 'integer', (f) => f.command), column('id', 'uuid', (f) => f.id)],
  (source, bound) => `select 'fact_stale', u.command, ${NO_DETAIL} from ${source}
  left join (select d.id, d.status from document d where d.id = any(${bound('id')}) for key share) d on d.id = u.id
  where d.status is distinct from 'clean'`,
)

/** A file of a tenant. Its bytes are in a table of pieces, which only hand-written statements use. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant, managed } from '../db/entity-types.ts'

export const StoredFile = managed(
  defineEntity({
    name: 'StoredFile',
    tableName: 'stored_file',
    properties: {
      id: p.uuid().primary(),
      tenantId: p.uuid().fieldName('tenant_id'),
      fileName: p.text().fieldName('file_name'),
      contentType: p.text().fieldName('content_type'),
      sizeBytes: p.bigint().fieldName('size_bytes').nullable(),
      sha256: p.blob().nullable(),
      expiresAt: instant().fieldName('expires_at').nullable(),
      createdAt: instant().fieldName('created_at'),
    },
    indexes: [
      {
        name: 'stored_file_expiring',
        expression: 'create index stored_file_expiring on stored_file (expires_at) where expires_at is not null',
      },
    ],
    checks: [{ name: 'stored_file_size_positive', expression: 'size_bytes >= 0' }],
  }),
)

/** A recovery code of a user; only its keyed hash is stored. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'
import { PlatformUser } from './platform-user-entity.ts'

export const RecoveryCode = defineEntity({
  name: 'RecoveryCode',
  tableName: 'recovery_code',
  properties: {
    user: () =>
      p
        .manyToOne(PlatformUser)
        .fieldName('user_id')
        .foreignKeyName('recovery_code_user_id_fkey')
        .updateRule('no action')
        .deleteRule('no action')
        .index(false)
        .primary(),
    codeHash: p.uint8array().fieldName('code_hash').primary(),
    createdAt: instant().fieldName('created_at'),
    usedAt: instant().fieldName('used_at').nullable(),
  },
})

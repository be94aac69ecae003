/** A link with which a user may choose a new password; only its hash is stored. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'
import { PlatformUser } from './platform-user-entity.ts'

export const PasswordReset = defineEntity({
  name: 'PasswordReset',
  tableName: 'password_reset',
  properties: {
    tokenSha256: p.uint8array().fieldName('token_sha256').primary(),
    user: () =>
      p
        .manyToOne(PlatformUser)
        .fieldName('user_id')
        .foreignKeyName('password_reset_user_id_fkey')
        .updateRule('no action')
        .deleteRule('no action')
        .index(false),
    createdAt: instant().fieldName('created_at'),
    expiresAt: instant().fieldName('expires_at'),
    usedAt: instant().fieldName('used_at').nullable(),
  },
  indexes: [{ name: 'password_reset_user', properties: ['user'] }],
})

/** A second factor of a user; its secret is stored encrypted. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'
import { PlatformUser } from './platform-user-entity.ts'

export const MfaFactor = defineEntity({
  name: 'MfaFactor',
  tableName: 'mfa_factor',
  properties: {
    id: p.uuid().primary(),
    user: () =>
      p
        .manyToOne(PlatformUser)
        .fieldName('user_id')
        .foreignKeyName('mfa_factor_user_id_fkey')
        .updateRule('no action')
        .deleteRule('no action')
        .index(false),
    kind: p.text().$type<'totp'>(),
    name: p.text(),
    status: p.text().$type<'pending' | 'active'>(),
    secret: p.uint8array(),
    lastStep: p.bigint().fieldName('last_step').defaultRaw('0'),
    createdAt: instant().fieldName('created_at'),
    lastUsedAt: instant().fieldName('last_used_at').nullable(),
  },
  indexes: [{ name: 'mfa_factor_user', properties: ['user', 'id'] }],
})

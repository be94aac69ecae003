/** A second factor of a user: a secret, which is stored encrypted, or the public key of an authenticator. */
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
    kind: p.text().$type<'totp' | 'webauthn'>(),
    name: p.text(),
    status: p.text().$type<'pending' | 'active'>(),
    secret: p.uint8array().nullable(),
    lastStep: p.bigint().fieldName('last_step').defaultRaw('0'),
    version: p.bigint().defaultRaw('1'),
    credentialId: p.uint8array().fieldName('credential_id').nullable(),
    publicKey: p.uint8array().fieldName('public_key').nullable(),
    signCount: p.bigint().fieldName('sign_count').defaultRaw('0'),
    transports: p.array().columnType('text[]').defaultRaw(`'{}'`),
    createdAt: instant().fieldName('created_at'),
    lastUsedAt: instant().fieldName('last_used_at').nullable(),
    waitsUntil: instant().fieldName('waits_until').nullable(),
  },
  uniques: [{ name: 'mfa_factor_credential_unique', properties: ['credentialId'] }],
  indexes: [{ name: 'mfa_factor_user', properties: ['user', 'id'] }],
})

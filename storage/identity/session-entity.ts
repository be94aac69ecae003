/** A session of a user; only the hash of its token is stored. */
import { defineEntity, p } from '@mikro-orm/core'
import { PlatformUser } from './platform-user-entity.ts'

export const Session = defineEntity({
  name: 'Session',
  tableName: 'session',
  properties: {
    id: p.uuid().primary(),
    user: () =>
      p
        .manyToOne(PlatformUser)
        .fieldName('user_id')
        .foreignKeyName('session_user_id_fkey')
        .updateRule('no action')
        .deleteRule('no action')
        .index(false),
    tokenSha256: p.uint8array().fieldName('token_sha256'),
    previousTokenSha256: p.uint8array().fieldName('previous_token_sha256').nullable(),
    previousUntil: p.datetime().fieldName('previous_until').columnType('timestamptz').nullable(),
    status: p.text(),
    deviceName: p.text().fieldName('device_name').nullable(),
    deviceId: p.text().fieldName('device_id').nullable(),
    address: p.text(),
    userAgent: p.text().fieldName('user_agent').nullable(),
    createdAt: p.datetime().fieldName('created_at').columnType('timestamptz'),
    lastSeenAt: p.datetime().fieldName('last_seen_at').columnType('timestamptz'),
    expiresAt: p.datetime().fieldName('expires_at').columnType('timestamptz'),
    endedAt: p.datetime().fieldName('ended_at').columnType('timestamptz').nullable(),
  },
  uniques: [{ name: 'session_token_unique', properties: ['tokenSha256'] }],
  indexes: [
    { name: 'session_by_user', properties: ['user', 'id'] },
    {
      name: 'session_by_previous_token',
      properties: ['previousTokenSha256'],
      where: 'previous_token_sha256 is not null',
    },
  ],
})

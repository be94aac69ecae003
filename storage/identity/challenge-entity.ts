/** A challenge: the proof of identity that a session must give. */
import { defineEntity, p } from '@mikro-orm/core'
import { Session } from './session-entity.ts'

export const Challenge = defineEntity({
  name: 'Challenge',
  tableName: 'challenge',
  properties: {
    id: p.uuid().primary(),
    session: () =>
      p
        .manyToOne(Session)
        .fieldName('session_id')
        .foreignKeyName('challenge_session_id_fkey')
        .updateRule('no action')
        .deleteRule('cascade')
        .index(false),
    userId: p.uuid().fieldName('user_id'),
    tenantId: p.uuid().fieldName('tenant_id').nullable(),
    action: p.text(),
    subjectType: p.text().fieldName('subject_type').nullable(),
    subjectId: p.uuid().fieldName('subject_id').nullable(),
    wrongCodes: p.smallint().fieldName('wrong_codes').defaultRaw('0'),
    createdAt: p.datetime().fieldName('created_at').columnType('timestamptz'),
    expiresAt: p.datetime().fieldName('expires_at').columnType('timestamptz'),
    verifiedAt: p.datetime().fieldName('verified_at').columnType('timestamptz').nullable(),
  },
  indexes: [
    { name: 'challenge_session', properties: ['session', 'action'] },
    { name: 'challenge_user', properties: ['userId', 'createdAt'] },
  ],
})

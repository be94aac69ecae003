/** A challenge: the proof of identity that a session must give. */
import { defineEntity, p } from '@mikro-orm/core'
import type { StepUpMethod } from '../../lib/identity/step-up.ts'
import { instant } from '../db/entity-types.ts'
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
    createdAt: instant().fieldName('created_at'),
    expiresAt: instant().fieldName('expires_at'),
    verifiedAt: instant().fieldName('verified_at').nullable(),
    method: p.text().$type<StepUpMethod>().nullable(),
  },
  indexes: [
    { name: 'challenge_session', properties: ['session', 'action'] },
    { name: 'challenge_user', properties: ['userId', 'createdAt'] },
  ],
})

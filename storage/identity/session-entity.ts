/** A session of a user; only the hash of its token is stored. */
import { defineEntity, p } from '@mikro-orm/core'
import type { StepUpMethod } from '../../lib/identity/step-up.ts'
import { instant } from '../db/entity-types.ts'
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
    previousUntil: instant().fieldName('previous_until').nullable(),
    status: p.text(),
    deviceName: p.text().fieldName('device_name').nullable(),
    deviceId: p.text().fieldName('device_id').nullable(),
    address: p.text(),
    userAgent: p.text().fieldName('user_agent').nullable(),
    createdAt: instant().fieldName('created_at'),
    lastSeenAt: instant().fieldName('last_seen_at'),
    expiresAt: instant().fieldName('expires_at'),
    endedAt: instant().fieldName('ended_at').nullable(),
    /** The customer whose data the session reads; null for a session of the person alone. */
    impersonatedCustomerId: p.uuid().fieldName('impersonated_customer_id').nullable(),
    impersonationReason: p.text().fieldName('impersonation_reason').nullable(),
    /** The session that opened it, with which it ends. */
    openedBySessionId: p.uuid().fieldName('opened_by_session_id').nullable(),
    mfaMethod: p.text().$type<StepUpMethod>().fieldName('mfa_method').nullable(),
  },
  uniques: [{ name: 'session_token_unique', properties: ['tokenSha256'] }],
  checks: [
    {
      name: 'session_impersonation',
      expression: 'num_nulls(impersonated_customer_id, impersonation_reason, opened_by_session_id) in (0, 3)',
    },
  ],
  indexes: [
    {
      name: 'session_opened_by',
      properties: ['openedBySessionId'],
      where: 'opened_by_session_id is not null',
    },
    { name: 'session_by_user', properties: ['user', 'id'] },
    {
      name: 'session_by_previous_token',
      properties: ['previousTokenSha256'],
      where: 'previous_token_sha256 is not null',
    },
  ],
})

/** A connection of an operator to a KYC provider. Its secrets are sealed. */
import { defineEntity, p } from '@mikro-orm/core'
import type { KycConnectionStatus, KycLevels, KycProbe } from '../../lib/kyc/connection.ts'
import type { KycProviderId } from '../../lib/onboarding/case-words.ts'
import { instant, managed } from '../db/entity-types.ts'

export const KycConnectionRow = managed(
  defineEntity({
    name: 'KycConnection',
    tableName: 'kyc_connection',
    properties: {
      id: p.uuid().primary(),
      operatorId: p.uuid().fieldName('operator_id'),
      provider: p.text().$type<KycProviderId>(),
      name: p.text(),
      status: p.text().$type<KycConnectionStatus>(),
      levels: p.json().$type<Partial<KycLevels>>().defaultRaw(`'{}'`),
      credentials: p.uint8array().nullable(),
      credentialsUpdatedAt: instant().fieldName('credentials_updated_at').nullable(),
      webhookSecret: p.uint8array().fieldName('webhook_secret').nullable(),
      webhookSecretUpdatedAt: instant().fieldName('webhook_secret_updated_at').nullable(),
      probe: p.json().$type<KycProbe>().nullable(),
      verifiedAt: instant().fieldName('verified_at').nullable(),
      activatedAt: instant().fieldName('activated_at').nullable(),
      version: p.integer().version(),
      createdAt: instant().fieldName('created_at'),
      updatedBy: p.uuid().fieldName('updated_by').nullable(),
      updatedAt: instant().fieldName('updated_at'),
    },
    indexes: [{ name: 'kyc_connection_operator', properties: ['operatorId', 'id'] }],
    uniques: [
      {
        name: 'kyc_connection_active',
        expression: `create unique index kyc_connection_active on kyc_connection (operator_id) where status = 'active'`,
      },
    ],
  }),
)

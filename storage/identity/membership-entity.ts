/** The role of a user with a tenant. */
import { defineEntity, p } from '@mikro-orm/core'
import { bigVersion, instant, managed } from '../db/entity-types.ts'
import { Operator } from '../operators/operator-entity.ts'
import { PlatformUser } from './platform-user-entity.ts'

export const Membership = managed(
  defineEntity({
    name: 'Membership',
    tableName: 'membership',
    properties: {
      id: p.uuid().primary(),
      user: () =>
        p
          .manyToOne(PlatformUser)
          .fieldName('user_id')
          .foreignKeyName('membership_user_id_fkey')
          .updateRule('no action')
          .deleteRule('no action')
          .index(false),
      level: p.text(),
      tenantId: p.uuid().fieldName('tenant_id'),
      operator: () =>
        p
          .manyToOne(Operator)
          .fieldName('operator_id')
          .foreignKeyName('membership_operator_id_fkey')
          .updateRule('no action')
          .deleteRule('no action')
          .index(false),
      role: p.text(),
      status: p.text(),
      version: bigVersion(),
      createdAt: instant().fieldName('created_at'),
      limits: p.json().nullable(),
      isPrimaryOwner: p.boolean().fieldName('is_primary_owner').defaultRaw('false'),
      updatedAt: instant().fieldName('updated_at'),
    },
    uniques: [
      { name: 'membership_unique', properties: ['tenantId', 'user'] },
      {
        name: 'membership_primary_owner',
        expression: 'create unique index membership_primary_owner on membership (tenant_id) where is_primary_owner',
      },
    ],
    indexes: [{ name: 'membership_user', properties: ['user', 'id'] }],
  }),
)

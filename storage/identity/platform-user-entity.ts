/** A user who can sign in. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../db/entity-types.ts'

export const PlatformUser = defineEntity({
  name: 'PlatformUser',
  tableName: 'platform_user',
  properties: {
    id: p.uuid().primary(),
    email: p.text(),
    emailKey: p.text().fieldName('email_key'),
    name: p.text(),
    phone: p.text().nullable(),
    locale: p.text().default('en'),
    passwordHash: p.text().fieldName('password_hash').nullable(),
    passwordChangedAt: instant().fieldName('password_changed_at').nullable(),
    status: p.text().$type<'active' | 'disabled'>(),
    version: p.bigint().defaultRaw('1'),
    createdAt: instant().fieldName('created_at'),
    updatedAt: instant().fieldName('updated_at'),
  },
  uniques: [{ name: 'platform_user_email_unique', properties: ['emailKey'] }],
})

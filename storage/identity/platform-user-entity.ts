/** A user who can sign in. */
import { defineEntity, p } from '@mikro-orm/core'

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
    passwordChangedAt: p.datetime().fieldName('password_changed_at').columnType('timestamptz').nullable(),
    status: p.text(),
    version: p.bigint().defaultRaw('1'),
    createdAt: p.datetime().fieldName('created_at').columnType('timestamptz'),
    updatedAt: p.datetime().fieldName('updated_at').columnType('timestamptz'),
  },
  uniques: [{ name: 'platform_user_email_unique', properties: ['emailKey'] }],
})

/** A settings document: of a customer, of an operator, or of a person. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant, managed } from '../db/entity-types.ts'

/** The triggers as the migrations define them: nodes that cache what follows from a setting are notified. */
const TELL_NODES = [
  [
    'currencies_changed',
    ['insert', 'update'],
    `create trigger currencies_changed after insert or update on setting
      for each row when (new.name = 'currencies') execute function exchange_changed('currencies')`,
  ],
  [
    'recipient_preferences_set',
    ['insert'],
    `create trigger recipient_preferences_set after insert on setting
      for each row when (new.name = 'preferences') execute function recipient_preferences_changed()`,
  ],
  [
    'recipient_preferences_changed',
    ['update'],
    `create trigger recipient_preferences_changed after update on setting
      for each row when (new.name = 'preferences' and new.value->'requireVerification' is distinct from old.value->'requireVerification')
      execute function recipient_preferences_changed()`,
  ],
] as const

export const Setting = managed(
  defineEntity({
    name: 'Setting',
    tableName: 'setting',
    properties: {
      /** The customer, the operator, or the person. */
      ownerId: p.uuid().primary().fieldName('owner_id'),
      name: p.text().primary(),
      version: p.integer().version(),
      value: p.json().$type<object>(),
      updatedBy: p.uuid().fieldName('updated_by'),
      updatedAt: instant().fieldName('updated_at'),
    },
    triggers: TELL_NODES.map(([name, events, expression]) => ({
      name,
      timing: 'after' as const,
      events: [...events],
      expression,
    })),
  }),
)

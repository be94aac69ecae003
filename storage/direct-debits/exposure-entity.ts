/** What a customer has collected, or is collecting, and may have to give back, in one currency. Only the commit writes it. */
import { defineEntity, p } from '@mikro-orm/core'
import type { CurrencyCode } from '../../lib/base/currency.ts'

export const DebitExposure = defineEntity({
  name: 'DebitExposure',
  tableName: 'debit_exposure',
  properties: {
    customerId: p.uuid().fieldName('customer_id').primary(),
    currency: p.string().$type<CurrencyCode>().columnType('char(3)').primary(),
    amount: p.bigint(),
  },
  checks: [{ name: 'debit_exposure_amount', expression: 'amount >= 0' }],
})

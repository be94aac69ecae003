/** The section of the commit statement for cash between two connections. */
import { alike, insertInto, rowsOf } from '../../commit/section.ts'
import { columns, without } from '../../db/columns.ts'
import { CashOrder } from './cash-order-entity.ts'

export const CASH_ORDERS = rowsOf(
  'cashOrders',
  alike(insertInto(CashOrder, without(columns(CashOrder), ['fromBookedAt', 'toBookedAt'])), [
    'subject_object',
    'currency',
  ]),
)

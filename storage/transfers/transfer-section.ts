/** The sections of the commit statement for transfers and for the orders that the partner carries out. */
import type { TransferRow } from '../../lib/transfers/effects.ts'
import { alike, externalIds, gathered, insertInto, rowsOf, type Section } from '../commit/section.ts'
import { columns, without } from '../db/columns.ts'
import { Transfer } from './transfer-entity.ts'
import { TransferOrder } from './transfer-order-entity.ts'

export const EXTERNAL_IDS_OF_TRANSFERS = externalIds('transfer')

export const TRANSFERS: Section<TransferRow> = gathered(
  'transfers',
  alike(
    insertInto(Transfer, without(columns(Transfer), ['version', 'failure', 'updatedAt']), {
      version: '1',
      updated_at: 'u.created_at',
    }),
    ['status', 'created_via'],
    ['currency'],
  ),
  (transfer, batch) => {
    batch.add(TRANSFERS, transfer)
    const { externalId, customerId } = transfer
    if (externalId !== null) batch.add(EXTERNAL_IDS_OF_TRANSFERS, { command: batch.nth, externalId, customerId })
  },
)

export const TRANSFER_ORDERS = rowsOf(
  'transferOrders',
  insertInto(TransferOrder, without(columns(TransferOrder), ['sentAt', 'attempts'])),
)

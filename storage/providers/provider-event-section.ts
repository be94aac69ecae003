/** The section of the commit statement for the messages of providers. */
import { alike, insertInto, rowsOf } from '../commit/section.ts'
import { columns } from '../db/columns.ts'
import { ProviderEventRow } from './provider-event-entity.ts'

export const PROVIDER_EVENTS = rowsOf(
  'providerEvents',
  alike(insertInto(ProviderEventRow, columns(ProviderEventRow)), ['type', 'code']),
)

/** The reads of transfers. Null means: no such row in this tenant. */
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type { Transfer, transferList } from '../../lib/transfers/transfer-schema.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Versioned } from '../../lib/commands/command.ts'

export interface TransferReads {
  listTransfers(query: ListQuery<typeof transferList>): Promise<ListResult<Transfer>>
  getTransfer(tenant: Tenant, id: string): Promise<Versioned<Transfer> | null>
}

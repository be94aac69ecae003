/** Reads of transfers. Null means: no such row in this tenant. */
import type { ListQuery, ListResult } from '../../http/list.ts'
import type { Transfer, transferList } from '../../http/schemas/transfer.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Versioned } from '../../lib/commands/command.ts'

export interface TransferReads {
  listTransfers(query: ListQuery<typeof transferList>): Promise<ListResult<Transfer>>
  getTransfer(tenant: Tenant, id: string): Promise<Versioned<Transfer> | null>
}

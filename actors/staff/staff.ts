/** The ports of the HTTP layer for an operator's staff. */
import type { Versioned } from '../../lib/commands/command.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type {
  StaffInvitation,
  StaffInvitationCreate,
  staffInvitationList,
  StaffInvitationUpdate,
  staffList,
  StaffMember,
  StaffUpdate,
} from '../../lib/staff/staff-schema.ts'

/** The reads. Null: no such row of the operator. */
export interface StaffReads {
  listStaff(operatorId: string, query: ListQuery<typeof staffList>): Promise<ListResult<StaffMember>>
  getStaff(operatorId: string, id: string): Promise<Versioned<StaffMember> | null>
  listInvitations(
    operatorId: string,
    query: ListQuery<typeof staffInvitationList>,
  ): Promise<ListResult<StaffInvitation>>
  getInvitation(operatorId: string, id: string): Promise<Versioned<StaffInvitation> | null>
}

/** The commands, for the operator that is the tenant. Every refusal is thrown as a problem. */
export interface StaffCommands {
  updateStaff(
    by: Caller<'person'>,
    id: string,
    body: StaffUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<StaffMember>>
  removeStaff(by: Caller<'person'>, id: string, expected: number | bigint | null): Promise<void>
  inviteStaff(by: Caller<'person'>, body: StaffInvitationCreate): Promise<Versioned<StaffInvitation>>
  /** Changes an invitation that was not accepted or revoked, and mails a new link. */
  renewInvitation(
    by: Caller<'person'>,
    id: string,
    body: StaffInvitationUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<StaffInvitation>>
  revokeInvitation(by: Caller<'person'>, id: string, expected: number | bigint | null): Promise<void>
}

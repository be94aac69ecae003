/** Services of identity for handlers. */
import type { IdentityCommands, IdentityReads } from '../../actors/identity/identity.ts'
import type { MemberCommands, MemberReads } from '../../actors/identity/members.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly identity: IdentityReads
    readonly members: MemberReads
  }
  interface Services {
    readonly identity: IdentityReads & IdentityCommands
    readonly members: MemberReads & MemberCommands
  }
}

/** Services of identity, as handlers get them. */
import type { IdentityCommands, IdentityReads } from '../identity.ts'
import type { MemberCommands, MemberReads } from '../members.ts'

declare module '../services.ts' {
  interface ReadServices {
    readonly identity: IdentityReads
    readonly members: MemberReads
  }
  interface Services {
    readonly identity: IdentityReads & IdentityCommands
    readonly members: MemberReads & MemberCommands
  }
}

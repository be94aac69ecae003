/** Services of identity for handlers. */
import type { IdentityService } from '../../actors/identity/identity-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly identity: IdentityService
    readonly members: IdentityService['members']
  }
}

/** Services of notices for handlers. */
import type { createNotices } from '../../actors/notices/notice-operations.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly notices: ReturnType<typeof createNotices>
  }
}

/** Services of notices for handlers. */
import type { NoticeCommands, NoticeReads } from '../../actors/notices/notice-operations.ts'

declare module '../route/services.ts' {
  interface ReadServices {
    readonly notices: NoticeReads
  }
  interface Services {
    readonly notices: NoticeReads & NoticeCommands
  }
}

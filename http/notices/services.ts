/** Services of notices, as handlers get them. */
import type { NoticeCommands, NoticeReads } from '../notices.ts'

declare module '../services.ts' {
  interface ReadServices {
    readonly notices: NoticeReads
  }
  interface Services {
    readonly notices: NoticeReads & NoticeCommands
  }
}

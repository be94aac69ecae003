/** Services of reports for handlers. */
import type { ReportService } from '../../actors/reports/report-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly reports: ReportService
  }
}

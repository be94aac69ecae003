/** Services of statistics for handlers. */
import type { StatisticsService } from '../../actors/statistics/statistics-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly statistics: StatisticsService
  }
}

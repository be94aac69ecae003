/** The times of tasks that run by the calendar, for a clock that was moved: graphile-worker follows the machine's. */
import { parseCronItem, type ParsedCronItem } from 'graphile-worker'
import { MINUTE_MS } from '../../lib/base/clock.ts'

export class CalendarTimes {
  readonly #items: readonly ParsedCronItem[]

  /** `cron`: the times as in a crontab, UTC. */
  constructor(tasks: readonly { readonly name: string; readonly cron: string }[]) {
    this.#items = tasks.map(({ name, cron }) => parseCronItem({ task: name, match: cron }))
  }

  /** Returns the tasks that have a time after `from` and up to `to`, epoch milliseconds. */
  between(from: number, to: number): readonly string[] {
    const found = new Set<string>()
    for (let at = (Math.floor(from / MINUTE_MS) + 1) * MINUTE_MS; at <= to; at += MINUTE_MS) {
      if (found.size === this.#items.length) break
      const time = new Date(at)
      const digest = {
        min: time.getUTCMinutes(),
        hour: time.getUTCHours(),
        date: time.getUTCDate(),
        month: time.getUTCMonth() + 1,
        dow: time.getUTCDay(),
      }
      for (const { task, match } of this.#items) if (match(digest)) found.add(task)
    }
    return [...found]
  }
}

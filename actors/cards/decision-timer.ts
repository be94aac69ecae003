/** Waits for the deadlines of decisions by the timers of the process. */
import type { Clock } from '../../lib/base/clock.ts'
import type { DecisionTimer } from './card-decisions.ts'

/** Creates the timer. A wait does not keep the process alive. */
export const decisionTimer = (clock: Clock): DecisionTimer => ({
  wait(moment) {
    const { promise: passed, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, Math.max(0, moment - clock.now())).unref()
    return { passed, cancel: () => clearTimeout(timer) }
  },
})

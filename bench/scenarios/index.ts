/** The scenarios, in the order they run. */
import type { Scenario } from '../scenario.ts'
import { p1 } from './p1.ts'
import { p2 } from './p2.ts'
import { p3 } from './p3.ts'
import { p4 } from './p4.ts'
import { p5 } from './p5.ts'
import { p6 } from './p6.ts'
import { p7 } from './p7.ts'
import { p8 } from './p8.ts'
import { p9 } from './p9.ts'
import { p10 } from './p10.ts'
import { p12 } from './p12.ts'
import { p13 } from './p13.ts'
import { p14 } from './p14.ts'
import { p15 } from './p15.ts'
import { hooks } from './hooks.ts'
import { overload } from './overload.ts'
import { year } from './year.ts'

export const SCENARIOS: readonly Scenario[] = [
  p1,
  p2,
  p3,
  p4,
  p5,
  p6,
  p7,
  p8,
  p9,
  p10,
  p12,
  p13,
  p14,
  p15,
  hooks,
  overload,
  year,
]

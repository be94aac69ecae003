/** The table of all operations. */
import { openapiAnswer } from '../openapi.ts'
import type { Route } from '../route.ts'
import * as balances from './balances.ts'
import { getHealth, getReadiness } from './health.ts'
import { openapiRoute } from './openapi.ts'
import * as payments from './payments.ts'
import * as recipients from './recipients.ts'
import * as transfers from './transfers.ts'

export const routes: readonly Route[] = [
  getHealth,
  getReadiness,
  openapiRoute(() => openapiAnswer(routes)),
  ...Object.values(balances),
  ...Object.values(recipients),
  ...Object.values(payments),
  ...Object.values(transfers),
]

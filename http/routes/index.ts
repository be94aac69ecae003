/** The table of all operations. */
import { openapiAnswer } from '../openapi.ts'
import type { Route } from '../route.ts'
import * as apiKeyRequests from './api-key-requests.ts'
import { apiKeyRoutes } from './api-keys.ts'
import { listAuditEvents } from './audit-events.ts'
import * as balances from './balances.ts'
import { getHealth, getReady } from './health.ts'
import { getIntegrationHome, getOperatorApiUsage, listOperatorApiKeyRequests } from './integration.ts'
import { openapiRoute } from './openapi.ts'
import { operatorApiKeyRoutes } from './operator-api-keys.ts'
import * as passwordResets from './password-resets.ts'
import * as payments from './payments.ts'
import * as recipients from './recipients.ts'
import * as sessions from './sessions.ts'
import * as stepUp from './step-up.ts'
import * as transfers from './transfers.ts'
import * as users from './users.ts'

export const routes: readonly Route[] = [
  getHealth,
  getReady,
  openapiRoute(() => openapiAnswer(routes)),
  ...Object.values(sessions),
  ...Object.values(stepUp),
  ...Object.values(users),
  ...Object.values(passwordResets),
  ...apiKeyRoutes,
  ...operatorApiKeyRoutes,
  listAuditEvents,
  ...Object.values(balances),
  ...Object.values(recipients),
  ...Object.values(payments),
  ...Object.values(transfers),
  ...Object.values(apiKeyRequests),
  getIntegrationHome,
  listOperatorApiKeyRequests,
  getOperatorApiUsage,
]

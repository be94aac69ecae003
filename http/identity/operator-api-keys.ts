/** The API keys of an operator. */
import { apiKeyOperations } from './api-key-operations.ts'

export const operatorApiKeyRoutes = apiKeyOperations({
  base: '/operator/api-keys',
  callers: 'staff',
  capability: 'integration.manage',
  tenant: 'operator',
  whose: 'the operator',
  id: (verb, plural = '') => `${verb}OperatorApiKey${plural}`,
})

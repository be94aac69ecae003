/** The API keys of a customer. */
import { apiKeyOperations } from './api-key-operations.ts'

export const apiKeyRoutes = apiKeyOperations({
  base: '/api-keys',
  callers: 'session',
  capability: 'api_keys.manage',
  tenant: 'customer',
  whose: 'the customer',
  id: (verb, plural = '') => `${verb}ApiKey${plural}`,
})

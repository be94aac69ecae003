/**
 * Operations of the contract that do not exist yet. The list only shrinks: the contract test fails when one of these
 * exists, and when one that is not here is missing.
 */
export const MISSING: ReadonlySet<string> = new Set([
  'listCollections',
  'createCollection',
  'getCollection',
  'cancelCollection',
  'createMandate',
  'getMandate',
  'cancelMandate',

  'listCustomers',
  'createCustomer',
  'getCustomer',
  'getKybCase',
  'listProviderConnections',
  'getProviderConnection',
  'getDeveloperWorkspace',
  'simulateCardTransaction',
  'simulateCollectionStatus',
  'simulateKycOutcome',
])

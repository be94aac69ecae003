/**
 * The files of `npm test -- --quick`: all tests of pure code, storage without the servers that tests start themselves,
 * and of each folder of `test/http` one file.
 */

/**
 * The quick file of a folder of `test/http` whose file of the same name is missing, or slower than others that walk the
 * main path of the noun.
 */
const QUICK_HTTP: Readonly<Record<string, string>> = {
  access: 'authentication',
  accounts: 'account-details',
  approvals: 'own-accounts',
  balances: 'polling',
  'bulk-payments': 'submit',
  cluster: 'forwarding',
  compliance: 'callbacks',
  customers: 'closure',
  exchange: 'spot',
  'funds-requests': 'ends',
  identity: 'audit-events',
  'incoming-payments': 'credits',
  kyc: 'simulations',
  notices: 'alerts',
  onboarding: 'case-reviews',
  operators: 'operator',
  payments: 'confirmation',
  pricing: 'fees',
  providers: 'rail-terms',
  recipients: 'lookups',
  reconciliation: 'reconciliations',
  route: 'lists',
  server: 'app',
  webhooks: 'endpoints',
}

/** Folders of which each file is quick. */
const WHOLE = /^test\/(?:lib|workers|storage)\//
/** Tests in them that start Postgres or Redis servers of their own. */
const OWN_SERVERS = /^test\/storage\/(?:embedded|redis)\//

/** Returns the file of a folder of `test/http` that quick runs. */
export const quickFileOf = (folder: string): string => `test/http/${folder}/${QUICK_HTTP[folder] ?? folder}.test.ts`

/** Returns whether `npm test -- --quick` runs a file; the path is relative to the root of the project. */
export function isQuick(file: string): boolean {
  if (WHOLE.test(file)) return !OWN_SERVERS.test(file)
  const folder = /^test\/http\/([^/]+)\//.exec(file)?.[1]
  return file === 'test/tidy.test.ts' || (folder !== undefined && file === quickFileOf(folder))
}

/**
 * What the API promises about payments, once more against two nodes that hold no leases and know nothing of each other:
 * the same tests, each request to the other node than the one before. `TEST_NODES=2 npm test -- test/http` runs all of
 * them so.
 */
process.env['TEST_NODES'] = '2'

await import('./payments.test.ts')

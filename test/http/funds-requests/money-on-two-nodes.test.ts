/** The API's promises about money for funds requests, against two nodes that hold no leases. */
process.env['TEST_NODES'] = '2'

await import('./money.test.ts')

/** What the API promises about money for funds requests, once more against two nodes that hold no leases and know nothing of each other. */
process.env['TEST_NODES'] = '2'

await import('./money.test.ts')

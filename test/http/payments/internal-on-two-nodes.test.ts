/** What is promised about payments within the platform, once more against two nodes that hold no leases and know nothing of each other. */
process.env['TEST_NODES'] = '2'

await import('./internal.test.ts')

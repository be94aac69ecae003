/** What is promised about holds, once more against two nodes that hold no leases and know nothing of each other. */
process.env['TEST_NODES'] = '2'

await import('./holds.test.ts')

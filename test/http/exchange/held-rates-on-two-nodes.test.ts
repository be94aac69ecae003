/** What the API promises about contracts, once more against two nodes that hold no leases; transfers-on-two-nodes.test.ts says how. */
process.env['TEST_NODES'] = '2'

await import('./held-rates.test.ts')

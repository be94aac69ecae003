/** What the API promises about contracts, once more against two nodes that hold no leases; transfers.test.ts says how. */
process.env['TEST_NODES'] = '2'

await import('../exchange/held-rates.test.ts')

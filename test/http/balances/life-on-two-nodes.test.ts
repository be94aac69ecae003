/** What the API promises about balances that people open, change and close, once more against two nodes that know nothing of each other. */
process.env['TEST_NODES'] = '2'

await import('./life.test.ts')

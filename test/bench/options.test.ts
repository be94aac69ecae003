/** The options of the bench. */
import t from 'tap'
import { readOptions, UsageError } from '../../bench/options.ts'

t.test('a short measurement has the same heat before it', async (t) => {
  t.match(readOptions([]), { secondsAsked: null, heatSeconds: 10, scale: 1, json: null })
  t.match(readOptions(['--seconds', '3']), { secondsAsked: 3, heatSeconds: 10 })
  t.match(readOptions(['--seconds', '3', '--heat', '0.5']), { secondsAsked: 3, heatSeconds: 0.5 })
  t.match(readOptions(['--heat', '0']), { heatSeconds: 0 })
})

t.test('the scenarios that are named, in the order of the bench', async (t) => {
  t.same(
    readOptions(['--only', 'p13, P1']).scenarios.map(({ id }) => id),
    ['P1', 'P13'],
  )
  t.ok(readOptions([]).scenarios.length > 10)
})

t.test('what cannot be understood is refused', async (t) => {
  for (const [args, message] of [
    [['--heat', 'much'], /--heat must be/],
    [['--heat=-1'], /--heat must be/],
    [['--seconds', '1'], /--seconds must be/],
    [['--scale', '2'], /--scale must be/],
    [['--only', 'P99'], /no scenario P99/],
    [['--unknown'], /--unknown/],
  ] as const) {
    t.throws(() => readOptions([...args]), message)
    try {
      readOptions([...args])
    } catch (error) {
      t.ok(error instanceof UsageError, args.join(' '))
    }
  }
})
